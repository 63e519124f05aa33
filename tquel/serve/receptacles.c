/* Receptacles: questions that only collectors can answer, and the wish to count by hand.
 *
 *     shell ── QUESTION ──▶ inquiry ── READ_ENTRY, or WRITE_ENTRY and END ──▶ every collector
 *     shell ◀── ANSWER ──── inquiry ◀── REPORT, or ACKNOWLEDGE ────────────── every collector
 *
 * The shell waits, and nothing else does: its next message is looked at when it has its answer. Collectors that go
 * meanwhile, or do not answer in time, are said to be missing in it. What is to be counted is kept in counts.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/printable.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/source.h"

/* So long collectors have to answer. */
#define PATIENCE_NS ((int64_t)5000000000)
/* Bytes of all their answers; of a cell, as far as it is shown; of a histogram. */
#define ANSWER_BYTES    ((size_t)64 << 20)
#define CELL_BYTES      255
#define HISTOGRAM_BYTES 8192

enum column {
  PROCESS,
  RELATION,
  OBJECT,
  RECORDS,
  COUNTING,
  MISSED,
  COUNT,
  SUM,
  SQUARES,
  HISTOGRAM,
  OPEN,
  UNIT,    /* of sum and histogram: "ns" of durations */
  REPORTED /* so many are reported, by sensors/collect/entries.c */
};

struct row {
  const char *cells[REPORTED];
};

/* What is shown: mean and deviation instead of squares, the distribution last. */
enum shown_column {
  SHOWN_NUMBERS = SUM, /* those before are shown as they were reported */
  SHOWN_OPEN = SHOWN_NUMBERS,
  SHOWN_SUM,
  SHOWN_MEAN,
  SHOWN_DEVIATION,
  SHOWN_DISTRIBUTION,
  SHOWN
};

struct shown {
  const char *cells[SHOWN];
};

struct server_inquiry {
  uint32_t request; /* of READ_ENTRY; 0: it is a count that is awaited */
  uint32_t packet;
  const char *relation; /* "": all */
  bool on;
  struct server_peer **awaited;
  size_t awaited_count, asked, gone;
  int64_t until; /* monotonic */
  struct base_arena *arena;
  struct row *rows;
  size_t row_count, row_capacity;
  size_t bytes;    /* of what they say */
  size_t not_kept; /* rows */
};

/* --- answering -------------------------------------------------------------------------------- */

/* Nanoseconds in the largest unit of which there is one. */
static void put_duration(struct base_buffer *out, double ns) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{864e11, "d"}, {36e11, "h"}, {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (ns < units[i].ns) continue;
    base_buffer_printf(out, "%.4g%s", ns / units[i].ns, units[i].name);
    return;
  }
  base_buffer_printf(out, "%.4gns", ns);
}

static void put_duration_bucket(struct base_buffer *out, unsigned bucket) {
  base_buffer_putc(out, '[');
  put_duration(out, bucket > 64 ? ldexp(1, (int)bucket - 65) : 0);
  base_buffer_putc(out, ',');
  put_duration(out, ldexp(1, bucket > 64 ? (int)bucket - 64 : 0));
  base_buffer_putc(out, ')');
}

/* The bucket's values, as an interval. */
static void put_bucket(struct base_buffer *out, unsigned bucket, bool duration) {
  if (duration)
    put_duration_bucket(out, bucket);
  else if (bucket == 64)
    base_buffer_puts(out, "(-1,1)");
  else if (bucket > 64 && bucket < 128)
    base_buffer_printf(out, "[%.0f,%.0f)", ldexp(1, (int)bucket - 65), ldexp(1, (int)bucket - 64));
  else if (bucket >= 128)
    base_buffer_printf(out, "[%.0f,..)", ldexp(1, 63));
  else if (bucket > 0)
    base_buffer_printf(out, "(%.0f,%.0f]", -ldexp(1, 64 - (int)bucket),
                       -ldexp(1, 63 - (int)bucket));
  else
    base_buffer_printf(out, "(..,%.0f]", -ldexp(1, 63));
}

/* From "BUCKET:COUNT ..." to what is read; returns how many were counted. */
static double put_distribution(struct base_buffer *out, const char *cell, bool duration) {
  double all = 0;
  while (*cell) {
    char *end;
    unsigned long bucket = strtoul(cell, &end, 10);
    if (*end != ':') break;
    unsigned long long count = strtoull(end + 1, &end, 10);
    if (out->length > 0) base_buffer_puts(out, " ");
    put_bucket(out, bucket > 128 ? 128 : (unsigned)bucket, duration);
    base_buffer_printf(out, ":%llu", count);
    all += (double)count;
    while (*end == ' ') end++;
    cell = end;
  }
  return all;
}

