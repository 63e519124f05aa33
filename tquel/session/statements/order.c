/* sort by, limit, offset of a statement that shows a result: which columns are meant, and that the rows follow.
 *
 * Keys are elements of the result, by name or, as people write them, as V.DOMAIN where the target list has that. */
#include <strings.h>

#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

struct resolving {
  struct tql_session *session;
  const struct tql_statement *statement;
  const struct net_layout *layout;
};

static bool refuse(const struct resolving *resolving, const struct tql_sort_key *key,
                   const char *hint, const char *what) {
  struct tql_session *session = resolving->session;
  base_report_hint(session->diags, MSG_SORT_KEY, session->source, &key->range, hint, "%s", what);
  return false;
}

static int field_named(const struct net_layout *layout, const char *name) {
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (strcasecmp(layout->fields[i].name, name) == 0) return (int)i;
  return -1;
}

/* The name of the element that is V.DOMAIN; NULL: there is none. */
static const char *name_of_domain(const struct resolving *resolving,
                                  const struct tql_sort_key *key) {
  const struct tql_target_list *targets = &resolving->statement->targets;
  for (size_t i = 0; i < targets->count; i++) {
    const struct tql_target *target = &targets->items[i];
    const struct tql_expr *expr = target->expr;
    bool all = expr->kind == TQL_E_ALL;
    if (expr->kind != TQL_E_DOMAIN && !all) continue;
    if (strcasecmp(expr->name.text, key->of.text) != 0) continue;
    if (all && field_named(resolving->layout, key->name.text) >= 0) return key->name.text;
    if (all || strcasecmp(expr->member.text, key->name.text) != 0) continue;
    return target->name.text != NULL ? target->name.text : expr->member.text;
  }
  return NULL;
}

static bool refuse_unknown(const struct resolving *resolving, const struct tql_sort_key *key) {
  struct tql_session *session = resolving->session;
  struct base_near near = base_near_to(key->name.text);
  const struct net_layout *layout = resolving->layout;
  for (uint32_t i = 0; i < layout->field_count; i++) base_near_offer(&near, layout->fields[i].name);
  const char *hint = near.nearest != NULL ? base_arena_printf(session->statement_arena,
                                                              "did you mean %s?", near.nearest)
                                          : "put it into the target list";
  return refuse(
      resolving, key, hint,
      base_arena_printf(session->statement_arena, "the result has no element %s%s%s",
                        key->of.text ? key->of.text : "", key->of.text ? "." : "", key->name.text));
}

static bool resolve_element(const struct resolving *resolving, const struct tql_sort_key *key,
                            int *ret) {
  const char *name = key->of.text != NULL ? name_of_domain(resolving, key) : key->name.text;
  *ret = name != NULL ? field_named(resolving->layout, name) : -1;
  if (*ret < 0) return refuse_unknown(resolving, key);
  if (resolving->layout->fields[*ret].type.base != NET_TEMPORAL) return true;
  return refuse(
      resolving, key,
      "sort by another element, or by start; how long a tuple V lasts is a number as span(V)",
      base_arena_printf(resolving->session->statement_arena,
                        "%s is a function of time, and has no order", name));
}

static bool resolve(const struct resolving *resolving, const struct tql_sort_key *key, int *ret) {
  enum net_tuple_class class = resolving->layout->tuple_class;
  if (key->kind == TQL_SORT_ELEMENT) return resolve_element(resolving, key, ret);
  if (resolving->layout->timeless)
    return refuse(resolving, key, "sort by an element of the target list", "a summary has no time");
  if (class == NET_PERIOD && key->kind == TQL_SORT_AT)
    return refuse(resolving, key, "write start or stop",
                  "the result has periods, which have no at");
  if (class == NET_EVENT && key->kind == TQL_SORT_STOP)
    return refuse(resolving, key, "write at", "the result has events, which have no stop");
  *ret = key->kind == TQL_SORT_STOP ? TQL_SORT_BY_STOP : TQL_SORT_BY_START;
  return true;
}

static bool resolve_all(const struct resolving *resolving, const struct tql_sort_key *keys,
                        size_t count, const struct tql_sort_column **ret) {
  struct base_arena *arena = resolving->session->statement_arena;
  struct tql_sort_column *columns = BASE_NEW_ARRAY(arena, count + 1, struct tql_sort_column);
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    columns[i].descending = keys[i].descending;
    good = resolve(resolving, &keys[i], &columns[i].field) && good;
  }
  *ret = columns;
  return good;
}

enum base_status session_analyse_order(struct tql_session *session,
                                       const struct tql_statement *statement,
                                       const struct net_layout *layout, struct tql_sort *ret) {
  const struct tql_order *order = statement->order;
  struct resolving resolving = {session, statement, layout};
  *ret = (struct tql_sort){.key_count = order->key_count,
                           .group_count = order->group_count,
                           .limit = order->limit,
                           .group_limit = order->group_limit,
                           .offset = order->offset};
  bool good = resolve_all(&resolving, order->keys, order->key_count, &ret->keys);
  good = resolve_all(&resolving, order->groups, order->group_count, &ret->groups) && good;
  return good ? BASE_OK : BASE_USER;
}

bool session_refuse_order(struct tql_session *session, const struct tql_statement *statement,
                          const char *name) {
  if (statement->order == NULL) return false;
  base_report_hint(session->diags, MSG_SORT_STORED, session->source, &statement->order->range,
                   base_arena_printf(session->statement_arena, "write: print %s sort by ...", name),
                   "%s is stored, and a stored relation is a set: it has no order", name);
  return true;
}

static void note_ties(struct tql_session *session, const struct tql_sort *sort, size_t ties) {
  const char *one = sort->group_limit >= 0 ? "those that are shown" : "the last one";
  base_report_hint(session->diags, MSG_SORT_TIES, session->source,
                   &session->statement->order->range, "sort by more, or raise the limit",
                   "%zu row%s left out %s equal to %s in what the result is sorted by", ties,
                   ties == 1 ? "" : "s", ties == 1 ? "is" : "are", one);
}

enum base_status session_order_rows(struct tql_session *session, struct tql_rows *rows) {
  const struct tql_statement *statement = session->statement;
  if (statement == NULL || statement->order == NULL) return BASE_OK;
  struct tql_sort sort;
  size_t ties = 0;
  enum base_status status = session_analyse_order(session, statement, rows->rows.layout, &sort);
  if (status == BASE_OK) status = tql_rows_sort(rows, &sort, session->strings, &ties);
  if (status == BASE_OK && ties > 0) note_ties(session, &sort, ties);
  return status;
}
