/* help: a relation, a topic, the optimiser's rules, or the list of topics.
 *
 * The topics are the sections of the manual page tquel(7): their text is made from it when the program
 * is built (tquel/man/topics.awk), so there is one text. Only what the running program knows better is
 * put together here: relations, and which rules are on. A name that is a relation's and a topic's
 * means the relation; in quotes it means the topic.                                               */
#include <string.h>
#include <strings.h>

#include "tquel/session/help_topics.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

#define WIDTH 78

/* Is WORD one of NAMES, which are parted by blanks? */
static bool is_among(const char *names, const char *word) {
  size_t length = strlen(word);
  while (*names) {
    size_t here = strcspn(names, " ");
    if (here == length && strncasecmp(names, word, length) == 0) return true;
    names += here;
    names += strspn(names, " ");
  }
  return false;
}

static const struct session_help_topic *find_topic(const char *word) {
  for (size_t i = 0; i < session_help_topic_count; i++)
    if (is_among(session_help_topics[i].names, word)) return &session_help_topics[i];
  return NULL;
}

/* --- lists of topics --------------------------------------------------------------------------- */

/* Appends the topics of SECTION but for EXCEPT, by their first names, in lines. */
static void list_section(struct base_buffer *out, const char *section,
                         const struct session_help_topic *except) {
  size_t column = 0;
  for (size_t i = 0; i < session_help_topic_count; i++) {
    const struct session_help_topic *topic = &session_help_topics[i];
    if (topic == except || strcmp(topic->section, section) != 0) continue;
    size_t length = strcspn(topic->names, " ");
    if (column > 0 && column + 1 + length > WIDTH) {
      base_buffer_putc(out, '\n');
      column = 0;
    }
    base_buffer_puts(out, column > 0 ? " " : "  ");
    base_buffer_append(out, topic->names, length);
    column += length + (column > 0 ? 1 : 2);
  }
  if (column > 0) base_buffer_putc(out, '\n');
}

static void list_topics(struct base_buffer *out) {
  base_buffer_puts(out,
                   "help NAME describes a relation, help \"TOPIC\" shows a section of the manual, "
                   "tquel(7):\n");
  const char *section = "";
  for (size_t i = 0; i < session_help_topic_count; i++) {
    if (strcmp(session_help_topics[i].section, section) == 0) continue;
    section = session_help_topics[i].section;
    base_buffer_printf(out, "%s\n", section);
    list_section(out, section, NULL);
  }
  base_buffer_puts(out,
                   "help rules lists the optimiser's rules, tquel help messages the errors.\n");
}

static void append_topic(struct base_buffer *out, const struct session_help_topic *topic) {
  base_buffer_printf(out, "%s\n\n%s", topic->title, topic->text);
  if (strcmp(topic->title, topic->section) != 0) return;
  struct base_buffer more = BASE_BUFFER_EMPTY;
  list_section(&more, topic->section, topic);
  if (more.length) base_buffer_printf(out, "\nMore topics:\n%s", more.data);
  base_buffer_done(&more);
}

/* --- the statement ----------------------------------------------------------------------------- */

static void list_rules(struct base_buffer *out, const struct tql_session *session) {
  for (int rule = 0; rule < NG_RULES; rule++) {
    const struct ng_rule_info *info = ng_rule_info((enum ng_rule)rule);
    base_buffer_printf(out, "%-20s %-3s  %s\n", info->name,
                       session->seat->switches.off[rule] ? "off" : "on", info->what);
  }
}

static void offer_topics(struct base_arena *arena, struct base_near *near) {
  for (size_t i = 0; i < session_help_topic_count; i++) {
    const char *at = session_help_topics[i].names;
    while (*at) {
      size_t length = strcspn(at, " ");
      base_near_offer(near, base_arena_strndup(arena, at, length));
      at += length;
      at += strspn(at, " ");
    }
  }
  base_near_offer(near, "rules");
}

/* WORD is the name of a topic, or, without quotes, that of a relation or of the rules. */
static void report_unknown(struct tql_session *session, const struct tql_statement *statement,
                           const char *word) {
  struct base_arena *arena = base_arena_new();
  struct base_near to = base_near_to(word);
  bool quoted = statement->topic != NULL;
  offer_topics(arena, &to);
  if (!quoted) {
    struct session_scope scope;
    session_scope_init(&scope, session, NULL);
    struct tql_analysis analysis = session_analysis(session, &scope);
    analysis.scope->each_relation(analysis.scope->context, base_near_offer, &to);
  }
  const char *near = ng_rule_find(word) >= 0 ? "rules" : to.nearest;
  const char *quote = find_topic(near ? near : "") ? "\"" : "";
  base_report_hint(session->diags, quoted ? MSG_UNKNOWN_TOPIC : MSG_UNKNOWN_RELATION,
                   session->source, quoted ? &statement->range : &statement->name.range,
                   near ? base_arena_printf(arena, "did you mean %s%s%s?", quote, near, quote)
                        : "help alone lists the topics",
                   quoted ? "there is no help on \"%s\"" : "there is no relation %s", word);
  base_arena_free(arena);
}

/* Explained, it is enough that there is a relation NAME. */
static bool describe(struct tql_session *session, const char *name, struct base_buffer *out) {
  if (!session->options.explain_only) return tql_session_describe(session, name, out);
  return session_find(session, name) != NULL || session_make_mentioned(session, name) != NULL;
}

enum base_status session_help(struct tql_session *session, const struct tql_statement *statement) {
  const char *word = statement->topic ? statement->topic : statement->name.text;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  size_t errors = session->diags->errors;
  bool found = true;
  if (word == NULL) {
    list_topics(&text);
  } else if (statement->topic == NULL && describe(session, word, &text)) {
    /* a relation */
  } else if (strcasecmp(word, "rules") == 0) {
    list_rules(&text, session);
  } else {
    const struct session_help_topic *topic = find_topic(word);
    if (topic)
      append_topic(&text, topic);
    else
      found = false;
  }
  if (found && !session->options.explain_only) session_say(session, "%s", base_buffer_text(&text));
  base_buffer_done(&text);
  /* The file could not be read: what is wrong has been said. */
  if (found) return session->diags->errors > errors ? BASE_SYSTEM : BASE_OK;
  report_unknown(session, statement, word);
  return BASE_USER;
}
