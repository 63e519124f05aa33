/* Functions: those of Quel that programs can compute, conversions by the names of types, and the
 * doors between time and values: duration(V), span(...), chronon(...).
 *
 * Function names are contextual, not reserved. Aggregates are called alike and handled by
 * aggregate.c; a name that is neither gets TQ-0107 with the nearest of both. */
#include <string.h>

#include "engine/calendar.h"
#include "engine/regex.h"
#include "tquel/analyse/analyse_internal.h"

enum shape {
  TO_FLOAT,     /* one number; a float */
  KEEP_NUMBER,  /* one number; of its type */
  TWO_INTEGERS, /* an integer */
  TO_TYPE,      /* one number, string or bool; the function's type */
  OF_SCALAR,    /* one value that has a text; a string */
  OF_STRING,    /* one string, or bytes; an integer */
  TWO_STRINGS,  /* a string, or bytes */
  PART,         /* a string and how many of its characters, or bytes and how many; of its type */
  OF_TEXTS,     /* as .takes says: s a string, b bytes, e either, i an integer */
  OF_VARIABLE,  /* duration */
  OF_SPAN,      /* a temporal expression: an integer */
  OF_EVENT,     /* a temporal expression that is an event: an integer */
  OF_CALENDAR,  /* an instant, and in which zone, if that is said: an integer */
  OF_UNIT,      /* an instant, a unit, and in which zone: an instant */
  OF_REGULAR,   /* a text, a regular expression in quotes, and what TAKES has behind them */
};

struct function {
  const char *name;
  enum shape shape;
  enum ng_op op;
  enum net_base_type base; /* TO_TYPE */
  uint32_t width;
  int which;         /* span, chronon: midpoint, lo, hi */
  const char *takes; /* OF_TEXTS */
};

