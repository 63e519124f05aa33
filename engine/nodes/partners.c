/* See partners.h. The condition runs over a row of what it reads of both sides. */
#include "engine/nodes/partners.h"

#include <string.h>

#include "engine/base/arena.h"

/* Events at no time whose fields are the keys; all of them are compared by their slot. */
static const struct net_layout *make_key_layout(struct base_arena *arena,
                                                const struct net_partner_params *params) {
  struct net_field *fields = BASE_NEW_ARRAY(arena, params->key_count, struct net_field);
  for (size_t i = 0; i < params->key_count; i++) {
    fields[i] = (struct net_field){.name = "key", .type = {NET_INTEGER, 8}};
    for (uint32_t f = 0; f < params->left->field_count; f++)
      if (params->left->fields[f].slot == params->keys[i].left_slot)
        fields[i].type = params->left->fields[f].type;
  }
  return net_layout_new(arena, NET_EVENT, fields, (uint32_t)params->key_count);
}

static const void *copied(struct base_arena *arena, const void *items, size_t count, size_t size) {
  void *to = base_arena_array(arena, count, size);
  if (count > 0) memcpy(to, items, count * size);
  return to;
}

void net_partners_init(struct net_partners *partners, struct base_arena *arena,
                       const struct net_partner_params *params) {
  struct net_partner_params *own = BASE_NEW(arena, struct net_partner_params);
  *own = *params;
  own->keys = copied(arena, params->keys, params->key_count, sizeof *params->keys);
  own->fields = copied(arena, params->fields, params->tested->field_count, sizeof *params->fields);
  *partners = (struct net_partners){.layouts = {params->left, params->right},
                                    .params = own,
                                    .key_layout = make_key_layout(arena, params)};
  partners->key = base_arena_array(arena, partners->key_layout->slot_count, sizeof *partners->key);
  partners->tested = base_arena_array(arena, params->tested->slot_count, sizeof *partners->tested);
}

void net_partners_init_groups(const struct net_partners *partners, struct net_rowmap *groups,
                              size_t state_size) {
  net_rowmap_init(groups, partners->key_layout, NET_KEY_DOMAINS, partners->key_layout->field_count,
                  NULL, 0, state_size);
}

uint32_t net_partners_group(struct net_partners *partners, struct net_rowmap *groups, unsigned side,
                            const union net_slot *row, bool *ret_new) {
  const struct net_partner_params *params = partners->params;
  for (size_t i = 0; i < params->key_count; i++)
    partners->key[partners->key_layout->fields[i].slot] =
        row[side == 0 ? params->keys[i].left_slot : params->keys[i].right_slot];
  return net_rowmap_put(groups, partners->key, ret_new);
}

static void fill(struct net_partners *partners, unsigned side, const union net_slot *row) {
  const struct net_layout *tested = partners->params->tested;
  for (uint32_t f = 0; f < tested->field_count; f++) {
    const struct net_product_field *from = &partners->params->fields[f];
    if (from->side != side) continue;
    net_row_copy(partners->tested + tested->fields[f].slot, row + from->slot,
                 net_type_slots(tested->fields[f].type.base));
  }
}

enum net_eval_error net_partners_test(struct net_partners *partners, const union net_slot *left,
                                      const union net_slot *right, net_chronon bound,
                                      enum net_truth *ret, bool *ret_open) {
  const struct net_partner_params *params = partners->params;
  struct net_value value;
  *ret = NET_TRUE;
  *ret_open = false;
  if (params->condition == NULL) return NET_EVAL_OK;
  fill(partners, 0, left);
  fill(partners, 1, right);
  enum net_eval_error error = net_program_run(params->condition, partners->tested, bound, &value);
  if (error != NET_EVAL_OK) return error;
  *ret = value.truth;
  *ret_open = value.truth == NET_UNKNOWN && bound != NET_FOREVER && params->condition->reads_open &&
              net_row_is_open(params->tested, partners->tested);
  return NET_EVAL_OK;
}

bool net_partners_may_be(struct net_partners *partners, unsigned side, const union net_slot *row,
                         struct net_instant start, struct net_instant stop, net_chronon bound) {
  const struct net_partner_params *params = partners->params;
  const struct net_layout *tested = params->tested;
  struct net_value value;
  if (params->times == NULL) return true;
  fill(partners, !side, row);
  for (uint32_t f = 0; f < tested->field_count; f++) {
    const struct net_product_field *from = &params->fields[f];
    if (from->side != side || tested->fields[f].type.base != NET_INSTANT) continue;
    struct net_instant instant = side == 1 && from->slot == 2 ? stop : start;
    partners->tested[tested->fields[f].slot].i = instant.lo;
    partners->tested[tested->fields[f].slot + 1].i = instant.hi;
  }
  enum net_eval_error error = net_program_run(params->times, partners->tested, bound, &value);
  return error != NET_EVAL_OK || value.truth != NET_FALSE;
}

/* Is it over when all that comes on SIDE is at TIME or later? The later TIME is, the less may be. */
static bool is_over(struct net_partners *partners, unsigned side, const union net_slot *row,
                    net_chronon time) {
  struct net_instant later = {time, NET_FOREVER};
  return !net_partners_may_be(partners, side, row, later, later, NET_FOREVER);
}

net_chronon net_partners_over(struct net_partners *partners, unsigned side,
                              const union net_slot *row, int64_t *guess) {
  net_chronon guessed;
  bool fits = !__builtin_add_overflow(row[0].i, *guess, &guessed) && guessed < NET_FOREVER &&
              guessed > NET_BEGINNING;
  if (fits && is_over(partners, side, row, guessed) && !is_over(partners, side, row, guessed - 1))
    return guessed;
  if (!is_over(partners, side, row, NET_FOREVER)) return NET_FOREVER;
  net_chronon before = NET_BEGINNING, over = NET_FOREVER;
  if (is_over(partners, side, row, before)) return before;
  while ((uint64_t)over - (uint64_t)before > 1) {
    net_chronon middle = (net_chronon)((uint64_t)before + ((uint64_t)over - (uint64_t)before) / 2);
    if (is_over(partners, side, row, middle))
      over = middle;
    else
      before = middle;
  }
  *guess = (int64_t)((uint64_t)over - (uint64_t)row[0].i);
  return over;
}
