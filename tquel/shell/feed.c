/* `tquel feed`: records from standard input to a relation of a server.
 *
 * The server says what the relation is like; the reader of sensors/feed does the rest, as `copy` would.
 * What was read is kept until the server has it on its disk, over as many broken connections as it takes;
 * while it cannot be kept, nothing is read. So nothing is lost or doubled as long as this process lives.
 *
 * The checkpoint is the latest time seen minus --within. A record is judged by what was promised when it was
 * read, not by how the bytes came in batches: before a record that breaks the promise, the promise is sent.
 * While stamps keep up with the clock, silence advances it as well. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/feed/feed.h"
#include "sensors/wire/link.h"
#include "sensors/wire/records.h"
#include "tquel/program/client.h"
#include "tquel/program/help.h"
#include "tquel/shell/shell.h"
#include "tquel/program/signals.h"

#define RELATION     1 /* its number in messages */
#define OUTBOX_BYTES ((size_t)64 << 20)
#define FRAME_BYTES  ((size_t)64 << 10)
#define LINE_BYTES   ((size_t)128 << 10)
#define ROWS         256
#define NS_PER_MS    INT64_C(1000000)
/* As `copy ... following` has them: how far behind stamps are that keep up, how far ahead ones are believed. */
#define KEEPS_UP_NS     (2000 * NS_PER_MS)
#define FUTURE_LIMIT_NS (3600 * 1000 * NS_PER_MS)
#define QUIET_NS        (250 * NS_PER_MS)
#define TELL_NS         (1000 * NS_PER_MS)

struct feeding {
  struct net_zone *zone; /* of times without an offset */
  const struct program_options *options;
  struct base_diag_sink *diags;
  struct sn_link *link;
  struct base_arena *arena;
  struct base_strings *strings;
  struct net_layout *layout; /* NULL: the server has not told yet */
  uint8_t kind;              /* enum sn_relation_kind */
  bool real;
  struct net_reader *reader;
  struct base_buffer frame; /* the message that is being made */
  size_t frame_at;
  uint32_t frame_count;
  net_chronon latest, promised;
  bool keeps_up;
  int64_t heard_at; /* monotonic ns: records came */
  uint64_t records, rejected;
  uint64_t tell_rejected_at; /* the number of rejected ones at which that is said again */
  bool told;                 /* that the server takes nothing, and how far it had got then */
  uint64_t told_at;
  bool finishing; /* the server has them all */
  bool failed;
};

static bool fail(struct feeding *feeding) {
  feeding->failed = true;
  return false;
}

/* --- the link --------------------------------------------------------------------------------- */

static void take_info(struct feeding *feeding, const struct sn_message *message) {
  struct sn_message_relation_info info;
  if (!sn_get_relation_info(message, &info) || info.relation != RELATION) return;
  struct sn_reading reading = sn_reading_from(info.domains);
  struct net_field *fields = base_xcalloc((size_t)info.count + 1, sizeof *fields);
  bool good = info.count <= UINT16_MAX;
  for (uint32_t i = 0; i < info.count && good; i++) {
    static const enum net_base_type types[] = {
        [SN_DOMAIN_INTEGER] = NET_INTEGER, [SN_DOMAIN_FLOAT] = NET_FLOAT,
        [SN_DOMAIN_BOOL] = NET_BOOL,       [SN_DOMAIN_STRING] = NET_STRING,
        [SN_DOMAIN_NAME] = NET_NAME,       [SN_DOMAIN_BYTES] = NET_BYTES};
    struct sn_domain domain;
    good = sn_get_domain(&reading, &domain) && domain.type >= SN_DOMAIN_INTEGER &&
           domain.type <= SN_DOMAIN_BYTES;
    if (!good) break;
    fields[i] = (struct net_field){
        .name = base_arena_strndup(feeding->arena, domain.name.bytes, domain.name.length),
        .type = {types[domain.type], domain.size}};
  }
  bool period = info.kind == SN_RELATION_PERIOD || info.kind == SN_RELATION_SNAPSHOT;
  struct net_layout *layout =
      good ? net_layout_new(feeding->arena, period ? NET_PERIOD : NET_EVENT, fields, info.count)
           : NULL;
  free(fields);
  bool same = layout && feeding->layout && feeding->kind == info.kind &&
              layout->field_count == feeding->layout->field_count;
  for (uint32_t i = 0; same && i < layout->field_count; i++) {
    const struct net_field *now = &layout->fields[i], *before = &feeding->layout->fields[i];
    same = strcmp(now->name, before->name) == 0 && now->type.base == before->type.base;
  }
  if (!layout || (feeding->layout && !same)) {
    base_report(feeding->diags, MSG_PEER_REFUSED, NULL, NULL,
                "the relation %s is not what it was when the feed began",
                feeding->options->relation);
    fail(feeding);
  } else if (!feeding->layout) {
    feeding->layout = layout;
    feeding->kind = info.kind;
    feeding->real = sn_link_timeline(feeding->link) == NET_TIMELINE_REAL;
  }
}

