/* Variants of products of which nobody reads one side: what is made of the other side's rows, as a set, when the
 * product gives one combination of each where that is enough (NET_PRODUCT_ONCE), and when it gives all. */
#include "tests/checkops/checkops.h"

static struct net_node *linked(struct net_node *node, struct net_node *input) {
  BASE_CHECK(net_link(input, node, 0) == BASE_OK, "checkops-link");
  return node;
}

static const struct net_field *field(const struct net_layout *layout, const char *name) {
  int index = net_layout_find(layout, name);
  BASE_CHECK(index >= 0, "checkops-field");
  return &layout->fields[index];
}

/* k and x of the side that is read, at its start; or in the common period. */
static struct net_node *project(struct build *build, const struct variant *variant,
                                struct net_node *below) {
  static const char *const names[2][3] = {{"a.k", "a.x", "a.start"}, {"b.k", "b.x", "b.start"}};
  const struct net_layout *in = net_node_layout(below);
  bool right = variant->option & CHECKOPS_ONCE_RIGHT, whole = variant->option & CHECKOPS_WHOLE;
  struct net_field fields[2];
  uint32_t sources[2];
  for (unsigned i = 0; i < 2; i++) {
    fields[i] = *field(in, names[right][i]);
    sources[i] = fields[i].slot;
  }
  const struct net_layout *out =
      net_layout_new(build->arena, whole ? NET_PERIOD : NET_EVENT, fields, 2);
  uint32_t start = whole ? 0 : field(in, names[right][2])->slot;
  return linked(net_create_projection(build->network, "projection", in, out, sources, start, 2,
                                      whole, whole, whole),
                below);
}

struct net_node *build_once(struct build *build, const struct variant *variant) {
  struct net_node *below = project(build, variant, build_product(build, variant));
  return linked(net_create_set(build->network, "set", net_node_layout(below)), below);
}
