/* create: a new relation from its definition. Checks names, types and `by`; nothing is stored. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static bool bind_domain(const struct tql_analysis *analysis, const struct tql_statement *statement,
                        size_t index, struct net_field *fields) {
  const struct tql_domain_def *domain = &statement->domains[index];
  bool fits = tql_check_domain_name(analysis, domain->name.text, domain->name.range);
  for (size_t i = 0; i < index; i++)
    if (tql_same_name(statement->domains[i].name.text, domain->name.text)) {
      base_report(analysis->diags, MSG_DUPLICATE_DOMAIN, analysis->source, &domain->name.range,
                  "there are two domains called %s", domain->name.text);
      fits = false;
      break;
    }
  fields[index].name = domain->name.text;
  if (!net_type_parse(domain->type.text, &fields[index].type)) {
    base_report_hint(
        analysis->diags, MSG_UNKNOWN_TYPE, analysis->source, &domain->type.range,
        "the types are i1 i2 i4 i8 f4 f8 cN (as c20) text bytes bool name instant duration",
        "there is no type %s", domain->type.text);
    return false;
  }
  if (fields[index].type.base == NET_TEMPORAL) {
    base_report_hint(analysis->diags, MSG_UNKNOWN_TYPE, analysis->source, &domain->type.range,
                     "temporal values come from duration and avgc",
                     "only derived relations have temporal domains");
    return false;
  }
  return fits;
}

/* The domains that by lists, each once. */
static bool bind_key(const struct tql_analysis *analysis, const struct tql_statement *statement,
                     const struct ng_relation *shown, struct net_key *ret) {
  uint32_t *fields = BASE_NEW_ARRAY(analysis->arena, statement->name_count, uint32_t);
  *ret = (struct net_key){fields, 0};
  for (size_t i = 0; i < statement->name_count; i++) {
    const struct tql_name *name = &statement->names[i];
    int field = tql_find_domain(analysis, shown, shown->layout, name);
    if (field < 0) return false;
    if (net_key_has(ret, (uint32_t)field)) {
      base_report(analysis->diags, MSG_KEY_TWICE, analysis->source, &name->range,
                  "by names the domain %s twice", name->text);
      return false;
    }
    fields[ret->count++] = (uint32_t)field;
  }
  return true;
}

static bool bind_by(const struct tql_analysis *analysis, const struct tql_statement *statement,
                    const struct ng_relation *shown, struct net_key *ret) {
  bool traced = statement->relation_kind == TQL_TRACED;
  bool has = traced || statement->relation_kind == TQL_SAMPLED, given = statement->name_count > 0;
  if (!given && !has) return true;
  if (!given) {
    const char *kind = traced ? "traced" : "sampled";
    struct base_diag *diag =
        base_report(analysis->diags, MSG_CLAUSES, analysis->source, &statement->range,
                    "by says whose records they are; a %s relation needs it", kind);
    tql_set_hint(diag, "write: create %s NAME (...) by DOMAIN, ...", kind);
    return false;
  }
  if (!has) {
    base_report_hint(analysis->diags, MSG_CLAUSES, analysis->source, &statement->names[0].range,
                     "write: create traced NAME (...) by DOMAIN, ...",
                     "by belongs to traced and sampled relations");
    return false;
  }
  return bind_key(analysis, statement, shown, ret);
}

static enum ng_relation_kind kind_of(enum tql_relation_kind kind) {
  switch (kind) {
    case TQL_SNAPSHOT:
      return NG_REL_SNAPSHOT;
    case TQL_EVENT:
      return NG_REL_EVENT;
    case TQL_PERIOD:
      return NG_REL_PERIOD;
    case TQL_TRACED:
      return NG_REL_TRACED;
    case TQL_SAMPLED:
      return NG_REL_SAMPLED;
  }
  return NG_REL_SNAPSHOT;
}

enum base_status tql_analyse_create(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_relation **ret) {
  BASE_CHECK(statement->kind == TQL_S_CREATE, "analyse-create-kind");
  uint32_t count = (uint32_t)statement->domain_count;
  struct net_field *fields = BASE_NEW_ARRAY(analysis->arena, count, struct net_field);
  if (count > NG_LIMIT_TARGETS) {
    base_report_hint(analysis->diags, MSG_TOO_MANY_TARGETS, analysis->source,
                     &statement->domains[NG_LIMIT_TARGETS].name.range,
                     "make several relations, with a domain that says what belongs together",
                     "the relation has %u domains; the limit is %d", count, NG_LIMIT_TARGETS);
    return BASE_USER;
  }
  bool fits = tql_check_new_relation(analysis, &statement->name);
  for (uint32_t i = 0; i < count; i++) fits = bind_domain(analysis, statement, i, fields) && fits;
  if (!fits) return BASE_USER;

  struct ng_relation *relation = BASE_NEW(analysis->arena, struct ng_relation);
  relation->name = base_arena_strdup(analysis->arena, statement->name.text);
  relation->kind = kind_of(statement->relation_kind);
  bool event = relation->kind == NG_REL_EVENT;
  relation->layout = net_layout_new(analysis->arena, event ? NET_EVENT : NET_PERIOD, fields, count);
  if (relation->kind == NG_REL_TRACED || relation->kind == NG_REL_SAMPLED)
    relation->records = net_layout_new(analysis->arena, NET_EVENT, fields, count);
  if (!bind_by(analysis, statement, relation, &relation->by)) return BASE_USER;
  *ret = relation;
  return BASE_OK;
}