static const struct function functions[] = {
    {"abs", KEEP_NUMBER, NG_ABS, NET_INTEGER, 8, 0, NULL},
    {"ascii", OF_SCALAR, NG_ASCII, NET_STRING, 0, 0, NULL},
    {"atan", TO_FLOAT, NG_ATAN, NET_FLOAT, 8, 0, NULL},
    {"bytes", OF_TEXTS, NG_CONVERT, NET_BYTES, 0, 0, "e"},
    {"capture", OF_REGULAR, NG_CAPTURE, NET_STRING, 0, 0, "ssi"},
    {"chronon", OF_EVENT, NG_CHRONON, NET_INTEGER, 8, 0, NULL},
    {"chronon_hi", OF_EVENT, NG_CHRONON, NET_INTEGER, 8, 2, NULL},
    {"chronon_lo", OF_EVENT, NG_CHRONON, NET_INTEGER, 8, 1, NULL},
    {"concat", TWO_STRINGS, NG_CONCAT, NET_STRING, 0, 0, NULL},
    {"cos", TO_FLOAT, NG_COS, NET_FLOAT, 8, 0, NULL},
    {"day", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_DAY, NULL},
    {"duration", OF_VARIABLE, NG_DURATION, NET_TEMPORAL, 0, 0, NULL},
    {"exp", TO_FLOAT, NG_EXP, NET_FLOAT, 8, 0, NULL},
    {"f4", TO_TYPE, NG_CONVERT, NET_FLOAT, 4, 0, NULL},
    {"f8", TO_TYPE, NG_CONVERT, NET_FLOAT, 8, 0, NULL},
    {"float4", TO_TYPE, NG_CONVERT, NET_FLOAT, 4, 0, NULL},
    {"float8", TO_TYPE, NG_CONVERT, NET_FLOAT, 8, 0, NULL},
    {"hex", OF_TEXTS, NG_HEX, NET_STRING, 0, 0, "b"},
    {"hour", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_HOUR, NULL},
    {"i1", TO_TYPE, NG_CONVERT, NET_INTEGER, 1, 0, NULL},
    {"i2", TO_TYPE, NG_CONVERT, NET_INTEGER, 2, 0, NULL},
    {"i4", TO_TYPE, NG_CONVERT, NET_INTEGER, 4, 0, NULL},
    {"i8", TO_TYPE, NG_CONVERT, NET_INTEGER, 8, 0, NULL},
    {"int1", TO_TYPE, NG_CONVERT, NET_INTEGER, 1, 0, NULL},
    {"int2", TO_TYPE, NG_CONVERT, NET_INTEGER, 2, 0, NULL},
    {"int4", TO_TYPE, NG_CONVERT, NET_INTEGER, 4, 0, NULL},
    {"int8", TO_TYPE, NG_CONVERT, NET_INTEGER, 8, 0, NULL},
    {"left", PART, NG_LEFT, NET_STRING, 0, 0, NULL},
    {"length", OF_STRING, NG_LENGTH, NET_INTEGER, 8, 0, NULL},
    {"log", TO_FLOAT, NG_LOG, NET_FLOAT, 8, 0, NULL},
    {"lower", OF_TEXTS, NG_LOWER, NET_STRING, 0, 0, "s"},
    {"matches", OF_REGULAR, NG_FINDS, NET_BOOL, 0, 0, "ss"},
    {"minute", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_MINUTE, NULL},
    {"mod", TWO_INTEGERS, NG_MOD, NET_INTEGER, 8, 0, NULL},
    {"month", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_MONTH, NULL},
    {"position", OF_TEXTS, NG_POSITION, NET_INTEGER, 8, 0, "ee"},
    {"right", PART, NG_RIGHT, NET_STRING, 0, 0, NULL},
    {"second", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_SECOND, NULL},
    {"sin", TO_FLOAT, NG_SIN, NET_FLOAT, 8, 0, NULL},
    {"span", OF_SPAN, NG_SPAN, NET_INTEGER, 8, 0, NULL},
    {"span_hi", OF_SPAN, NG_SPAN, NET_INTEGER, 8, 2, NULL},
    {"span_lo", OF_SPAN, NG_SPAN, NET_INTEGER, 8, 1, NULL},
    {"split", OF_TEXTS, NG_SPLIT, NET_STRING, 0, 0, "ssi"},
    {"sqrt", TO_FLOAT, NG_SQRT, NET_FLOAT, 8, 0, NULL},
    {"substitute", OF_TEXTS, NG_SUBSTITUTE, NET_STRING, 0, 0, "sss"},
    {"substring", OF_TEXTS, NG_SUBSTRING, NET_STRING, 0, 0, "eii"},
    {"text", OF_TEXTS, NG_CONVERT, NET_STRING, 0, 0, "e"},
    {"trim", OF_TEXTS, NG_TRIM, NET_STRING, 0, 0, "s"},
    {"truncate", OF_UNIT, NG_CALENDAR, NET_INTEGER, 8, 0, NULL},
    {"unhex", OF_TEXTS, NG_UNHEX, NET_BYTES, 0, 0, "s"},
    {"upper", OF_TEXTS, NG_UPPER, NET_STRING, 0, 0, "s"},
    {"week", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_WEEK, NULL},
    {"weekday", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_WEEKDAY, NULL},
    {"year", OF_CALENDAR, NG_CALENDAR, NET_INTEGER, 8, NET_PART_YEAR, NULL},
};

#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static const struct net_type integer_type = {NET_INTEGER, 8};
static const struct net_type length_type = {NET_INTEGER, 8, NET_LENGTH};
static const struct net_type point_type = {NET_INTEGER, 8, NET_POINT};

static const struct function *find_function(const char *name) {
  for (size_t i = 0; i < FUNCTION_COUNT; i++)
    if (tql_same_name(functions[i].name, name)) return &functions[i];
  return NULL;
}

