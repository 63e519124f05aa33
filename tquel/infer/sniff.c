/* The form of a file, from what it begins with: JSON by its first characters, a log by its lines, fields by a separator that
 * is there equally often in each line. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "sensors/feed/lines.h"
#include "sensors/feed/numbers.h"
#include "tquel/infer/infer_impl.h"
#include "tquel/lang/print.h"

enum { HEAD_BYTES = 1 << 18, LOG_LINES = 50, SEPARATED_RECORDS = 200 };

struct head {
  const char *text;
  size_t length; /* whole lines, but for the last one of a file */
};

static const char *skip_blanks(const struct head *head, const char *at) {
  const char *end = head->text + head->length;
  while (at < end && isspace((unsigned char)*at)) at++;
  return at;
}

/* The next line of text from *AT on, without its end. */
static bool next_line(const struct head *head, const char **at, const char **ret,
                      size_t *ret_length) {
  const char *end = head->text + head->length;
  while (*at < end) {
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *ret = *at;
    *ret_length = (size_t)((newline != NULL ? newline : end) - *at);
    *at = newline != NULL ? newline + 1 : end;
    while (*ret_length > 0 && (*ret)[*ret_length - 1] == '\r') --*ret_length;
    if (*ret_length > 0) return true;
  }
  return false;
}

/* --- JSON */

static bool is_whole_object(const char *line, size_t length) {
  struct sn_json json = {.nested = true};
  bool whole = sn_json_read(&json, line, length);
  sn_json_done(&json);
  return whole;
}

static enum sn_format json_form(const struct head *head) {
  const char *first = skip_blanks(head, head->text), *end = head->text + head->length;
  if (first == end) return SN_GUESS;
  if (*first == '[') {
    const char *next = skip_blanks(head, first + 1);
    return next < end && (*next == '{' || *next == ']') ? SN_JSON : SN_GUESS;
  }
  if (*first != '{') return SN_GUESS;
  const char *line;
  size_t length;
  return next_line(head, &first, &line, &length) && is_whole_object(line, length) ? SN_NDJSON
                                                                                  : SN_JSON;
}

/* --- lines */

/* How many of the first lines READ takes; *RET_COUNT: of how many. */
static size_t count_lines(const struct head *head,
                          bool (*read)(void *context, const char *line, size_t length),
                          void *context, size_t *ret_count) {
  const char *at = head->text, *line;
  size_t length, good = 0;
  for (*ret_count = 0; *ret_count < LOG_LINES && next_line(head, &at, &line, &length); ++*ret_count)
    good += read(context, line, length);
  return good;
}

/* What belongs to the time, or is how grave it is, where a log that is known has something else: it is another one then. */
static bool is_stray(const struct sn_member *member) {
  static const char *const levels[] = {"trace", "debug",    "info",  "notice", "warn",
                                       "error", "critical", "fatal", "severe", "warning"};
  const char *text = member->text;
  size_t length = member->length;
  if (length == 0) return false;
  bool year = length == 4 && (memcmp(text, "19", 2) == 0 || memcmp(text, "20", 2) == 0);
  bool offset = length > 1 && (*text == '+' || *text == '-') && isdigit((unsigned char)text[1]);
  bool capitals = length >= 2 && length <= 5, letters = true;
  for (size_t i = 0; i < length; i++) {
    capitals &= isupper((unsigned char)text[i]) != 0;
    letters &= isalnum((unsigned char)text[i]) != 0;
  }
  if (sn_equal(member->key, member->key_length, "level")) return !letters;
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
    if (length == strlen(levels[i]) && strncasecmp(text, levels[i], length) == 0) return true;
  return year || offset || capitals;
}

static bool reads_by_pattern(void *context, const char *line, size_t length) {
  const struct sn_member *members;
  size_t count;
  const char *problem;
  if (!sn_lines_read(context, line, length, &members, &count, &problem)) return false;
  for (size_t i = 0; i < count; i++) {
    bool host = sn_equal(members[i].key, members[i].key_length, "host");
    bool level = sn_equal(members[i].key, members[i].key_length, "level");
    if ((host || level) && is_stray(&members[i])) return false;
  }
  return true;
}