static void take_error(struct feeding *feeding, const struct sn_message *message) {
  struct sn_message_error error;
  if (!sn_get_error(message, &error)) return;
  const struct base_message_info *info = base_message_find((int)error.diagnostic);
  char *text = base_arena_strndup(feeding->arena, error.message.bytes, error.message.length);
  char *end = strchr(text, '\n'); /* the hint is behind it */
  if (end) *end = '\0';
  base_report_hint(feeding->diags, info ? (enum base_message)info->number : MSG_PEER_REFUSED, NULL,
                   NULL, end ? end + 1 : NULL, "%s", text);
  fail(feeding);
}

/* Once, until the server confirms something: why nothing goes on. */
static void tell_waiting(struct feeding *feeding) {
  uint64_t durable = sn_outbox_durable(sn_link_outbox(feeding->link));
  if (feeding->told && feeding->told_at == durable) return;
  feeding->told = true;
  feeding->told_at = durable;
  bool refused = sn_link_diagnostic(feeding->link) == MSG_SOURCE_NOT_TAKEN;
  base_report(feeding->diags, MSG_SOURCE_NOT_TAKEN, NULL, NULL,
              "the server cannot %s now; records are kept, and sent again",
              refused ? "take records" : "be reached");
}

/* Nobody there at the first attempt, or one who will not have us: there is no use in trying again. */
static void check_link(struct feeding *feeding) {
  const char *reason = sn_link_reason(feeding->link);
  const char *address =
      feeding->options->connect ? feeding->options->connect : "the default socket";
  if (!reason || sn_link_is_up(feeding->link) || feeding->finishing) return;
  uint32_t diagnostic = sn_link_diagnostic(feeding->link);
  if (diagnostic == MSG_PEER_REFUSED || diagnostic == MSG_TOO_MANY_CONNECTIONS) {
    base_report(feeding->diags, (enum base_message)diagnostic, NULL, NULL,
                "the server at %s refuses: %s", address, reason);
    fail(feeding);
  } else if (sn_link_welcomes(feeding->link) == 0) {
    base_report_hint(feeding->diags, MSG_SERVER_UNREACHABLE, NULL, NULL,
                     "tquel serve DB starts one", "there is no server at %s: %s", address, reason);
    fail(feeding);
  } else {
    tell_waiting(feeding);
  }
}

/* Waits for INPUT (-1: none), the link, a signal or TIMEOUT_NS; true: there is input. */
static bool turn(struct feeding *feeding, int input, int64_t timeout_ns) {
  struct pollfd polled[2] = {{.fd = input, .events = POLLIN}};
  int64_t wait;
  sn_link_poll(feeding->link, &polled[1], &wait);
  if (wait > timeout_ns) wait = timeout_ns;
  int64_t wait_ms = wait > 3600000 * NS_PER_MS ? 3600000 : (wait + NS_PER_MS - 1) / NS_PER_MS;
  (void)program_signals_wait(polled, 2, (int)wait_ms);
  sn_link_turn(feeding->link, polled[1].revents);
  struct sn_message message;
  while (!feeding->failed && sn_link_next(feeding->link, &message)) {
    if (message.type == SN_WIRE_RELATION_INFO) take_info(feeding, &message);
    if (message.type == SN_WIRE_ERROR) take_error(feeding, &message);
  }
  if (!feeding->failed) check_link(feeding);
  return polled[0].revents != 0;
}