bool tql_function_takes_time(const char *name) {
  const struct function *function = find_function(name);
  return function && (function->shape == OF_SPAN || function->shape == OF_EVENT);
}

int tql_function_zone(const char *name) {
  const struct function *function = find_function(name);
  if (!function) return -1;
  return function->shape == OF_UNIT ? 2 : function->shape == OF_CALENDAR ? 1 : -1;
}

/* ---- unknown names ---- */

/* What other languages call what there is, or parts of their names that tell. */
static const struct {
  const char *theirs, *ours;
} synonyms[] = {
    {"average", "avg"},
    {"char_length", "length"},
    {"date_bin", "truncate"},
    {"date_trunc", "truncate"},
    {"datetrunc", "truncate"},
    {"day_of_week", "weekday"},
    {"dayofmonth", "day"},
    {"dayofweek", "weekday"},
    {"decode", "unhex"},
    {"encode", "hex"},
    {"first_value", "first"},
    {"hourofday", "hour"},
    {"indexof", "position"},
    {"instr", "position"},
    {"last_value", "last"},
    {"lcase", "lower"},
    {"len", "length"},
    {"mean", "avg"},
    {"percentile", "quantile"},
    {"percentile_cont", "quantile"},
    {"percentile_disc", "quantile_of"},
    {"octet_length", "length"},
    {"pow", "**"},
    {"regexp_extract", "capture"},
    {"regexp_like", "matches"},
    {"regexp_matches", "matches"},
    {"regexp_substr", "capture"},
    {"power", "**"},
    {"quantile_cont", "quantile"},
    {"quantile_disc", "quantile_of"},
    {"split_part", "split"},
    {"std", "stdev"},
    {"stddev", "stdev"},
    {"stddev_pop", "stdev"},
    {"strpos", "position"},
    {"substr", "substring"},
    {"time_bucket", "truncate"},
    {"tolower", "lower"},
    {"toupper", "upper"},
    {"trunc", "truncate"},
    {"ucase", "upper"},
    {"weekofyear", "week"},
};

/* p95, p999: a percentile, as dashboards call it; 0: it is none. */
static double percentile_of(const char *name) {
  size_t digits = strspn(name + 1, "0123456789");
  if ((name[0] != 'p' && name[0] != 'P') || digits < 2 || digits > 5 || name[1 + digits] != '\0')
    return 0;
  double fraction = 0, place = 1;
  for (size_t i = 1; i <= digits; i++) fraction += (name[i] - '0') * (place /= 10);
  return fraction;
}

static bool suggest_synonym(struct base_diag *diag, const char *name) {
  if (percentile_of(name) > 0) {
    tql_set_hint(diag, "write: quantile(%g, V.domain by ... where ...)", percentile_of(name));
    return true;
  }
  if (tql_same_name(name, "exists")) {
    tql_set_hint(diag,
                 "what has a partner is where V.domain = W.domain, what has none is unless W where "
                 "W.domain = V.domain (help \"unless\")");
    return true;
  }
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
    if (!tql_same_name(synonyms[i].theirs, name)) continue;
    if (strcmp(synonyms[i].ours, "truncate") == 0) {
      tql_set_hint(diag, "write: truncate(V, hour), truncate(V.start, 5 minutes)");
      return true;
    }
    bool fraction = strncmp(synonyms[i].ours, "quantile", 8) == 0;
    tql_set_hint(diag, fraction ? "write: %s(0.95, V.domain)" : "write: %s", synonyms[i].ours);
    return true;
  }
  return false;
}

static const struct ng_expr *refuse_unknown(const struct tql_binder *binder,
                                            const struct tql_expr *call) {
  struct base_near near = base_near_to(call->name.text);
  for (size_t i = 0; i < FUNCTION_COUNT; i++) base_near_offer(&near, functions[i].name);
  tql_each_aggregate(base_near_offer, &near);
  struct base_diag *diag =
      base_report(binder->analysis->diags, MSG_UNKNOWN_FUNCTION, binder->analysis->source,
                  &call->name.range, "there is no function or aggregate %s", call->name.text);
  if (!suggest_synonym(diag, call->name.text)) tql_suggest(diag, &near);
  return NULL;
}

