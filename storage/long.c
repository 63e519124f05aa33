/* Rows that last long: they have an index of their own, "tq_R_long", on the time until which they last. */
#include "storage/ground.h"

/* One minute; on the abstract timeline nobody knows. */
int64_t st_long_span(enum net_timeline timeline) {
  return timeline == NET_TIMELINE_REAL ? INT64_C(60000000000) : 10000;
}

/* The difference of two integers that are far apart is a float: large, as it should be. */
void st_sql_is_long(struct base_buffer *sql, enum st_kind kind, enum net_timeline timeline) {
  base_buffer_printf(sql, "%s-%s>%lld", st_sql_last(kind), st_sql_start(kind),
                     (long long)st_long_span(timeline));
}

void st_sql_long_index(struct base_buffer *sql, const char *relation) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "tq_%s_long", relation);
  st_sql_name(sql, base_buffer_text(&name));
  base_buffer_done(&name);
}

void st_sql_create_long(struct base_buffer *sql, enum net_timeline timeline,
                        const struct st_relation *relation) {
  base_buffer_puts(sql, " CREATE INDEX ");
  st_sql_long_index(sql, relation->name);
  base_buffer_puts(sql, " ON ");
  st_sql_name(sql, relation->name);
  base_buffer_printf(sql, "(%s) WHERE ", st_sql_last(relation->kind));
  st_sql_is_long(sql, relation->kind, timeline);
  base_buffer_putc(sql, ';');
}
