/* Records as text: for Late and Rejected, and for messages. */
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

void session_print_row(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const union net_slot *row) {
  struct tql_rows rows;
  tql_rows_init(&rows, NULL, layout);
  net_rows_add_copy(&rows.rows, row, NET_DEFINITE);
  rows.checkpoint = NET_FOREVER;
  struct tql_format_context context = {
      .format = TQL_FORMAT_NDJSON, .timeline = session->timeline, .strings = session->strings};
  tql_format_rows(out, &context, &rows);
  while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = 0;
  tql_rows_done(&rows);
}

void session_print_end(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const struct net_read_event *event) {
  struct tql_format_context context = {
      .format = TQL_FORMAT_NDJSON, .timeline = session->timeline, .strings = session->strings};
  if (event->record != NULL)
    base_buffer_append(out, event->record, event->record_length);
  else
    tql_format_end(out, &context, layout, event->row, event->named, event->time);
}