/* Puts the message in the frame into the outbox, once there is room. */
static bool send_frame(struct feeding *feeding) {
  struct sn_outbox *outbox = sn_link_outbox(feeding->link);
  for (;;) {
    struct base_buffer *frame = sn_outbox_frame(outbox);
    base_buffer_append(frame, feeding->frame.data, feeding->frame.length);
    if (sn_outbox_data(outbox)) break;
    if (!feeding->failed && base_env_interrupted())
      base_report(
          feeding->diags, MSG_SERVER_GONE, NULL, NULL,
          "interrupted while the server does not take the records, and the last were not sent");
    if (feeding->failed || base_env_interrupted()) return fail(feeding);
    (void)turn(feeding, -1, INT64_MAX);
  }
  base_buffer_clear(&feeding->frame);
  return true;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool flush(struct feeding *feeding) {
  if (feeding->frame_count == 0) return true;
  (void)sn_event_record_end(&feeding->frame, feeding->frame_at, feeding->frame_count);
  feeding->frame_count = 0;
  return send_frame(feeding);
}

static bool send_check(struct feeding *feeding, net_chronon time) {
  if (time <= feeding->promised) return true;
  const struct sn_message_check check = {.relation = RELATION, .time = time};
  if (!flush(feeding)) return false;
  feeding->promised = time;
  (void)sn_put_check(&feeding->frame, 0, &check);
  return send_frame(feeding);
}

static net_chronon promise(const struct feeding *feeding) {
  if (feeding->latest == NET_BEGINNING) return NET_BEGINNING;
  return net_chronon_add(feeding->latest, -feeding->options->within_ns);
}

/* Before something of TIME is sent: what was promised until now, if it breaks that; then TIME was seen. */
static bool see(struct feeding *feeding, net_chronon time) {
  bool kept = time >= promise(feeding) || send_check(feeding, promise(feeding));
  int64_t now = feeding->real ? base_env_now() : 0;
  if (time != NET_FOREVER && time > feeding->latest &&
      (!feeding->real || time <= net_chronon_add(now, FUTURE_LIMIT_NS)))
    feeding->latest = time;
  feeding->keeps_up =
      feeding->real && time > now - feeding->options->within_ns - KEEPS_UP_NS && time <= now;
  return kept;
}

static void put_values(struct feeding *feeding, const union net_slot *row, const bool *named) {
  const struct net_layout *layout = feeding->layout;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    if (named && !named[i]) continue;
    size_t length;
    const char *text;
    switch (field->type.base) {
      case NET_INTEGER:
        sn_put_i64(&feeding->frame, row[field->slot].i);
        break;
      case NET_FLOAT:
        sn_put_f64(&feeding->frame, row[field->slot].f);
        break;
      case NET_BOOL:
        sn_put_u8(&feeding->frame, row[field->slot].i != 0);
        break;
      case NET_STRING:
      case NET_NAME:
      case NET_BYTES:
        text = base_strings_text(feeding->strings, row[field->slot].s, &length);
        sn_put_string(&feeding->frame, sn_string_from(text, length));
        break;
      case NET_TEMPORAL:
      case NET_INSTANT:
      default:
        BASE_CHECK(false, "feed-type");
    }
  }
}

/* Begins a record in the frame, in a new one if the last is large enough. */
static bool begin_record(struct feeding *feeding, const struct sn_record_head *head) {
  if (feeding->frame_count > 0 && feeding->frame.length > FRAME_BYTES && !flush(feeding))
    return false;
  if (feeding->frame_count == 0) {
    const struct sn_message_event_record message = {.relation = RELATION};
    base_buffer_clear(&feeding->frame);
    feeding->frame_at = sn_begin_event_record(&feeding->frame, 0, &message);
  }
  feeding->frame_count++;
  sn_put_record_head(&feeding->frame, head);
  return true;
}

