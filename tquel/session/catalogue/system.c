/* The relations of the system itself: made when the first tuple comes, or when somebody names them. */
#include <strings.h>

#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/session_impl.h"

static const struct st_domain diverted_domains[] = {
    {"relation", {NET_STRING, 0}}, {"reason", {NET_STRING, 0}}, {"record", {NET_STRING, 0}}};
static const struct st_domain lost_domains[] = {{"relation", {NET_STRING, 0}},
                                                {"source", {NET_STRING, 0}},
                                                {"cause", {NET_STRING, 0}},
                                                {"count", {NET_INTEGER, 8}}};
static const struct st_domain cost_domains[] = {
    {"Relation", {NET_STRING, 0}}, {"Process", {NET_STRING, 0}}, {"Cost", {NET_INTEGER, 8}}};

/* The system's relations, as they are made. */
static const struct st_relation system_relations[] = {
    {.name = "Late", .kind = ST_EVENT, .domains = diverted_domains, .domain_count = 3},
    {.name = "Rejected", .kind = ST_EVENT, .domains = diverted_domains, .domain_count = 3},
    {.name = "Lost", .kind = ST_PERIOD, .domains = lost_domains, .domain_count = 4},
    {.name = "SensorCost", .kind = ST_EVENT, .domains = cost_domains, .domain_count = 3},
    {.name = "Clock", .kind = ST_EVENT}, /* pace.c */
};

static const struct st_relation *system_relation(const char *name) {
  for (size_t i = 0; i < sizeof system_relations / sizeof *system_relations; i++)
    if (strcasecmp(system_relations[i].name, name) == 0) return &system_relations[i];
  return NULL;
}

bool session_is_system_name(const char *name) {
  return system_relation(name) != NULL;
}

bool session_is_as_made(const struct st_relation *relation) {
  const struct st_relation *made = system_relation(relation->name);
  if (made == NULL) return true;
  if (relation->kind != made->kind || relation->domain_count != made->domain_count) return false;
  for (size_t i = 0; i < made->domain_count; i++)
    if (strcasecmp(relation->domains[i].name, made->domains[i].name) != 0 ||
        relation->domains[i].type.base != made->domains[i].type.base)
      return false;
  return true;
}

struct session_relation *session_system_relation(struct tql_session *session, const char *name) {
  struct session_relation *found = session_find(session, name);
  if (found != NULL) return found;
  const struct session_unusable *unusable = session_find_unusable(session, name);
  if (unusable != NULL) {
    base_report(session->diags, MSG_RELATION_UNUSABLE, NULL, NULL, "%s is unusable: %s",
                unusable->name, unusable->why);
    return NULL;
  }
  struct st_relation relation = *system_relation(name);
  relation.checkpoint = NET_FOREVER;
  if (!session->options.explain_only && st_create(session->database, &relation) != BASE_OK)
    return NULL;
  found = session_add_relation(session, &relation);
  found->scripted = session->options.explain_only;
  return found;
}

struct session_relation *session_make_mentioned(struct tql_session *session, const char *name) {
  const struct tql_session_options *options = &session->options;
  if (!session_is_system_name(name) || options->readonly || session_find_unusable(session, name))
    return NULL;
  if (options->explain_only) return session_system_relation(session, name);
  bool own = !st_in_transaction(session->database);
  if (own && st_begin(session->database) != BASE_OK) return NULL;
  struct session_relation *made = session_system_relation(session, name);
  if (own && made != NULL && st_commit(session->database) != BASE_OK) made = NULL;
  if (own && made == NULL) st_rollback(session->database);
  return made;
}
