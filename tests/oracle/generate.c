/* Random databases. Small times lie in 0..12, values in small ranges, so that ties, touching, nested
 * and equal periods come up all the time; unknown bounds and omega tuples are frequent except in
 * databases that are determinate throughout. Some databases have the real time line, some integers
 * near the limits of their types, some strings with pattern characters and others than ASCII.     */
#include <string.h>

#include "tests/oracle/judge.h"

uint64_t below(struct scenario *scenario, uint64_t bound) {
  return base_random_below(&scenario->random, bound);
}

bool chance(struct scenario *scenario, unsigned percent) {
  return below(scenario, 100) < percent;
}

bool is_kind(const struct input *input, const char *kind) {
  return strcmp(input->kind, kind) == 0;
}

/* --- times */

static net_chronon small_time(const struct scenario *scenario, net_chronon time) {
  return scenario->base + time * scenario->unit;
}

net_chronon some_time(struct scenario *scenario) {
  return small_time(scenario, (net_chronon)below(scenario, 13));
}

static void sort_times(net_chronon *times, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
      net_chronon kept = times[j];
      times[j] = times[j - 1];
      times[j - 1] = kept;
    }
}

static void make_event_time(struct scenario *scenario, net_chronon *time, bool determinate) {
  time[0] = (net_chronon)below(scenario, 13);
  time[1] = determinate ? time[0] : time[0] + (net_chronon)below(scenario, 4);
}

static void make_period_time(struct scenario *scenario, net_chronon *time, bool determinate) {
  net_chronon t[4];
  for (int i = 0; i < 4; i++) t[i] = (net_chronon)below(scenario, 13);
  sort_times(t, 4);
  if (determinate || t[0] == t[3]) {
    time[0] = time[1] = t[0];
    time[2] = time[3] = t[3] == t[0] ? t[0] + 1 : t[3];
  } else if (chance(scenario, 30)) { /* the bounds of start and stop overlap */
    time[0] = t[0];
    time[1] = t[2];
    time[2] = t[1];
    time[3] = t[3];
  } else {
    time[0] = t[0];
    time[1] = chance(scenario, 60) ? t[0] : t[1];
    time[2] = t[2];
    time[3] = chance(scenario, 60) ? t[2] : t[3];
    if (time[0] == time[1] && time[2] == time[3] && time[0] >= time[2]) time[3]++;
    if (time[0] == time[1] && time[2] == time[3] && time[0] >= time[2]) time[2] = time[3];
  }
  if (chance(scenario, 8)) time[3] = NET_FOREVER;
  if (time[3] == NET_FOREVER && (determinate || chance(scenario, 70))) time[2] = NET_FOREVER;
}

/* --- values */

const char *some_string(struct scenario *scenario) {
  if (!scenario->odd_strings || chance(scenario, 50)) return PICK(scenario, "a", "b", "c");
  return PICK(scenario, "", "ab", "a*", "?", "[a]", "a]", "é", "aé", "ba", "a,b", "A", "€x", "*");
}

/* Characters and parts of them, zeros, and what looks as if it was escaped. */
const char *some_bytes(struct scenario *scenario) {
  return PICK(scenario, "61", "00", "ff", "", "6100", "c3a9", "c3", "a9", "00ff", "5c", "5c783030",
              "62", "61ff61");
}

static int64_t some_integer(struct scenario *scenario, const char *type) {
  if (!scenario->extremes || chance(scenario, 60)) return (int64_t)below(scenario, 4);
  int64_t most = type[1] == '1'   ? INT8_MAX
                 : type[1] == '2' ? INT16_MAX
                 : type[1] == '4' ? INT32_MAX
                                  : INT64_MAX;
  int64_t offset = (int64_t)below(scenario, 2);
  return chance(scenario, 50) ? most - offset : -most - 1 + offset;
}

static struct input_value some_value(struct scenario *scenario, const struct input_domain *domain) {
  struct input_value value = {0};
  switch (domain->kind) {
    case 'i':
      value.i = some_integer(scenario, domain->type);
      break;
    case 'f':
      value.f = (double)below(scenario, 5) / 2;
      break;
    case 'b':
      value.i = (int64_t)below(scenario, 2);
      break;
    case 'y':
      value.s = some_bytes(scenario);
      break;
    default:
      value.s = some_string(scenario);
  }
  return value;
}

/* --- relations */

struct input_row some_row(struct scenario *scenario, const struct input *input) {
  struct input_row row = {.definite = true};
  bool records = input->by_count > 0;
  bool determinate = scenario->determinate || chance(scenario, 55);
  if (is_kind(input, "period")) {
    make_period_time(scenario, row.time, determinate);
  } else {
    make_event_time(scenario, row.time, determinate || records);
  }
  for (int i = 0; i < 4; i++)
    if (row.time[i] != NET_FOREVER) row.time[i] = small_time(scenario, row.time[i]);
  if (!scenario->determinate && !records) row.definite = !chance(scenario, 15);
  for (size_t i = 0; i < input->domain_count; i++)
    row.values[i] = some_value(scenario, &input->domains[i]);
  return row;
}

