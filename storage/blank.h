/* Databases without relations, as files: what blank_make.c writes while the product is built. */
#ifndef ST_BLANK_H
#define ST_BLANK_H

#include <stddef.h>

struct st_blank {
  const unsigned char *file;
  size_t size;
};

extern const struct st_blank st_blanks[]; /* by timeline */

#endif
