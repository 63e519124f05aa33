/* Shared libraries that few runs of a program need are loaded when they are first needed: to link with them is to pay for
 * them at each start (OpenSSL and libedit: more than all the rest of a start of `tquel -c`). */
#ifndef ENGINE_BASE_LIBRARY_H
#define ENGINE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of such a library, and the pointer that is to point at it. */
struct base_library_function {
  const char *name;
  void *place; /* of type T (**)(...) */
};

/* An entry of a table of them, for a pointer `calls.NAME`. */
#define BASE_LIBRARY_FUNCTION(calls, name) {#name, (void *)&(calls).name},

/* Loads the first of `names` (file names as the linker knows them, NULL behind the last) that is there, and sets the places of
 * all functions. The library stays for good. False: none is there, or a function is missing; no place may be used then. */
bool base_library_load(const char *const *names, const struct base_library_function *functions,
                       size_t count);

#endif
