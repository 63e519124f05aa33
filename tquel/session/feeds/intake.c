/* Files that were not made for a relation: what a statement says of their form, several of them as one, and what is
 * said of what was read. */
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sensors/feed/feed.h"
#include "tquel/session/catalogue/catalogue.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

/* --- the form */

static const struct {
  const char *name;
  enum sn_format format;
} formats[] = {{"csv", SN_CSV},         {"tsv", SN_TSV},    {"ndjson", SN_NDJSON},
               {"jsonl", SN_NDJSON},    {"json", SN_JSON},  {"logfmt", SN_LOGFMT},
               {"stanzas", SN_STANZAS}, {"lines", SN_LINES}};

static enum base_status wrong(struct tql_session *session, const struct base_range *range,
                              const char *hint, const char *what) {
  base_report_hint(session->diags, MSG_FILE_FORM, session->source, range, hint, "%s", what);
  return BASE_USER;
}

static const char *known_formats(struct tql_session *session) {
  const char *text = "csv tsv ndjson json logfmt stanzas, lines \"PATTERN\", or a log: ";
  for (size_t i = 0; i < sn_log_count; i++)
    text = base_arena_printf(session->statement_arena, "%s%s%s", text, i > 0 ? " " : "",
                             sn_logs[i].name);
  return text;
}

enum base_status session_said_format(struct tql_session *session, const struct tql_file_form *said,
                                     struct sn_form *form) {
  const struct tql_name *name = &said->format;
  const struct sn_log *log = sn_log_find(name->text);
  form->format = log != NULL ? SN_LINES : SN_GUESS;
  if (log != NULL) form->pattern = log->pattern;
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (strcasecmp(name->text, formats[i].name) == 0) form->format = formats[i].format;
  if (form->format == SN_GUESS)
    return wrong(session, &name->range,
                 base_arena_printf(session->arena, "the forms are %s", known_formats(session)),
                 base_arena_printf(session->statement_arena, "there is no form of files called %s",
                                   name->text));
  bool pattern = form->format == SN_LINES && log == NULL;
  if (pattern && said->how == NULL)
    return wrong(session, &name->range, "lines \"(?<time>\\\\S+) (?<message>.*)\"",
                 "lines are taken apart by a pattern");
  if (pattern) form->pattern = said->how;
  if (pattern || said->how == NULL) return BASE_OK;
  if (form->format != SN_CSV || strlen(said->how) != 1)
    return wrong(session, &name->range, "csv \";\"", "only csv has a separator, of one character");
  form->separator = *said->how;
  return BASE_OK;
}

static enum base_status set_empty(struct tql_session *session, const struct tql_file_form *said,
                                  const struct session_relation *relation, struct sn_form *form) {
  static const char *const words[] = {
      [SN_EMPTY_REFUSE] = "refuse", [SN_EMPTY_DROP] = "drop", [SN_EMPTY_INSTANT] = "instant"};
  if (relation->kind != ST_PERIOD)
    return wrong(session, &said->empty.range, "leave it out",
                 "only records of a period relation have a period");
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(said->empty.text, words[i]) == 0) {
      form->empty = (enum sn_empty)i;
      return BASE_OK;
    }
  return wrong(session, &said->empty.range,
               "empty periods drop, empty periods instant, or empty periods refuse",
               "what is to become of empty periods?");
}

static enum base_status set_mapping(struct tql_session *session, const struct tql_mapping *said,
                                    struct sn_mapping *mapping) {
  static const struct {
    const char *name;
    enum sn_time_form form;
  } units[] = {{"s", SN_TIME_S}, {"ms", SN_TIME_MS}, {"us", SN_TIME_US}, {"ns", SN_TIME_NS}};
  static const enum sn_relative relatives[] = {
      [TQL_FROM_COLUMN] = SN_ITSELF, [TQL_FROM_START] = SN_AFTER, [TQL_FROM_STOP] = SN_BEFORE};
  *mapping = (struct sn_mapping){.target = base_arena_strdup(session->arena, said->target.text),
                                 .number = (uint32_t)said->number,
                                 .relative = relatives[said->from]};
  if (said->column != NULL) mapping->column = base_arena_strdup(session->arena, said->column);
  if (said->like != NULL) mapping->like = base_arena_strdup(session->arena, said->like);
  if (said->otherwise != NULL)
    mapping->otherwise = base_arena_strdup(session->arena, said->otherwise);
  if (said->like != NULL) mapping->form = SN_TIME_LIKE;
  if (said->unit.text == NULL) return BASE_OK;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcasecmp(said->unit.text, units[i].name) == 0) mapping->form = units[i].form;
  return mapping->form != SN_TIME_OWN ? BASE_OK
                                      : wrong(session, &said->unit.range, "s, ms, us or ns",
                                              "no unit that times are counted in");
}

