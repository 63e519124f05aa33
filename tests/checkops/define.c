/* Closest by its definition (netgen/README.md): x of the left and y of the right with equal k are a pair
 * when x starts (or stops) before y starts and nothing lies between; distinct: nothing with the domains of
 * x or y; near: no further apart than NEAR_BY, perhaps. Over all rows, as they are at `forever`.                                                                    */
#include <stdlib.h>
#include <string.h>

#include "tests/checkops/checkops.h"

/* A tuple: the row that opened it with the stop of the one that closed it. */
struct tuple {
  const union net_slot *row;
  struct net_instant at; /* at which it counts */
  int64_t key;
  enum net_truth there;
};

static size_t tuples_of(const struct stream *stream, unsigned input, int option,
                        struct tuple *ret) {
  uint32_t k = stream->layouts[input]->fields[DOMAIN_K].slot;
  bool stops = input == 0 && option & LEFT_STOPS;
  const struct net_layout *layout = stream->layouts[input];
  size_t count = 0;
  for (size_t i = 0; i < stream->counts[input]; i++) {
    const union net_slot *row = stream->rows[input] + i * layout->slot_count;
    struct tuple tuple = {row, stops ? net_slot_stop(row, 2, NET_FOREVER) : net_row_start(row),
                          option & NO_KEYS ? 0 : row[k].i,
                          stream->marks[input][i] & NET_DEFINITE ? NET_TRUE : NET_UNKNOWN};
    size_t at = count;
    if (stream->marks[input][i] & NET_CLOSES)
      for (at = 0; !net_row_same_identity(layout, ret[at].row, row); at++)
        ;
    ret[at] = tuple;
    if (at == count) count++;
  }
  return count;
}

static enum net_truth before(const struct tuple *a, const struct tuple *b) {
  return net_before(a->at, b->at);
}

static bool same_domains(const struct tuple *a, const struct tuple *b,
                         const struct net_layout *layout) {
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (a->row[layout->fields[i].slot].i != b->row[layout->fields[i].slot].i) return false;
  return true;
}

/* Does one of OTHERS lie between A and B? LIKE is NULL, or it says what the domains of that one are. */
static enum net_truth between(const struct tuple *a, const struct tuple *b,
                              const struct tuple *others, size_t count,
                              const struct net_layout *layout, const struct tuple *like) {
  enum net_truth truth = NET_FALSE;
  for (size_t i = 0; i < count; i++)
    if ((like == NULL || same_domains(&others[i], like, layout)) && &others[i] != a &&
        &others[i] != b && others[i].key == a->key)
      truth = net_or(
          truth, net_and(others[i].there, net_and(before(a, &others[i]), before(&others[i], b))));
  return truth;
}

static void put(struct net_rows *rows, const struct tuple *x, const struct tuple *y,
                const struct stream *stream, enum net_truth truth) {
  union net_slot *row = net_rows_add(rows, truth == NET_TRUE ? NET_DEFINITE : 0);
  struct net_instant at = net_later(net_row_start(x->row), net_row_start(y->row));
  const struct tuple *sides[2] = {x, y};
  uint32_t to = 2;
  row[0].i = at.lo;
  row[1].i = at.hi;
  for (unsigned side = 0; side < 2; side++) {
    const struct net_layout *layout = stream->layouts[side];
    memcpy(row + to, sides[side]->row, layout->first_domain_slot * sizeof *row);
    to += layout->first_domain_slot;
    row[to++] = sides[side]->row[layout->fields[DOMAIN_K].slot];
    row[to++] = sides[side]->row[layout->fields[DOMAIN_X].slot];
  }
}

void define_closest(const struct stream *stream, const struct variant *variant,
                    struct net_rows *ret) {
  bool distinct = variant->option & DISTINCT;
  struct tuple *left = base_xcalloc(stream->counts[0] + 1, sizeof *left);
  struct tuple *right = base_xcalloc(stream->counts[1] + 1, sizeof *right);
  size_t lefts = tuples_of(stream, 0, variant->option, left),
         rights = tuples_of(stream, 1, variant->option, right);
  for (size_t i = 0; i < lefts; i++)
    for (size_t j = 0; j < rights; j++) {
      if (left[i].key != right[j].key) continue;
      enum net_truth truth =
          net_and(before(&left[i], &right[j]), net_and(left[i].there, right[j].there));
      truth = net_and(truth, net_not(between(&left[i], &right[j], left, lefts, stream->layouts[0],
                                             distinct ? &left[i] : NULL)));
      truth = net_and(truth, net_not(between(&left[i], &right[j], right, rights, stream->layouts[1],
                                             distinct ? &right[j] : NULL)));
      if (variant->option & NEAR && net_within(left[i].at, right[j].at, NEAR_BY) == NET_FALSE)
        continue;
      if (truth != NET_FALSE) put(ret, &left[i], &right[j], stream, truth);
    }
  free(left);
  free(right);
}
