/* What the nodes of standing queries cost: tq_node_stats, and what \dn shows.
 *
 * A derived relation that is computed once has the figures of that. The nodes of the live network have
 * theirs since it was built, and what it was built from, the rows that were stored, counts as well; they
 * are written with every commit, those of nodes that have fired since the last one. Primitive relations
 * that are fed have nodes, too.                                                                    */
#include <stdlib.h>
#include <strings.h>

#include "engine/base/printable.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

/* "2 4", of other relations' nodes "R.3". */
static const char *inputs_of(struct base_arena *arena, const struct net_node_stats *stats) {
  const char *text = "";
  for (unsigned port = 0; port < 2; port++) {
    if (stats->inputs[port] == NULL) continue;
    struct net_node_stats input = net_node_stats(stats->inputs[port]);
    const char *space = *text ? " " : "";
    if (strcasecmp(input.owner, stats->owner) == 0)
      text = base_arena_printf(arena, "%s%s%u", text, space, input.number);
    else
      text = base_arena_printf(arena, "%s%s%s.%u", text, space, input.owner, input.number);
  }
  return text;
}

static struct st_node_stats figures_of(struct base_arena *arena, const struct net_node *node) {
  struct net_node_stats stats = net_node_stats(node);
  return (struct st_node_stats){.relation = stats.owner,
                                .node = stats.number,
                                .kind = net_node_info(stats.kind)->name,
                                .what = stats.what,
                                .inputs = inputs_of(arena, &stats),
                                .fires = (int64_t)stats.fires,
                                .rows_in = (int64_t)stats.rows_in,
                                .rows_out = (int64_t)stats.rows_out,
                                .time_ns = (int64_t)stats.time_ns,
                                .state_rows = (int64_t)stats.state_rows,
                                .state_rows_max = (int64_t)stats.state_rows_max,
                                .state_bytes = (int64_t)stats.state_bytes,
                                .state_bytes_max = (int64_t)stats.state_bytes_max};
}

/* --- writing */

void session_forget_node_stats(struct tql_session *session) {
  free(session->saved_fires);
  session->saved_fires = NULL;
}

/* The relations that have nodes in NETWORK have others now. */
static enum base_status clear_owners(struct tql_session *session,
                                     const struct net_network *network) {
  const char *last = "";
  enum base_status status = BASE_OK;
  for (const struct net_node *node = net_network_first(network); node != NULL && status == BASE_OK;
       node = net_node_next(node)) {
    const char *owner = net_node_stats(node).owner;
    if (strcasecmp(owner, last) != 0) status = st_node_stats_clear(session->database, owner);
    last = owner;
  }
  return status;
}

/* Each relation in the live network has a sink for displays (live.c): one that nobody looks at is not shown. */
static bool is_idle_display(struct tql_session *session, const struct net_node *node) {
  const struct net_node_stats stats = net_node_stats(node);
  if (stats.kind != NET_NODE_DISPLAY) return false;
  const struct session_relation *relation = session_find(session, stats.owner);
  return relation != NULL && !session_is_displayed(session, relation);
}

/* FIRES: as many as when each node was written last, and then as many as now; NULL: none was. */
static enum base_status save(struct tql_session *session, const struct net_network *network,
                             uint64_t *fires) {
  struct base_arena *arena = base_arena_new();
  struct st_node_stats *stats =
      BASE_NEW_ARRAY(arena, net_node_count(network), struct st_node_stats);
  size_t count = 0, index = 0;
  for (const struct net_node *node = net_network_first(network); node != NULL;
       node = net_node_next(node), index++) {
    uint64_t now = net_node_fires(node);
    if ((fires != NULL && fires[index] == now) || is_idle_display(session, node)) continue;
    if (fires != NULL) fires[index] = now;
    stats[count++] = figures_of(arena, node);
  }
  enum base_status status = st_node_stats_save(session->database, stats, count);
  base_arena_free(arena);
  return status;
}