enum base_status session_file_form(struct tql_session *session,
                                   const struct tql_statement *statement,
                                   const struct session_relation *relation,
                                   const struct sn_form **ret) {
  const struct tql_file_form *said = statement->form;
  enum base_status status = BASE_OK;
  *ret = NULL;
  if (said == NULL) return BASE_OK;
  struct sn_form *form = BASE_NEW(session->arena, struct sn_form); /* feeds outlive the statement */
  form->headless = said->headless;
  form->ragged = said->ragged;
  form->continued = said->continued;
  form->skipped = said->skipped;
  form->mapping_count = said->mapping_count;
  struct sn_mapping *mappings =
      BASE_NEW_ARRAY(session->arena, said->mapping_count, struct sn_mapping);
  form->mappings = mappings;
  if (said->format.text != NULL) status = session_said_format(session, said, form);
  if (status == BASE_OK && said->empty.text != NULL)
    status = set_empty(session, said, relation, form);
  for (size_t i = 0; status == BASE_OK && i < said->mapping_count; i++)
    status = set_mapping(session, &said->mappings[i], &mappings[i]);
  if (status != BASE_OK) return status;
  if (form->pattern != NULL) form->pattern = base_arena_strdup(session->arena, form->pattern);
  size_t index;
  const char *hint;
  const char *fault = sn_form_fault(session->arena, form, session_write_layout(relation),
                                    relation->kind == ST_SNAPSHOT,
                                    session->timeline == NET_TIMELINE_REAL, &index, &hint);
  *ret = form;
  if (fault == NULL) return BASE_OK;
  const struct base_range *at = index < said->mapping_count ? &said->mappings[index].range
                                : said->mapping_count > 0   ? &said->range
                                : said->format.text != NULL ? &said->format.range
                                                            : &statement->path_range;
  return wrong(session, at, hint, fault);
}

/* --- several files as one */

static bool is_pattern(const char *path) {
  return strpbrk(path, "*?[") != NULL && access(path, F_OK) != 0;
}

enum base_status session_files_of(struct tql_session *session,
                                  const struct tql_statement *statement, const char *const **ret,
                                  size_t *ret_count) {
  const char **paths = BASE_NEW_ARRAY(session->statement_arena, 1, const char *);
  *paths = statement->path;
  *ret = paths;
  *ret_count = 1;
  if (!is_pattern(statement->path)) return BASE_OK;
  glob_t found;
  int result = glob(statement->path, 0, NULL, &found);
  if (result == 0) {
    *ret_count = found.gl_pathc;
    *ret = paths = BASE_NEW_ARRAY(session->statement_arena, found.gl_pathc, const char *);
    for (size_t i = 0; i < found.gl_pathc; i++)
      paths[i] = base_arena_strdup(session->statement_arena, found.gl_pathv[i]);
  }
  globfree(&found);
  if (result == 0) return BASE_OK;
  base_report_hint(session->diags, MSG_CANNOT_OPEN, session->source, &statement->path_range,
                   "* stands for any characters but /, ? for one, [ab] for one of these",
                   "cannot open %s: no file has such a name", statement->path);
  return BASE_SYSTEM;
}

/* --- what was read */

void session_note_read(struct tql_session *session, const struct session_relation *relation,
                       const struct sn_form *form, const struct net_read_event *event) {
  if (event->empty_periods > 0)
    base_report(session->diags, MSG_EMPTY_PERIODS, session->source, &session->statement->range,
                "%s: %llu %s empty, and %s", relation->ng.name,
                (unsigned long long)event->empty_periods,
                event->empty_periods == 1 ? "period is" : "periods are",
                form->empty == SN_EMPTY_DROP ? "left out"
                : event->empty_periods == 1  ? "lasts a chronon"
                                             : "last a chronon");
  if (event->year_assumed != 0)
    base_report_hint(session->diags, MSG_YEAR_ASSUMED, session->source, &session->statement->range,
                     "if that is another one, put the year in front of each line",
                     "%s: the times have no year; the first is taken to be of %lld, the latest "
                     "year in which it is not in "
                     "the future",
                     relation->ng.name, (long long)event->year_assumed);
}
