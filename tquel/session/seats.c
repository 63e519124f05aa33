/* Seats: users who work on one session. See session.h. */
#include <stdlib.h>

#include "tquel/session/session_impl.h"

struct tql_seat {
  struct tql_session *session;
};

struct tql_seat *tql_seat_new(struct tql_session *session, const struct tql_seat_options *options) {
  struct tql_seat *seat = base_xcalloc(1, sizeof *seat);
  (void)options;
  seat->session = session;
  return seat;
}

void tql_seat_free(struct tql_seat *seat) {
  free(seat);
}

enum base_status tql_seat_run(struct tql_seat *seat, const char *name, int first_line,
                              const char *text, size_t length, const struct tql_output *output,
                              bool single_transaction) {
  return tql_session_run(seat->session, name, first_line, text, length, output, single_transaction);
}

bool tql_seat_has_displays(const struct tql_seat *seat) {
  (void)seat;
  return false;
}

void tql_seat_stop_displays(struct tql_seat *seat) {
  (void)seat;
}

void tql_seat_each_relation(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context) {
  tql_session_each_relation(seat->session, on_name, context);
}

void tql_seat_each_variable(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context) {
  tql_session_each_variable(seat->session, on_name, context);
}

void tql_seat_each_domain(struct tql_seat *seat, const char *variable_or_relation,
                          void (*on_name)(void *context, const char *name), void *context) {
  tql_session_each_domain(seat->session, variable_or_relation, on_name, context);
}

bool tql_seat_describe(struct tql_seat *seat, const char *name, struct base_buffer *out) {
  return tql_session_describe(seat->session, name, out);
}

bool tql_seat_describe_nodes(struct tql_seat *seat, const char *name, struct base_buffer *out) {
  return tql_session_describe_nodes(seat->session, name, out);
}
