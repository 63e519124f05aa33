/* Records that nobody asks for are left out before they are put into a message (thesis 7.2.5).
 *
 *      watches of a relation ──▶ its filters, each once ──▶ asked of a record's values ──▶ message, or a count
 *
 * A record passes if any filter lets it pass, and whatever it holds while some watch has none. So from the instant
 * at which a watch without a filter comes, all that is read is sent. Of which processes and objects a watch is
 * is not asked: the server may have more than it wants.
 *
 * Never left out: what is no row for the server (it belongs into Rejected), samples, end records. Of a traced
 * relation only what is said of its key counts, as a record ends the period of the one before; the start of a
 * period sensor's period is all that there is of its entity. When less is asked for than before, a traced relation may
 * have an open period of an entity that is not asked for any more: as its next record would end it, a process's
 * records are sent as before until its sensor has been off, which ends all that it has open. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/filter.h"
#include "sensors/collect/monitor_impl.h"

enum { FILTERS_MAX = 16 }; /* of one relation: nobody gains from asking more */

struct sn_filter {
  struct sn_filter *next;
  struct base_arena *arena; /* its own, and of all it says */
  const char *bytes;
  uint32_t length;
  size_t holders; /* watches */
  struct net_filter says;
};

/* --- those of a relation */

static struct sn_filter **place_of(struct sn_interest *interest, const struct sn_watch *watch) {
  struct sn_filter **link = &interest->filters;
  while (*link != NULL && ((*link)->length != watch->filter_length ||
                           memcmp((*link)->bytes, watch->filter, watch->filter_length) != 0)) {
    link = &(*link)->next;
  }
  return link;
}

bool sn_filter_is_one(const char *bytes, size_t length) {
  struct base_arena *arena = base_arena_new();
  struct net_filter says;
  bool good = net_filter_get(arena, bytes, length, &says);
  base_arena_free(arena);
  return good;
}

void sn_filter_add(struct sn_interest *interest, const struct sn_watch *watch) {
  if (watch->filter_length == 0) return;
  struct sn_filter **link = place_of(interest, watch);
  if (*link == NULL) {
    struct base_arena *arena = base_arena_new();
    struct sn_filter *filter = BASE_NEW(arena, struct sn_filter);
    filter->arena = arena;
    filter->bytes = base_arena_strndup(arena, watch->filter, watch->filter_length);
    filter->length = watch->filter_length;
    /* They were read before. */
    if (!net_filter_get(arena, filter->bytes, filter->length, &filter->says))
      filter->says = NET_FILTER_ALL;
    *link = filter;
    interest->filter_count++;
    interest->filter_changes++;
  }
  (*link)->holders++;
  interest->filtered++;
}

void sn_filter_remove(struct sn_interest *interest, const struct sn_watch *watch) {
  if (watch->filter_length == 0) {
    interest->narrowings += interest->count == interest->filtered + 1;
    return;
  }
  struct sn_filter **link = place_of(interest, watch), *filter = *link;
  interest->filtered--;
  if (--filter->holders > 0) return;
  interest->narrowings++;
  *link = filter->next;
  interest->filter_count--;
  interest->filter_changes++;
  base_arena_free(filter->arena);
}

/* --- of an event's values */

/* The value that ATOM asks; value_count: none, and it holds. */
static uint32_t value_of(const struct sn_known_event *known, const struct sn_value_view *values,
                         const struct net_filter_atom *atom) {
  const struct sn_event_description *event = known->event;
  bool whole = event->relation == SN_KIND_EVENT || event->is_period;
  uint32_t i = 0;
  if (!whole && !sn_event_key_has(event, atom->domain)) return (uint32_t)known->value_count;
  while (i < known->value_count && strcasecmp(values[i].name, atom->domain) != 0) i++;
  return i;
}

/* Where the values of all atoms of all filters are, as they follow each other. */
static void find_places(struct sn_known_event *known, const struct sn_value_view *values) {
  const struct sn_interest *interest = known->interest;
  size_t count = 0, room = 0;
  known->filter_places_of = interest->filter_changes;
  free(known->filter_places);
  known->filter_places = NULL;
  for (const struct sn_filter *filter = interest->filters; filter != NULL; filter = filter->next) {
    for (uint32_t c = 0; c < filter->says.count; c++) {
      const struct net_filter_clause *clause = &filter->says.clauses[c];
      for (uint32_t a = 0; a < clause->count; a++) {
        base_grow(&known->filter_places, &room, count + 1, sizeof *known->filter_places);
        known->filter_places[count++] = value_of(known, values, &clause->atoms[a]);
      }
    }
  }
}

static bool atom_holds(const struct sn_known_event *known, const struct sn_value_view *values,
                       const struct net_filter_atom *atom, uint32_t place) {
  if (place >= known->value_count) return true;
  const struct sn_value_view *from = &values[place];
  const struct net_filter_value value = {.base = from->type.base,
                                         .integer = from->integer,
                                         .real = from->real,
                                         .text = from->text,
                                         .length = from->length};
  return net_filter_holds(atom, &value);
}

/* *PLACE: where the filter's atoms begin, and then, where those of the next one do. */
static bool passes(const struct sn_known_event *known, const struct sn_value_view *values,
                   const struct sn_filter *filter, size_t *place) {
  bool good = true;
  for (uint32_t c = 0; c < filter->says.count; c++) {
    const struct net_filter_clause *clause = &filter->says.clauses[c];
    bool any = false;
    for (uint32_t a = 0; a < clause->count && good && !any; a++)
      any = atom_holds(known, values, &clause->atoms[a], known->filter_places[*place + a]);
    *place += clause->count;
    good = good && any;
  }
  return good;
}

/* Is it a row, whatever relation of that description it goes into? */
static bool is_row(const struct sn_known_event *known, const struct sn_value_view *values) {
  for (size_t i = 0; i < known->value_count; i++) {
    const struct sn_value_view *value = &values[i];
    if (value->type.base == NET_FLOAT && !isfinite(value->real)) return false;
    bool text = value->type.base == NET_STRING || value->type.base == NET_BYTES;
    if (text && value->type.width > 0 && value->length > value->type.width)
      return false; /* a text's are bytes here: perhaps it would be */
  }
  return true;
}

/* May a period be open of what is not asked for any more? */
static bool may_be_open(const struct sn_known_event *known, const struct sn_part_event *state) {
  bool follow = known->event->relation == SN_KIND_TRACED && !known->event->is_period;
  return follow && state->reported && state->reported_as_of != known->interest->narrowings;
}

bool sn_filter_leaves_out(struct sn_known_event *known, const struct sn_part_event *state,
                          const struct sn_value_view *values) {
  const struct sn_interest *interest = known->interest;
  size_t place = 0;
  if (interest->filtered == 0 || interest->filtered < interest->count) return false;
  if (interest->filter_count > FILTERS_MAX || known->event->relation == SN_KIND_SAMPLED)
    return false;
  if (may_be_open(known, state)) return false;
  if (known->filter_places_of != interest->filter_changes) find_places(known, values);
  for (const struct sn_filter *filter = interest->filters; filter != NULL; filter = filter->next)
    if (passes(known, values, filter, &place)) return false;
  return is_row(known, values);
}
