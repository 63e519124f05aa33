/* The table behind sharing across plans (share.h): signatures are interned, and the id is the class. A
 * class of its own has a number that no id has. The table lives as long as the network. */
#include "netgen/share.h"

#include <stdlib.h>

struct ng_shared {
  struct base_strings *signatures;
  void **places; /* by class */
  size_t place_count, place_capacity;
  uint64_t own; /* how many classes of their own there are */
};

struct ng_shared *ng_shared_new(void) {
  struct ng_shared *shared = base_xcalloc(1, sizeof *shared);
  shared->signatures = base_strings_new();
  return shared;
}

void ng_shared_free(struct ng_shared *shared) {
  if (shared == NULL) return;
  base_strings_free(shared->signatures);
  free(shared->places);
  free(shared);
}

uint64_t ng_shared_class(struct ng_shared *shared, const struct base_buffer *text) {
  return base_strings_intern(shared->signatures, base_buffer_text(text), text->length);
}

uint64_t ng_shared_own_class(struct ng_shared *shared) {
  return UINT64_MAX - shared->own++;
}

void **ng_shared_place(struct ng_shared *shared, uint64_t class) {
  base_grow(&shared->places, &shared->place_capacity, (size_t) class + 1, sizeof *shared->places);
  while (shared->place_count <= class) shared->places[shared->place_count++] = NULL;
  return &shared->places[class];
}
