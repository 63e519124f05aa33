/* Which mappings fit which relation, and the ready forms of logs. */
#include "sensors/feed/form.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/buffer.h"
#include "sensors/feed/columns.h"
#include "sensors/feed/lines.h"
#include "sensors/feed/stamp.h"

/* A request line, and what stands in the place of one that is none. */
#define REQUEST                                                                     \
  "\"(?:(?<method>[A-Za-z_-]+) (?<path>(?:[^\"\\\\ ]|\\\\.)+)(?: (?<protocol>[^\" " \
  "]*))?|(?<garbage>(?:[^\"\\\\]|\\\\.)*))\""
#define QUOTED(name) "\"(?<" name ">(?:[^\"\\\\]|\\\\.)*)\""

const struct sn_log sn_logs[] = {
    {"access",
     "(?:(?<vhost>[A-Za-z0-9.*_-]+:\\d+) )?(?<host>[^\\s,]+(?:, [^\\s,]+)*) (?<ident>\\S+) "
     "(?<user>\\S+|.*?) \\[(?<time>[^\\]]+)\\] " REQUEST " (?<status>\\d{3}) (?:(?<bytes>\\d+)|-)"
     "(?: " QUOTED("referer") " " QUOTED("agent") "(?<more>.*))?",
     "time", "%d/%b/%Y:%H:%M:%S %z", "requests to Apache or nginx, common or combined"},
    {"apache_error",
     "\\[(?<time>[^\\]]+)\\] \\[(?:(?<module>[^:\\]]*):)?(?<level>[^\\]]+)\\](?: \\[pid "
     "(?<pid>\\d+)(?::tid (?<tid>\\d+))?\\])?"
     "(?: \\[client (?<client>[^\\]]+)\\])? (?<message>.*)",
     "time", "%a %b %d %H:%M:%S %Y", "errors of Apache"},
    {"audit",
     "(?:node=(?<node>\\S+) )?type=(?<type>\\S+) "
     "msg=audit\\((?<time>\\d+\\.\\d+):(?<serial>\\d+)\\): ?"
     "(?<message>.*)",
     "time", NULL, "records of the kernel's audit"},
    {"dpkg",
     "(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d) (?<action>status "
     "\\S+|startup|install|upgrade|configure|"
     "trigproc|disappear|remove|purge|conffile) "
     "(?<package>\\S+)(?: (?<version>\\S+))?"
     "(?: (?<version_after>.*))?",
     "time", "%Y-%m-%d %H:%M:%S", "packages that came, changed and went: dpkg.log"},
    {"glog",
     "(?<level>[IWEFD])(?<time>\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d+) +(?<thread>\\d+) "
     "(?<file>[^\\]]+):"
     "(?<line>\\d+)\\] ?(?<message>.*)",
     "time", "%m%d %H:%M:%S", "what glog and klog write, as Kubernetes does"},
    {"nginx_error",
     "(?<time>\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d) \\[(?<level>\\w+)\\] "
     "(?<pid>\\d+)#(?<tid>\\d+): (?<message>.*)",
     "time", "%Y/%m/%d %H:%M:%S", "errors of nginx"},
    {"syslog",
     "(?:<(?<priority>\\d+)>)?(?<time>[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d) (?<host>\\S+) "
     "(?<program>[^:\\[\\s]+)"
     "(?:\\[(?<pid>[^\\]]*)\\])?: ?(?<message>.*)",
     "time", "%b %d %H:%M:%S", "what syslog writes, whose times have no year"},
    {"syslog_iso",
     "(?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\S*) (?<host>\\S+) "
     "(?<program>[^:\\[\\s]+)(?:\\[(?<pid>[^\\]]*)\\])?: ?"
     "(?<message>.*)",
     "time", NULL, "what syslog writes, with times in ISO 8601"},
};
const size_t sn_log_count = sizeof sn_logs / sizeof sn_logs[0];

const struct sn_log *sn_log_find(const char *name) {
  for (size_t i = 0; i < sn_log_count; i++)
    if (strcasecmp(sn_logs[i].name, name) == 0) return &sn_logs[i];
  return NULL;
}

/* --- do mappings fit */

struct checking {
  struct base_arena *arena;
  const struct sn_form *form;
  struct sn_columns own;
  uint64_t *seen;
  bool real;
  size_t *ret_index;
  const char **ret_hint;
};

static const char *names_of(const struct checking *checking) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < checking->own.count; i++) {
    const struct sn_column *column = &checking->own.items[i];
    if (column->role == SN_LO || column->role == SN_HI || column->role == SN_STOP_LO ||
        column->role == SN_STOP_HI || column->role == SN_DEFINITE)
      continue;
    base_buffer_printf(&text, "%s%s", text.length > 0 ? " " : "", column->name);
  }
  const char *names =
      base_arena_printf(checking->arena, "its columns are: %s", base_buffer_text(&text));
  base_buffer_done(&text);
  return names;
}

static bool is_time(const struct sn_column *column) {
  return column->role < SN_DEFINITE;
}

