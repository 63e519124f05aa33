/* set rule NAME on | off: by which rules queries are rewritten, of the session itself also those that stand. */
#include <strings.h>

#include "tquel/session/live/live.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

static enum base_status report_unknown_rule(struct tql_session *session,
                                            const struct tql_statement *statement,
                                            const char *name) {
  struct base_near near = base_near_to(name);
  for (int i = 0; i < NG_RULES; i++) base_near_offer(&near, ng_rule_info((enum ng_rule)i)->name);
  base_near_offer(&near, "all");
  char *hint = near.nearest ? base_arena_printf(session->arena, "did you mean %s?", near.nearest)
                            : base_arena_strdup(session->arena, "help rules lists them");
  base_report_hint(session->diags, MSG_UNKNOWN_RULE, session->source,
                   statement->name.text ? &statement->name.range : &statement->range, hint,
                   "there is no rule %s", name);
  return BASE_USER;
}

/* RULE: NULL, all. Results do not show by which rules the standing queries are planned, so it is said: by those of the session that
 * keeps them, which of a server is none of its users'. */
static void tell_rules(struct tql_session *session, const struct tql_statement *statement,
                       const char *rule, bool on) {
  size_t count = 0;
  for (size_t i = 0; i < session->relation_count; i++)
    count += session_stands(session, session->relations[i]);
  if (count == 0 || session->options.explain_only) return;
  const char *queries = count == 1 ? "query is" : "queries are";
  if (session->seat == session->seats[0])
    base_report(session->diags, MSG_RULES_OF_STANDING, session->source, &statement->range,
                "%zu standing %s planned anew, %s %s", count, queries, on ? "with" : "without",
                rule != NULL ? rule
                : on         ? "all rules"
                             : "any rule");
  else
    base_report_hint(session->diags, MSG_RULES_OF_STANDING, session->source, &statement->range,
                     "explain retrieve into shows by which rules a standing query is planned",
                     "%zu standing %s planned as before: this holds for what you ask yourself",
                     count, queries);
}

/* One rule by its name, or all. */
enum base_status session_set_rule(struct tql_session *session,
                                  const struct tql_statement *statement) {
  const char *name = statement->name.text ? statement->name.text : "";
  bool all = strcasecmp(name, "all") == 0;
  int rule = all ? 0 : ng_rule_find(name);
  if (rule < 0) return report_unknown_rule(session, statement, name);
  bool on;
  enum base_status status = session_choose(session, statement, "off", "on", &on);
  if (status != BASE_OK) return status;
  int end = all ? NG_RULES : rule + 1;
  for (; rule < end; rule++) session->seat->switches.off[rule] = !on;
  if (session->seat == session->seats[0]) session_drop_live(session);
  tell_rules(session, statement, all ? NULL : ng_rule_info((enum ng_rule)(end - 1))->name, on);
  return BASE_OK;
}
