/* Edits of a database by somebody who has sqlite3 and no idea, each made of a few bytes. */
#ifndef TESTS_FUZZ_EDITS_H
#define TESTS_FUZZ_EDITS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* Makes as many edits in DATABASE as the bytes DATA say: four bytes and more each. What SQLite refuses
 * is left out; SAID, if not NULL, is called with the SQL of each. */
void edits_make(sqlite3 *database, const uint8_t *data, size_t size, void (*said)(const char *sql));

#endif