static const char *check_target(struct checking *checking, const struct sn_mapping *mapping) {
  int index = sn_columns_find(&checking->own, mapping->target, strlen(mapping->target), 0);
  if (index < 0) {
    *checking->ret_hint = names_of(checking);
    return base_arena_printf(checking->arena, "the relation has no column %s", mapping->target);
  }
  const struct sn_column *column = &checking->own.items[index];
  if (checking->seen[index])
    return base_arena_printf(checking->arena, "%s is given twice", column->name);
  checking->seen[index] = 1;
  if (mapping->column == NULL && mapping->number == 0) return "columns are counted from 1";
  if (mapping->relative == SN_AFTER && column->role != SN_STOP)
    return "only stop is start and a length";
  if (mapping->relative == SN_BEFORE &&
      !(column->role == SN_WHOLE && strcasecmp(column->name, "start") == 0))
    return "only start is stop less a length";
  if (mapping->form == SN_TIME_OWN) return NULL;
  if (!is_time(column)) {
    *checking->ret_hint = "the domains take values as they are";
    return base_arena_printf(checking->arena, "%s is no time", column->name);
  }
  if (mapping->relative != SN_ITSELF && mapping->form == SN_TIME_LIKE)
    return "a length of time is a number";
  if (!checking->real && mapping->relative == SN_ITSELF) {
    *checking->ret_hint = "leave the form out: a time is an integer";
    return "a form of times, and the timeline is abstract";
  }
  return mapping->form == SN_TIME_LIKE ? sn_like_fault(checking->arena, mapping->like) : NULL;
}

static const char *check_times(struct checking *checking) {
  size_t after = SIZE_MAX, before = SIZE_MAX;
  for (size_t i = 0; i < checking->form->mapping_count; i++) {
    if (checking->form->mappings[i].relative == SN_AFTER) after = i;
    if (checking->form->mappings[i].relative == SN_BEFORE) before = i;
  }
  if (after == SIZE_MAX || before == SIZE_MAX) return NULL;
  *checking->ret_index = after > before ? after : before;
  return "start from stop, and stop from start";
}

static const char *check_complete(struct checking *checking, bool timeless) {
  const char *lacking = NULL;
  enum sn_lack lack = sn_columns_check(&checking->own, checking->seen, 1, timeless, true, &lacking);
  if (lack == SN_COMPLETE) return NULL;
  *checking->ret_hint =
      lack == SN_TWICE ? NULL : "say where each column comes from: NAME = \"COLUMN\"";
  return base_arena_printf(
      checking->arena, lack == SN_TWICE ? "%s is given twice" : "nothing is said of %s", lacking);
}

static bool has_fields(const struct sn_form *form) {
  return form->format == SN_CSV || form->format == SN_TSV || form->format == SN_GUESS;
}

static const char *check_by_number(struct checking *checking) {
  const struct sn_form *form = checking->form;
  bool counted = has_fields(form);
  for (size_t i = 0; i < form->mapping_count; i++) {
    bool number = form->mappings[i].column == NULL;
    *checking->ret_index = i;
    if (number && !counted) return "only columns of CSV have numbers";
    if (!number && form->headless) {
      *checking->ret_hint = "say the number of the column";
      return "the file has no header, so columns have no names";
    }
  }
  return NULL;
}

static const char *check_mappings(struct checking *checking, bool timeless) {
  const struct sn_form *form = checking->form;
  for (size_t i = 0; i < form->mapping_count; i++) {
    *checking->ret_index = i;
    const char *fault = check_target(checking, &form->mappings[i]);
    if (fault != NULL) return fault;
  }
  const char *fault = check_by_number(checking);
  if (fault != NULL) return fault;
  *checking->ret_index = form->mapping_count;
  fault = check_times(checking);
  return fault != NULL ? fault : check_complete(checking, timeless);
}

static const char *check_separator(char separator) {
  bool may_be = separator == '\t' ||
                (separator > ' ' && separator < 0x7F && strchr("\".+-_", separator) == NULL &&
                 strchr("0123456789", separator) == NULL &&
                 ((separator | 32) < 'a' || (separator | 32) > 'z'));
  return separator == 0 || separator == ' ' || may_be ? NULL
                                                      : "nothing that can stand between fields";
}

const char *sn_form_fault(struct base_arena *arena, const struct sn_form *form,
                          const struct net_layout *layout, bool timeless, bool real,
                          size_t *ret_index, const char **ret_hint) {
  struct checking checking = {
      .arena = arena, .form = form, .real = real, .ret_index = ret_index, .ret_hint = ret_hint};
  *ret_index = form->mapping_count;
  *ret_hint = NULL;
  const char *fault = check_separator(form->separator);
  if (fault == NULL && form->ragged && !has_fields(form))
    fault = "only records of CSV and TSV can be ragged";
  if (fault == NULL && form->continued && form->format != SN_LINES)
    fault = "only lines by a pattern can be continued";
  if (fault == NULL && form->pattern != NULL) fault = sn_lines_fault(arena, form->pattern);
  if (fault == NULL && form->mapping_count == 0 && form->headless) {
    *ret_hint = "say which column is what: (at = 1, x = 2)";
    fault = "the file has no header, and nothing says which column is what";
  }
  if (fault != NULL || form->mapping_count == 0) return fault;
  sn_columns_init(&checking.own, layout);
  checking.seen = BASE_NEW_ARRAY(arena, checking.own.count, uint64_t);
  fault = check_mappings(&checking, timeless);
  sn_columns_done(&checking.own);
  return fault;
}
