/* Bounds and lists of values, put together by `and` and `or`.
 *
 * `and` is exact. `or` is a hull: of lists their union, of bounds the wider ones, of a domain that only
 * one side speaks of nothing. A list that would grow beyond LISTED_MAX becomes bounds, or nothing: nobody
 * gains from asking for hundreds of values one by one. */
#include "engine/wanted.h"

#include <string.h>
#include <strings.h>

#include "engine/base/status.h"

enum { LISTED_MAX = 64 };

static net_chronon smaller(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

static net_chronon larger(net_chronon a, net_chronon b) {
  return a > b ? a : b;
}

bool net_wanted_is_all(const struct net_wanted *wanted) {
  return wanted->domain_count == 0 && wanted->start_hi_min == NET_BEGINNING &&
         wanted->start_lo_max == NET_FOREVER && wanted->stop_hi_min == NET_BEGINNING &&
         wanted->stop_lo_max == NET_FOREVER;
}

/* Of type TYPE values can be listed; integers have bounds, too. */
static bool can_be_listed(struct net_type type) {
  return type.base == NET_INTEGER || type.base == NET_BOOL || net_type_is_interned(type.base);
}

const struct net_wanted_domain *net_wanted_find(const struct net_wanted *wanted, const char *name) {
  for (uint32_t i = 0; i < wanted->domain_count; i++)
    if (strcasecmp(wanted->domains[i].name, name) == 0) return &wanted->domains[i];
  return NULL;
}

/* Strings and names are interned: a slot's bits are the value. */
static bool is_value(const struct net_wanted_domain *domain, union net_slot value) {
  if (!domain->listed) return value.i >= domain->min && value.i <= domain->max;
  for (uint32_t i = 0; i < domain->count; i++)
    if (domain->values[i].i == value.i) return true;
  return false;
}

static struct net_wanted of_domain(struct base_arena *arena, struct net_wanted_domain domain) {
  struct net_wanted wanted = NET_WANTED_ALL;
  struct net_wanted_domain *copy = BASE_NEW(arena, struct net_wanted_domain);
  *copy = domain;
  wanted.domains = copy;
  wanted.domain_count = 1;
  return wanted;
}

struct net_wanted net_wanted_value(struct base_arena *arena, const char *name, struct net_type type,
                                   union net_slot value) {
  BASE_CHECK(can_be_listed(type), "wanted-type");
  union net_slot *copy = BASE_NEW(arena, union net_slot);
  *copy = value;
  return of_domain(arena,
                   (struct net_wanted_domain){
                       .name = name, .type = type, .listed = true, .values = copy, .count = 1});
}

struct net_wanted net_wanted_pattern(struct base_arena *arena, const char *name,
                                     struct net_type type, base_string_id pattern) {
  static const bool is_pattern = true;
  struct net_wanted_domain domain = {
      .name = name, .type = type, .listed = true, .patterns = &is_pattern, .count = 1};
  union net_slot *copy = BASE_NEW(arena, union net_slot);
  copy->s = pattern;
  domain.values = copy;
  return of_domain(arena, domain);
}

struct net_wanted net_wanted_between(struct base_arena *arena, const char *name,
                                     struct net_type type, int64_t min, int64_t max) {
  BASE_CHECK(type.base == NET_INTEGER, "wanted-type");
  if (min == INT64_MIN && max == INT64_MAX) return NET_WANTED_ALL;
  return of_domain(arena,
                   (struct net_wanted_domain){.name = name, .type = type, .min = min, .max = max});
}

/* --- and, or */

static bool is_pattern(const struct net_wanted_domain *domain, uint32_t index) {
  return domain->patterns != NULL && domain->patterns[index];
}

/* Is value INDEX of OTHER, be it a pattern, in the list of DOMAIN? */
static bool has(const struct net_wanted_domain *domain, const struct net_wanted_domain *other,
                uint32_t index) {
  if (!domain->listed) return is_value(domain, other->values[index]);
  for (uint32_t i = 0; i < domain->count; i++)
    if (domain->values[i].i == other->values[index].i &&
        is_pattern(domain, i) == is_pattern(other, index))
      return true;
  return false;
}

/* A list of the values of A, and of those of B that are not in it; ONLY: of A those that are in B. */
static void join_lists(struct base_arena *arena, struct net_wanted_domain *a,
                       const struct net_wanted_domain *b, bool only) {
  union net_slot *values = BASE_NEW_ARRAY(arena, a->count + b->count + 1, union net_slot);
  bool *patterns = BASE_NEW_ARRAY(arena, a->count + b->count + 1, bool);
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    if (only && !has(b, a, i)) continue;
    patterns[count] = is_pattern(a, i);
    values[count++] = a->values[i];
  }
  for (uint32_t i = 0; !only && i < b->count; i++) {
    if (has(a, b, i)) continue;
    patterns[count] = is_pattern(b, i);
    values[count++] = b->values[i];
  }
  a->patterns = a->patterns != NULL || b->patterns != NULL ? patterns : NULL;
  a->values = values;
  a->count = count;
}