static const char *kept(struct base_arena *arena, struct base_buffer *text) {
  const char *copy = base_arena_strdup(arena, base_buffer_text(text));
  base_buffer_done(text);
  return copy;
}

static const char *number_text(struct base_arena *arena, double number, bool duration) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (duration)
    put_duration(&text, number);
  else
    base_buffer_printf(&text, "%.6g", number);
  return kept(arena, &text);
}

static struct shown shown_row(struct base_arena *arena, const struct row *row) {
  struct shown shown;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  bool duration = strcmp(row->cells[UNIT], "ns") == 0;
  double counted = put_distribution(&text, row->cells[HISTOGRAM], duration);
  double sum = strtod(row->cells[SUM], NULL), squares = strtod(row->cells[SQUARES], NULL);
  bool numbers = *row->cells[SUM] && counted > 0;
  double mean = numbers ? sum / counted : 0,
         variance = numbers ? squares / counted - mean * mean : 0;
  for (size_t i = 0; i < SHOWN_NUMBERS; i++) shown.cells[i] = row->cells[i];
  for (size_t i = SHOWN_NUMBERS; i < SHOWN; i++) shown.cells[i] = "";
  shown.cells[SHOWN_OPEN] = row->cells[OPEN];
  shown.cells[SHOWN_DISTRIBUTION] = kept(arena, &text);
  if (!numbers) return shown;
  shown.cells[SHOWN_SUM] = number_text(arena, sum, duration);
  shown.cells[SHOWN_MEAN] = number_text(arena, mean, duration);
  shown.cells[SHOWN_DEVIATION] = number_text(arena, sqrt(variance > 0 ? variance : 0), duration);
  return shown;
}

static bool is_right(size_t column) {
  return column >= MISSED && column <= SHOWN_DEVIATION;
}

/* Columns in which nothing stands are left out. */
static void put_table(struct server_inquiry *inquiry, struct base_buffer *out) {
  static const char *const heading[SHOWN] = {"process",  "relation", "object",    "records",
                                             "counting", "missed",   "count",     "open",
                                             "sum",      "mean",     "deviation", "distribution"};
  struct shown *rows = BASE_NEW_ARRAY(inquiry->arena, inquiry->row_count, struct shown);
  int width[SHOWN] = {0};
  size_t last = 0;
  for (size_t r = 0; r < inquiry->row_count; r++)
    rows[r] = shown_row(inquiry->arena, &inquiry->rows[r]);
  for (size_t i = 0; i < SHOWN; i++) {
    for (size_t r = 0; r < inquiry->row_count; r++)
      width[i] = tql_cell_width(width[i], rows[r].cells[i]);
    if (width[i] == 0) continue;
    last = i;
    if ((int)strlen(heading[i]) > width[i]) width[i] = (int)strlen(heading[i]);
  }
  for (size_t r = 0; r <= inquiry->row_count; r++)
    for (size_t i = 0; i <= last; i++) {
      const char *text = r == 0 ? heading[i] : rows[r - 1].cells[i];
      if (width[i] == 0) continue;
      if (i == last)
        base_buffer_printf(out, "%s\n", text);
      else
        base_buffer_printf(out, is_right(i) ? "%*s  " : "%-*s  ", width[i], text);
    }
}

static void put_counting(const struct server_inquiry *inquiry, struct base_buffer *out) {
  base_buffer_printf(out, "counting %s is %s%s\n", inquiry->relation, inquiry->on ? "on" : "off",
                     inquiry->on && inquiry->asked == 0 ? ", for when a collector comes" : "");
}

static void answer(struct server_peer *peer) {
  struct server_inquiry *inquiry = peer->inquiry;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  size_t missing = inquiry->awaited_count + inquiry->gone;
  if (inquiry->request == 0)
    put_counting(inquiry, &text);
  else if (inquiry->row_count > 0)
    put_table(inquiry, &text);
  else if (missing == 0)
    base_buffer_puts(&text, inquiry->asked > 0 ? "no sensors\n" : "no collector is there\n");
  if (inquiry->not_kept > 0)
    base_buffer_printf(&text, "%zu more rows were reported than are kept\n", inquiry->not_kept);
  if (missing > 0)
    base_buffer_printf(&text, "%zu of %zu collectors did not answer\n", missing, inquiry->asked);
  server_peer_answer(peer, &text);
  base_buffer_done(&text);
  server_inquiry_free(peer);
  peer->waits = true; /* what it may have said meanwhile */
}

