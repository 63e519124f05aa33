/* The reader: format, header, and from records to what read() answers.
 *
 *      source ──▶ splitter ──▶ csv or ndjson ──▶ decoder ──▶ rows of the builder
 *      bytes      records      values            row
 *
 * What is not a row (a mistake, a control record) is answered for alone, after the rows before it:
 * when such a record is met behind rows it is left untaken, the rows are reported, and the next
 * call meets it again. So position() is always behind exactly the records reported. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/feed/parsers.h"
#include "sensors/feed/records.h"
#include "sensors/feed/source.h"

#define BLANK_LINES_AT_ONCE 65536 /* then the caller has its turn */

enum stage {
  STAGE_MARK,
  STAGE_FORMAT,
  STAGE_HEADER,
  STAGE_SKIP,
  STAGE_RECORDS,
  STAGE_ROTATED, /* to be said in the next call */
  STAGE_FAILED
};

struct sn_reader {
  struct net_reader base;
  struct sn_source source;
  struct sn_splitter splitter;
  struct sn_decoder decoder;
  struct sn_csv csv;
  struct sn_ndjson ndjson;
  const struct sn_form *form; /* or NULL */
  struct sn_records records;  /* of records with mappings that are no CSV */
  struct sn_named named;
  enum sn_format format;
  enum stage stage;
  int64_t position; /* where to go on, until that has been reached */
  int64_t to_skip;  /* lines before the header, of a file that begins for the first time */
  struct mark {
    enum stage stage;
    int64_t consumed, line, to_skip;
  } settled; /* where it stood when it was settled last */
  struct net_read_event failure;
  int64_t *lines; /* of the rows of the batch */
  size_t line_capacity;
};

static void set_mark(struct sn_reader *reader) {
  reader->settled = (struct mark){reader->stage, reader->splitter.consumed, reader->splitter.line,
                                  reader->to_skip};
}

static struct sn_reader *own(struct net_reader *reader) {
  return (struct sn_reader *)reader;
}

/* ---- answers ---- */

/* OFFSET bytes into RECORD, which begins at LINE. */
static void place(struct net_read_event *event, int64_t line, const struct sn_record *record,
                  size_t offset) {
  const char *text = record->text, *at = text + offset, *newline;
  for (; (newline = memchr(text, '\n', (size_t)(at - text))); text = newline + 1) line++;
  event->line = line;
  event->column = at - text + 1;
  event->record = record->text;
  event->record_length = record->length;
}

static enum net_read_result fail(struct sn_reader *reader, struct net_read_event *event) {
  event->number = reader->decoder.number;
  event->reason = base_buffer_text(&reader->decoder.reason);
  reader->failure = *event;
  reader->failure.record = NULL; /* in the buffer, which may move */
  reader->failure.record_length = 0;
  reader->stage = STAGE_FAILED;
  return NET_READ_FAILED;
}

static enum net_read_result source_failed(struct sn_reader *reader, struct net_read_event *event) {
  const struct sn_source *source = &reader->source;
  if (source->problem == MSG_FILE_TRUNCATED)
    sn_decoder_refuse(&reader->decoder, MSG_FILE_TRUNCATED,
                      "%s has become shorter than what was read of it", source->name);
  else
    sn_decoder_refuse(&reader->decoder, source->problem, "cannot read %s: %s", source->name,
                      source->error != 0 ? strerror(source->error) : source->reason);
  event->line = reader->splitter.line;
  event->column = 0;
  return fail(reader, event);
}

/* The file that is followed begins anew. Its first line is a header again, or, where the writer has only
 * gone on writing, a record under the header that is known. */
static enum net_read_result rotated(struct sn_reader *reader, struct net_read_event *event) {
  static const char *const reasons[] = {
      [SN_TRUNCATED] = "the file was truncated",
      [SN_REPLACED] = NULL, /* it was read to its end */
      [SN_CUT_OFF] = "the file was replaced before the end of its last line",
  };
  sn_split_restart(&reader->splitter);
  reader->position = 0;
  reader->to_skip = 0; /* what stands there may be records: better refused than left out */
  reader->stage = STAGE_ROTATED; /* if it is rewound, it is to be said once more */
  set_mark(reader);
  reader->stage = STAGE_MARK;
  event->number = MSG_FILE_TRUNCATED;
  event->reason = reasons[reader->source.rotation];
  return NET_READ_ROTATED;
}

