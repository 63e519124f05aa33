/* The lists of small scope (scope.h). Tuples of one relation are told apart by x, 1 and 2, so that a result row
 * says which combination it comes from; equal x is for those who count sets. The order of the two does not
 * matter to anybody, so each pair stands once.                                                       */
#include "tests/properties/scope.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

static void add(struct scope_list *list, const struct scope_relation *relation) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? list->capacity * 2 : 64;
    struct scope_relation *items = base_xcalloc(list->capacity, sizeof *items);
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    free(list->items);
    list->items = items;
  }
  list->items[list->count++] = *relation;
}

void scope_list_done(struct scope_list *list) {
  free(list->items);
  *list = (struct scope_list){0};
}

static void add_tuple(struct scope_list *list, const net_chronon *time, bool sure) {
  struct scope_relation relation = {.count = 1};
  memcpy(relation.tuples[0].time, time, sizeof relation.tuples[0].time);
  relation.tuples[0].x = 1;
  for (int omega = 0; omega < (sure ? 1 : 2); omega++) {
    relation.tuples[0].definite = omega == 0;
    add(list, &relation);
  }
}

static void add_periods(struct scope_list *list, struct scope_range range) {
  int n = range.instants, starts = range.forever ? n - 1 : n;
  for (int a = 0; a < starts; a++)
    for (int b = a; b < (range.sure ? a + 1 : starts); b++)
      for (int c = a; c < n; c++)
        for (int d = c > b ? c : b; d < (range.sure ? c + 1 : n); d++) {
          net_chronon time[] = {a, b, c, d};
          for (int i = 2; i < 4 && range.forever; i++)
            if (time[i] == n - 1) time[i] = NET_FOREVER;
          if (a < b || c < d || b < c) add_tuple(list, time, range.sure);
        }
}

void scope_tuples(struct scope_list *ret, bool event, struct scope_range range) {
  *ret = (struct scope_list){.event = event};
  if (!event) {
    add_periods(ret, range);
    return;
  }
  int n = range.forever ? range.instants - 1 : range.instants;
  for (int a = 0; a < n; a++)
    for (int b = a; b < (range.sure ? a + 1 : n); b++)
      add_tuple(ret, (net_chronon[]){a, b, a, b}, range.sure);
}

static struct scope_relation pair(const struct scope_list *tuples, size_t i, size_t j, int x) {
  struct scope_relation relation = {2, {tuples->items[i].tuples[0], tuples->items[j].tuples[0]}};
  relation.tuples[1].x = x;
  return relation;
}

void scope_relations(struct scope_list *ret, bool event, struct scope_range range, unsigned most,
                     bool distinct) {
  struct scope_list tuples;
  scope_tuples(&tuples, event, range);
  *ret = (struct scope_list){.event = event};
  add(ret, &(struct scope_relation){0});
  for (size_t i = 0; i < tuples.count; i++) {
    add(ret, &tuples.items[i]);
    for (size_t j = i; j < tuples.count && most > 1; j++) {
      struct scope_relation both = pair(&tuples, i, j, 2);
      add(ret, &both);
      both.tuples[1].x = 1;
      bool equal =
          memcmp(both.tuples[0].time, both.tuples[1].time, sizeof both.tuples[0].time) == 0;
      if (!distinct && !equal) add(ret, &both);
    }
  }
  scope_list_done(&tuples);
}

struct scope_relation scope_random(struct base_random *random, const struct scope_list *tuples) {
  size_t i = base_random_below(random, tuples->count), j = base_random_below(random, tuples->count);
  return pair(tuples, i, j, 2);
}

/* --- statements */

#define AX "ax = a.x, bx = b.x"