/* ---- arguments ---- */

static bool check_count(const struct tql_binder *binder, const struct tql_expr *call,
                        const struct function *function) {
  bool two =
      function->shape == TWO_INTEGERS || function->shape == TWO_STRINGS || function->shape == PART;
  if (function->shape == OF_CALENDAR || function->shape == OF_UNIT) {
    size_t least = function->shape == OF_UNIT ? 2 : 1;
    if (call->args.count >= least && call->args.count <= least + 1) return true;
    base_report_hint(
        binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &call->range,
        least == 2 ? "truncate(V.start, hour), truncate(V.start, 5 minutes, \"Europe/Berlin\")"
                   : "hour(V.start), or hour(V.start, \"Europe/Berlin\")",
        "%s takes %s, and perhaps a time zone", function->name,
        least == 2 ? "an instant, a unit" : "an instant");
    return false;
  }
  size_t wanted = function->takes != NULL ? strlen(function->takes) : two ? 2 : 1;
  if (call->args.count == wanted) return true;
  static const char *const words[] = {"", "one argument", "two arguments", "three arguments"};
  bool time = function->shape == OF_SPAN || function->shape == OF_EVENT;
  base_report_hint(
      binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &call->range,
      time && call->args.count > 1 ? "put the operator , in parentheses: span((a , b))" : NULL,
      "%s takes %s, not %zu", function->name, words[wanted], call->args.count);
  return false;
}

static bool check_plain(const struct tql_binder *binder, const struct tql_expr *call) {
  if (!call->by.count && !call->where && !call->when && call->tail == TQL_TAIL_NONE) return true;
  base_report(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &call->range,
              "%s is no aggregate and takes no by, where, when or for", call->name.text);
  return false;
}

static bool is_text(struct net_type type) {
  return type.base == NET_STRING || type.base == NET_NAME;
}

/* The same of an argument that KIND stands for. */
static bool takes_kind(char kind, struct net_type type, const char **ret_words) {
  switch (kind) {
    case 's':
      *ret_words = "a string";
      return is_text(type);
    case 'b':
      *ret_words = "bytes";
      return type.base == NET_BYTES;
    case 'e':
      *ret_words = "a string or bytes";
      return net_type_is_interned(type.base);
    default:
      *ret_words = "an integer";
      return type.base == NET_INTEGER;
  }
}

/* What argument INDEX of FUNCTION may be, and the words for it. */
static bool takes(const struct function *function, size_t index, struct net_type type,
                  const char **ret_words) {
  switch (function->shape) {
    case TWO_INTEGERS:
      *ret_words = "integers";
      return type.base == NET_INTEGER;
    case TO_TYPE:
      *ret_words = "a number, a string or a bool";
      return tql_type_is_number(type) || is_text(type) || type.base == NET_BOOL;
    case OF_SCALAR:
      *ret_words = "a number, a string, a bool, a name or bytes";
      return type.base != NET_TEMPORAL && type.base != NET_INSTANT;
    case PART:
      *ret_words = index == 0 ? "a string or bytes first" : "an integer second";
      return index == 0 ? net_type_is_interned(type.base) : type.base == NET_INTEGER;
    case OF_TEXTS:
    case OF_REGULAR:
      return takes_kind(function->takes[index], type, ret_words);
    case OF_STRING:
      *ret_words = "a string or bytes";
      return net_type_is_interned(type.base);
    case TWO_STRINGS:
      *ret_words = "strings or bytes";
      return net_type_is_interned(type.base);
    default:
      *ret_words = "a number";
      return tql_type_is_number(type);
  }
}