enum base_status session_save_node_stats(struct tql_session *session) {
  if (session->live == NULL || session->options.readonly) return BASE_OK;
  if (session->saved_fires == NULL) {
    size_t count = net_node_count(session->live);
    session->saved_fires = base_xcalloc(count + 1, sizeof *session->saved_fires);
    for (size_t i = 0; i < count; i++) session->saved_fires[i] = UINT64_MAX;
    enum base_status status = clear_owners(session, session->live);
    if (status != BASE_OK) return status;
  }
  return save(session, session->live, session->saved_fires);
}

enum base_status session_keep_node_stats(struct tql_session *session,
                                         const struct net_network *network) {
  session_forget_node_stats(session); /* if it was live, its rows are others now */
  enum base_status status = clear_owners(session, network);
  return status == BASE_OK ? save(session, network, NULL) : status;
}

/* --- showing */

struct listing {
  struct st_node_stats *items;
  size_t count, capacity;
};

static void list(struct listing *listing, const struct st_node_stats *stats, const char *name) {
  if (name != NULL && strcasecmp(name, stats->relation) != 0) return;
  base_grow(&listing->items, &listing->capacity, listing->count + 1, sizeof *listing->items);
  listing->items[listing->count++] = *stats;
}

static bool has_live_nodes(const struct tql_session *session, const char *relation) {
  const struct net_node *node = session->live ? net_network_first(session->live) : NULL;
  while (node != NULL && strcasecmp(net_node_stats(node).owner, relation) != 0)
    node = net_node_next(node);
  return node != NULL;
}

static int by_place(const void *a, const void *b) {
  const struct st_node_stats *x = a, *y = b;
  int order = strcasecmp(x->relation, y->relation);
  return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

static void print(const struct listing *listing, struct base_arena *arena,
                  struct base_buffer *out) {
  struct ng_figures *rows = BASE_NEW_ARRAY(arena, listing->count, struct ng_figures);
  for (size_t i = 0; i < listing->count; i++) {
    const struct st_node_stats *stats = &listing->items[i];
    rows[i] = (struct ng_figures){.relation = stats->relation,
                                  .number = (unsigned)stats->node,
                                  .kind = stats->kind,
                                  .inputs = stats->inputs,
                                  .what = stats->what,
                                  .ran = true,
                                  .fires = (uint64_t)stats->fires,
                                  .rows_in = (uint64_t)stats->rows_in,
                                  .rows_out = (uint64_t)stats->rows_out,
                                  .time_ns = (uint64_t)stats->time_ns,
                                  .state_rows = (uint64_t)stats->state_rows,
                                  .state_rows_max = (uint64_t)stats->state_rows_max,
                                  .state_bytes = (uint64_t)stats->state_bytes,
                                  .state_bytes_max = (uint64_t)stats->state_bytes_max};
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  ng_figures_print(rows, listing->count, &text);
  base_buffer_printable_lines(out, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
}

bool tql_session_describe_nodes(struct tql_session *session, const char *name,
                                struct base_buffer *out) {
  if (name != NULL && session_find(session, name) == NULL) return false;
  struct base_arena *arena = base_arena_new();
  struct listing listing = {0};
  struct st_node_stats *written = NULL;
  size_t count = 0;
  enum base_status status = st_node_stats_load(session->database, arena, &written, &count);
  for (size_t i = 0; status == BASE_OK && i < count; i++)
    if (!has_live_nodes(session, written[i].relation)) list(&listing, &written[i], name);
  for (const struct net_node *node = session->live ? net_network_first(session->live) : NULL;
       node != NULL; node = net_node_next(node)) {
    if (is_idle_display(session, node)) continue;
    struct st_node_stats stats = figures_of(arena, node);
    list(&listing, &stats, name);
  }
  if (listing.count > 0) {
    qsort(listing.items, listing.count, sizeof *listing.items, by_place);
    print(&listing, arena, out);
  }
  free(listing.items);
  base_arena_free(arena);
  return true;
}
