/* Strings that nothing holds any more are forgotten. */
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"

void tql_session_on_sweep(struct tql_session *session,
                          void (*mark)(void *context, struct base_strings *strings),
                          void *context) {
  session->mark_strings = mark;
  session->mark_context = context;
}

static void mark_rows(const struct net_rows *rows, struct base_strings *strings) {
  for (size_t i = 0; rows->layout != NULL && i < rows->count; i++)
    net_row_mark_strings(rows->layout, strings, net_rows_row(rows, i));
}

/* Strings that nothing holds any more are forgotten, once the table has doubled: an endless feed of
 * new strings runs in bounded memory. Between two turns nothing but the states listed here holds any. */
void session_sweep_strings(struct tql_session *session) {
  struct base_strings *strings = session->strings;
  if (!base_strings_want_sweep(strings) || session->live == NULL) return;
  session_forget_kept(session); /* their strings are marked by nobody */
  base_strings_sweep_begin(strings);
  net_mark_strings(session->live, strings);
  st_mark_strings(session->database);
  session_mark_watches(session);
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    if (relation->waiting.has_pending) net_inbox_mark_strings(&relation->waiting.pending, strings);
    mark_rows(&relation->waiting.open_rows, strings);
    mark_rows(&relation->network.runs, strings);
  }
  if (session->mark_strings != NULL) session->mark_strings(session->mark_context, strings);
  base_strings_sweep_end(strings);
}
