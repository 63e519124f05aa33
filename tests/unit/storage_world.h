/* The world of the storage tests: a directory of their own under /tmp, tables of strings and
 * diagnostics, two small relations, and short names for what every test does.
 *
 * outside() asks the stock sqlite3 command, which must be there. With STORAGE_TEST_VERBOSE in the
 * environment every diagnostic is shown on stderr.                                                 */
#ifndef STORAGE_WORLD_H
#define STORAGE_WORLD_H

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "storage/storage.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

extern char *directory;
extern char *path; /* directory/test.db */
extern struct base_strings *strings;
extern struct base_diag_sink diags;
extern struct base_arena *arena;

extern const struct st_domain x_domain[1];
extern const struct st_relation event_e;  /* event E (x = i8) */
extern const struct st_relation period_p; /* period P (x = i8) */

void set_up(void);
void tear_down(void);
/* Fails the test with the last diagnostic unless STATUS is BASE_OK. */
void ok(enum base_status status);
struct st_database *open_at(const char *where);
struct st_database *open_reader(const char *where);
/* Opening must be refused with NUMBER, exit code 3, and one diagnostic. */
void refused(struct st_options options, int number);
/* The layout of RELATION, in the arena; AS_EVENT: of its records. */
struct net_layout *layout_of(const struct st_relation *relation, bool as_event);
base_string_id text(const char *bytes);
void put(struct st_database *database, const char *name, const struct net_layout *layout,
         const union net_slot *row, uint8_t marks);
/* The open row is ROW with the stop [open, OPEN_HI]; false: it was not there. */
bool close_row(struct st_database *database, const char *name, const struct net_layout *layout,
               net_chronon open_hi, const union net_slot *row, uint8_t marks);
/* All rows by a scan with batches of BATCH_ROWS; checks the promises of the checkpoints. */
void scan_form(struct st_database *database, const char *name, const struct net_layout *layout,
               enum net_scan_form form, net_chronon checkpoint, uint32_t batch_rows,
               struct net_rows *ret);
/* ... of those, what is WANTED, and perhaps more. */
void scan_wanted(struct st_database *database, const char *name, const struct net_layout *layout,
                 enum net_scan_form form, net_chronon checkpoint, uint32_t batch_rows,
                 const struct net_wanted *wanted, struct net_rows *ret);
/* All rows as tuples. */
void scan(struct st_database *database, const char *name, const struct net_layout *layout,
          struct net_rows *ret);
void create(struct st_database *database, const struct st_relation *relation);
void put_event(struct st_database *database, int64_t at, int64_t x, uint8_t marks);
int64_t count(struct st_database *database, const char *name);
/* What sqlite3 prints for SQL, without the last newline. */
char *outside(const char *where, const char *sql);
/* The bytes of a file, in the arena. */
char *slurp(const char *where, size_t *ret_length);
void write_file(const char *where, const void *bytes, size_t length);
/* Number of files in a directory, those with a leading dot not counted. */
size_t files_in(const char *where);
/* Runs BODY in a child, which ends with 0 when all is well; returns its state. */
int in_child(void (*body)(void));

#define CHILD_NEEDS(COND)                                         \
  do {                                                            \
    if (!(COND)) {                                                \
      fprintf(stderr, "# child: %s, line %d\n", #COND, __LINE__); \
      _exit(1);                                                   \
    }                                                             \
  } while (0)

/* Takes back what version 9 changed: keys of several domains, what was filtered. */
#define NO_NINTH                                                                  \
  "ALTER TABLE tq_relation ADD COLUMN by_domain INTEGER;"                         \
  "UPDATE tq_relation SET by_domain = (SELECT position FROM tq_domain AS d WHERE" \
  " d.relation = tq_relation.name AND d.key_place = 0);"                          \
  "ALTER TABLE tq_domain DROP COLUMN key_place; DROP TABLE tq_alike; DROP TABLE tq_filtered;"

#endif
