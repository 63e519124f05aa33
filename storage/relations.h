/* The upper floor of storage/: relations as others see them, whatever of them is where. */
#ifndef ST_RELATIONS_H
#define ST_RELATIONS_H

#include "storage/rows.h"

/* --- append.c: rows that are written as they come, and put into their table later */
enum base_status st_relation_append(struct net_store *store, const char *relation,
                                    const struct net_rows *rows);
/* Writes the rows of all tables that wait; those of TABLE if they are many. */
enum base_status st_log_flush_all(struct st_database *database);
enum base_status st_log_flush_many(struct st_database *database, struct st_table *table);
/* All logged rows of TABLE go into the table. */
enum base_status st_log_fold(struct st_database *database, struct st_table *table);
/* The table of NAME, of which nothing waits; reports MSG_UNKNOWN_RELATION when there is none. */
enum base_status st_catalogue_find(struct st_database *database, const char *name,
                                   struct st_table **ret);

/* --- relation.c: one relation's rows in and out */

enum base_status st_relation_put(struct net_store *store, const char *relation,
                                 const struct net_layout *layout, const union net_slot *row,
                                 uint8_t marks);
enum base_status st_relation_put_rows(struct net_store *store, const char *relation,
                                      const struct net_rows *rows);
enum base_status st_relation_remove(struct net_store *store, const char *relation,
                                    const struct net_layout *layout, const union net_slot *row);
enum base_status st_relation_close(struct net_store *store, const char *relation,
                                   const struct net_layout *layout, const union net_slot *open,
                                   const union net_slot *row, uint8_t marks);
enum base_status st_relation_checkpoint(struct net_store *store, const char *relation,
                                        net_chronon time);

/* --- alive.c */
/* Of TABLE's rows, without those in the log, that are not over before TIME and not long, none starts before *RET. */
enum base_status st_first_short(struct st_database *database, struct st_table *table,
                                net_chronon time, net_chronon *ret);

/* --- keep.c */
/* What is remembered of what is old is no more. */
void st_keep_rolled_back(struct st_database *database);

/* --- bounded.c: part of a relation */
/* " WHERE ..." of rows before CHECKPOINT that are WANTED, whose strings st_bind_wanted binds. */
void st_sql_wanted(struct base_buffer *sql, const struct st_table *table,
                   const struct net_wanted *wanted, net_chronon checkpoint);
/* False: there is no memory for it. */
bool st_bind_wanted(struct st_database *database, sqlite3_stmt *statement,
                    const struct net_wanted *wanted);
/* If few rows are wanted and indexes find them: statements (the first may be NULL) that one after the
 * other give them in the order of time, as st_sql_select does; else both are NULL. */
enum base_status st_open_bounded(struct st_database *database, struct st_table *table,
                                 const struct net_layout *layout, const struct net_wanted *wanted,
                                 net_chronon checkpoint, sqlite3_stmt *statements[2]);

/* --- scan.c */
enum base_status st_relation_scan(struct net_store *store, const struct net_scan *what,
                                  struct net_source **ret);
/* The database goes: open scans end. */
void st_scans_detach(struct st_database *database);

#endif
