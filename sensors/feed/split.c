/* Finding where records end.
 *
 * An NDJSON record is a line. A CSV record is one too, unless line ends stand between quotation
 * marks; only records with a quotation mark go through the state machine of quoting, the others are
 * found by two calls of memchr. A search that ran out of bytes goes on where it stopped when more
 * have come, so that a long record in small pieces is not searched again and again.
 *
 * A quotation that is never closed would swallow the rest of the input. Its record is therefore cut
 * off at the first line end and called SN_RECORD_UNCLOSED, and the next line is read afresh; this
 * is known at the end of input or when the limit is reached. A line beyond the limit keeps its
 * first LIMIT bytes, for showing, and loses the rest as it comes.
 *
 * Of JSON objects that may go over several lines the braces are counted, outside of strings. What is no object ends
 * with its line, for who reads it to say so.
 *
 * A record of which only the next one's beginning is known ends there, or where nothing has come for a second.
 *
 * A last line without newline is a record, except in a growing file, where the rest may follow. */
#include "sensors/feed/split.h"

#include <string.h>

#include "engine/base/env.h"

#define SN_QUIET_NS INT64_C(1000000000)

/* The record that begins here has lost bytes, which will be missing when it is read again. */
static void note_cut(struct sn_splitter *splitter) {
  splitter->cut_at = splitter->consumed;
  splitter->cut_dropped = splitter->dropped;
}

static void start_search(struct sn_splitter *splitter) {
  splitter->seen = 0;
  splitter->has_quotes = false;
  splitter->quoting = SN_FIELD_START;
  splitter->depth = 0;
  splitter->in_string = splitter->escaped = splitter->odd = false;
  splitter->dropped = 0;
}

/* From FROM on, the newline that ends the record, or LENGTH. */
static size_t find_end_quoted(const char *text, size_t from, size_t length, char separator,
                              enum sn_quoting *quoting) {
  enum sn_quoting state = *quoting;
  for (size_t i = from; i < length; i++) {
    char byte = text[i];
    if (state == SN_IN_QUOTED) {
      const char *quote = memchr(text + i, '"', length - i);
      if (!quote) break;
      i = (size_t)(quote - text);
      state = SN_AFTER_QUOTE;
    } else if (byte == '\n') {
      *quoting = state;
      return i;
    } else if (byte == '"') {
      state = state == SN_IN_PLAIN ? SN_IN_PLAIN : SN_IN_QUOTED;
    } else {
      state = byte == separator ? SN_FIELD_START : SN_IN_PLAIN;
    }
  }
  *quoting = state;
  return length;
}

/* The newline that ends the record, or HAVE. */
static size_t find_end(struct sn_splitter *splitter, const char *text, size_t have) {
  size_t from = splitter->seen, end = have;
  if (!splitter->has_quotes) {
    const char *newline = from < have ? memchr(text + from, '\n', have - from) : NULL;
    if (newline) end = (size_t)(newline - text);
    splitter->has_quotes =
        splitter->cut == SN_CUT_CSV && end > from && memchr(text + from, '"', end - from);
    if (splitter->has_quotes) from = 0;
  }
  if (splitter->has_quotes)
    end = find_end_quoted(text, from, have, splitter->separator, &splitter->quoting);
  splitter->seen = end;
  return end;
}

static enum sn_split found(const struct sn_splitter *splitter, const char *text, size_t end,
                           size_t unread, struct sn_record *ret) {
  bool too_long = end > splitter->limit;
  size_t length = too_long ? splitter->limit : end;
  if (!too_long && length > 0 && text[length - 1] == '\r') length--;
  *ret = (struct sn_record){text, length, unread, splitter->has_quotes};
  return too_long ? SN_RECORD_TOO_LONG : SN_RECORD;
}

static enum sn_split found_unclosed(const char *text, size_t have, struct sn_record *ret) {
  const char *newline = memchr(text, '\n', have);
  size_t end = newline ? (size_t)(newline - text) : have;
  size_t length = end > 0 && text[end - 1] == '\r' ? end - 1 : end;
  *ret = (struct sn_record){text, length, newline ? end + 1 : have, true};
  return SN_RECORD_UNCLOSED;
}

static bool is_unclosed(const struct sn_splitter *splitter) {
  return splitter->has_quotes && splitter->quoting == SN_IN_QUOTED;
}

/* The record is longer than the limit. */
static enum sn_split beyond_limit(struct sn_splitter *splitter, struct sn_source *source,
                                  struct sn_record *ret) {
  const char *text = sn_source_text(source);
  size_t have = sn_source_unread(source), limit = splitter->limit;
  const char *newline = splitter->has_quotes ? memchr(text, '\n', have) : NULL;
  if (newline && (size_t)(newline - text) <= limit) return found_unclosed(text, have, ret);
  if (newline) {
    size_t end = (size_t)(newline - text);
    return found(splitter, text, end, end + 1, ret);
  }
  splitter->dropped += (int64_t)(have - limit);
  source->end = source->next + limit;
  source->data[source->end] = 0;
  return SN_SPLIT_NOTHING;
}