static enum net_read_result nothing_more(struct sn_reader *reader, enum sn_split split,
                                         struct net_read_event *event) {
  if (split == SN_SPLIT_ROTATED) return rotated(reader, event);
  if (split == SN_SPLIT_FAILED) return source_failed(reader, event);
  return split == SN_SPLIT_END ? NET_READ_END : NET_READ_AGAIN;
}

/* A record that the splitter has found fault with. */
static void refuse_split(struct sn_reader *reader, enum sn_split split) {
  if (split == SN_RECORD_UNCLOSED)
    sn_decoder_refuse(&reader->decoder, MSG_BAD_RECORD, "a quotation mark is never closed");
  else
    sn_decoder_refuse(&reader->decoder, MSG_LINE_TOO_LONG, "the line is longer than %zu bytes",
                      reader->splitter.limit);
}

/* ---- the beginning ---- */

/* Has the input, whose first bytes may still be on their way, more than OFFSET of them? */
static enum sn_split await_byte(struct sn_reader *reader, size_t offset) {
  while (sn_source_unread(&reader->source) <= offset) switch (sn_source_fill(&reader->source)) {
      case SN_FILLED:
        break;
      case SN_NOTHING_NOW:
        return SN_SPLIT_NOTHING;
      case SN_AT_END:
        return SN_SPLIT_END;
      case SN_ROTATED:
        return SN_SPLIT_ROTATED;
      case SN_FILL_FAILED:
        return SN_SPLIT_FAILED;
    }
  return SN_RECORD;
}

/* A byte order mark is passed over. */
static enum sn_split skip_mark(struct sn_reader *reader) {
  static const char mark[] = "\xEF\xBB\xBF";
  for (size_t i = 0; i < 3; i++) {
    enum sn_split split = await_byte(reader, i);
    if (split == SN_SPLIT_END) break; /* shorter than a mark */
    if (split != SN_RECORD) return split;
    if (sn_source_text(&reader->source)[i] != mark[i]) break;
    if (i < 2) continue;
    reader->source.next += 3;
    reader->splitter.consumed += 3;
  }
  reader->stage = STAGE_FORMAT;
  return SN_RECORD;
}

/* Lines before the header, whatever is in them. */
static enum sn_split skip_lines(struct sn_reader *reader) {
  struct sn_record record;
  reader->splitter.cut = SN_CUT_LINES;
  for (; reader->to_skip > 0; reader->to_skip--) {
    enum sn_split split = sn_split_next(&reader->splitter, &reader->source, &record);
    if (split != SN_RECORD && split != SN_RECORD_TOO_LONG) return split;
    sn_split_take(&reader->splitter, &reader->source, &record);
  }
  return SN_RECORD;
}

static bool is_mapped(const struct sn_reader *reader) {
  return reader->decoder.columns.mapped;
}

/* The format is known. */
static void prepare_format(struct sn_reader *reader) {
  const struct sn_form *form = reader->form;
  bool separated = sn_is_separated(reader->format);
  reader->ndjson.json.nested = reader->format == SN_JSON;
  if (is_mapped(reader) && !separated && reader->records.format == SN_GUESS)
    sn_records_init(&reader->records, reader->format, form);
  sn_records_cut(&reader->records, form, reader->format, &reader->splitter, &reader->source);
  reader->stage = separated ? STAGE_HEADER : STAGE_SKIP;
}

static enum sn_split guess_format(struct sn_reader *reader) {
  for (size_t i = 0; reader->format == SN_GUESS; i++) {
    enum sn_split split = await_byte(reader, i);
    if (split != SN_RECORD) return split;
    char byte = sn_source_text(&reader->source)[i];
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') continue;
    reader->format = byte == '{' ? SN_NDJSON : byte == '[' ? SN_JSON : SN_CSV;
  }
  prepare_format(reader);
  return SN_RECORD;
}

