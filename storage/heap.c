/* SQLite's memory is the product's: it counts for budgets, and the reserve is there for it, too (engine/base/budget.h).
 * What it cannot have all the same is SQLITE_NOMEM, which st_fail makes an error of. */
#include "engine/base/heap.h"

#include <malloc.h>
#include <stdlib.h>

#include "storage/ground.h"

static void *take(int size) {
  return base_try_malloc((size_t)size);
}

static void *take_anew(void *old, int size) {
  return base_try_realloc(old, 1, (size_t)size);
}

static int size_of(void *memory) {
  return memory ? (int)malloc_usable_size(memory) : 0;
}

static int round_up(int size) {
  return (size + 7) & ~7;
}

static int begin(void *context) {
  (void)context;
  return SQLITE_OK;
}

static void end(void *context) {
  (void)context;
}

void st_heap_configure(void) {
  static bool done;
  static const struct sqlite3_mem_methods methods = {.xMalloc = take,
                                                     .xFree = free,
                                                     .xRealloc = take_anew,
                                                     .xSize = size_of,
                                                     .xRoundup = round_up,
                                                     .xInit = begin,
                                                     .xShutdown = end};
  if (done) return;
  done = true;
  /* Too late where somebody else uses SQLite already: then it has its own. */
  (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