static void make_rows(struct scenario *scenario, struct input *input) {
  input->count = below(scenario, chance(scenario, 60) ? 5 : 7);
  for (size_t i = 0; i < input->count; i++) {
    input->rows[i] = some_row(scenario, input);
    if (i > 0 && chance(scenario, 20)) { /* much the same as the one before */
      memcpy(input->rows[i].values, input->rows[i - 1].values, sizeof input->rows[i].values);
      if (chance(scenario, 30))
        memcpy(input->rows[i].time, input->rows[i - 1].time, sizeof input->rows[i].time);
    }
  }
}

static void add_domain(struct input *input, const char *name, const char *type, char kind) {
  input->domains[input->domain_count++] = (struct input_domain){name, type, kind};
}

/* Half of the keys have several domains, in any order. */
static void make_key(struct scenario *scenario, struct input *input) {
  input->by[input->by_count++] = input->domain_count - 1;
  if (chance(scenario, 50)) return;
  for (size_t i = input->domain_count - 1; i-- > 0;) {
    if (!chance(scenario, 50)) continue;
    bool first = chance(scenario, 50);
    input->by[input->by_count] = first ? input->by[0] : i;
    if (first) input->by[0] = i;
    input->by_count++;
  }
}

static void make_domains(struct scenario *scenario, struct input *input) {
  static const char *const widths[] = {"i4", "i4", "i4", "i8", "i1", "i2"};
  add_domain(input, "x", widths[below(scenario, scenario->extremes ? 6 : 3)], 'i');
  if (chance(scenario, 35)) add_domain(input, "y", PICK(scenario, "f8", "f8", "f4"), 'f');
  if (chance(scenario, 15)) add_domain(input, "b", "bool", 'b');
  if (chance(scenario, 10)) add_domain(input, "z", "i8", 'i');
  bool bytes = scenario->bytes && chance(scenario, 70);
  if (bytes && scenario->compensated) add_domain(input, "k", "bytes", 'y');
  add_domain(input, scenario->compensated ? "Process" : "s", PICK(scenario, "c4", "c4", "text"),
             's');
  if (bytes && !scenario->compensated) add_domain(input, "k", "bytes", 'y');
  if (is_kind(input, "traced") || is_kind(input, "sampled")) make_key(scenario, input);
}

static void make_inputs(struct scenario *scenario) {
  static const struct input kinds[] = {
      {.name = "P", .kind = "period"}, {.name = "Q", .kind = "period"},
      {.name = "E", .kind = "event"},  {.name = "F", .kind = "event"},
      {.name = "R", .kind = "traced"}, {.name = "S", .kind = "sampled"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    bool sampled = strcmp(kinds[i].kind, "sampled") == 0;
    bool meant = scenario->compensated && is_kind(&kinds[i], "traced");
    if (!meant && scenario->input_count > 0 && !chance(scenario, sampled ? 20 : 50)) continue;
    struct input *input = &scenario->inputs[scenario->input_count++];
    *input = kinds[i];
    make_domains(scenario, input);
    make_rows(scenario, input);
  }
}

/* Of processes the names are such as processes have: their losses are their own. */
static void name_processes(struct scenario *scenario, struct input *input) {
  size_t process = input->domain_count - 1;
  for (size_t i = 0; i < input->count && scenario->compensated; i++)
    input->rows[i].values[process].s = PICK(scenario, "a#1", "a#1", "b#1");
}

void scenario_lose(struct scenario *scenario) {
  for (size_t i = 0; i < scenario->input_count; i++) name_processes(scenario, &scenario->inputs[i]);
  scenario->nearest = scenario->seed % 3 == 0 || scenario->seed % 24 == 5;
  scenario->loss_count = 1 + below(scenario, LOSSES_MAX);
  for (size_t i = 0; i < scenario->loss_count; i++) {
    struct loss *loss = &scenario->losses[i];
    loss->in = PICK(scenario, "Lost", "Lost", "Lost", "Lost", "Late", "Rejected");
    bool lost = strcmp(loss->in, "Lost") == 0;
    loss->relation = PICK(scenario, "R", "R", "S", "E", "F", "P", lost ? "" : "R");
    loss->source = PICK(scenario, "", "a#1", "b#1", "host");
    loss->from = some_time(scenario);
    loss->to = loss->from + (net_chronon)(lost ? 1 + below(scenario, 4) : 0) * scenario->unit;
    if (!lost) loss->to = (net_chronon)i; /* what tells it from others */
  }
}

void scenario_init(struct scenario *scenario, struct base_arena *arena, uint64_t seed) {
  *scenario = (struct scenario){.arena = arena, .random = {seed * 7919 + 13}, .seed = seed};
  scenario->real = chance(scenario, 25);
  scenario->unit = 1;
  if (scenario->real) {
    scenario->base = INT64_C(1767225600000000000); /* 2026-01-01 */
    scenario->unit = chance(scenario, 50) ? 1000000000 : 500000000;
  }
  scenario->determinate = chance(scenario, 35);
  scenario->extremes = chance(scenario, 10);
  scenario->odd_strings = chance(scenario, 30);
  scenario->updates = chance(scenario, 25);
  scenario->compensated = seed % 6 == 5; /* without a throw: the others stay what they are */
  scenario->bytes = seed % 4 == 2;       /* likewise */
  make_inputs(scenario);
}