static enum net_read_result bad_header(struct sn_reader *reader, const struct sn_record *record,
                                       size_t offset, struct net_read_event *event) {
  place(event, reader->splitter.line, record, offset);
  return fail(reader, event);
}

/* NET_READ_ROWS: go on. Empty lines before the header are passed over. */
static enum net_read_result read_header(struct sn_reader *reader, struct net_read_event *event) {
  struct sn_record record;
  size_t offset = 0;
  enum sn_split split;
  for (;;) {
    split = sn_split_next(&reader->splitter, &reader->source, &record);
    if (split != SN_RECORD || record.length > 0) break;
    sn_split_take(&reader->splitter, &reader->source, &record);
  }
  if (split == SN_SPLIT_END && !reader->source.following) {
    sn_decoder_refuse(&reader->decoder, MSG_NO_HEADER, "there is no header line");
    record = (struct sn_record){.text = ""};
    return bad_header(reader, &record, 0, event);
  }
  if (split == SN_RECORD_TOO_LONG || split == SN_RECORD_UNCLOSED) {
    refuse_split(reader, split);
    return bad_header(reader, &record, 0, event);
  }
  if (split != SN_RECORD) return nothing_more(reader, split, event);
  bool headless = reader->form != NULL && reader->form->headless;
  struct sn_csv csv = {.separator = reader->splitter.separator,
                       .headless = headless,
                       .ragged = reader->form != NULL && reader->form->ragged};
  if (sn_csv_header(&csv, &reader->decoder, &record, &offset)) {
    sn_csv_done(&reader->csv);
    reader->csv = csv;
    if (!headless) sn_split_take(&reader->splitter, &reader->source, &record);
  } else {
    sn_csv_done(&csv);
    if (reader->csv.count == 0) return bad_header(reader, &record, offset, event);
  }
  reader->stage = STAGE_SKIP;
  return NET_READ_ROWS;
}

static void reader_settle(struct net_reader *base) {
  struct sn_reader *reader = own(base);
  sn_split_settle(&reader->splitter, &reader->source);
  if (reader->stage != STAGE_FAILED) set_mark(reader);
}

static void reader_rewind(struct net_reader *base) {
  struct sn_reader *reader = own(base);
  if (!reader->source.holding || reader->stage == STAGE_FAILED) return;
  reader->stage = reader->settled.stage;
  reader->to_skip = reader->settled.to_skip;
  sn_split_rewind(&reader->splitter, &reader->source, reader->settled.consumed,
                  reader->settled.line);
}

static bool reader_wants_settling(const struct net_reader *base) {
  const struct sn_source *source = &((const struct sn_reader *)base)->source;
  return source->holding &&
         (source->wants_settling || source->next - source->held >= SN_HOLD_BYTES);
}

static enum net_read_result skip(struct sn_reader *reader, struct net_read_event *event) {
  if (reader->source.regular) {
    enum sn_split split = sn_split_skip(&reader->splitter, &reader->source, reader->position);
    if (split == SN_SPLIT_FAILED) return source_failed(reader, event);
    if (split == SN_SPLIT_ROTATED) return rotated(reader, event);
    if (split == SN_SPLIT_END && reader->source.grows) {
      reader->source.rotation = SN_TRUNCATED;
      sn_source_restart(&reader->source);
      return rotated(reader, event);
    }
    if (split == SN_SPLIT_END) {
      reader->source.problem = MSG_FILE_TRUNCATED;
      return source_failed(reader, event);
    }
  } else {
    reader->splitter.consumed += reader->position;
  }
  reader->stage = STAGE_RECORDS;
  if (reader->position > 0) reader_settle(&reader->base);
  return NET_READ_ROWS;
}