/* Of a line that has lost bytes already: drops on, to its newline. */
static bool drop_more(struct sn_splitter *splitter, struct sn_source *source,
                      struct sn_record *ret) {
  const char *text = sn_source_text(source);
  size_t have = sn_source_unread(source), limit = splitter->limit;
  const char *newline = memchr(text + limit, '\n', have - limit);
  if (newline) {
    *ret = (struct sn_record){text, limit, (size_t)(newline - text) + 1, false};
    return true;
  }
  splitter->dropped += (int64_t)(have - limit);
  source->end = source->next + limit;
  source->data[source->end] = 0;
  return false;
}

static enum sn_split at_end(struct sn_splitter *splitter, struct sn_source *source,
                            struct sn_record *ret) {
  const char *text = sn_source_text(source);
  size_t have = sn_source_unread(source);
  if (have == 0) return SN_SPLIT_END;
  if (splitter->dropped) {
    *ret = (struct sn_record){text, splitter->limit, have, false};
    return SN_RECORD_TOO_LONG;
  }
  if (is_unclosed(splitter)) return found_unclosed(text, have, ret);
  size_t end = have, next = splitter->seen;
  if (splitter->cut == SN_CUT_STARTS && next > 0 && next < have &&
      splitter->begins(splitter->begins_context, text + next, have - next))
    have = next; /* the last line, whose end nobody has written */
  if (splitter->cut == SN_CUT_STARTS && text[have - 1] == '\n') end = have - 1;
  enum sn_split split = found(splitter, text, end, have, ret);
  if (splitter->cut > SN_CUT_CSV) ret->has_quotes = true;
  return split;
}

/* The byte behind the record, or 0. */
static size_t find_object_end(struct sn_splitter *splitter, const char *text, size_t have) {
  for (size_t i = splitter->seen; i < have; i++) {
    char byte = text[i];
    splitter->seen = i + 1;
    if (splitter->odd) {
      if (byte == '\n') return i + 1;
    } else if (splitter->in_string) {
      if (!splitter->escaped && byte == '"') splitter->in_string = false;
      splitter->escaped = !splitter->escaped && byte == '\\';
    } else if (byte == '{') {
      splitter->depth++;
    } else if (byte == '}') {
      if (--splitter->depth <= 0) return i + 1;
    } else if (byte == '"' && splitter->depth > 0) {
      splitter->in_string = true;
    } else if (splitter->depth == 0 && memchr(" \t\r\n,[]", byte, 7) == NULL) {
      splitter->odd = true;
    }
  }
  return 0;
}

/* The byte behind the empty line that ends the record, or 0; *RET_LENGTH: of the record. */
static size_t find_stanza_end(struct sn_splitter *splitter, const char *text, size_t have,
                              size_t *ret_length) {
  size_t at = splitter->seen;
  while (at < have) {
    const char *newline = memchr(text + at, '\n', have - at);
    if (newline == NULL) break;
    size_t i = (size_t)(newline - text), next = i + 1;
    *ret_length = i;
    if (i == 0 || (i == 1 && text[0] == '\r')) return next;
    splitter->seen = i;
    if (next < have && text[next] == '\r') next++;
    if (next == have) return 0;
    if (text[next] == '\n') return next + 1;
    at = i + 1;
  }
  if (at > splitter->seen) splitter->seen = at;
  return 0;
}

/* The byte in front of the next line that begins a record, or 0; *RET_LENGTH: of the record. The last line that is there has to
 * be whole. */
static size_t find_next_start(struct sn_splitter *splitter, const char *text, size_t have,
                              size_t *ret_length) {
  for (;;) {
    size_t at = splitter->seen;
    const char *newline = at < have ? memchr(text + at, '\n', have - at) : NULL;
    if (newline == NULL) return 0;
    size_t end = (size_t)(newline - text),
           length = end - at - (end > at && text[end - 1] == '\r' ? 1 : 0);
    if (at > 0 && splitter->begins(splitter->begins_context, text + at, length)) {
      *ret_length = at - 1;
      return at;
    }
    splitter->seen = end + 1;
  }
}

/* Nothing has come for a while behind lines that are whole: who wrote them writes a record in one go. */
static bool is_quiet(const struct sn_splitter *splitter, const struct sn_source *source) {
  size_t have = sn_source_unread(source);
  return splitter->cut == SN_CUT_STARTS && splitter->dropped == 0 && have > 0 &&
         sn_source_text(source)[have - 1] == '\n' &&
         base_env_monotonic() - splitter->grown >= SN_QUIET_NS;
}

