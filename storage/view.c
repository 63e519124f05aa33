/* The readable views: "R_readable" shows R to people who come with sqlite3.
 *
 * The same columns under the same names; times as texts (ISO 8601 in UTC on the real timeline with
 * the fraction that net_time_print gives; on the abstract one the integers), the reserved values as
 * the words forever and beginning, an open stop_lo filled with the relation's checkpoint, within the
 * tuple's own start and stop_hi.
 *
 * SQLite's functions of time know milliseconds only. So a time is divided, rounding down, into
 * seconds, which strftime writes, and nanoseconds, which printf writes; before 1970 too the
 * fraction then counts forwards. Remainders are made non-negative by adding 10^9 once more.      */
#include "storage/ground.h"

/* COLUMN as text, under its own name. */
static void sql_time(struct base_buffer *sql, enum net_timeline timeline, const char *column) {
  base_buffer_printf(sql,
                     "CASE %s WHEN 9223372036854775807 THEN 'forever' "
                     "WHEN -9223372036854775808 THEN 'beginning' ELSE ",
                     column);
  if (timeline == NET_TIMELINE_ABSTRACT) {
    base_buffer_printf(sql, "%s END AS %s", column, column);
    return;
  }
  struct base_buffer fraction = BASE_BUFFER_EMPTY;
  base_buffer_printf(&fraction, "((%s%%1000000000+1000000000)%%1000000000)", column);
  const char *ns = fraction.data;
  base_buffer_printf(sql,
                     "strftime('%%Y-%%m-%%dT%%H:%%M:%%S',"
                     "%s/1000000000-(%s%%1000000000<0),'unixepoch')||"
                     "CASE WHEN %s=0 THEN '' "
                     "WHEN %s%%1000000=0 THEN printf('.%%03d',%s/1000000) "
                     "WHEN %s%%1000=0 THEN printf('.%%06d',%s/1000) "
                     "ELSE printf('.%%09d',%s) END||'Z' END AS %s",
                     column, column, ns, ns, ns, ns, ns, ns, column);
  base_buffer_done(&fraction);
}

/* The rows of a period relation with every stop_lo filled. */
static void sql_filled(struct base_buffer *sql, const struct st_relation *relation) {
  base_buffer_puts(sql,
                   "(SELECT start_lo,start_hi,ifnull(stop_lo,min(stop_hi,max(start_lo,"
                   "(SELECT checkpoint FROM tq_checkpoint WHERE relation=");
  st_sql_text(sql, relation->name);
  base_buffer_puts(sql, ")))) AS stop_lo,stop_hi,definite");
  st_sql_domains(sql, relation->domains, relation->domain_count);
  base_buffer_puts(sql, " FROM ");
  st_sql_name(sql, relation->name);
  base_buffer_putc(sql, ')');
}

/* Bytes as the program writes them. */
static void sql_shown(struct base_buffer *sql, const struct st_domain *domain) {
  if (domain->type.base != NET_BYTES) {
    st_sql_domains(sql, domain, 1);
    return;
  }
  base_buffer_puts(sql, ",'\\x' || lower(hex(");
  st_sql_column(sql, domain, 0);
  base_buffer_puts(sql, ")) AS ");
  st_sql_column(sql, domain, 0);
}

void st_sql_create_view(struct base_buffer *sql, enum net_timeline timeline,
                        const struct st_relation *relation) {
  static const char *const event_times[] = {"at_lo", "at_hi"};
  static const char *const period_times[] = {"start_lo", "start_hi", "stop_lo", "stop_hi"};
  bool is_event = st_kind_is_event(relation->kind);
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "%s_readable", relation->name);
  base_buffer_puts(sql, "CREATE VIEW ");
  st_sql_name(sql, name.data);
  base_buffer_done(&name);
  base_buffer_puts(sql, " AS SELECT ");
  for (int i = 0; i < (is_event ? 2 : 4); i++) {
    sql_time(sql, timeline, is_event ? event_times[i] : period_times[i]);
    base_buffer_putc(sql, ',');
  }
  base_buffer_puts(sql, "definite");
  for (size_t i = 0; i < relation->domain_count; i++) sql_shown(sql, &relation->domains[i]);
  base_buffer_puts(sql, " FROM ");
  if (is_event)
    st_sql_name(sql, relation->name);
  else
    sql_filled(sql, relation);
  base_buffer_putc(sql, ';');
}