/* How a value of TYPE becomes what argument INDEX of FUNCTION is to be, if that is a string or bytes; or NULL. */
static const char *argument_hint(const struct function *function, size_t index,
                                 struct net_type type) {
  char kind = function->takes != NULL ? function->takes[index] : 'e';
  bool text = function->shape == TWO_STRINGS || function->shape == PART ||
              function->shape == OF_STRING || (function->takes != NULL && kind != 'i');
  bool printable = type.base != NET_TEMPORAL && (index == 0 || function->shape == OF_TEXTS);
  if (!text || !printable) return NULL;
  if (kind == 'b') return is_text(type) ? "bytes(...) are the bytes of a string" : NULL;
  return type.base == NET_BYTES ? "text(...) makes a string of bytes"
                                : "ascii(...) makes a string of a value";
}

static bool check_argument(const struct tql_binder *binder, const struct function *function,
                           size_t index, const struct ng_expr *arg) {
  const char *words;
  if (takes(function, index, arg->type, &words)) return true;
  base_report_hint(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                   &arg->range, argument_hint(function, index, arg->type), "%s takes %s, not %s",
                   function->name, words, tql_type_words(arg->type));
  return false;
}

/* Strings and bytes do not meet in one call. */
static bool check_alike(const struct tql_binder *binder, const struct function *function,
                        const struct ng_expr *const *args, size_t count) {
  if (count < 2 || !net_type_is_interned(args[1]->type.base)) return true;
  if ((args[0]->type.base == NET_BYTES) == (args[1]->type.base == NET_BYTES)) return true;
  base_report_hint(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                   &args[1]->range,
                   "bytes(...) are those of a string; text(...) makes one of bytes",
                   "%s takes two strings, or bytes twice, not %s and %s", function->name,
                   tql_type_words(args[0]->type), tql_type_words(args[1]->type));
  return false;
}

/* ---- kinds of functions ---- */

/* A conversion; one that changes nothing needs no step. */
static const struct ng_expr *converted(struct tql_binder *binder, const struct tql_expr *call,
                                       const struct function *function, const struct ng_expr *arg) {
  struct net_type type = {function->base, function->width};
  if (arg->type.base == type.base && arg->type.width == type.width) {
    if (arg->type.quantity == NET_NUMBER) return arg;
    struct ng_expr *number = BASE_NEW(binder->arena, struct ng_expr);
    *number = *arg;
    number->type.quantity = NET_NUMBER;
    return number;
  }
  if (arg->type.base == NET_NAME) arg = tql_convert(binder, arg, NET_STRING);
  return tql_new_unary(binder, NG_CONVERT, type, call->range, arg);
}

static bool check_count_of_characters(const struct tql_binder *binder,
                                      const struct function *function,
                                      const struct ng_expr *count) {
  if (count->op != NG_INTEGER || count->integer >= 0) return true;
  base_report(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &count->range,
              "%s takes a number of characters, which cannot be negative", function->name);
  return false;
}