/* A few lines may be of somebody else, as the first one that some write: nine in ten are enough. */
static bool are_enough(size_t good, size_t count) {
  size_t forgiven = good >= 3 ? 1 : 0;
  return count > 0 && (good + forgiven) * 10 >= count * 9;
}

static const struct sn_log *find_log(const struct head *head) {
  for (size_t i = 0; i < sn_log_count; i++) {
    struct sn_lines *lines = sn_lines_new(sn_logs[i].pattern);
    size_t count, good = count_lines(head, reads_by_pattern, lines, &count);
    sn_lines_free(lines);
    if (are_enough(good, count)) return &sn_logs[i];
  }
  return NULL;
}

struct text_log {
  struct sn_lines *lines;
  unsigned parts;  /* that any line has */
  size_t indented; /* lines that begin with blanks: they go on with a message */
};

static bool reads_text(void *context, const char *line, size_t length) {
  struct text_log *log = context;
  log->indented += *line == ' ' || *line == '\t';
  const struct sn_member *members;
  size_t count;
  const char *problem;
  if (!sn_lines_read(log->lines, line, length, &members, &count, &problem)) return false;
  for (size_t i = 0; i < count; i++)
    if (members[i].length > 0)
      log->parts |= sn_equal(members[i].key, members[i].key_length, "level")    ? INFER_LEVEL
                    : sn_equal(members[i].key, members[i].key_length, "thread") ? INFER_THREAD
                                                                                : 0;
  return true;
}

/* Is there a time of day, or a number of seconds since 1970, anywhere? No log is without. */
static bool has_clock(const struct head *head) {
  size_t digits = 0, pairs = 0; /* pairs of digits with colons between them */
  for (size_t i = 0; i < head->length; i++) {
    char c = head->text[i];
    if (isdigit((unsigned char)c)) {
      pairs += ++digits == 2;
      if (digits == 10 || pairs == 3) return true;
      continue;
    }
    if (digits != 2 || c != ':') pairs = 0;
    digits = 0;
  }
  return false;
}

/* The pattern of a log that is nobody's in particular; NULL: it is none. Half of its lines are enough, or a fifth if these are
 * several: messages go on over several lines, and traces stand between them. */
static const char *find_text_pattern(struct infer *infer, const struct head *head) {
  const char *pattern;
  if (!has_clock(head)) return NULL;
  for (size_t i = 0;
       (pattern = infer_text_pattern(infer->arena, i, INFER_LEVEL | INFER_THREAD)) != NULL; i++) {
    struct text_log log = {.lines = sn_lines_new(pattern)};
    size_t count, good = count_lines(head, reads_text, &log, &count);
    sn_lines_free(log.lines);
    size_t times = good >= 3 ? 5 : 2;
    if (good > 0 && good * times + log.indented >= count)
      return infer_text_pattern(infer->arena, i, log.parts);
  }
  return NULL;
}

