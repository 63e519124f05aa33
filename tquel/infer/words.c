/* Names of columns: what they say, and names of domains made of them. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "tquel/infer/infer_impl.h"
#include "tquel/lang/parse.h"

/* --- what they say */

static const struct {
  const char *word;
  unsigned hints;
  enum sn_time_form unit;
} known[] = {
    {"at", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"time", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"timestamp", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"ts", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"datetime", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"date", INFER_HINT_TIME | INFER_HINT_BEST, SN_TIME_OWN},
    {"epoch", INFER_HINT_TIME, SN_TIME_OWN},
    {"unixtime", INFER_HINT_TIME, SN_TIME_OWN},
    {"when", INFER_HINT_TIME, SN_TIME_OWN},
    {"day", INFER_HINT_TIME, SN_TIME_OWN},
    {"updated", INFER_HINT_TIME, SN_TIME_OWN},
    {"start", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"started", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"starttime", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"begin", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"begins", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"began", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"begun", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"from", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"since", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"opened", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"created", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"release", INFER_HINT_TIME | INFER_HINT_START, SN_TIME_OWN},
    {"stop", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"stopped", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"end", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"ends", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"ended", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"endtime", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"finish", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"finished", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"completed", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"to", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"until", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"till", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"closed", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"expires", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"expired", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"deleted", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"eol", INFER_HINT_TIME | INFER_HINT_STOP, SN_TIME_OWN},
    {"duration", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"elapsed", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"latency", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"took", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"runtime", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"dur", INFER_HINT_LENGTH, SN_TIME_OWN},
    {"s", 0, SN_TIME_S},
    {"sec", 0, SN_TIME_S},
    {"secs", 0, SN_TIME_S},
    {"seconds", 0, SN_TIME_S},
    {"ms", 0, SN_TIME_MS},
    {"msec", 0, SN_TIME_MS},
    {"millis", 0, SN_TIME_MS},
    {"milliseconds", 0, SN_TIME_MS},
    {"us", 0, SN_TIME_US},
    {"usec", 0, SN_TIME_US},
    {"micros", 0, SN_TIME_US},
    {"microseconds", 0, SN_TIME_US},
    {"ns", 0, SN_TIME_NS},
    {"nanos", 0, SN_TIME_NS},
    {"nanoseconds", 0, SN_TIME_NS},
};

static void hint_of_word(const char *word, size_t length, unsigned *hints,
                         enum sn_time_form *unit) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strlen(known[i].word) != length || strncasecmp(known[i].word, word, length) != 0) continue;
    *hints |= known[i].hints;
    if (known[i].unit != SN_TIME_OWN) *unit = known[i].unit;
  }
}

unsigned infer_hints(const char *name, enum sn_time_form *ret_unit) {
  unsigned hints = 0;
  *ret_unit = SN_TIME_OWN;
  if (name == NULL) return 0;
  /* Words: letters up to what is none, or to a capital behind a small one. */
  for (const char *at = name; *at != '\0';) {
    const char *start = at;
    while (isalpha((unsigned char)*at) &&
           !(at > start && isupper((unsigned char)*at) && islower((unsigned char)at[-1])))
      at++;
    if (at > start) *ret_unit = SN_TIME_OWN; /* it is the last word */
    hint_of_word(start, (size_t)(at - start), &hints, ret_unit);
    if (at == start) at++;
  }
  return hints;
}

/* --- names of domains and of the relation */

static bool ends_with(const char *name, const char *suffix) {
  size_t length = strlen(name), own = strlen(suffix);
  return length >= own && strcasecmp(name + length - own, suffix) == 0;
}

/* Words of the language, and columns of the table form. */
static bool is_spoken_for(const char *name) {
  static const char *const words[] = {"at", "start", "stop", "time", "all", "definite"};
  static const char *const suffixes[] = {"_lo", "_hi", "_n0", "_n1", "_d0", "_d1"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(name, words[i]) == 0) return true;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    if (ends_with(name, suffixes[i])) return true;
  return tql_is_keyword(name);
}

static const char *legal(struct infer *infer, const char *text, size_t length,
                         const char *otherwise) {
  enum { LONGEST = 100 };
  struct base_buffer name = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < length && name.length < LONGEST; i++) {
    unsigned char byte = (unsigned char)text[i];
    bool plain = byte < 0x80 && isalnum(byte);
    if (plain && name.length == 0 && isdigit(byte)) base_buffer_putc(&name, '_');
    if (plain)
      base_buffer_putc(&name, (char)byte);
    else if (name.length > 0 && name.data[name.length - 1] != '_')
      base_buffer_putc(&name, '_');
  }
  while (name.length > 1 && name.data[name.length - 1] == '_') name.data[--name.length] = '\0';
  const char *made = name.length > 0 && strcmp(name.data, "_") != 0
                         ? base_arena_strdup(infer->arena, name.data)
                         : otherwise;
  base_buffer_done(&name);
  return is_spoken_for(made) ? base_arena_printf(infer->arena, "%s_", made) : made;
}

static bool is_used(const struct infer *infer, size_t before, const char *name) {
  for (size_t i = 0; i < before; i++)
    if (infer->columns[i].role == INFER_DOMAIN && strcasecmp(infer->columns[i].target, name) == 0)
      return true;
  return false;
}

static void name_domain(struct infer *infer, size_t index) {
  struct infer_column *column = &infer->columns[index];
  const char *numbered = base_arena_printf(
      infer->arena, "column%u", column->number > 0 ? column->number : (unsigned)index + 1);
  const char *name =
      column->name != NULL ? legal(infer, column->name, strlen(column->name), numbered) : numbered;
  column->target = name;
  for (unsigned n = 2; is_used(infer, index, column->target); n++)
    column->target = base_arena_printf(infer->arena, "%s_%u", name, n);
}

static const char *name_of_file(struct infer *infer) {
  const char *path = infer->options->shown, *slash = strrchr(path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  if (strcmp(path, "-") == 0) return "Input";
  size_t length = strcspn(base + (*base == '.'), ".") + (*base == '.');
  return legal(infer, base, length, "File");
}

static bool is_taken(const struct infer *infer, const char *name) {
  static const char *const system[] = {"Late", "Rejected", "Lost", "SensorCost", "Clock"};
  for (size_t i = 0; i < sizeof system / sizeof system[0]; i++)
    if (strcasecmp(system[i], name) == 0) return true;
  return strncasecmp(name, "tq_", 3) == 0 || strncasecmp(name, "sqlite_", 7) == 0 ||
         ends_with(name, "_readable") ||
         (infer->options->taken != NULL && infer->options->taken(infer->options->context, name));
}

void infer_names(struct infer *infer) {
  for (size_t i = 0; i < infer->count; i++)
    if (infer->columns[i].role == INFER_DOMAIN) name_domain(infer, i);
  infer->relation = infer->options->relation;
  if (infer->relation != NULL) return;
  const char *name = name_of_file(infer);
  infer->relation = name;
  for (unsigned n = 2; is_taken(infer, infer->relation); n++)
    infer->relation =
        n == 2 && (strncasecmp(name, "tq_", 3) == 0 || strncasecmp(name, "sqlite_", 7) == 0)
            ? (name = base_arena_printf(infer->arena, "File_%s", name))
            : base_arena_printf(infer->arena, "%s_%u", name, n);
}
