#include "engine/base/library.h"

#include <dlfcn.h>
#include <string.h>

static void *first_of(const char *const *names) {
  void *library = NULL;
  for (; library == NULL && *names != NULL; names++)
    library = dlopen(*names, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  return library;
}

bool base_library_load(const char *const *names, const struct base_library_function *functions,
                       size_t count) {
  void *library = first_of(names);
  if (library == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    void *function = dlsym(library, functions[i].name); /* also of what the library itself needs */
    if (function == NULL) return false;
    memcpy(functions[i].place, &function, sizeof function);
  }
  return true;
}