static bool send_row(struct feeding *feeding, const union net_slot *row, uint8_t marks) {
  struct sn_record_head head = {.marks = marks & NET_DEFINITE ? SN_MARK_DEFINITE : 0,
                                .start_lo = row[0].i,
                                .start_hi = row[1].i};
  if (feeding->layout->tuple_class == NET_PERIOD) {
    head.marks |= SN_MARK_PERIOD;
    head.stop_lo = row[2].i;
    head.stop_hi = row[3].i;
  }
  if (feeding->kind != SN_RELATION_SNAPSHOT && !see(feeding, row[0].i)) return false;
  if (!begin_record(feeding, &head)) return false;
  put_values(feeding, row, NULL);
  feeding->records++;
  return true;
}

/* The end of an entity or period, or of a round: alone in its message, as the server takes it by itself. */
static bool send_mark(struct feeding *feeding, const struct net_read_event *event, uint8_t mark) {
  const struct sn_record_head head = {
      .marks = SN_MARK_DEFINITE | mark, .start_lo = event->time, .start_hi = event->time};
  if (!see(feeding, event->time) || !flush(feeding) || !begin_record(feeding, &head)) return false;
  if (mark == SN_MARK_CLOSES) {
    sn_put_named(&feeding->frame, event->named, feeding->layout->field_count);
    put_values(feeding, event->row, event->named);
  }
  feeding->records++;
  return flush(feeding);
}

/* The first one at once, then the tenth, the hundredth and so on. */
static void tell_rejected(struct feeding *feeding, const char *reason) {
  const char *relation = feeding->options->relation;
  if (++feeding->rejected < feeding->tell_rejected_at) return;
  if (feeding->rejected == 1)
    base_report(feeding->diags, MSG_DIVERTED, NULL, NULL, "%s: a record is in Rejected: %s",
                relation, reason);
  else
    base_report(feeding->diags, MSG_DIVERTED, NULL, NULL,
                "%s: %" PRIu64 " records are in Rejected by now, the last one: %s", relation,
                feeding->rejected, reason);
  while (feeding->tell_rejected_at <= feeding->rejected) feeding->tell_rejected_at *= 10;
}

