/* Does the catalogue make sense? Asked each time it is read from the file.
 *
 * The tables' own constraints keep most nonsense out; what is left is what somebody's SQL, or a disk,
 * can have done: a derived relation without a definition, a traced one without its entity, two
 * relations or domains of one name, a definition that reads what was defined after it (so that no
 * order of computing would be right, and following it would not end). Everything above counts on
 * what is checked here; data in the tables is checked where it is read. */
#include <string.h>

#include "storage/internal.h"

static bool is_derived(const struct st_relation *relation) {
  return relation->kind == ST_DERIVED_EVENT || relation->kind == ST_DERIVED_PERIOD;
}

static bool has_good_domains(const struct st_relation *relation) {
  for (size_t i = 0; i < relation->domain_count; i++) {
    const char *name = relation->domains[i].name;
    if (*name == '\0') return false;
    for (size_t j = 0; j < i; j++)
      if (sqlite3_stricmp(relation->domains[j].name, name) == 0) return false;
  }
  bool by_entity = relation->kind == ST_TRACED || relation->kind == ST_SAMPLED;
  if (!by_entity) return relation->by == -1;
  return relation->by >= 0 && (size_t)relation->by < relation->domain_count &&
         relation->domains[relation->by].type.base != NET_TEMPORAL;
}

/* RELATIONS in the order in which they were made. */
static bool is_consistent(const struct st_relation *relations, size_t which, size_t count) {
  const struct st_relation *relation = &relations[which];
  if (*relation->name == '\0' || !has_good_domains(relation)) return false;
  if (is_derived(relation) && relation->definition == NULL) return false;
  for (size_t i = 0; i < which; i++)
    if (sqlite3_stricmp(relations[i].name, relation->name) == 0) return false;
  for (size_t i = 0; i < relation->input_count; i++)
    for (size_t later = which; later < count; later++)
      if (sqlite3_stricmp(relations[later].name, relation->inputs[i]) == 0) return false;
  return true;
}

const char *st_inconsistent(const struct st_relation *relations, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!is_consistent(relations, i, count)) return relations[i].name;
  return NULL;
}
