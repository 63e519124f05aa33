/* The tq_ tables in SQL, as each version of the schema made them. */
#ifndef ST_SCHEMA_TABLES_H
#define ST_SCHEMA_TABLES_H

#include "engine/base/buffer.h"
#include "engine/time.h"

#define ST_APPLICATION_ID 0x5451454C /* "TQEL" */
#define ST_SCHEMA_VERSION 9

/* What VERSION (1 to ST_SCHEMA_VERSION) brought: to be run on a file of the version before. */
const char *st_schema_step(int version);
/* CREATE TABLE of all tq_ tables but tq_sample. */
void st_sql_schema(struct base_buffer *sql);
/* All that makes a database without relations of an empty one, with its own transaction. */
void st_sql_blank(struct base_buffer *sql, enum net_timeline timeline);

#endif