/* NET_READ_ROWS: the first record can be read. */
static enum net_read_result prepare(struct sn_reader *reader, struct net_read_event *event) {
  enum sn_split split = SN_RECORD;
  enum net_read_result result;
  if (reader->stage == STAGE_MARK) split = skip_mark(reader);
  if (split == SN_RECORD && reader->to_skip > 0) split = skip_lines(reader);
  if (split == SN_RECORD && reader->stage == STAGE_FORMAT) split = guess_format(reader);
  if (split != SN_RECORD) return nothing_more(reader, split, event);
  if (reader->stage == STAGE_HEADER) {
    result = read_header(reader, event);
    if (result != NET_READ_ROWS) return result;
  }
  return reader->stage == STAGE_SKIP ? skip(reader, event) : NET_READ_ROWS;
}

/* ---- records ---- */

static enum sn_parsed parse_named(struct sn_reader *reader, const struct sn_record *record,
                                  size_t *ret_offset) {
  const struct sn_member *members = NULL;
  size_t count = 0;
  if (sn_records_read(&reader->records, record->text, record->length, &members, &count))
    return sn_named_parse(&reader->named, &reader->decoder, members, count, ret_offset);
  *ret_offset = reader->records.problem_offset;
  sn_decoder_refuse(&reader->decoder, MSG_BAD_RECORD, "%s", reader->records.problem);
  return SN_PARSED_BAD;
}

static enum sn_parsed parse(struct sn_reader *reader, enum sn_split split,
                            const struct sn_record *record, size_t *ret_offset) {
  *ret_offset = 0;
  if (split != SN_RECORD) {
    refuse_split(reader, split);
    return SN_PARSED_BAD;
  }
  if (sn_is_separated(reader->format))
    return sn_csv_parse(&reader->csv, &reader->decoder, record, ret_offset);
  return is_mapped(reader) ? parse_named(reader, record, ret_offset)
                           : sn_ndjson_parse(&reader->ndjson, &reader->decoder, record, ret_offset);
}

/* As the ROWth that is added in this call. */
static void add_row(struct sn_reader *reader, struct net_batch_builder *builder,
                    uint32_t row_number) {
  base_grow(&reader->lines, &reader->line_capacity, row_number + 1, sizeof *reader->lines);
  reader->lines[row_number] = reader->splitter.line;
  union net_slot *row = net_batch_builder_add(builder, sn_decoder_marks(&reader->decoder));
  memcpy(row, reader->decoder.row, reader->base.layout->slot_count * sizeof *row);
}

static enum net_read_result answer(struct sn_reader *reader, enum sn_parsed parsed,
                                   const struct sn_record *record, size_t offset,
                                   struct net_read_event *event) {
  place(event, reader->splitter.line, record, offset);
  event->time = reader->ndjson.time;
  if (parsed == SN_PARSED_CHECKPOINT) return NET_READ_CHECKPOINT;
  if (parsed == SN_PARSED_ROUND) return NET_READ_ROUND;
  if (parsed == SN_PARSED_END) {
    event->row = reader->decoder.row;
    event->named = reader->ndjson.named;
    return NET_READ_END_RECORD;
  }
  event->number = reader->decoder.number;
  event->reason = base_buffer_text(&reader->decoder.reason);
  return NET_READ_BAD;
}

static enum net_read_result read_records(struct sn_reader *reader,
                                         struct net_batch_builder *builder,
                                         struct net_read_event *event) {
  uint32_t before = builder->count, blank = 0;
  while (!net_batch_builder_full(builder) && blank < BLANK_LINES_AT_ONCE) {
    struct sn_record record;
    size_t offset;
    enum sn_split split = sn_split_next(&reader->splitter, &reader->source, &record);
    bool has_rows = builder->count > before;
    if (split == SN_SPLIT_ROTATED && has_rows) reader->stage = STAGE_ROTATED;
    if (split == SN_SPLIT_NOTHING || split == SN_SPLIT_END || split == SN_SPLIT_ROTATED ||
        split == SN_SPLIT_FAILED)
      return has_rows ? NET_READ_ROWS : nothing_more(reader, split, event);
    if (split == SN_RECORD && sn_is_blank_record(reader->format, record.text, record.length)) {
      blank += reader->source.following;
      sn_split_take(&reader->splitter, &reader->source, &record);
      continue;
    }
    enum sn_parsed parsed = parse(reader, split, &record, &offset);
    if (parsed == SN_PARSED_LEFT_OUT) {
      blank += reader->source.following;
      sn_split_take(&reader->splitter, &reader->source, &record);
      continue;
    }
    if (parsed != SN_PARSED_ROW) {
      if (builder->count > before) return NET_READ_ROWS;
      enum net_read_result result = answer(reader, parsed, &record, offset, event);
      sn_split_take(&reader->splitter, &reader->source, &record);
      return result;
    }
    add_row(reader, builder, builder->count - before);
    sn_split_take(&reader->splitter, &reader->source, &record);
  }
  return builder->count > before ? NET_READ_ROWS : NET_READ_AGAIN;
}