const struct scope_statement scope_pairs[] = {
    /* conditions */
    {AX, "when a ; b at a.start"},
    {AX, "when b ; a at b.stop"},
    {AX, "when a , b at a.start"},
    {AX, "when a overlap b at b.start"},
    {AX, "when not (a , b) at a.start"},
    {AX, "when a | b at a.start"},
    {AX, "when (a | b) ; b at a.start"},
    {AX, "when (a | b), a.stop at a.start"},
    {AX, "when (a ; b | b ; a) at a.start"},
    {AX, "when not (a ; b | b ; a) at a.start"},
    {AX, "when (a | b).stop precede b at a.start"},
    {AX, "when a precede b at a.start"},
    {AX, "when not (a precede b) at a.start"},
    {AX, "when a.start precede b.stop at a.start"},
    {AX, "when a equal b at a.start"},
    {AX, "when not (a equal b) at a.start"},
    {AX, "when a.stop equal b.start at a.start"},
    {AX, "when a contain b at a.start"},
    {AX, "when b contain a at a.start"},
    {AX, "when not (a contain b) at a.start"},
    {AX, "when (a extend b) contain a at a.start"},
    {AX, "when (a extend b) equal a at a.start"},
    {AX, "when (a extend b), 3 at a.start"},
    {AX, "when (a , b) ; 3 at a.start"},
    {AX, "when (a ; b), 3 at a.start"},
    {AX, "when a ; within 0 b at a.start"},
    {AX, "when a ; within 1 b at a.start"},
    {AX, "when a ; within 2 b at a.start"},
    {AX, "when a ; within 5 b at a.start"},
    {AX, "when not (a ; within 2 b) at a.start"},
    {AX, "when (a ; b) or (a , b) at a.start"},
    {AX, "when a ; 2 and 3 ; b at a.start"},
    /* delimiters */
    {AX, ""},
    {AX, "when a , b"},
    {AX, "when a ; b"},
    {AX, "when a precede b start a.start stop b.stop"},
    {AX, "when a , b start a.start stop a.stop"},
    {AX, "start a.start"},
    {AX, "start b.stop"},
    {AX, "start (a , b).start"},
    {AX, "start (a ; b).start"},
    {AX, "start (a extend b).start"},
    {AX, "start 2"},
    {AX, "stop a.start"},
    {AX, "stop b.stop"},
    {AX, "stop (a , b).stop"},
    {AX, "stop (a ; b).stop"},
    {AX, "stop (a extend b).stop"},
    {AX, "stop 3"},
    {AX, "when a | b start a.start stop b.stop"},
    {AX, "when a | b start (a , b).start stop (a extend b).stop"},
    {AX, "when a | b start (a extend b).start stop (a , b).stop"},
    {AX, "when a | b start (a , b).stop stop (a extend b).stop"},
    {AX, "when a | b start (a ; b).start stop (b ; a).stop"},
    {AX, "when a | b start a.stop stop b.start"},
    {AX, "when a | b start a.start stop a.start"},
    {AX, "when a | b at a.stop"},
    {AX, "when a | b at (a , b).start"},
    {AX, "when a | b at (a , b).stop"},
    {AX, "when a | b at (a ; b).start"},
    {AX, "when a | b at (a ; b).stop"},
    {AX, "when a | b at (a extend b).start"},
    {AX, "when a | b at (a extend b).stop"},
    {AX, "at b.start"},
    /* sets: what tells tuples apart is left out */
    {"", ""},
    {"", "when a | b at a.start"},
    {"", "when a | b start a.start stop b.stop"},
    {"ax = a.x", "when a precede b"},
    {"bx = b.x", "when a ; b"},
    {0}};

#define BY "by a.c"

const struct scope_statement scope_alone[] = {
    {"n = count(a " BY ")", ""},
    {"n = any(a " BY ")", ""},
    {"n = countc(a " BY ")", ""},
    {"n = anyc(a " BY ")", ""},
    {"n = count(a.x " BY " where a.x = 1)", ""},
    {"n = countu(a.x " BY ")", ""},
    {"n = sum(a.x " BY ")", ""},
    {"n = sumc(a.x " BY ")", ""},
    {"n = sumu(a.x " BY ")", ""},
    {"n = avg(a.x " BY ")", ""},
    {"n = min(a.x " BY ")", ""},
    {"n = max(a.x " BY ")", ""},
    {"n = maxc(a.x " BY ")", ""},
    {"n = count(a " BY "), m = max(a.x " BY ")", ""},
    {"n = count(a " BY " for ever)", ""},
    {"n = count(a " BY " for each instant)", ""},
    {"n = count(a " BY " for each 1)", ""},
    {"n = count(a " BY " for each 2)", ""},
    {"n = max(a.x " BY " for each 3)", ""},
    {"n = first(a.x " BY ")", ""},
    {"n = last(a.x " BY " for ever)", ""},
    {"n = stdev(a.x " BY ")", ""},
    {"n = avgti(a.x " BY " for ever)", ""},
    {"n = varts(a " BY " for ever)", ""},
    {"n = extendc(a.x " BY ")", ""},
    {"x = a.x, n = count(a " BY ")", ""},
    {"x = a.x, n = max(a.x " BY " where a.x > 1)", "at a.start"},
    {"x = a.x, n = any(a " BY " where a.x > 1)", "when a.start precede 3"},
    {"x = a.x", "start a.start stop a.stop"},
    {"x = a.x", "start a.stop stop 4"},
    {"x = a.x", "at a.stop"},
    {"", ""},
    {"", "at a.start"},
    {"", "start a.start stop 5"},
    {0}};