/* Of two lists one of which has patterns, the one that says more; what the other one says besides is left
 * out, as may be done with all that is wanted. */
static const struct net_wanted_domain *sharper(const struct net_wanted_domain *a,
                                               const struct net_wanted_domain *b) {
  if ((a->patterns == NULL) != (b->patterns == NULL)) return a->patterns == NULL ? a : b;
  return a->count <= b->count ? a : b;
}

static struct net_wanted_domain both_of(struct base_arena *arena, struct net_wanted_domain a,
                                        const struct net_wanted_domain *b) {
  if (!a.listed && !b->listed) {
    a.min = a.min > b->min ? a.min : b->min;
    a.max = a.max < b->max ? a.max : b->max;
    return a;
  }
  if (a.listed && b->listed && (a.patterns != NULL || b->patterns != NULL)) return *sharper(&a, b);
  const struct net_wanted_domain *list = a.listed ? &a : b, *other = a.listed ? b : &a;
  struct net_wanted_domain result = *list, unlisted = {0};
  if (!other->listed) {
    unlisted = *other;
    other = &unlisted;
  }
  join_lists(arena, &result, other, true);
  return result;
}

/* The bounds of a list of integers that is not empty. */
static void bound(struct net_wanted_domain *domain) {
  if (!domain->listed) return;
  domain->listed = false;
  domain->min = domain->max = domain->values[0].i;
  for (uint32_t i = 1; i < domain->count; i++) {
    if (domain->values[i].i < domain->min) domain->min = domain->values[i].i;
    if (domain->values[i].i > domain->max) domain->max = domain->values[i].i;
  }
}

/* False: nothing can be said of what either wants. */
static bool either_of(struct base_arena *arena, struct net_wanted_domain *a,
                      struct net_wanted_domain b) {
  if (b.listed && b.count == 0) return true;
  if (a->listed && a->count == 0) {
    *a = b;
    return true;
  }
  if (a->listed && b.listed) {
    struct net_wanted_domain list = *a;
    join_lists(arena, &list, &b, false);
    if (list.count <= LISTED_MAX) {
      *a = list;
      return true;
    }
  }
  if (a->type.base != NET_INTEGER) return false;
  bound(a);
  bound(&b);
  a->min = a->min < b.min ? a->min : b.min;
  a->max = a->max > b.max ? a->max : b.max;
  return true;
}

struct net_wanted net_wanted_both(struct base_arena *arena, const struct net_wanted *a,
                                  const struct net_wanted *b) {
  struct net_wanted result = {.start_hi_min = larger(a->start_hi_min, b->start_hi_min),
                              .start_lo_max = smaller(a->start_lo_max, b->start_lo_max),
                              .stop_hi_min = larger(a->stop_hi_min, b->stop_hi_min),
                              .stop_lo_max = smaller(a->stop_lo_max, b->stop_lo_max)};
  struct net_wanted_domain *domains =
      BASE_NEW_ARRAY(arena, a->domain_count + b->domain_count + 1, struct net_wanted_domain);
  for (uint32_t i = 0; i < a->domain_count; i++) {
    const struct net_wanted_domain *other = net_wanted_find(b, a->domains[i].name);
    domains[result.domain_count++] = other ? both_of(arena, a->domains[i], other) : a->domains[i];
  }
  for (uint32_t i = 0; i < b->domain_count; i++)
    if (!net_wanted_find(a, b->domains[i].name)) domains[result.domain_count++] = b->domains[i];
  result.domains = domains;
  return result;
}

