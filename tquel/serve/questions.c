/* Questions of shells: what there is, what it is made of, what a seat has said; those that only collectors can answer
 * wait for them (receptacles.c). */
#include "tquel/serve/collectors.h"
#include "tquel/serve/shell.h"
#include "tquel/serve/source.h"

static void on_name(void *context, const char *name) {
  struct base_buffer *out = context;
  base_buffer_puts(out, name);
  base_buffer_putc(out, '\n');
}

static bool say_displays(struct server_shell *shell, const char *argument,
                         struct base_buffer *out) {
  (void)argument;
  base_buffer_puts(out, tql_seat_has_displays(shell->seat) ? "on\n" : "off\n");
  return true;
}
static bool say_seat(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  (void)argument;
  tql_seat_text(shell->seat, out);
  return true;
}
static bool stop_displays(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  (void)out;
  tql_seat_stop_displays(shell->seat);
  return true;
}
static bool say_relations(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  tql_seat_each_relation(shell->seat, on_name, out);
  return true;
}
static bool say_variables(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  tql_seat_each_variable(shell->seat, on_name, out);
  return true;
}
static bool say_domains(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  tql_seat_each_domain(shell->seat, argument, on_name, out);
  return true;
}
static bool say_description(struct server_shell *shell, const char *argument,
                            struct base_buffer *out) {
  return tql_seat_describe(shell->seat, *argument ? argument : NULL, out);
}
static bool say_nodes(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  return tql_seat_describe_nodes(shell->seat, *argument ? argument : NULL, out);
}
static bool say_sensors(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  (void)argument;
  server_reports_describe(shell->peer->server, shell->seat, out);
  return true;
}

static const struct {
  const char *what;
  bool (*say)(struct server_shell *shell, const char *argument, struct base_buffer *out);
  bool owners; /* the nodes of a query say what it is made of */
} questions[] = {
    {"relations", say_relations, false}, {"variables", say_variables, false},
    {"domains", say_domains, false},     {"describe", say_description, false},
    {"nodes", say_nodes, true},          {"sensors", say_sensors, false},
    {"displays", say_displays, false},   {"stop displays", stop_displays, false},
    {"seat", say_seat, false},
};

/* Questions that only collectors can answer. */
static bool ask_collectors(struct server_peer *peer, struct sn_string what, const char *argument) {
  if (sn_string_is(what, "receptacles")) {
    server_receptacles_ask(peer, argument);
  } else if (sn_string_is(what, "count")) {
    server_count_ask(peer, argument);
  } else {
    return false;
  }
  return true;
}

/* The client's time zone, which is not text. */
static void take_zone(struct server_peer *peer, struct sn_string bytes) {
  struct base_buffer none = BASE_BUFFER_EMPTY;
  if (tql_seat_set_zone(peer->shell->seat, bytes.bytes, bytes.length))
    server_peer_answer(peer, &none);
  else
    server_peer_refuse(peer, MSG_PEER_REFUSED, "these are no rules of a time zone");
}

void server_question_take(struct server_peer *peer, const struct sn_message *message) {
  struct server_shell *shell = peer->shell;
  struct sn_message_question question;
  if (!sn_get_question(message, &question)) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "a QUESTION is wrong");
    return;
  }
  if (sn_string_is(question.what, "zone")) {
    take_zone(peer, question.argument);
    return;
  }
  struct base_buffer argument = BASE_BUFFER_EMPTY, text = BASE_BUFFER_EMPTY;
  base_buffer_append(&argument, question.argument.bytes, question.argument.length);
  bool known = false, found = false, refused = false;
  if (ask_collectors(peer, question.what, base_buffer_text(&argument))) {
    base_buffer_done(&argument);
    return;
  }
  for (size_t i = 0; i < sizeof questions / sizeof questions[0] && !known; i++) {
    known = sn_string_is(question.what, questions[i].what);
    refused = known && questions[i].owners && !peer->owner;
    if (known && !refused) found = questions[i].say(shell, base_buffer_text(&argument), &text);
  }
  if (found)
    server_peer_answer(peer, &text);
  else if (refused)
    server_peer_refuse(peer, MSG_OWNER_ONLY, "only the owner of the database may look at nodes");
  else
    server_peer_refuse(peer, known ? MSG_UNKNOWN_RELATION : MSG_PEER_REFUSED,
                       known ? "there is no such relation" : "there is no such question");
  base_buffer_done(&argument);
  base_buffer_done(&text);
}
