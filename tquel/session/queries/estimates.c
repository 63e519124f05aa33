/* What rules are told of the relations' contents, so that they choose the cheaper of equal plans: how many
 * tuples each has, and what share of its rows a selection let pass when it ran last (tq_node_stats). Where
 * the access node below it asked for no others than those (access-control), next to all that came to the
 * selection passed: then it is the share of the relation's tuples.
 *
 * Guesses: where the catalogue does not say, or cannot be read, nothing is known.                    */
#include <stdlib.h>
#include <string.h>

#include "tquel/session/queries/queries.h"
#include "tquel/session/session_impl.h"

static double tuples(void *context, const struct ng_relation *ng) {
  struct tql_session *session = context;
  const struct session_relation *relation = session_of(session, ng);
  int64_t count;
  if (relation == NULL || relation->view ||
      st_count(session->database, relation->ng.name, &count) != BASE_OK)
    return -1;
  return (double)count;
}

/* The access node that NODE reads from and that left out tuples; NULL: there is none. */
static const struct st_node_stats *picky_input(const struct st_node_stats *stats, size_t count,
                                               const struct st_node_stats *node) {
  const char *dot = strrchr(node->inputs, '.'), *number = dot ? dot + 1 : node->inputs;
  size_t length = dot ? (size_t)(dot - node->inputs) : strlen(node->relation);
  const char *relation = dot ? node->inputs : node->relation;
  for (size_t i = 0; i < count; i++) {
    if (strlen(stats[i].relation) == length && strncmp(stats[i].relation, relation, length) == 0 &&
        stats[i].node == strtoll(number, NULL, 10))
      return strcmp(stats[i].kind, "access") == 0 && strstr(stats[i].what, "; only ") ? &stats[i]
                                                                                      : NULL;
  }
  return NULL;
}

/* How many tuples the relation of ACCESS has; its text begins with the name. */
static double tuples_below(struct tql_session *session, struct base_arena *arena,
                           const struct st_node_stats *access) {
  int64_t count;
  char *name = base_arena_strndup(arena, access->what, strcspn(access->what, " ,:;"));
  return st_count(session->database, name, &count) == BASE_OK ? (double)count : 0;
}

static bool share(void *context, const char *condition, double *ret) {
  struct tql_session *session = context;
  struct base_arena *arena = base_arena_new();
  struct st_node_stats *stats = NULL;
  size_t count = 0;
  bool found = false;
  if (st_node_stats_load(session->database, arena, &stats, &count) != BASE_OK) count = 0;
  for (size_t i = 0; i < count && !found; i++) {
    if (stats[i].rows_in <= 0 || strcmp(stats[i].kind, "selection") != 0 ||
        strcmp(stats[i].what, condition) != 0)
      continue;
    const struct st_node_stats *access = picky_input(stats, count, &stats[i]);
    double all = access ? tuples_below(session, arena, access) : (double)stats[i].rows_in;
    if (all <= 0) continue;
    *ret = (double)stats[i].rows_out < all ? (double)stats[i].rows_out / all : 1;
    found = true;
  }
  base_arena_free(arena);
  return found;
}

/* How far the checkpoint of a result comes depends on the order of the products: it must not depend on
 * how many tuples there were when it was computed, unless nothing is to come. */
static bool is_all_there(const struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    if (!relation->view && (relation->checkpoint != NET_FOREVER || relation->waiting.has_pending))
      return false;
  }
  return true;
}

static bool depends(void *context, const struct ng_relation *relation,
                    const struct ng_relation *on) {
  struct tql_session *session = context;
  struct session_relation *reader = session_find(session, relation->name),
                          *of = session_find(session, on->name);
  return reader != NULL && of != NULL && session_depends(session, reader, of);
}

void session_set_depends(struct tql_session *session, struct ng_plan *plan) {
  ng_plan_set_depends(plan, depends, session);
}

enum base_status session_transform(struct tql_session *session, struct ng_plan *plan, bool kept) {
  struct ng_statistics statistics = {.context = session, .tuples = tuples, .share = share};
  if (!kept && is_all_there(session)) ng_plan_set_statistics(plan, &statistics);
  session_set_depends(session, plan);
  enum base_status status = ng_plan_transform(
      plan, kept ? &session->seats[0]->switches : &session->seat->switches, session->diags);
  ng_plan_set_statistics(plan, NULL);
  return status;
}