/* --- asking ----------------------------------------------------------------------------------- */

static struct server_inquiry *open_inquiry(struct server_peer *peer, const char *relation) {
  struct server_inquiry *inquiry = base_xcalloc(1, sizeof *inquiry);
  struct server *server = peer->server;
  inquiry->arena = base_arena_new();
  inquiry->relation = base_arena_strdup(inquiry->arena, relation);
  inquiry->until = base_env_monotonic() + PATIENCE_NS;
  inquiry->awaited = base_xcalloc(server->peer_count + 1, sizeof(struct server_peer *));
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_peer *source = server->peers[i];
    if (!server_source_is_collector(source) || source->leaving || source->over) continue;
    inquiry->awaited[inquiry->awaited_count++] = source;
  }
  inquiry->asked = inquiry->awaited_count;
  peer->inquiry = inquiry;
  return inquiry;
}

void server_inquiry_free(struct server_peer *peer) {
  struct server_inquiry *inquiry = peer->inquiry;
  peer->inquiry = NULL;
  if (!inquiry) return;
  base_arena_free(inquiry->arena);
  free(inquiry->awaited);
  free(inquiry->rows);
  free(inquiry);
}

/* What RELATION is called; NULL: the shell was told why not. */
static const char *find(struct server_peer *peer, const char *relation, const char *what) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  bool announced = false;
  const char *name = tql_session_sensors_of(peer->server->session, relation, &announced);
  if (!peer->owner)
    base_buffer_printf(&text, "only the owner of the database may %s", what);
  else if (!name)
    base_buffer_printf(&text, "there is no relation %s", relation);
  else if (!announced)
    base_buffer_printf(&text, "%s has no sensors", name);
  if (text.length > 0) {
    server_peer_refuse(peer,
                       !peer->owner ? MSG_OWNER_ONLY
                       : !name      ? MSG_UNKNOWN_RELATION
                                    : MSG_NO_SENSORS,
                       text.data);
    name = NULL;
  }
  base_buffer_done(&text);
  return name;
}

void server_receptacles_ask(struct server_peer *peer, const char *relation) {
  const char *name = "";
  if (*relation || !peer->owner) name = find(peer, relation, "look at receptacles");
  if (!name) return;
  struct server_inquiry *inquiry = open_inquiry(peer, name);
  if (++peer->server->last_request == 0) peer->server->last_request = 1; /* 0: by itself */
  inquiry->request = peer->server->last_request;
  struct base_buffer what = BASE_BUFFER_EMPTY;
  base_buffer_puts(&what, *name ? "receptacles " : "receptacles");
  if (*name) tql_session_put_sensor_name(peer->server->session, name, &what);
  const struct sn_message_read_entry read = {.request = inquiry->request,
                                             .what = sn_string_from(what.data, what.length)};
  for (size_t i = 0; i < inquiry->awaited_count; i++)
    (void)sn_put_read_entry(sn_connection_out(inquiry->awaited[i]->connection), 0, &read);
  base_buffer_done(&what);
  if (inquiry->awaited_count == 0) answer(peer);
}

/* --- counting --------------------------------------------------------------------------------- */

static void count(struct server_peer *peer, const char *name, bool on) {
  struct server *server = peer->server;
  struct server_inquiry *inquiry = open_inquiry(peer, name);
  inquiry->on = on;
  server_count_remember(server, name, on);
  server_watches_flush(server); /* a packet of its own: its end is what is waited for */
  for (size_t i = 0; i < inquiry->awaited_count; i++)
    server_count_tell(inquiry->awaited[i], name, on);
  server->watching.pending = true;
  server_watches_flush(server);
  inquiry->packet = server->watching.last_packet;
  if (inquiry->awaited_count == 0) answer(peer);
}

void server_count_ask(struct server_peer *peer, const char *argument) {
  size_t length = strcspn(argument, " \t\n");
  const char *switched = argument + length + strspn(argument + length, " \t\n");
  char *relation = base_xmalloc(length + 1);
  memcpy(relation, argument, length);
  relation[length] = '\0';
  bool on = strcasecmp(switched, "on") == 0;
  if (length == 0 || (!on && strcasecmp(switched, "off") != 0)) {
    server_peer_refuse(peer, MSG_USAGE, "\\count takes the name of a relation, and on or off");
  } else {
    const char *name = find(peer, relation, "count records");
    if (name) count(peer, name, on);
  }
  free(relation);
}