static const struct ng_expr *bind_plain(struct tql_binder *binder, const struct tql_expr *call,
                                        const struct function *function) {
  const struct ng_expr *args[3] = {NULL, NULL, NULL};
  bool fits = true;
  for (size_t i = 0; i < call->args.count; i++) {
    args[i] = tql_bind_scalar(binder, call->args.items[i]);
    fits = args[i] && check_argument(binder, function, i, args[i]) && fits;
    if (args[i] && args[i]->type.base == NET_NAME && function->shape != TO_TYPE)
      args[i] = tql_convert(binder, args[i], NET_STRING);
  }
  if (!fits || !check_alike(binder, function, args, call->args.count)) return NULL;
  struct net_type type = {function->base, function->width};
  bool of_bytes = type.base == NET_STRING && args[0]->type.base == NET_BYTES;
  switch (function->shape) {
    case OF_TEXTS:
      if (function->op == NG_CONVERT && args[0]->type.base == type.base) return args[0];
      if (function->op == NG_SUBSTRING && of_bytes) type.base = NET_BYTES;
      break;
    case TWO_STRINGS:
      if (of_bytes) type.base = NET_BYTES;
      break;
    case TO_TYPE:
      return converted(binder, call, function, args[0]);
    case OF_SCALAR:
      if (args[0]->type.base == NET_STRING) return args[0];
      break;
    case PART:
      if (!check_count_of_characters(binder, function, args[1])) return NULL;
      if (of_bytes) type.base = NET_BYTES;
      break;
    case KEEP_NUMBER:
      type = (struct net_type){args[0]->type.base, 8, args[0]->type.quantity};
      break;
    case TO_FLOAT:
      args[0] = tql_convert(binder, args[0], NET_FLOAT);
      break;
    default:
      break;
  }
  struct ng_expr *bound = tql_new_expr(binder, function->op, type, call->range);
  bound->arg_count = (unsigned)call->args.count;
  for (size_t i = 0; i < call->args.count; i++) bound->args[i] = args[i];
  return bound;
}

/* ---- regular expressions ---- */

/* EXPRESSION, if it is a constant: a string, or several put together. */
static bool constant_text(const struct base_strings *strings, const struct ng_expr *expression,
                          struct base_buffer *out) {
  size_t length;
  if (expression->op == NG_CONCAT)
    return constant_text(strings, expression->args[0], out) &&
           constant_text(strings, expression->args[1], out);
  if (expression->op != NG_STRING) return false;
  const char *text = base_strings_text(strings, expression->string, &length);
  base_buffer_append(out, text, length);
  return true;
}

/* The regular expression that EXPRESSION says, and how many groups it has; false: it says none, which is reported. */
static bool regular_of(const struct tql_binder *binder, const struct function *function,
                       const struct ng_expr *expression, base_string_id *ret,
                       uint32_t *ret_groups) {
  const struct tql_analysis *analysis = binder->analysis;
  struct base_strings *strings = binder->scope->strings;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!constant_text(strings, expression, &text)) {
    base_buffer_done(&text);
    base_report_hint(analysis->diags, MSG_BAD_REGULAR, analysis->source, &expression->range,
                     "it is made ready before the first tuple, so it cannot come out of one",
                     "%s takes a regular expression that is a constant", function->name);
    return false;
  }
  struct base_arena *arena = base_arena_new();
  size_t at = 0;
  const char *fault = net_regex_fault(arena, base_buffer_text(&text), text.length, &at, ret_groups);
  if (fault != NULL)
    base_report_hint(analysis->diags, MSG_BAD_REGULAR, analysis->source, &expression->range,
                     "in a string a backslash is two: \"[0-9]+\" or \"\\\\d+\"",
                     "the regular expression is wrong behind \"%.*s\": %s", (int)at,
                     base_buffer_text(&text), fault);
  else
    *ret = base_strings_intern(strings, base_buffer_text(&text), text.length);
  base_arena_free(arena);
  base_buffer_done(&text);
  return fault == NULL;
}

static const struct ng_expr *bind_regular(struct tql_binder *binder, const struct tql_expr *call,
                                          const struct function *function) {
  const struct ng_expr *args[3] = {NULL, NULL, NULL};
  base_string_id regular = 0;
  uint32_t groups = 0;
  bool fits = true;
  for (size_t i = 0; i < call->args.count; i++) {
    args[i] = tql_bind_scalar(binder, call->args.items[i]);
    fits = args[i] && check_argument(binder, function, i, args[i]) && fits;
  }
  if (!fits || !regular_of(binder, function, args[1], &regular, &groups)) return NULL;
  if (groups > NET_REGEX_GROUPS) groups = NET_REGEX_GROUPS;
  if (args[2] && args[2]->op == NG_INTEGER &&
      (args[2]->integer < 0 || args[2]->integer > (int64_t)groups)) {
    base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source,
                     &args[2]->range, "0 is all that the expression matches",
                     "the regular expression has %u groups", groups);
    return NULL;
  }
  if (args[0]->type.base == NET_NAME) args[0] = tql_convert(binder, args[0], NET_STRING);
  struct net_type type = {function->base, function->width};
  struct ng_expr *bound = tql_new_expr(binder, function->op, type, call->range);
  bound->string = regular;
  bound->args[bound->arg_count++] = args[0];
  if (args[2]) bound->args[bound->arg_count++] = args[2];
  return bound;
}