static bool send_reject(struct feeding *feeding, const struct net_read_event *event) {
  struct base_buffer reason = BASE_BUFFER_EMPTY;
  base_buffer_printf(&reason, "line %" PRId64 ", column %" PRId64 ": %s", event->line,
                     event->column, event->reason);
  tell_rejected(feeding, reason.data);
  size_t length = event->record_length < LINE_BYTES ? event->record_length : LINE_BYTES;
  net_chronon at = feeding->real                      ? base_env_now()
                   : feeding->latest == NET_BEGINNING ? 0
                                                      : feeding->latest;
  const struct sn_message_reject reject = {
      .relation = RELATION,
      .at = at,
      .reason = sn_string_from(reason.data, reason.length),
      .record = sn_string_from(event->record ? event->record : "", event->record ? length : 0)};
  bool good = flush(feeding);
  if (good) {
    (void)sn_put_reject(&feeding->frame, 0, &reject);
    good = send_frame(feeding);
  }
  base_buffer_done(&reason);
  return good;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool send_rows(struct feeding *feeding, const struct net_batch_builder *builder) {
  for (uint32_t i = 0; i < builder->count; i++)
    if (!send_row(feeding, builder->rows + (size_t)i * builder->layout->slot_count,
                  builder->marks[i]))
      return false;
  return send_check(feeding, promise(feeding));
}

static void report_failure(struct feeding *feeding, const struct net_read_event *event) {
  const struct base_source source = {.name = "<stdin>"};
  const struct base_range range = {(int)event->line, (int)event->column, (int)event->line, 0};
  base_report(feeding->diags, event->number ? event->number : MSG_SCRIPT_UNREADABLE, &source,
              event->line ? &range : NULL, "%s", event->reason);
  fail(feeding);
}

/* One turn of the reader. *RET_AGAIN: it has nothing now. False: it is over, or all is. */
static bool read_some(struct feeding *feeding, struct net_batch_builder *builder, bool *ret_again) {
  struct net_read_event event = {0};
  net_batch_builder_clear(builder);
  *ret_again = false;
  switch (feeding->reader->class->read(feeding->reader, builder, &event)) {
    case NET_READ_ROWS:
      return send_rows(feeding, builder);
    case NET_READ_CHECKPOINT:
      return flush(feeding) && send_check(feeding, event.time);
    case NET_READ_END_RECORD:
      return send_mark(feeding, &event, SN_MARK_CLOSES) && send_check(feeding, promise(feeding));
    case NET_READ_ROUND:
      return send_mark(feeding, &event, SN_MARK_ROUND) && send_check(feeding, promise(feeding));
    case NET_READ_BAD:
      return send_reject(feeding, &event);
    case NET_READ_AGAIN:
      *ret_again = true;
      return true;
    case NET_READ_FAILED:
      report_failure(feeding, &event);
      return false;
    case NET_READ_ROTATED:
    case NET_READ_END:
    default:
      return false;
  }
}

/* Nothing came for a while: where stamps keep up with the clock, nothing happened. */
static bool advance_by_clock(struct feeding *feeding) {
  if (!feeding->keeps_up || base_env_monotonic() - feeding->heard_at < QUIET_NS) return true;
  return send_check(feeding, base_env_now() - feeding->options->within_ns);
}

static void read_all(struct feeding *feeding) {
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, feeding->layout, ROWS);
  bool more = true, again = false;
  while (more && !feeding->failed && !base_env_interrupted()) {
    more = read_some(feeding, &builder, &again) && flush(feeding);
    if (!again) feeding->heard_at = base_env_monotonic();
    if (base_strings_want_sweep(feeding->strings)) {
      base_strings_sweep_begin(feeding->strings);
      base_strings_sweep_end(feeding->strings);
    }
    if (again && more) more = advance_by_clock(feeding);
    int input = again ? feeding->reader->class->descriptor(feeding->reader) : -1;
    int64_t patience = again ? (feeding->keeps_up || input < 0 ? QUIET_NS : INT64_MAX) : 0;
    if (more) (void)turn(feeding, input, patience);
  }
  net_batch_builder_done(&builder);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool open_reader(struct feeding *feeding) {
  const char *format = feeding->options->input_format;
  const struct sn_reader_options options = {
      .path = "-",
      .format = !format                      ? SN_GUESS
                : strcmp(format, "csv") == 0 ? SN_CSV
                                             : SN_NDJSON,
      .layout = feeding->layout,
      .time = {.timeline = feeding->real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT,
               .now = base_env_now(),
               .start = base_env_now(),
               .zone = feeding->zone},
      .strings = feeding->strings,
      .following = true,
      .timeless = feeding->kind == SN_RELATION_SNAPSHOT,
      .line_limit = LINE_BYTES,
  };
  return sn_reader_open(&options, feeding->diags, &feeding->reader) == BASE_OK || fail(feeding);
}

/* Until the server has it all; who has pressed Ctrl-C is told why this takes long, and may do so again. */
static void wait_for_server(struct feeding *feeding, bool tell) {
  const struct sn_outbox *outbox = sn_link_outbox(feeding->link);
  int64_t tell_at = base_env_monotonic() + TELL_NS;
  while (!feeding->failed && sn_outbox_durable(outbox) < sn_outbox_last(outbox)) {
    if (base_env_interrupted()) {
      base_report(feeding->diags, MSG_SERVER_GONE, NULL, NULL,
                  "the server has not confirmed the last records");
      fail(feeding);
    } else if (tell && base_env_monotonic() >= tell_at) {
      tell = false;
      base_report(feeding->diags, MSG_SOURCE_NOT_TAKEN, NULL, NULL,
                  "the server has not yet confirmed the last records; Ctrl-C once more gives up");
    }
    (void)turn(feeding, -1, tell ? TELL_NS : INT64_MAX);
  }
}

/* All that came is final; then it waits until the server has it. */
static void finish(struct feeding *feeding) {
  bool interrupted = base_env_interrupted();
  program_signals_interrupt_again();
  if (!flush(feeding)) return;
  if (feeding->latest != NET_BEGINNING && !send_check(feeding, net_chronon_add(feeding->latest, 1)))
    return;
  wait_for_server(feeding, interrupted);
  feeding->finishing = true;
  while (!feeding->failed && !base_env_interrupted() &&
         !sn_link_finish(feeding->link, "the records are at their end"))
    (void)turn(feeding, -1, INT64_MAX);
}

static void announce(struct feeding *feeding) {
  struct sn_outbox *outbox = sn_link_outbox(feeding->link);
  const struct sn_message_relation relation = {.relation = RELATION,
                                               .name = sn_string_of(feeding->options->relation)};
  (void)sn_put_relation(sn_outbox_frame(outbox), 0, &relation);
  sn_outbox_define(outbox, RELATION);
}

static void print_counts(struct feeding *feeding) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %" PRIu64 " records, %" PRIu64 " unreadable\n",
                     feeding->options->relation, feeding->records, feeding->rejected);
  feeding->failed = !program_output_once(base_buffer_text(&text), text.length, feeding->diags);
  base_buffer_done(&text);
}

