/* Variants of what stands behind a join: selections, applies and a projection, done in the join for plain rows
 * (engine/nodes/product/tail.c), against each by itself. The join is one by k. */
#include <string.h>

#include "tests/checkops/checkops.h"

static const struct net_field *field(const struct net_layout *layout, const char *name) {
  int index = net_layout_find(layout, name);
  BASE_CHECK(index >= 0, "checkops-field");
  return &layout->fields[index];
}

static struct net_node *linked(struct net_node *node, struct net_node *input) {
  BASE_CHECK(net_link(input, node, 0) == BASE_OK, "checkops-link");
  return node;
}

/* b.x < 6, and that a starts no later than 900. */
static struct net_node *select_some(struct build *build, struct net_node *below) {
  const struct net_layout *in = net_node_layout(below);
  struct net_program *values = build_begin(build), *times = build_begin(build);
  struct net_step late = {.op = NET_OP_CONST_INSTANT, .instant = {900, 900}};
  build_step(build, values, NET_OP_SLOT, field(in, "b.x")->slot, 0);
  build_step(build, values, NET_OP_INTEGER, 0, 6);
  build_step(build, values, NET_OP_I_COMPARE, 0, NET_LT);
  build_step(build, times, NET_OP_INSTANT_SLOT, field(in, "a.start")->slot, 0);
  net_program_emit(build->arena, times, late);
  build_step(build, times, NET_OP_NOT_AFTER, 0, 0);
  below = linked(net_create_selection(build->network, "values", in, build_finish(build, values)),
                 below);
  return linked(net_create_selection(build->network, "times", in, build_finish(build, times)),
                below);
}

static struct net_node *apply(struct build *build, struct net_node *below, const char *name,
                              struct net_program *program) {
  const struct net_layout *in = net_node_layout(below);
  struct net_field fields[16];
  memcpy(fields, in->fields, in->field_count * sizeof *fields);
  fields[in->field_count] = (struct net_field){.name = name, .type = {NET_INTEGER, 8}};
  const struct net_layout *out =
      net_layout_new(build->arena, in->tuple_class, fields, in->field_count + 1);
  return linked(net_create_apply(build->network, name, in, out, build_finish(build, program)),
                below);
}

/* span(a.start, b.start); a.x + b.k, or a.x / b.x, which fails now and then. */
static struct net_node *apply_both(struct build *build, struct net_node *below, bool fails) {
  const struct net_layout *in = net_node_layout(below);
  struct net_program *span = build_begin(build), *value = build_begin(build);
  build_step(build, span, NET_OP_INSTANT_SLOT, field(in, "a.start")->slot, 0);
  build_step(build, span, NET_OP_INSTANT_SLOT, field(in, "b.start")->slot, 0);
  build_step(build, span, NET_OP_SPAN, 0, 0);
  build_step(build, value, NET_OP_SLOT, field(in, "a.x")->slot, 0);
  build_step(build, value, NET_OP_SLOT, field(in, fails ? "b.x" : "b.k")->slot, 0);
  build_step(build, value, fails ? NET_OP_I_DIV : NET_OP_I_ADD, 0, 0);
  return apply(build, apply(build, below, "span", span), "value", value);
}

struct net_node *build_tail(struct build *build, const struct variant *variant) {
  struct variant join = *variant;
  join.option = CHECKOPS_KEY;
  struct net_node *below = build_product(build, &join);
  if (!(variant->option & TAIL_BARE)) below = select_some(build, below);
  if (!(variant->option & TAIL_BARE))
    below = apply_both(build, below, variant->option & TAIL_FAILS);
  const struct net_layout *in = net_node_layout(below);
  bool older = variant->option & TAIL_OLDER, bare = variant->option & TAIL_BARE;
  const char *names[4] = {"b.x", bare ? "a.x" : "value", "a.start", bare ? "b.k" : "span"};
  struct net_field fields[4];
  uint32_t *sources = base_arena_array(build->arena, 4, sizeof *sources);
  for (unsigned i = 0; i < 4; i++) {
    fields[i] = *field(in, names[i]);
    sources[i] = fields[i].slot;
  }
  uint32_t start = 0, stop = 2;
  if (older) {
    bool event = build->layouts[0]->tuple_class == NET_EVENT;
    start = field(in, "a.start")->slot;
    stop = field(in, event ? "b.stop" : "b.start")->slot;
  }
  enum net_tuple_class class = older ? NET_PERIOD : in->tuple_class;
  const struct net_layout *out = net_layout_new(build->arena, class, fields, 4);
  return linked(net_create_projection(build->network, "projection", in, out, sources, start, stop,
                                      !older && class == NET_PERIOD, false, false),
                below);
}