struct net_wanted net_wanted_either(struct base_arena *arena, const struct net_wanted *a,
                                    const struct net_wanted *b) {
  struct net_wanted result = {.start_hi_min = smaller(a->start_hi_min, b->start_hi_min),
                              .start_lo_max = larger(a->start_lo_max, b->start_lo_max),
                              .stop_hi_min = smaller(a->stop_hi_min, b->stop_hi_min),
                              .stop_lo_max = larger(a->stop_lo_max, b->stop_lo_max)};
  struct net_wanted_domain *domains =
      BASE_NEW_ARRAY(arena, a->domain_count + 1, struct net_wanted_domain);
  for (uint32_t i = 0; i < a->domain_count; i++) {
    const struct net_wanted_domain *other = net_wanted_find(b, a->domains[i].name);
    struct net_wanted_domain domain = a->domains[i];
    if (other && either_of(arena, &domain, *other)) domains[result.domain_count++] = domain;
  }
  result.domains = domains;
  return result;
}

struct net_wanted net_wanted_copy(struct base_arena *arena, const struct net_wanted *wanted) {
  struct net_wanted copy = *wanted;
  struct net_wanted_domain *domains =
      BASE_NEW_ARRAY(arena, wanted->domain_count + 1, struct net_wanted_domain);
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    domains[i] = wanted->domains[i];
    domains[i].name = base_arena_strdup(arena, domains[i].name);
    union net_slot *values = BASE_NEW_ARRAY(arena, domains[i].count + 1, union net_slot);
    for (uint32_t k = 0; k < domains[i].count; k++) values[k] = wanted->domains[i].values[k];
    domains[i].values = values;
    if (domains[i].patterns == NULL) continue;
    bool *patterns = BASE_NEW_ARRAY(arena, domains[i].count + 1, bool);
    memcpy(patterns, domains[i].patterns, domains[i].count * sizeof *patterns);
    domains[i].patterns = patterns;
  }
  copy.domains = domains;
  return copy;
}

void net_wanted_mark_strings(const struct net_wanted *wanted, struct base_strings *strings) {
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    const struct net_wanted_domain *domain = &wanted->domains[i];
    if (!net_type_is_interned(domain->type.base)) continue;
    for (uint32_t k = 0; k < domain->count; k++) base_strings_mark(strings, domain->values[k].s);
  }
}

/* --- rows */

static bool times_wanted(const struct net_wanted *wanted, bool period, const union net_slot *row) {
  if (row[1].i < wanted->start_hi_min || row[0].i > wanted->start_lo_max) return false;
  if (!period) return true;
  if (row[3].i < wanted->stop_hi_min) return false;
  return row[2].i == NET_OPEN || row[2].i <= wanted->stop_lo_max;
}

void net_wanted_test_init(struct net_wanted_test *test, struct base_arena *arena,
                          const struct net_wanted *wanted, const struct net_layout *layout) {
  struct net_wanted times = *wanted;
  times.domain_count = 0;
  *test =
      (struct net_wanted_test){.wanted = wanted,
                               .period = layout->tuple_class == NET_PERIOD,
                               .times = !net_wanted_is_all(&times),
                               .slots = BASE_NEW_ARRAY(arena, wanted->domain_count + 1, uint32_t)};
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    int field = net_layout_find(layout, wanted->domains[i].name);
    BASE_CHECK(field >= 0, "wanted-domain");
    test->slots[i] = layout->fields[field].slot;
  }
}

bool net_wanted_row(const struct net_wanted_test *test, const union net_slot *row) {
  const struct net_wanted *wanted = test->wanted;
  if (test->times && !times_wanted(wanted, test->period, row)) return false;
  for (uint32_t i = 0; i < wanted->domain_count; i++)
    if (!is_value(&wanted->domains[i], row[test->slots[i]])) return false;
  return true;
}

/* One domain, one or two values, as most often. */
static uint32_t select_values(const union net_slot *slot, uint32_t slots, uint32_t count, int64_t a,
                              int64_t b, uint32_t *selection) {
  uint32_t selected = 0;
  for (uint32_t i = 0; i < count; i++, slot += slots) {
    selection[selected] = i;
    selected += (slot->i == a) | (slot->i == b);
  }
  return selected;
}

uint32_t net_wanted_select(const struct net_wanted_test *test, const union net_slot *rows,
                           uint32_t slots, uint32_t count, uint32_t *selection) {
  const struct net_wanted *wanted = test->wanted;
  const struct net_wanted_domain *domain = wanted->domains;
  if (!test->times && wanted->domain_count == 1 && domain->listed &&
      (domain->count == 1 || domain->count == 2))
    return select_values(rows + test->slots[0], slots, count, domain->values[0].i,
                         domain->values[domain->count - 1].i, selection);
  uint32_t selected = 0;
  for (uint32_t i = 0; i < count; i++, rows += slots)
    if (net_wanted_row(test, rows)) selection[selected++] = i;
  return selected;
}