static void feed_all(struct feeding *feeding) {
  announce(feeding);
  while (!feeding->layout && !feeding->failed) {
    if (base_env_interrupted()) {
      base_report(feeding->diags, MSG_CANCELLED, NULL, NULL,
                  "interrupted before any record was sent");
      return;
    }
    (void)turn(feeding, -1, INT64_MAX);
  }
  if (feeding->failed || !open_reader(feeding)) return;
  read_all(feeding);
  feeding->reader->class->free(feeding->reader);
  if (!feeding->failed) finish(feeding);
  if (!feeding->failed && !feeding->options->quiet) print_counts(feeding);
}

static int feed(const struct program_options *options, struct base_diag_sink *diags) {
  struct program_address address;
  char *token = NULL, host[256] = "";
  struct feeding feeding = {.options = options,
                            .diags = diags,
                            .latest = NET_BEGINNING,
                            .promised = NET_BEGINNING,
                            .tell_rejected_at = 1};
  if (!program_address_read(options, options->connect, false, diags, &address))
    return diags->exit_code;
  program_signals_install(false);
  (void)!gethostname(host, sizeof host - 1);
  if (program_token_read(options, diags, &token)) {
    const struct sn_link_options link = {.address = address.address,
                                         .role = SN_ROLE_FEED,
                                         .program = "tquel feed",
                                         .token = token,
                                         .host = host,
                                         .outbox_bytes = OUTBOX_BYTES};
    feeding.link = sn_link_new(&link);
    feeding.arena = base_arena_new();
    feeding.strings = base_strings_new();
    feeding.zone = net_zone_local();
    feed_all(&feeding);
    net_zone_release(feeding.zone);
    base_strings_free(feeding.strings);
    base_arena_free(feeding.arena);
    sn_link_free(feeding.link);
    base_buffer_done(&feeding.frame);
  }
  free(token);
  program_address_done(&address);
  if (feeding.failed && diags->errors == 0)
    base_report(diags, base_env_interrupted() ? MSG_CANCELLED : MSG_UNEXPLAINED, NULL, NULL, "%s",
                base_env_interrupted() ? "interrupted" : "tquel feed failed, and nothing says why");
  if (program_signals_ending()) program_signals_die(program_signals_ending());
  return diags->exit_code;
}

static void print_report(void *context, const struct base_diag *diag) {
  const struct program_options *options = context;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (options->quiet && diag->severity != BASE_ERROR) return;
  base_diag_format(&text, diag);
  (void)!fwrite(text.data, 1, text.length, stderr);
  base_buffer_done(&text);
}

int shell_feed_main(int count, char *const *arguments) {
  struct program_options options = {0};
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  diags.on_report = print_report;
  diags.context = &options;
  int code;
  if (!program_options_read(&options, PROGRAM_FEED, count, arguments, &diags))
    code = diags.exit_code;
  else if (options.help)
    code = program_help_command("feed");
  else
    code = feed(&options, &diags);
  base_diag_sink_done(&diags);
  program_options_done(&options);
  return code;
}
