/* Variants of joins that ask an aggregate: of input 0 an aggregate by k, its segments with their fields in another
 * order, and the rows of input 1 as events, of the same k. In the general way the segments come, and are joined. */
#include <string.h>

#include "tests/checkops/checkops.h"

static void link_to(struct net_node *input, struct net_node *node, unsigned port) {
  BASE_CHECK(net_link(input, node, port) == BASE_OK, "checkops-link");
}

static bool is_of_time(const struct variant *variant) {
  return variant->aggregate.function == NET_AGG_AVGC && variant->classes[0] == NET_PERIOD;
}

static struct net_node *aggregate(struct build *build, const struct variant *variant) {
  static const uint32_t by = DOMAIN_K;
  struct net_aggregate_params params = variant->aggregate;
  bool floats = params.function == NET_AGG_AVG || params.function == NET_AGG_AVGC;
  struct net_type type = {is_of_time(variant) ? NET_TEMPORAL : floats ? NET_FLOAT : NET_INTEGER, 8};
  struct net_field fields[2] = {build->layouts[0]->fields[DOMAIN_K],
                                {.name = "value", .type = type}};
  params.by_count = 1;
  params.by_fields = &by;
  params.in = build->layouts[0];
  params.out = net_layout_new(build->arena, NET_PERIOD, fields, 2);
  params.where_field = params.when_field = params.unless_field = -1;
  params.argument_field = variant->option & ASKED_TUPLES ? -1 : DOMAIN_X;
  params.origin_given = !(variant->option & ASKED_ORIGINS);
  params.domain_fields = DOMAINS;
  return net_create_aggregate(build->network, variant->name, &params);
}

static struct net_node *projection(struct build *build, struct net_node *below) {
  const struct net_layout *in = net_node_layout(below);
  struct net_field fields[2] = {in->fields[1], in->fields[0]};
  const uint32_t sources[2] = {fields[0].slot, fields[1].slot};
  const struct net_layout *out = net_layout_new(build->arena, NET_PERIOD, fields, 2);
  struct net_node *node =
      net_create_projection(build->network, "projection", in, out, sources, 0, 2, true, true, true);
  link_to(below, node, 0);
  return node;
}

struct net_node *build_asked(struct build *build, const struct variant *variant) {
  unsigned side = variant->option & ASKED_LEFT ? 0 : 1;
  struct net_node *asked = aggregate(build, variant), *chosen = projection(build, asked);
  const struct net_layout *rows = net_node_layout(asked), *segments = net_node_layout(chosen);
  const struct net_layout *events = build->layouts[1];
  struct net_field fields[5] = {{.name = "at", .type = {NET_INSTANT, 0}},
                                events->fields[DOMAIN_X],
                                segments->fields[0],
                                segments->fields[1],
                                {.name = "since", .type = {NET_INSTANT, 0}}};
  uint32_t count = is_of_time(variant) ? 5 : 4; /* of others the start is not to be had */
  struct net_product_field from[5] = {{!side, 0},
                                      {!side, events->fields[DOMAIN_X].slot},
                                      {side, segments->fields[0].slot},
                                      {side, segments->fields[1].slot},
                                      {side, 0}};
  struct net_participant participants[2];
  participants[side] = (struct net_participant){false, 0, 2};
  participants[!side] = (struct net_participant){true, 0, 0};
  struct net_join_key key;
  *(side ? &key.right_slot : &key.left_slot) = segments->fields[1].slot;
  *(side ? &key.left_slot : &key.right_slot) = events->fields[DOMAIN_K].slot;
  struct net_product_params params = {.rule = NET_PRODUCT_OVERLAP,
                                      .left = side ? events : segments,
                                      .right = side ? segments : events,
                                      .out = net_layout_new(build->arena, NET_EVENT, fields, count),
                                      .left_participants = &participants[0],
                                      .right_participants = &participants[1],
                                      .left_count = 1,
                                      .right_count = 1,
                                      .fields = from,
                                      .keys = &key,
                                      .key_count = 1};
  struct net_node *join = net_create_product(build->network, "join", &params);
  from[2].slot = rows->fields[1].slot;
  from[3].slot = rows->fields[0].slot;
  if (!build->general)
    net_ask_aggregate(
        &(struct net_ask_params){.join = join,
                                 .aggregate = asked,
                                 .side = side,
                                 .fields = from,
                                 .keys = (uint32_t[]){events->fields[DOMAIN_K].slot}});
  link_to(build->inputs[0], asked, 0);
  link_to(chosen, join, side);
  link_to(build->inputs[1], join, !side);
  return join;
}
