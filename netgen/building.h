/* What the parts of building share: a plan's nodes with what has been built of each, and where their columns
 * are. build.c makes the nodes, build_product.c those with two inputs, build_columns.c the layouts. */
#ifndef NG_BUILDING_H
#define NG_BUILDING_H

#include "netgen/plan.h"

struct ng_built {
  struct net_node *node; /* NULL: not built yet */
  const struct net_layout *layout;
  uint32_t *index;                   /* of plan field k in the layout */
  const struct ng_relation *derived; /* the node was there already: that of this relation */
  uint64_t class;                    /* of its rows, where plans share nodes */
};

struct ng_builder {
  const struct ng_plan *plan;
  struct net_network *network;
  struct base_arena *arena; /* the network's */
  const struct ng_inputs *inputs;
  struct ng_built *built;   /* as plan->nodes */
  const uint64_t *outlines; /* as plan->nodes, where plans share nodes (share.h) */
};

/* --- build_columns.c */

/* What has been built of NODE, which is of the builder's plan. */
struct ng_built *ng_built_of(struct ng_builder *builder, const struct ng_node *node);

/* The name of NODE in the network: its kind and number; in the network's arena. */
const char *ng_built_name(struct ng_builder *builder, const struct ng_node *node);

/* The index of COLUMN, which NODE has, in the layout of what is built of NODE. */
uint32_t ng_built_field(struct ng_builder *builder, const struct ng_node *node,
                        const struct ng_column *column);

/* The slot of COLUMN, an instant or a field of NODE, in its rows. */
uint32_t ng_slot_in(struct ng_builder *builder, const struct ng_node *node,
                    const struct ng_column *column);

/* EXPR over the rows of NODE, in the network's arena. */
const struct net_program *ng_built_program(struct ng_builder *builder, const struct ng_node *node,
                                           const struct ng_expr *expr);

enum net_tuple_class ng_class_of(const struct ng_node *node);

/* 0, 1 ... COUNT - 1, in the network's arena. */
uint32_t *ng_identity(struct ng_builder *builder, size_t count);

/* The field for COLUMN, called NAME, which is not copied. */
struct net_field ng_field_for(const struct ng_column *column, const char *name);

/* The layout of NODE's rows out of its columns. */
void ng_lay_out(struct ng_builder *builder, const struct ng_node *node);

/* The layout of the input with one more field behind: all fields of the input keep their slots. */
void ng_lay_out_appended(struct ng_builder *builder, const struct ng_node *node);

/* --- build_product.c: NODE's inputs are built */

void ng_build_product(struct ng_builder *builder, const struct ng_node *node);
void ng_build_closest(struct ng_builder *builder, const struct ng_node *node);
void ng_build_anti_join(struct ng_builder *builder, const struct ng_node *node);
void ng_build_difference(struct ng_builder *builder, const struct ng_node *node);

#endif