static bool take_text_log(struct infer *infer, const struct head *head) {
  const char *pattern = find_text_pattern(infer, head);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (pattern == NULL) return false;
  infer->form.format = SN_LINES;
  infer->form.pattern = pattern;
  infer->form.continued = true;
  base_buffer_puts(&text, "lines ");
  tql_print_string(&text, pattern, strlen(pattern));
  infer->format = base_arena_strdup(infer->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return true;
}

static bool reads_as_logfmt(void *context, const char *line, size_t length) {
  struct sn_logfmt *logfmt = context;
  size_t pairs = 0;
  if (!sn_logfmt_read(logfmt, line, length)) return false;
  for (size_t i = 0; i < logfmt->count; i++) {
    const struct sn_member *member = &logfmt->members[i];
    for (size_t k = 0; k < member->key_length; k++)
      if (!isalnum((unsigned char)member->key[k]) && strchr("_.-/@", member->key[k]) == NULL)
        return false;
    pairs += member->text != NULL && member->offset != member->key_offset;
  }
  return pairs >= 2 && pairs * 2 > logfmt->count;
}

static bool is_logfmt(const struct head *head) {
  struct sn_logfmt logfmt = {0};
  size_t count, good = count_lines(head, reads_as_logfmt, &logfmt, &count);
  sn_logfmt_done(&logfmt);
  return count > 0 && good == count;
}

static bool is_key_line(void *context, const char *line, size_t length) {
  (void)context;
  if (*line == ' ' || *line == '\t') return true;
  const char *colon = memchr(line, ':', length);
  if (colon == NULL || colon == line || !isalpha((unsigned char)*line)) return false;
  for (const char *at = line; at < colon; at++)
    if (!isalnum((unsigned char)*at) && *at != '-' && *at != '_') return false;
  return colon + 1 == line + length || colon[1] == ' ' || colon[1] == '\t';
}

/* The key is that of the line before: a log rather, INFO: one, INFO: two. */
static bool is_same_key(const struct head *head) {
  const char *at = head->text, *first, *second;
  size_t length, other;
  if (!next_line(head, &at, &first, &length) || !next_line(head, &at, &second, &other))
    return false;
  const char *colon = memchr(first, ':', length);
  size_t key = colon != NULL ? (size_t)(colon - first) + 1 : length;
  bool next = second <= first + length + 2; /* no empty line between them */
  return next && other >= key && memcmp(first, second, key) == 0;
}

static bool is_stanzas(const struct head *head) {
  size_t count, good = count_lines(head, is_key_line, NULL, &count);
  return count >= 2 && good == count && !is_same_key(head);
}

/* --- fields */

/* Fields with tabs between them: does any stand between quotation marks? */
static bool has_quoted(const struct head *head) {
  const char *end = head->text + head->length;
  for (const char *at = head->text; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++)
    if (at == head->text || at[-1] == '\t' || at[-1] == '\n') return true;
  return false;
}

/* How many fields the records have that SEPARATOR stands between, if all have equally many; else 0. */
static size_t fields_of(struct infer *infer, const struct sn_form *form, enum base_status *status) {
  struct sn_sample *sample;
  size_t fields = 0, records = 0;
  *status = infer_open(infer, 0, &sample);
  if (*status != BASE_OK) return 0;
  const char *head, *problem;
  size_t length;
  if (sn_sample_head(sample, 1, &head, &length, &problem)) {
    sn_sample_begin(sample, form);
    for (; records < SEPARATED_RECORDS; records++) {
      struct sn_sample_record record;
      enum sn_sampled sampled = sn_sample_next(sample, &record);
      if (sampled == SN_SAMPLED_END) break;
      if (sampled != SN_SAMPLED || (fields > 0 && record.count != fields)) {
        fields = 0;
        break;
      }
      fields = record.count;
    }
  }
  sn_sample_close(sample);
  return fields;
}

static const char *how_separated(struct infer *infer) {
  if (infer->form.format == SN_TSV) return "tsv";
  if (infer->form.separator == 0) return "csv";
  return infer->form.separator == '\t'
             ? "csv \"\\t\""
             : base_arena_printf(infer->arena, "csv \"%c\"", infer->form.separator);
}

/* How many fields the first line has by SEPARATOR, quotation aside. */
static size_t header_fields(const struct head *head, char separator) {
  const char *at = head->text, *line;
  size_t length, fields = 1;
  bool quoted = false;
  if (!next_line(head, &at, &line, &length)) return 0;
  for (size_t i = 0; i < length; i++) {
    if (line[i] == '"') quoted = !quoted;
    fields += !quoted && line[i] == separator;
  }
  return fields;
}

/* A file of fields by its name: where no separator is there equally often in all records, or another one is more often in the
 * first line, that is the separator, and the records are ragged, or none. */
static void find_by_header(struct infer *infer, const struct head *head, size_t most) {
  static const char separators[] = ",;\t|";
  for (const char *at = separators; *at != '\0'; at++) {
    size_t fields = header_fields(head, *at);
    bool rather = fields == most && most > 1 && *at == ';'; /* the comma may be that of decimals */
    if (fields <= most && !rather) continue;
    most = fields;
    infer->form = (struct sn_form){.headless = infer->form.headless,
                                   .ragged = infer->form.ragged,
                                   .skipped = infer->form.skipped};
    infer->form.format = *at == '\t' && !has_quoted(head) ? SN_TSV : SN_CSV;
    if (infer->form.format == SN_CSV && *at != ',') infer->form.separator = *at;
  }
}

static enum base_status find_separator(struct infer *infer, const struct head *head, bool needed) {
  static const char separators[] = ",\t;|";
  size_t most = 1;
  enum base_status status = BASE_OK;
  bool ragged = infer->form.ragged; /* then nothing has to be there equally often */
  for (const char *at = separators; *at != '\0' && !ragged && status == BASE_OK; at++) {
    struct sn_form form = {.format = SN_CSV,
                           .separator = *at == ',' ? 0 : *at,
                           .headless = infer->form.headless,
                           .skipped = infer->form.skipped};
    size_t fields = *at == '\t' && !has_quoted(head) ? 0 : fields_of(infer, &form, &status);
    if (fields == 0 && *at == '\t' && status == BASE_OK) {
      form.format = SN_TSV;
      form.separator = 0;
      fields = fields_of(infer, &form, &status);
    }
    /* A comma may be that of decimals, or of texts. */
    bool rather = fields == most && most > 1 && infer->form.separator == 0 && *at != '|';
    if (fields <= most && !rather) continue;
    most = fields;
    infer->form = form;
  }
  if (status == BASE_OK && (!needed || ragged)) find_by_header(infer, head, most);
  if (status == BASE_OK && most == 1 && needed && infer->form.format == SN_GUESS)
    return infer_fail(
        infer, infer->options->paths[0],
        "say what it is: as lines \"(?<time>\\\\S+) (?<message>.*)\", as csv, as logfmt",
        "nobody knows what it holds: no separator is there equally often in each line, and it is "
        "no log that is known");
  if (infer->form.format == SN_GUESS)
    infer->form.format = sn_format_by_suffix(infer->options->paths[0]) == SN_TSV ? SN_TSV : SN_CSV;
  return status;
}

/* --- what stands before the header */

static void skip_line(struct head *head) {
  const char *newline = memchr(head->text, '\n', head->length);
  size_t length = newline != NULL ? (size_t)(newline - head->text) + 1 : head->length;
  head->text += length;
  head->length -= length;
}

/* Does a field of the first line begin with a digit? */
static bool has_number(const struct head *head, char separator) {
  bool first = true;
  for (size_t i = 0; i < head->length && head->text[i] != '\n'; i++) {
    if (first && isdigit((unsigned char)head->text[i])) return true;
    first = head->text[i] == separator;
  }
  return false;
}

/* Is a comment the header of what is in the next line? #NAME,NAME is, and others are if the next line has numbers, so is no header
 * itself. It may have more fields, as the last ones of a record may lack. */
static bool is_header_of(const struct head *comment, const struct head *next) {
  bool close = comment->length > 1 && !isspace((unsigned char)comment->text[1]);
  for (const char *at = ",;\t|"; *at != '\0'; at++) {
    size_t fields = header_fields(next, *at);
    if (fields > 1 && header_fields(comment, *at) >= fields && (close || has_number(next, *at)))
      return true;
  }
  return false;
}

/* sep=; "sep=;" */
static bool says_separator(const struct head *head) {
  size_t quote = head->length > 0 && *head->text == '"' ? 1 : 0;
  if (head->length < 6 + 2 * quote || strncasecmp(head->text + quote, "sep=", 4) != 0) return false;
  const char *behind = head->text + quote + 5;
  if (quote > 0 && *behind++ != '"') return false;
  return *behind == '\n' || *behind == '\r';
}

/* Comments, the last of which may be the header; and what Excel writes of the separator. */
static void skip_preamble(struct infer *infer, struct head *head) {
  struct head next = *head, last = *head;
  int64_t lines = 0;
  for (; next.length > 0 && *next.text == '#'; lines++) {
    last = next;
    skip_line(&next);
  }
  if (lines > 0 && (next.length == 0 || is_header_of(&last, &next))) {
    next = last;
    lines--;
  }
  if (says_separator(&next)) {
    skip_line(&next);
    lines++;
  }
  infer->form.skipped = lines;
  if (lines > 0) *head = next;
}

/* --- all */

/* What it is instead of a text, and what to do; NULL: it is one. */
static const char *is_binary(const struct head *head, const char **ret_hint) {
  static const struct {
    const char *first;
    size_t length;
    const char *what, *hint;
  } kinds[] = {
      {"\xFF\xFE", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE >TEXT"},
      {"\xFE\xFF", 2, "it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE >TEXT"},
      {"PK\3\4", 4, "it is a zip archive, or a file of an office program",
       "unpack it first, or save it as CSV"},
      {"SQLite format 3", 15, "it is a database of SQLite", "open it with tquel FILE"},
      {"PAR1", 4, "it is Parquet, which is not read", "write it as CSV or NDJSON first"},
      {"ARROW1", 6, "it is Arrow, which is not read", "write it as CSV or NDJSON first"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (head->length < kinds[i].length) continue;
    if (memcmp(head->text, kinds[i].first, kinds[i].length) != 0) continue;
    *ret_hint = kinds[i].hint;
    return kinds[i].what;
  }
  bool archive = head->length > 262 && memcmp(head->text + 257, "ustar", 5) == 0;
  *ret_hint =
      archive ? "take the files out of it first" : "a database of SQLite is opened with tquel FILE";
  if (archive) return "it is a tar archive";
  return memchr(head->text, '\0', head->length < 4096 ? head->length : 4096) != NULL
             ? "it is no text"
             : NULL;
}

static void cut_to_lines(struct head *head, size_t wanted) {
  if (head->length < wanted) return;
  const char *newline = memrchr(head->text, '\n', head->length);
  if (newline != NULL) head->length = (size_t)(newline - head->text) + 1;
}

static const char *name_of(enum sn_format format) {
  switch (format) {
    case SN_NDJSON:
      return "ndjson";
    case SN_JSON:
      return "json";
    case SN_LOGFMT:
      return "logfmt";
    case SN_STANZAS:
      return "stanzas";
    default:
      return "csv";
  }
}

static void take_log(struct infer *infer, const struct sn_log *log) {
  infer->log = log;
  infer->form.format = SN_LINES;
  infer->form.pattern = log->pattern;
  infer->format = log->name;
}

static enum base_status form_of(struct infer *infer, const struct head *head) {
  enum sn_format by_name = sn_format_by_suffix(infer->options->paths[0]), json = json_form(head);
  bool said = infer->form.headless || infer->form.ragged; /* only fields are that */
  bool separated = by_name == SN_CSV || by_name == SN_TSV || said;
  const char *hint, *binary = is_binary(head, &hint);
  if (binary != NULL) return infer_fail(infer, infer->options->paths[0], hint, binary);
  if (json != SN_GUESS && !said) {
    infer->form.format = json;
  } else if (!separated) {
    const struct sn_log *log = find_log(head);
    if (log != NULL) {
      take_log(infer, log);
      return BASE_OK;
    }
    if (is_logfmt(head))
      infer->form.format = SN_LOGFMT;
    else if (is_stanzas(head))
      infer->form.format = SN_STANZAS;
    else if (take_text_log(infer, head))
      return BASE_OK;
  }
  if (infer->form.format == SN_GUESS) {
    enum base_status status = find_separator(infer, head, !separated);
    if (status != BASE_OK) return status;
  }
  bool fields = infer->form.format == SN_CSV || infer->form.format == SN_TSV;
  infer->format = fields ? how_separated(infer) : name_of(infer->form.format);
  return BASE_OK;
}

enum base_status infer_form(struct infer *infer) {
  const struct sn_form *said = infer->options->form;
  struct sn_sample *sample;
  struct head head;
  const char *problem;
  if (said != NULL) infer->form = *said;
  infer->form.mapping_count = 0;
  infer->format = infer->options->format;
  if (said != NULL && said->format != SN_GUESS) {
    for (size_t i = 0; i < sn_log_count; i++)
      if (said->pattern != NULL && strcmp(said->pattern, sn_logs[i].pattern) == 0)
        infer->log = &sn_logs[i];
    return BASE_OK;
  }
  enum base_status status = infer_open(infer, 0, &sample);
  if (status != BASE_OK) return status;
  if (!sn_sample_head(sample, HEAD_BYTES, &head.text, &head.length, &problem)) {
    status =
        infer_fail(infer, infer->options->paths[0], NULL, base_arena_strdup(infer->arena, problem));
  } else {
    cut_to_lines(&head, HEAD_BYTES);
    for (int64_t i = 0; i < infer->form.skipped; i++) skip_line(&head);
    if (infer->form.skipped == 0) skip_preamble(infer, &head);
    if (skip_blanks(&head, head.text) == head.text + head.length)
      status = infer_fail(infer, infer->options->paths[0], "a relation is made with create R (...)",
                          "it is empty");
    else
      status = form_of(infer, &head);
  }
  sn_sample_close(sample);
  return status;
}
