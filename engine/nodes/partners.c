/* See partners.h. The condition runs over a row of what it reads of both sides. */
#include "engine/nodes/partners.h"

#include <string.h>

#include "engine/base/arena.h"
#include "engine/losses.h"

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

/* What is asked of rows of SIDE: may they all be later than a time, or all earlier than it? */
struct asked {
  unsigned side;
  bool earlier;
  const union net_slot *row; /* of the other side */
  net_chronon bound;
};

/* Is none of them a partner? The later the time is, the fewer later ones may be, and the more earlier ones. */
static bool is_none(struct net_partners *partners, const struct asked *asked, net_chronon time) {
  struct net_instant later = {time, NET_FOREVER}, earlier = {NET_BEGINNING, time};
  struct net_instant any = {NET_BEGINNING, NET_FOREVER};
  if (asked->earlier)
    return !net_partners_may_be(partners, asked->side, asked->row, earlier, any, asked->bound);
  return !net_partners_may_be(partners, asked->side, asked->row, later, later, asked->bound);
}

static bool has_stop(const struct net_partners *partners, const struct asked *asked) {
  return partners->layouts[!asked->side]->tuple_class == NET_PERIOD && asked->row[2].i != NET_OPEN;
}

/* Does the answer turn as far behind one of the row's own times as it did last? *RET: when. */
static bool turns_as_guessed(struct net_partners *partners, const struct asked *asked,
                             const struct net_partners_guess *guess, net_chronon *ret) {
  for (unsigned i = 0; i < (has_stop(partners, asked) ? 2 : 1); i++) {
    if (__builtin_add_overflow(asked->row[2 * i].i, guess->behind[i], ret) || *ret >= NET_FOREVER ||
        *ret <= NET_BEGINNING)
      continue;
    if (is_none(partners, asked, *ret) != asked->earlier &&
        is_none(partners, asked, *ret - 1) == asked->earlier)
      return true;
  }
  return false;
}

/* The first time for which the answer is not that for the beginning; NET_FOREVER: it is the same for all. */
static net_chronon turning_point(struct net_partners *partners, const struct asked *asked,
                                 struct net_partners_guess *guess) {
  bool first = asked->earlier;
  net_chronon guessed, before = NET_BEGINNING, behind = NET_FOREVER;
  if (turns_as_guessed(partners, asked, guess, &guessed)) return guessed;
  if (is_none(partners, asked, behind) == first) return behind;
  if (is_none(partners, asked, before) != first) return before;
  while ((uint64_t)behind - (uint64_t)before > 1) {
    net_chronon middle =
        (net_chronon)((uint64_t)before + ((uint64_t)behind - (uint64_t)before) / 2);
    if (is_none(partners, asked, middle) != first)
      behind = middle;
    else
      before = middle;
  }
  for (unsigned i = 0; i < (has_stop(partners, asked) ? 2 : 1); i++)
    guess->behind[i] = (int64_t)((uint64_t)behind - (uint64_t)asked->row[2 * i].i);
  return behind;
}

net_chronon net_partners_over(struct net_partners *partners, unsigned side,
                              const union net_slot *row, struct net_partners_guess *guess) {
  return turning_point(partners, &(struct asked){side, false, row, NET_FOREVER}, guess);
}

bool net_partners_lost(struct net_partners *partners, const union net_slot *left, net_chronon end,
                       net_chronon bound, struct net_partners_guess *guess) {
  const struct net_partner_params *params = partners->params;
  struct net_loss loss;
  if (params->lost == NULL) return false;
  base_string_id process = params->lost_slot < 0 ? params->lost_process : left[params->lost_slot].s;
  net_chronon time = turning_point(partners, &(struct asked){1, true, left, bound}, guess);
  while (net_losses_next(params->lost, process, time, &loss) && loss.from < end) {
    struct net_instant start = {loss.from, loss.to - 1}, stop = {loss.from, NET_FOREVER};
    if (params->lost_within) stop.hi = loss.to;
    if (net_partners_may_be(partners, 1, left, start, stop, bound)) return true;
    time = loss.to;
  }
  return false;
}