static const struct ng_expr *bind_duration(struct tql_binder *binder, const struct tql_expr *call) {
  const struct tql_expr *arg = call->args.items[0];
  if (arg->kind != TQL_E_NAME) {
    base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &arg->range,
                     "span(...) measures other expressions", "duration takes a tuple variable");
    return NULL;
  }
  int index = tql_bind_variable(binder, &arg->name);
  if (index < 0) return NULL;
  if (binder->variables[index].relation->layout->tuple_class == NET_EVENT) {
    base_report_hint(binder->analysis->diags, MSG_DURATION_OF_EVENT, binder->analysis->source,
                     &arg->range, "span(e ; f) is the time between two events",
                     "%s is an event and has no duration", arg->name.text);
    return NULL;
  }
  struct ng_expr *bound =
      tql_new_expr(binder, NG_DURATION, (struct net_type){NET_TEMPORAL, 0}, call->range);
  bound->variable = (unsigned)index;
  return bound;
}

static const struct ng_expr *bind_from_time(struct tql_binder *binder, const struct tql_expr *call,
                                            const struct function *function) {
  const struct tql_expr *arg = call->args.items[0];
  const struct ng_expr *time = function->shape == OF_EVENT
                                   ? tql_bind_event(binder, arg, function->name)
                                   : tql_bind_temporal(binder, arg, TQL_IN_CLAUSE);
  if (!time) return NULL;
  struct net_type type = function->shape == OF_SPAN ? length_type : integer_type;
  struct ng_expr *bound = tql_new_unary(binder, function->op, type, call->range, time);
  bound->integer = function->which;
  return bound;
}

/* ---- the calendar ---- */

static const struct ng_expr *refuse_argument(const struct tql_binder *binder,
                                             const struct base_range *range, const char *hint,
                                             const char *what) {
  base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, range, hint,
                   "%s", what);
  return NULL;
}

/* V, for an event, and all that is an instant. */
static const struct ng_expr *bind_point(struct tql_binder *binder, const struct tql_expr *arg) {
  bool variable = arg->kind == TQL_E_NAME && tql_scope_variable(binder->scope, arg->name.text);
  const struct ng_expr *bound = NULL;
  if (variable || tql_is_chosen(arg)) {
    const struct ng_expr *time = tql_bind_event(binder, arg, "this function");
    if (time) bound = tql_new_unary(binder, NG_CHRONON, point_type, arg->range, time);
    return bound;
  }
  bound = tql_bind_scalar(binder, arg);
  if (bound && bound->op == NG_STRING) bound = tql_as_point(binder, bound);
  if (!bound || bound->type.quantity == NET_POINT) return bound;
  base_report_hint(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                   &bound->range, "write V.start, or a domain of type instant",
                   "an instant is needed here, not %s", tql_type_words(bound->type));
  return NULL;
}