/* --- what comes back -------------------------------------------------------------------------- */

/* SOURCE has answered. true: it was awaited. */
static bool has_answered(struct server_inquiry *inquiry, const struct server_peer *source) {
  for (size_t i = 0; i < inquiry->awaited_count; i++) {
    if (inquiry->awaited[i] != source) continue;
    inquiry->awaited[i] = inquiry->awaited[--inquiry->awaited_count];
    return true;
  }
  return false;
}

static bool is_awaited(const struct server_inquiry *inquiry, const struct server_peer *source) {
  for (size_t i = 0; i < inquiry->awaited_count; i++)
    if (inquiry->awaited[i] == source) return true;
  return false;
}

/* As far as it is shown, and nothing that moves a cursor. */
static const char *copy_cell(struct server_inquiry *inquiry, struct sn_string text, size_t most) {
  struct base_buffer cell = BASE_BUFFER_EMPTY;
  base_buffer_printable(&cell, text.bytes, base_utf8_cut(text.bytes, text.length, most));
  const char *copy = base_arena_strndup(inquiry->arena, base_buffer_text(&cell), cell.length);
  inquiry->bytes += cell.length + 1;
  base_buffer_done(&cell);
  return copy;
}

static bool take_rows(struct server_inquiry *inquiry, const struct server_source *source,
                      const struct sn_message_report *report) {
  struct sn_reading reading = sn_reading_from(report->cells);
  for (uint32_t r = 0; r < report->rows && !reading.bad; r++) {
    struct row row;
    struct sn_string process = {0};
    for (size_t i = 0; i < REPORTED; i++) row.cells[i] = "";
    for (uint32_t i = 0; i < report->columns && !reading.bad; i++) {
      struct sn_string text = sn_get_bytes(&reading);
      if (i == PROCESS) process = text;
      if (i == RELATION) text = server_source_relation(source, process, text);
      if (i < REPORTED && inquiry->bytes < ANSWER_BYTES)
        row.cells[i] = copy_cell(inquiry, text, i == HISTOGRAM ? HISTOGRAM_BYTES : CELL_BYTES);
    }
    if (reading.bad) break;
    inquiry->bytes += sizeof row;
    if (inquiry->bytes >= ANSWER_BYTES) {
      inquiry->not_kept++;
      continue;
    }
    base_grow(&inquiry->rows, &inquiry->row_capacity, inquiry->row_count + 1,
              sizeof *inquiry->rows);
    inquiry->rows[inquiry->row_count++] = row;
  }
  return sn_reading_end(&reading);
}

/* Answers that nobody waits for any more are passed over, as are reports of what is not known. */
bool server_receptacles_take(struct server_peer *source, const struct sn_message_report *report) {
  struct server *server = source->server;
  if (report->columns == 0 && report->rows > 0) return false;
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_peer *peer = server->peers[i];
    struct server_inquiry *inquiry = peer->inquiry;
    if (!inquiry || inquiry->request == 0 || inquiry->request != report->request) continue;
    if (!is_awaited(inquiry, source)) return true;
    if (!take_rows(inquiry, source->source, report)) return false;
    if (report->more) return true;
    has_answered(inquiry, source);
    if (inquiry->awaited_count == 0) answer(peer);
    return true;
  }
  return true;
}

void server_receptacles_done(struct server_peer *source, uint64_t packet) {
  struct server *server = source->server;
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_inquiry *inquiry = server->peers[i]->inquiry;
    if (!inquiry || inquiry->request != 0 || packet < inquiry->packet) continue;
    if (has_answered(inquiry, source) && inquiry->awaited_count == 0) answer(server->peers[i]);
  }
}

void server_receptacles_lost(struct server_peer *source) {
  struct server *server = source->server;
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_inquiry *inquiry = server->peers[i]->inquiry;
    if (!inquiry || !has_answered(inquiry, source)) continue;
    inquiry->gone++;
    if (inquiry->awaited_count == 0) answer(server->peers[i]);
  }
}

void server_inquiry_tick(struct server_peer *peer, int64_t now) {
  if (peer->inquiry && now >= peer->inquiry->until) answer(peer);
}

int64_t server_inquiry_due(const struct server_peer *peer, int64_t now) {
  if (!peer->inquiry) return INT64_MAX;
  return peer->inquiry->until > now ? peer->inquiry->until - now : 0;
}