static enum sn_split look_for_block(struct sn_splitter *splitter, struct sn_source *source,
                                    struct sn_record *ret) {
  const char *text = sn_source_text(source);
  size_t have = sn_source_unread(source), length = 0;
  size_t unread = splitter->cut == SN_CUT_OBJECTS ? find_object_end(splitter, text, have)
                  : splitter->cut == SN_CUT_STANZAS
                      ? find_stanza_end(splitter, text, have, &length)
                      : find_next_start(splitter, text, have, &length);
  if (unread > splitter->limit || (unread == 0 && have > splitter->limit)) {
    if (!drop_more(splitter, source, ret)) return SN_SPLIT_NOTHING;
    ret->has_quotes = true;
    return SN_RECORD_TOO_LONG;
  }
  if (unread == 0) return SN_SPLIT_NOTHING;
  if (splitter->cut == SN_CUT_OBJECTS) {
    length = unread;
    start_search(splitter); /* until it is taken it is found again */
  }
  enum sn_split split = found(splitter, text, length, unread, ret);
  ret->has_quotes = true;
  return split;
}

/* One look at what is there. SN_SPLIT_NOTHING: more bytes are needed. */
static enum sn_split look(struct sn_splitter *splitter, struct sn_source *source,
                          struct sn_record *ret) {
  const char *text = sn_source_text(source);
  size_t have = sn_source_unread(source);
  if (have == 0) return SN_SPLIT_NOTHING;
  if (splitter->dropped) {
    bool whole = drop_more(splitter, source, ret);
    if (whole) ret->has_quotes = splitter->cut > SN_CUT_CSV;
    return whole ? SN_RECORD_TOO_LONG : SN_SPLIT_NOTHING;
  }
  if (splitter->cut > SN_CUT_CSV) return look_for_block(splitter, source, ret);
  size_t end = find_end(splitter, text, have);
  if (end < have && (end <= splitter->limit || !splitter->has_quotes))
    return found(splitter, text, end, end + 1, ret);
  if (have > splitter->limit) return beyond_limit(splitter, source, ret);
  return SN_SPLIT_NOTHING;
}

enum sn_split sn_split_next(struct sn_splitter *splitter, struct sn_source *source,
                            struct sn_record *ret) {
  if (splitter->cut_dropped && splitter->dropped == 0 && splitter->consumed == splitter->cut_at)
    splitter->dropped = splitter->cut_dropped;
  for (;;) {
    enum sn_split split = look(splitter, source, ret);
    if (split != SN_SPLIT_NOTHING) return split;
    switch (sn_source_fill(source)) {
      case SN_FILLED:
        if (splitter->cut == SN_CUT_STARTS) splitter->grown = base_env_monotonic();
        break;
      case SN_NOTHING_NOW:
        return is_quiet(splitter, source) ? at_end(splitter, source, ret) : SN_SPLIT_NOTHING;
      case SN_AT_END:
        return at_end(splitter, source, ret);
      case SN_ROTATED:
        return SN_SPLIT_ROTATED;
      case SN_FILL_FAILED:
        return SN_SPLIT_FAILED;
    }
  }
}

void sn_split_restart(struct sn_splitter *splitter) {
  splitter->consumed = 0;
  splitter->line = 1;
  start_search(splitter);
}

void sn_split_settle(struct sn_splitter *splitter, struct sn_source *source) {
  splitter->cut_dropped = 0;
  sn_source_settle(source);
}

void sn_split_rewind(struct sn_splitter *splitter, struct sn_source *source, int64_t consumed,
                     int64_t line) {
  if (splitter->dropped) note_cut(splitter);
  source->next = source->held;
  source->wants_settling = false;
  splitter->consumed = consumed;
  splitter->line = line;
  start_search(splitter);
}

static int64_t count_lines(const char *text, size_t length) {
  int64_t lines = 0;
  for (const char *end = text + length; (text = memchr(text, '\n', (size_t)(end - text))); text++)
    lines++;
  return lines;
}

void sn_split_take(struct sn_splitter *splitter, struct sn_source *source,
                   const struct sn_record *record) {
  if (splitter->dropped) {
    note_cut(splitter);
    source->wants_settling = source->holding; /* so that there is one of them at most */
  }
  splitter->line += record->has_quotes ? count_lines(record->text, record->unread) : 1;
  splitter->consumed += (int64_t)record->unread + splitter->dropped;
  source->next += record->unread;
  start_search(splitter);
}

enum sn_split sn_split_skip(struct sn_splitter *splitter, struct sn_source *source,
                            int64_t position) {
  while (splitter->consumed < position) {
    size_t have = sn_source_unread(source);
    int64_t rest = position - splitter->consumed;
    if (have == 0) {
      enum sn_fill fill = sn_source_fill(source);
      if (fill == SN_FILL_FAILED) return SN_SPLIT_FAILED;
      if (fill == SN_ROTATED) return SN_SPLIT_ROTATED;
      if (fill != SN_FILLED) return SN_SPLIT_END;
      continue;
    }
    if ((int64_t)have > rest) have = (size_t)rest;
    splitter->line += count_lines(sn_source_text(source), have);
    splitter->consumed += (int64_t)have;
    source->next += have;
    sn_source_settle(source);
  }
  start_search(splitter);
  return SN_RECORD;
}
