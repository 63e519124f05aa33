/* Variants of joins of rows with themselves: what each side has of them chosen in the join, against selections
 * and applies below it. The left side has the rows whose x is even, the right one those with x <= k + 1, so
 * that some rows are on both, or those whose x is odd. They are joined by k * 8 + x / 4, or by that of k alone and x.         */
#include <string.h>

#include "tests/checkops/checkops.h"

/* x mod 2 = 0; x <= k + 1; y < 100.0, which has no quick form and always holds; x mod 2 = 1 */
static const struct net_program *condition(struct build *build, unsigned which) {
  const struct net_layout *in = build->layouts[0];
  struct net_program *program = build_begin(build);
  uint32_t k = in->fields[DOMAIN_K].slot, x = in->fields[DOMAIN_X].slot;
  if (which == 0 || which == 3) {
    build_step(build, program, NET_OP_SLOT, x, 0);
    build_step(build, program, NET_OP_INTEGER, 0, 2);
    build_step(build, program, NET_OP_I_MOD, 0, 0);
    build_step(build, program, NET_OP_INTEGER, 0, which == 3);
    build_step(build, program, NET_OP_I_COMPARE, 0, NET_EQ);
  } else if (which == 1) {
    build_step(build, program, NET_OP_SLOT, x, 0);
    build_step(build, program, NET_OP_SLOT, k, 0);
    build_step(build, program, NET_OP_INTEGER, 0, 1);
    build_step(build, program, NET_OP_I_ADD, 0, 0);
    build_step(build, program, NET_OP_I_COMPARE, 0, NET_LE);
  } else {
    struct net_step bound = {.op = NET_OP_FLOAT, .f = 100};
    build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_Y].slot, 0);
    net_program_emit(build->arena, program, bound);
    build_step(build, program, NET_OP_F_COMPARE, 0, NET_LT);
  }
  return build_finish(build, program);
}

/* k * 8 + x / 4 */
static const struct net_program *value(struct build *build) {
  const struct net_layout *in = build->layouts[0];
  struct net_program *program = build_begin(build);
  build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_K].slot, 0);
  build_step(build, program, NET_OP_INTEGER, 0, 8);
  build_step(build, program, NET_OP_I_MUL, 0, 0);
  build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_X].slot, 0);
  build_step(build, program, NET_OP_INTEGER, 0, 4);
  build_step(build, program, NET_OP_I_DIV, 0, 0);
  build_step(build, program, NET_OP_I_ADD, 0, 0);
  return build_finish(build, program);
}

static struct net_node *linked(struct net_node *node, struct net_node *input, unsigned port) {
  BASE_CHECK(net_link(input, node, port) == BASE_OK, "checkops-link");
  return node;
}

struct net_node *build_self_join(struct build *build, const struct variant *variant) {
  const struct net_layout *in = build->layouts[0];
  bool event = in->tuple_class == NET_EVENT || variant->option & SELF_START;
  struct net_field fields[DOMAINS + 1];
  memcpy(fields, in->fields, DOMAINS * sizeof *fields);
  fields[DOMAINS] = (struct net_field){.name = "z", .type = {NET_INTEGER, 8}};
  const struct net_layout *side =
      net_layout_new(build->arena, in->tuple_class, fields, DOMAINS + 1);
  struct net_field out[4] = {{.name = "a.x", .type = {NET_INTEGER, 8}},
                             {.name = "a.z", .type = {NET_INTEGER, 8}},
                             {.name = "b.start", .type = {NET_INSTANT, 0}},
                             {.name = "b.x", .type = {NET_INTEGER, 8}}};
  uint32_t x = side->fields[DOMAIN_X].slot, z = side->fields[DOMAINS].slot;
  const struct net_product_field from[4] = {{0, x}, {0, z}, {1, 0}, {1, x}};
  struct net_participant participants[2] = {{in->tuple_class == NET_EVENT, 0, 2}, {event, 0, 2}};
  struct net_join_key keys[2] = {{z, z}, {x, x}};
  const struct net_program *conditions[2][2] = {
      {condition(build, 0)},
      {condition(build, variant->option & SELF_VALUE ? 3 : 1), condition(build, 2)}};
  size_t counts[2] = {1, variant->option & SELF_SLOW ? 2 : 1};
  const struct net_program *values[1] = {value(build)};
  struct net_product_params params = {
      .rule = NET_PRODUCT_OVERLAP,
      .left = side,
      .right = side,
      .out = net_layout_new(build->arena, event ? NET_EVENT : NET_PERIOD, out, 4),
      .left_participants = &participants[0],
      .right_participants = &participants[1],
      .left_count = 1,
      .right_count = 1,
      .fields = from,
      .keys = keys,
      .key_count = variant->option & SELF_KEYS ? 2 : 1,
  };
  if (!build->general) {
    params.rows = in;
    for (unsigned i = 0; i < 2; i++)
      params.choices[i] = (struct net_product_choice){conditions[i], counts[i], values, 1};
    return linked(net_create_product(build->network, variant->name, &params), build->inputs[0], 0);
  }
  struct net_node *join = net_create_product(build->network, variant->name, &params);
  for (unsigned i = 0; i < 2; i++) {
    struct net_node *below = build->inputs[0];
    for (size_t c = 0; c < counts[i]; c++)
      below =
          linked(net_create_selection(build->network, "selection", in, conditions[i][c]), below, 0);
    linked(join, linked(net_create_apply(build->network, "apply", in, side, values[0]), below, 0),
           i);
  }
  return join;
}
