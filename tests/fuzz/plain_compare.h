/* For the fast fuzzers: comparisons that libFuzzer does not watch.
 *
 * libFuzzer replaces strcmp, memcmp and their like by functions that note what was compared, which
 * takes longer than parsing a short text. The fast build includes this file before everything else
 * (-include) and so compares in place; the dictionary and the seeds make up for what is not noted.
 * Not instrumented, so that a comparison adds no edges to the coverage. Only for builds of
 * `./dev fuzz --fast`. */
#ifndef TESTS_FUZZ_PLAIN_COMPARE_H
#define TESTS_FUZZ_PLAIN_COMPARE_H

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FUZZ_PLAIN static inline __attribute__((no_sanitize("coverage"), unused))

FUZZ_PLAIN int fuzz_strcmp(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

FUZZ_PLAIN int fuzz_strncmp(const char *a, const char *b, size_t length) {
  for (; length > 0; length--, a++, b++)
    if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
  return 0;
}

FUZZ_PLAIN int fuzz_lower(char c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

FUZZ_PLAIN int fuzz_strncasecmp(const char *a, const char *b, size_t length) {
  for (; length > 0; length--, a++, b++)
    if (fuzz_lower(*a) != fuzz_lower(*b) || !*a) return fuzz_lower(*a) - fuzz_lower(*b);
  return 0;
}

FUZZ_PLAIN int fuzz_strcasecmp(const char *a, const char *b) {
  return fuzz_strncasecmp(a, b, (size_t)-1);
}

FUZZ_PLAIN int fuzz_memcmp(const void *a, const void *b, size_t length) {
  const unsigned char *left = a, *right = b;
  for (; length > 0; length--, left++, right++)
    if (*left != *right) return *left - *right;
  return 0;
}

/* Programs of the build that run while it is made (sdf-header) have no fuzzer that would count their edges; in a
 * fuzzer its own definitions take the place of these. */
__attribute__((weak, no_sanitize("coverage"))) void __sanitizer_cov_8bit_counters_init(char *start,
                                                                                       char *stop);
void __sanitizer_cov_8bit_counters_init(char *start, char *stop) {
  (void)start, (void)stop;
}
__attribute__((weak, no_sanitize("coverage"))) void __sanitizer_cov_pcs_init(const void *start,
                                                                             const void *stop);
void __sanitizer_cov_pcs_init(const void *start, const void *stop) {
  (void)start, (void)stop;
}

#define strcmp      fuzz_strcmp
#define strncmp     fuzz_strncmp
#define strcasecmp  fuzz_strcasecmp
#define strncasecmp fuzz_strncasecmp
#define memcmp      fuzz_memcmp

#endif