static enum net_read_result reader_read(struct net_reader *base, struct net_batch_builder *builder,
                                        struct net_read_event *event) {
  struct sn_reader *reader = own(base);
  BASE_CHECK(!net_batch_builder_full(builder), "feed-builder-has-room");
  *event = (struct net_read_event){0};
  if (reader->stage == STAGE_FAILED) {
    *event = reader->failure;
    return NET_READ_FAILED;
  }
  if (reader_wants_settling(base)) return NET_READ_AGAIN;
  if (reader->stage == STAGE_ROTATED) return rotated(reader, event);
  if (reader->stage != STAGE_RECORDS) {
    enum net_read_result result = prepare(reader, event);
    if (result != NET_READ_ROWS) return result;
  }
  enum net_read_result result = read_records(reader, builder, event);
  event->lines = reader->lines;
  if (result == NET_READ_ROWS || result == NET_READ_END) {
    event->unit = sn_decoder_unit(&reader->decoder);
    event->empty_periods = reader->decoder.empty_count;
    event->year_assumed = reader->decoder.stamps.assumed ? reader->decoder.stamps.first_year : 0;
  }
  return result;
}

static int reader_descriptor(struct net_reader *base) {
  return sn_source_descriptor(&own(base)->source);
}

/* Before the first record: where it was asked to go on, so that nothing is forgotten. */
static int64_t reader_position(struct net_reader *base) {
  const struct sn_reader *reader = own(base);
  bool begun = reader->stage == STAGE_RECORDS || reader->stage == STAGE_ROTATED;
  return begun || reader->position == 0 ? reader->splitter.consumed : reader->position;
}

static void reader_free(struct net_reader *base) {
  struct sn_reader *reader = own(base);
  sn_source_done(&reader->source);
  sn_decoder_done(&reader->decoder);
  sn_csv_done(&reader->csv);
  sn_ndjson_done(&reader->ndjson);
  sn_named_done(&reader->named);
  sn_records_done(&reader->records);
  free(reader->lines);
  free(reader);
}

static const struct net_reader_class reader_class = {.read = reader_read,
                                                     .descriptor = reader_descriptor,
                                                     .position = reader_position,
                                                     .settle = reader_settle,
                                                     .rewind = reader_rewind,
                                                     .wants_settling = reader_wants_settling,
                                                     .free = reader_free};

enum base_status sn_reader_open(const struct sn_reader_options *options,
                                struct base_diag_sink *diags, struct net_reader **ret) {
  struct sn_reader *reader = base_xcalloc(1, sizeof *reader);
  enum base_status status = sn_source_open(&reader->source, options, diags);
  if (status != BASE_OK) {
    sn_source_done(&reader->source);
    free(reader);
    return status;
  }
  reader->base = (struct net_reader){&reader_class, options->layout};
  reader->form = options->form;
  reader->format = options->form != NULL ? options->form->format : options->format;
  if (reader->format == SN_GUESS) reader->format = sn_format_by_suffix(options->path);
  reader->position = options->position;
  reader->to_skip = reader->form != NULL ? reader->form->skipped : 0;
  reader->splitter.limit = options->line_limit ? options->line_limit : SN_LINE_LIMIT;
  reader->splitter.line = 1;
  set_mark(reader);
  sn_decoder_init(&reader->decoder, options);
  sn_ndjson_init(&reader->ndjson, &reader->decoder);
  sn_named_init(&reader->named, &reader->decoder);
  *ret = &reader->base;
  return BASE_OK;
}
