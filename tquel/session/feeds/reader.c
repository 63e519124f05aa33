/* What a statement's file is read with, and a word on times that look like seconds. */
#include "sensors/feed/feed.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/session_impl.h"

void session_note_unit(struct tql_session *session, const struct session_relation *relation,
                       const char *unit) {
  if (unit == NULL) return;
  const char *zeros = *unit == 's' ? "000000000" : unit[2] == 'l' ? "000000" : "000";
  const char *hint = base_arena_printf(session->arena,
                                       "write ISO 8601 text, or append %s to each: "
                                       "numbers are nanoseconds since 1970",
                                       zeros);
  base_report_hint(
      session->diags, MSG_TIMES_LIKE_UNIT, NULL, NULL, hint,
      "%s: all times look like %s since 1970, and are taken for nanoseconds: all is in 1970",
      relation->ng.name, unit);
}

/* Opens a reader; what is wrong is reported at the path in the statement. */
enum base_status session_open_reader(struct tql_session *session,
                                     const struct tql_statement *statement,
                                     const struct sn_reader_options *options,
                                     struct net_reader **ret) {
  struct base_diag_sink sink;
  base_diag_sink_init(&sink);
  enum base_status status = sn_reader_open(options, &sink, ret);
  for (size_t i = 0; i < sink.count; i++) {
    const struct base_diag *diag = &sink.items[i];
    if (diag->source != NULL || diag->range.first_line > 0) {
      base_report_hint(session->diags, diag->number, diag->source, &diag->range, diag->hint, "%s",
                       diag->message);
    } else {
      base_report_hint(session->diags, diag->number, session->source, &statement->path_range,
                       diag->hint, "%s", diag->message);
    }
  }
  base_diag_sink_done(&sink);
  return status;
}
