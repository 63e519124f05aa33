/* help: a relation, a topic, or the list of topics. */
#include <string.h>
#include <strings.h>

#include "tquel/session/session_impl.h"

struct topic {
  const char *name, *text;
};

static const struct topic topics[] = {
    {"statements",
     "create event R (d = i4, ...)           an event relation\n"
     "create period R (d = c20, ...)         a period relation\n"
     "create traced R (...) by D             events shown as periods, one at a time per D\n"
     "create R (...)                         a snapshot relation, valid for ever\n"
     "range of V is R                        V stands for the tuples of R\n"
     "retrieve (...) where ... when ...      prints the result\n"
     "retrieve into NAME (...) ...           defines a derived relation and keeps it up to date\n"
     "append to R (d = 1, ...) at T          adds a tuple; start T stop T for periods\n"
     "copy R from \"FILE\"                     loads .csv or .ndjson; copy R into \"FILE\" writes\n"
     "copy R from \"FILE\" following within D  reads on as the file, FIFO or \"-\" grows\n"
     "display NAME, ...   print NAME         prints; display goes on while a feed runs\n"
     "checkpoint T [for R]                   no tuple before T will follow\n"
     "explain retrieve ...                   the update network, before and after the rules\n"
     "destroy NAME, ...   help [NAME]   set NAME VALUE\n"},
    {"retrieve",
     "retrieve [unique] [[into] NAME] (name = expression, V.domain, V.all, ...)\n"
     "  where CONDITION       over domains; unknown gives a tuple that is not definite\n"
     "  when TEMPORAL         A ; B  A before B      A , B  they overlap      A | B  either\n"
     "                        A precede B   A equal B   A contain B   and or not\n"
     "  start EVENT stop EVENT | at EVENT | valid from EVENT to EVENT | valid at EVENT\n"
     "Without when and start/stop, the result is valid while all tuples are.\n"},
    {"aggregates",
     "count(V ...)  any(V ...)        of the tuples valid at each instant\n"
     "countc(V ...) avgc(V ...)       of all tuples so far; avgc is averaged over time\n"
     "Inside: an expression or the variable, by E, ..., where CONDITION.\n"},
    {"set",
     "set checkpoint manual | auto           manual: rows wait for checkpoint T\n"
     "set parallel overlap | coverage        what `,` means\n"
     "set origin T      set averaging origin T\n"
     "set unit D                             of integers in temporal expressions\n"
     "set rule NAME on | off                 help rules lists them\n"
     "set durable every D                    how often feeds are committed (200 ms)\n"
     "set future limit D                     stamps further ahead are rejected (1 hour)\n"
     "set unbounded allowed | refused\n"},
};

enum base_status session_help(struct tql_session *session, const struct tql_statement *statement) {
  const char *topic = statement->topic ? statement->topic : statement->name.text;
  if (topic == NULL) {
    session_say(session, "help NAME shows a relation; help \"TOPIC\" one of:");
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
      session_say(session, " %s", topics[i].name);
    session_say(session, " rules\n");
    return BASE_OK;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  bool found = false;
  if (statement->topic == NULL) found = tql_session_describe(session, topic, &text);
  if (!found && strcasecmp(topic, "rules") == 0) {
    found = true;
    for (int rule = 0; rule < NG_RULES; rule++) {
      const struct ng_rule_info *info = ng_rule_info((enum ng_rule)rule);
      base_buffer_printf(&text, "%-18s %-3s  %s\n", info->name,
                         session->switches.off[rule] ? "off" : "on", info->what);
    }
  }
  for (size_t i = 0; !found && i < sizeof topics / sizeof *topics; i++)
    if (strcasecmp(topic, topics[i].name) == 0) {
      found = true;
      base_buffer_puts(&text, topics[i].text);
    }
  if (found) session_say(session, "%s", base_buffer_text(&text));
  base_buffer_done(&text);
  if (found) return BASE_OK;
  if (statement->topic == NULL) {
    struct session_scope scope;
    session_scope_init(&scope, session, NULL);
    struct tql_analysis analysis = session_analysis(session, &scope);
    if (tql_analyse_relation(&analysis, &statement->name) == NULL) return BASE_USER;
  }
  base_report_hint(session->diags, MSG_UNKNOWN_TOPIC, session->source, &statement->range,
                   "help alone lists the topics", "there is no help on \"%s\"", topic);
  return BASE_USER;
}
