/* A server without its command line: its session, what it says on standard error, its end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/program/say.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/kinds.h"
#include "tquel/serve/output.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/source.h"
#include "tquel/serve/turns.h"

/* The last words to peers may take so long. */
#define GOODBYE_MS 200
/* What has not changed is said again after this time. */
#define SAID_NS (60 * (int64_t)1000000000)
/* So much is said in that time. */
#define SAID_MAX 200

/* --- diagnostics ------------------------------------------------------------------------------ */

__attribute__((format(printf, 1, 0))) static void say_unsaid(const char *format, size_t count) {
  struct base_diag_sink diags;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_sink_init(&diags);
  base_diag_format(&text, base_report(&diags, MSG_NOT_SAID, NULL, NULL, format, count));
  program_say(text.data, text.length);
  base_buffer_done(&text);
  base_diag_sink_done(&diags);
}

/* Said within the last minute already? A full disk is met many times a second. */
static bool was_said(struct server *server, const char *text) {
  int64_t now = base_env_monotonic();
  size_t kept = 0;
  bool found = false;
  for (size_t i = 0; i < server->said.count; i++) {
    struct server_said said = server->said.items[i];
    if (now - said.at > SAID_NS) {
      free(said.text);
      continue;
    }
    found |= strcmp(said.text, text) == 0;
    server->said.items[kept++] = said;
  }
  server->said.count = kept;
  if (found) return true;
  if (kept >= SAID_MAX) {
    if (server->said.unsaid++ == 0)
      say_unsaid("more than %zu messages came within a minute; further ones are counted",
                 (size_t)SAID_MAX);
    return true;
  }
  base_grow(&server->said.items, &server->said.capacity, kept + 1, sizeof *server->said.items);
  server->said.items[server->said.count++] = (struct server_said){base_xstrdup(text), now};
  return false;
}

static void on_report(void *context, const struct base_diag *diag) {
  struct server *server = context;
  if (server->running) {
    server_output_report(server->running, diag);
    return;
  }
  if (server->options && server->options->quiet && diag->severity != BASE_ERROR) return;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_format(&text, diag);
  if (!was_said(server, base_buffer_text(&text))) {
    if (server->said.unsaid > 0) say_unsaid("%zu messages were not shown", server->said.unsaid);
    server->said.unsaid = 0;
    program_say(text.data, text.length);
  }
  base_buffer_done(&text);
}

void server_init(struct server *server) {
  base_diag_sink_init(&server->diags);
  server->diags.on_report = on_report;
  server->diags.context = server;
}

void server_done(struct server *server) {
  base_diag_sink_done(&server->diags);
  for (size_t i = 0; i < server->said.count; i++) free(server->said.items[i].text);
  free(server->said.items);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void mark_names(void *context, struct base_strings *strings) {
  struct server *server = context;
  for (size_t i = 0; i < server->peer_count; i++)
    if (server->peers[i]->source) server_source_mark(server->peers[i]->source, strings);
}

enum base_status server_open(struct server *server) {
  const struct server_options *asked = server->options;
  const struct tql_session_options options = {
      .path = asked->database,
      .timeline = asked->timeline,
      .timeline_given = asked->timeline_given,
      .rules_off = asked->rules_off,
      .stdin_is_script = true,
      .memory = asked->statement_memory,
      .memory_total = asked->memory,
      .time_limit = asked->time_limit,
      .log_limit = asked->log_limit,
      .bring_in = server_keeper_bring_in,
      .is_own = server_keeper_made,
      .context = server,
  };
  enum base_status status = tql_session_open(&options, &server->diags, &server->session);
  if (status != BASE_OK) return status;
  tql_session_on_sweep(server->session, mark_names, server);
  server_watches_open(server);
  return BASE_OK;
}

static void end_peers(struct server *server) {
  for (size_t i = 0; i < server->peer_count; i++)
    if (!server->peers[i]->over) server_peer_end(server->peers[i], MSG_SERVER_GONE, "it was ended");
  int64_t until = base_env_monotonic() + GOODBYE_MS * (int64_t)1000000;
  bool unsent = true;
  while (unsent && base_env_monotonic() < until) {
    unsent = false;
    for (size_t i = 0; i < server->peer_count; i++)
      unsent |= sn_connection_unsent(server->peers[i]->connection) > 0 &&
                sn_connection_pump(server->peers[i]->connection, 0);
    if (unsent) (void)usleep(2000);
  }
  while (server->peer_count > 0) server_peer_free(server->peers[--server->peer_count]);
  free(server->peers);
  server->peers = NULL;
  server->peer_count = 0; /* who is still told of watches */
}

enum base_status server_close(struct server *server, enum base_status status) {
  for (size_t i = 0; i < server->acceptor_count; i++) sn_acceptor_free(server->acceptors[i]);
  free(server->acceptors);
  free(server->loop.polled);
  server_keeper_stop(server);
  if (!server->session) return status;
  base_env_clear_interrupt();
  enum base_status committed = tql_session_commit(server->session);
  for (size_t i = 0; i < server->peer_count; i++)
    if (server->peers[i]->source) server_source_tick(server->peers[i]);
  end_peers(server);
  server_watches_close(server);
  tql_session_close(server->session);
  free(server->readings);
  return status == BASE_OK ? committed : status;
}