/* The unit that ARG names. */
static bool bind_unit(struct tql_binder *binder, const struct tql_expr *arg,
                      struct ng_expr *bound) {
  static const struct {
    const char *name;
    enum net_calendar_part part;
    int64_t length;
  } units[] = {
      {"second", NET_SINCE_LENGTH, INT64_C(1000000000)},
      {"minute", NET_SINCE_LENGTH, INT64_C(60000000000)},
      {"hour", NET_SINCE_LENGTH, INT64_C(3600000000000)},
      {"day", NET_SINCE_DAY, 0},
      {"week", NET_SINCE_WEEK, 0},
      {"month", NET_SINCE_MONTH, 0},
      {"year", NET_SINCE_YEAR, 0},
  };
  bool word = arg->kind == TQL_E_NAME || arg->kind == TQL_E_STRING;
  for (size_t i = 0; word && i < sizeof units / sizeof *units; i++) {
    if (!tql_same_name(units[i].name, arg->name.text)) continue;
    bound->integer = units[i].part;
    bound->instant.lo = units[i].length;
    return true;
  }
  bound->integer = NET_SINCE_LENGTH;
  if (arg->kind == TQL_E_DURATION && arg->integer > 0) {
    bound->instant.lo = arg->integer;
    return true;
  }
  refuse_argument(binder, &arg->range,
                  "second, minute, hour, day, week, month, year, or a length such as 5 minutes",
                  "this is no unit of the calendar");
  return false;
}

/* The zone that ARG says, or that of the session, under its name. */
static bool bind_zone(struct tql_binder *binder, const struct tql_expr *call,
                      const struct tql_expr *arg, struct ng_expr *bound) {
  struct net_zone *zone = binder->scope->time.zone;
  const char *name = net_zone_name(zone);
  if (arg != NULL) {
    name = arg->kind == TQL_E_STRING ? arg->name.text : "";
    if (!net_zone_named(name, &zone)) {
      refuse_argument(binder, &arg->range,
                      "write one as the zone database calls it: \"Europe/Berlin\", \"UTC\"",
                      "there is no such time zone");
      return false;
    }
  } else if (name == NULL && binder->query->name != NULL) {
    refuse_argument(
        binder, &call->range, "say it: hour(V.start, \"Europe/Berlin\")",
        "the time zone of this session has no name, by which the relation could know it later");
    return false;
  } else {
    name = net_zone_enter(zone);
  }
  bound->string = base_strings_intern(binder->scope->strings, name, strlen(name));
  return true;
}

static const struct ng_expr *bind_calendar(struct tql_binder *binder, const struct tql_expr *call,
                                           const struct function *function) {
  bool of_unit = function->shape == OF_UNIT;
  const struct ng_expr *point = bind_point(binder, call->args.items[0]);
  if (!point) return NULL;
  if (binder->scope->time.timeline != NET_TIMELINE_REAL)
    return refuse_argument(binder, &call->range,
                           "mod(chronon(V.start), N) divides it, whatever its unit is",
                           "the abstract time line has no calendar");
  struct ng_expr *bound =
      tql_new_unary(binder, NG_CALENDAR, of_unit ? point_type : integer_type, call->range, point);
  bound->integer = function->which;
  size_t zone = of_unit ? 2 : 1;
  if (of_unit && !bind_unit(binder, call->args.items[1], bound)) return NULL;
  const struct tql_expr *said = call->args.count > zone ? call->args.items[zone] : NULL;
  return bind_zone(binder, call, said, bound) ? bound : NULL;
}

const struct ng_expr *tql_bind_call(struct tql_binder *binder, const struct tql_expr *call) {
  if (tql_is_aggregate(call->name.text)) return tql_bind_aggregate(binder, call);
  const struct function *function = find_function(call->name.text);
  if (!function) return refuse_unknown(binder, call);
  if (!check_plain(binder, call) || !check_count(binder, call, function)) return NULL;
  switch (function->shape) {
    case OF_VARIABLE:
      return bind_duration(binder, call);
    case OF_SPAN:
    case OF_EVENT:
      return bind_from_time(binder, call, function);
    case OF_CALENDAR:
    case OF_UNIT:
      return bind_calendar(binder, call, function);
    case OF_REGULAR:
      return bind_regular(binder, call, function);
    default:
      return bind_plain(binder, call, function);
  }
}
