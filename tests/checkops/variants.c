/* The variants: what is built, with all that makes it fast and in the general way. */
#include <string.h>

#include "tests/checkops/checkops.h"

/* --- programs */

static void compare_slots(struct build *build, struct net_program *program, uint32_t a, uint32_t b,
                          enum net_comparison comparison) {
  build_step(build, program, NET_OP_SLOT, a, 0);
  build_step(build, program, NET_OP_SLOT, b, 0);
  build_step(build, program, NET_OP_I_COMPARE, 0, comparison);
}

/* --- nodes */

static struct net_node *joined(struct net_node *node, struct net_node *left,
                               struct net_node *right) {
  BASE_CHECK(net_link(left, node, 0) == BASE_OK, "checkops-link");
  if (right != NULL) BASE_CHECK(net_link(right, node, 1) == BASE_OK, "checkops-link");
  return node;
}

/* Of each side its times, k and x. */
enum { SIDE_FIELDS = 4 };
struct combination {
  struct net_field fields[2 * SIDE_FIELDS];
  struct net_product_field from[2 * SIDE_FIELDS];
  uint32_t count;
  const struct net_layout *layout;
};

static void add_field(struct combination *combination, const char *name, struct net_type type,
                      bool openable, unsigned side, uint32_t slot) {
  combination->fields[combination->count] =
      (struct net_field){.name = name, .type = type, .openable = openable};
  combination->from[combination->count++] = (struct net_product_field){side, slot};
}

static struct combination combine(struct build *build, enum net_tuple_class result) {
  static const char *const names[2][SIDE_FIELDS] = {{"a.start", "a.stop", "a.k", "a.x"},
                                                    {"b.start", "b.stop", "b.k", "b.x"}};
  struct combination combination = {.count = 0};
  struct net_type instant = {NET_INSTANT, 0}, integer = {NET_INTEGER, 8};
  for (unsigned side = 0; side < 2; side++) {
    const struct net_layout *layout = build->layouts[side];
    add_field(&combination, names[side][0], instant, false, side, 0);
    if (layout->tuple_class == NET_PERIOD)
      add_field(&combination, names[side][1], instant, true, side, 2);
    add_field(&combination, names[side][2], integer, false, side, layout->fields[DOMAIN_K].slot);
    add_field(&combination, names[side][3], integer, false, side, layout->fields[DOMAIN_X].slot);
  }
  combination.layout = net_layout_new(build->arena, result, combination.fields, combination.count);
  return combination;
}

static uint32_t slot_of(const struct combination *combination, const char *name) {
  int field = net_layout_find(combination->layout, name);
  BASE_CHECK(field >= 0, "checkops-field");
  return combination->layout->fields[field].slot;
}

static void emit_instant(struct build *build, struct net_program *program,
                         const struct combination *combination, const char *name) {
  bool stop = strcmp(name + 2, "stop") == 0;
  build_step(build, program, stop ? NET_OP_STOP_SLOT : NET_OP_INSTANT_SLOT,
             slot_of(combination, name), 0);
}

/* --- products and joins */

enum {
  KEY = CHECKOPS_KEY, /* k is equal */
  KEYS = 2,           /* k and x are equal */
  SMALLER = 4,        /* a.x < b.x + 1 */
  FULL = 8,           /* the full rule */
  WITHIN = 16,        /* b starts with a or at most BOUND later */
  PARTIAL = 32,       /* b starts while a lasts */
  DIFFERENT = 64,     /* a.x /= b.x, or else a starts before b: no quick program */
  BOUND = 15,
};

static void conjoin(struct build *build, struct net_program *program, bool *any) {
  if (*any) build_step(build, program, NET_OP_AND, 0, 0);
  *any = true;
}

static const struct net_program *condition(struct build *build, int option,
                                           const struct combination *combination) {
  struct net_program *program = build_begin(build);
  uint32_t ak = slot_of(combination, "a.k"), bk = slot_of(combination, "b.k");
  uint32_t ax = slot_of(combination, "a.x"), bx = slot_of(combination, "b.x");
  bool any = false;
  if (build->general && option & (KEY | KEYS)) {
    compare_slots(build, program, ak, bk, NET_EQ);
    conjoin(build, program, &any);
  }
  if (build->general && option & KEYS) {
    compare_slots(build, program, ax, bx, NET_EQ);
    conjoin(build, program, &any);
  }
  if (option & SMALLER) {
    build_step(build, program, NET_OP_SLOT, ax, 0);
    build_step(build, program, NET_OP_SLOT, bx, 0);
    build_step(build, program, NET_OP_INTEGER, 0, 1);
    build_step(build, program, NET_OP_I_ADD, 0, 0);
    build_step(build, program, NET_OP_I_COMPARE, 0, NET_LT);
    conjoin(build, program, &any);
  }
  if (option & DIFFERENT) {
    compare_slots(build, program, ax, bx, NET_NE);
    emit_instant(build, program, combination, "a.start");
    emit_instant(build, program, combination, "b.start");
    build_step(build, program, NET_OP_BEFORE, 0, 0);
    build_step(build, program, NET_OP_OR, 0, 0);
    conjoin(build, program, &any);
  }
  if (option & (WITHIN | PARTIAL)) {
    emit_instant(build, program, combination, "a.start");
    emit_instant(build, program, combination, "b.start");
    build_step(build, program, NET_OP_NOT_AFTER, 0, 0);
    conjoin(build, program, &any);
  }
  if (option & WITHIN) {
    emit_instant(build, program, combination, "a.start");
    emit_instant(build, program, combination, "b.start");
    build_step(build, program, NET_OP_WITHIN, 0, BOUND);
    conjoin(build, program, &any);
  }
  if (option & PARTIAL) {
    emit_instant(build, program, combination, "b.start");
    emit_instant(build, program, combination, "a.stop");
    build_step(build, program, NET_OP_BEFORE, 0, 0);
    conjoin(build, program, &any);
  }
  return any ? build_finish(build, program) : NULL;
}

struct net_node *build_product(struct build *build, const struct variant *variant) {
  const struct net_layout *left = build->layouts[0], *right = build->layouts[1];
  bool full = variant->option & FULL;
  bool event = full || left->tuple_class == NET_EVENT || right->tuple_class == NET_EVENT;
  struct combination combination = combine(build, event ? NET_EVENT : NET_PERIOD);
  struct net_participant participants[2] = {{left->tuple_class == NET_EVENT, 0, 2},
                                            {right->tuple_class == NET_EVENT, 0, 2}};
  struct net_join_key keys[2] = {{left->fields[DOMAIN_K].slot, right->fields[DOMAIN_K].slot},
                                 {left->fields[DOMAIN_X].slot, right->fields[DOMAIN_X].slot}};
  const struct net_expiry within = {.slot = 0, .after = BOUND + 1},
                          behind = {.slot = 0, .after = 1};
  const struct net_expiry either[] = {{.slot = 0, .after = BOUND + 1, .or_next = true},
                                      {.slot = 2}};
  struct net_product_params params = {
      .rule = full ? NET_PRODUCT_FULL : NET_PRODUCT_OVERLAP,
      .left = left,
      .right = right,
      .out = combination.layout,
      .left_participants = &participants[0],
      .right_participants = &participants[1],
      .left_count = 1,
      .right_count = 1,
      .fields = combination.from,
      .keys = keys,
      .predicate = condition(build, variant->option, &combination),
  };
  if (!build->general) {
    if (variant->option & CHECKOPS_ONCE) params.once = NET_PRODUCT_ONCE;
    if (variant->option & CHECKOPS_WHOLE) params.once = NET_PRODUCT_ONCE_WHOLE;
    params.once_side = variant->option & CHECKOPS_ONCE_RIGHT ? 1 : 0;
    params.key_count = variant->option & KEYS ? 2 : variant->option & KEY ? 1 : 0;
    if (variant->option & (WITHIN | PARTIAL)) {
      bool both = variant->option & WITHIN && variant->option & PARTIAL;
      params.expiries[0] = both ? either : variant->option & WITHIN ? &within : &either[1];
      params.expiries[1] = &behind;
      params.expiry_counts[0] = both ? 2 : 1;
      params.expiry_counts[1] = 1;
    }
  }
  struct net_node *node = net_create_product(build->network, variant->name, &params);
  return joined(node, build->inputs[0], build->inputs[1]);
}

/* Three periods: the first two's combination, with its members' times, and the second input again. */
static struct net_node *build_three(struct build *build, const struct variant *variant) {
  struct variant pair = *variant;
  pair.option = KEY;
  struct net_node *top = build_product(build, &pair);
  const struct net_layout *left = net_node_layout(top), *right = build->layouts[1];
  struct net_field fields[5];
  struct net_product_field from[5];
  for (uint32_t i = 0; i < 5; i++) fields[i] = (struct net_field){.type = {NET_INTEGER, 8}};
  fields[0].name = "a.x", fields[1].name = "b.x", fields[2].name = "c.x", fields[3].name = "c.k";
  fields[4] = (struct net_field){.name = "a.start", .type = {NET_INSTANT, 0}};
  from[0] = (struct net_product_field){0, left->fields[net_layout_find(left, "a.x")].slot};
  from[1] = (struct net_product_field){0, left->fields[net_layout_find(left, "b.x")].slot};
  from[2] = (struct net_product_field){1, right->fields[DOMAIN_X].slot};
  from[3] = (struct net_product_field){1, right->fields[DOMAIN_K].slot};
  from[4] = (struct net_product_field){0, left->fields[net_layout_find(left, "a.start")].slot};
  const struct net_layout *out = net_layout_new(build->arena, NET_PERIOD, fields, 5);
  struct net_participant members[2] = {{false, left->fields[net_layout_find(left, "a.start")].slot,
                                        left->fields[net_layout_find(left, "a.stop")].slot},
                                       {false, left->fields[net_layout_find(left, "b.start")].slot,
                                        left->fields[net_layout_find(left, "b.stop")].slot}};
  struct net_participant third = {false, 0, 2};
  struct net_join_key key = {left->fields[net_layout_find(left, "b.x")].slot,
                             right->fields[DOMAIN_X].slot};
  struct net_program *program = build_begin(build);
  compare_slots(build, program, out->fields[1].slot, out->fields[2].slot, NET_EQ);
  struct net_product_params params = {
      .rule = NET_PRODUCT_OVERLAP,
      .left = left,
      .right = right,
      .out = out,
      .left_participants = members,
      .right_participants = &third,
      .left_count = 2,
      .right_count = 1,
      .fields = from,
      .keys = &key,
      .key_count = build->general ? 0 : 1,
      .predicate = build->general ? build_finish(build, program) : NULL};
  return joined(net_create_product(build->network, variant->name, &params), top, build->inputs[1]);
}

static struct net_node *build_closest(struct build *build, const struct variant *variant) {
  struct combination combination = combine(build, NET_EVENT);
  struct net_join_key key = {build->layouts[0]->fields[DOMAIN_K].slot,
                             build->layouts[1]->fields[DOMAIN_K].slot};
  struct net_closest_params params = {.left = build->layouts[0],
                                      .right = build->layouts[1],
                                      .out = combination.layout,
                                      .fields = combination.from,
                                      .keys = &key,
                                      .key_count = variant->option & NO_KEYS ? 0 : 1,
                                      .before_slot = variant->option & LEFT_STOPS ? 2 : 0,
                                      .counts = {true, true},
                                      .distinct = variant->option & DISTINCT,
                                      .within = variant->option & NEAR ? NEAR_BY : -1};
  struct net_node *node = net_create_closest(build->network, variant->name, &params);
  return joined(node, build->inputs[0], build->inputs[1]);
}

/* Each event costs 1 here, and the rest of OPTION there. */
static struct net_node *build_compensate(struct build *build, const struct variant *variant) {
  const struct net_layout *costs = net_cost_layout(build->arena, (struct net_type){NET_INTEGER, 8});
  struct net_node *ones =
      joined(net_create_costs(build->network, "ones", build->layouts[1], DOMAIN_K, 1, costs, false),
             build->inputs[1], NULL);
  struct net_node *all = joined(net_create_costs(build->network, "all", build->layouts[1], DOMAIN_K,
                                                 variant->option - 1, costs, true),
                                build->inputs[1], ones);
  return joined(
      net_create_compensate(build->network, variant->name, build->layouts[0], DOMAIN_K, costs),
      build->inputs[0], all);
}

/* --- nodes of one input */

enum { QUICK, STRINGS, TIMES };

static const struct net_program *row_condition(struct build *build, int option) {
  const struct net_layout *in = build->layouts[0];
  struct net_program *program = build_begin(build);
  build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_K].slot, 0);
  build_step(build, program, NET_OP_INTEGER, 0, 1);
  build_step(build, program, NET_OP_I_ADD, 0, 0);
  build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_X].slot, 0);
  build_step(build, program, NET_OP_I_COMPARE, 0, NET_GE);
  if (option == TIMES) {
    struct net_step until = {.op = NET_OP_CONST_INSTANT, .instant = {200, 200}};
    build_step(build, program, NET_OP_STOP_SLOT, 2, 0);
    net_program_emit(build->arena, program, until);
    build_step(build, program, NET_OP_BEFORE, 0, 0);
    build_step(build, program, NET_OP_OR, 0, 0);
  }
  return build_finish(build, program);
}

static struct net_node *build_selection(struct build *build, const struct variant *variant) {
  struct net_node *node = net_create_selection(build->network, variant->name, build->layouts[0],
                                               row_condition(build, variant->option));
  return joined(node, build->inputs[0], NULL);
}

static struct net_node *build_apply(struct build *build, const struct variant *variant) {
  const struct net_layout *in = build->layouts[0];
  struct net_field fields[DOMAINS + 1];
  memcpy(fields, in->fields, DOMAINS * sizeof *fields);
  fields[DOMAINS] = (struct net_field){.name = "z", .type = {NET_INTEGER, 8}};
  struct net_program *program = build_begin(build);
  if (variant->option == TIMES) {
    build_step(build, program, NET_OP_INSTANT_SLOT, 0, 0);
    build_step(build, program, NET_OP_STOP_SLOT, 2, 0);
    build_step(build, program, NET_OP_SPAN, 0, 0);
  } else {
    build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_X].slot, 0);
    build_step(build, program, NET_OP_SLOT, in->fields[DOMAIN_K].slot, 0);
    build_step(build, program, NET_OP_INTEGER, 0, 2);
    build_step(build, program, NET_OP_I_MOD, 0, 0);
    build_step(build, program, NET_OP_I_SUB, 0, 0);
  }
  const struct net_layout *out = net_layout_new(build->arena, in->tuple_class, fields, DOMAINS + 1);
  struct net_node *node =
      net_create_apply(build->network, variant->name, in, out, build_finish(build, program));
  return joined(node, build->inputs[0], NULL);
}

/* k and y; events of the start, or periods. */
static struct net_node *build_projection(struct build *build, const struct variant *variant) {
  const struct net_layout *in = build->layouts[0];
  struct net_field fields[2] = {in->fields[DOMAIN_Y], in->fields[DOMAIN_K]};
  const uint32_t sources[2] = {fields[0].slot, fields[1].slot};
  bool event = variant->option != 0;
  const struct net_layout *out =
      net_layout_new(build->arena, event ? NET_EVENT : NET_PERIOD, fields, 2);
  struct net_node *node = net_create_projection(build->network, variant->name, in, out, sources, 0,
                                                2, true, true, true);
  return joined(node, build->inputs[0], NULL);
}

/* Of the first OPTION domains. */
static struct net_node *build_coalesce(struct build *build, const struct variant *variant) {
  const struct net_layout *in = build->layouts[0];
  const uint32_t sources[] = {in->fields[DOMAIN_K].slot, in->fields[DOMAIN_X].slot};
  const struct net_layout *out =
      net_layout_new(build->arena, NET_PERIOD, in->fields, (uint32_t)variant->option);
  struct net_node *narrow = joined(
      net_create_projection(build->network, "domains", in, out, sources, 0, 2, true, true, true),
      build->inputs[0], NULL);
  return joined(net_create_coalesce(build->network, variant->name, out), narrow, NULL);
}

static struct net_node *build_event_to_period(struct build *build, const struct variant *variant) {
  const struct net_layout *in = build->layouts[0];
  const struct net_layout *out = net_layout_new(build->arena, NET_PERIOD, in->fields, DOMAINS);
  static const uint32_t by[] = {DOMAIN_K, DOMAIN_X};
  const struct net_key key = {by, variant->option == 1 ? 0 : variant->option == 2 ? 2 : 1};
  struct net_node *node = net_create_event_to_period(build->network, variant->name, in, out, &key);
  return joined(node, build->inputs[0], NULL);
}

/* OPTION: without groups; the argument is x, where the function has one. */
static struct net_node *build_aggregate(struct build *build, const struct variant *variant) {
  static const uint32_t by = DOMAIN_K;
  struct net_aggregate_params params = variant->aggregate;
  enum net_aggregate_function function = params.function;
  bool counts = function == NET_AGG_COUNT || function == NET_AGG_ANY || function == NET_AGG_VARTS;
  bool floats = function == NET_AGG_AVG || function == NET_AGG_STDEV || function == NET_AGG_VARTS ||
                function == NET_AGG_AVGTI || function == NET_AGG_QUANTILE;
  bool time = function == NET_AGG_EARLIEST || function == NET_AGG_LATEST;
  struct net_field fields[3] = {build->layouts[0]->fields[DOMAIN_K]};
  uint32_t count = variant->option ? 0 : 1;
  params.by_count = count;
  params.by_fields = &by;
  fields[count++] =
      (struct net_field){.name = "value",
                         .type = {time                                              ? NET_INSTANT
                                  : function == NET_AGG_AVGC && variant->classes[0] ? NET_TEMPORAL
                                  : floats || function == NET_AGG_AVGC              ? NET_FLOAT
                                                                                    : NET_INTEGER,
                                  8}};
  if (time && variant->classes[0] == NET_PERIOD)
    fields[count++] =
        (struct net_field){.name = "stop", .type = {NET_INSTANT, 0}, .openable = true};
  params.in = build->layouts[0];
  params.out = net_layout_new(build->arena, NET_PERIOD, fields, count);
  params.where_field = params.when_field = params.unless_field = -1;
  params.argument_field = (counts && !params.unique) || time ? -1 : DOMAIN_X;
  params.origin_given = true;
  params.domain_fields = DOMAINS;
  return joined(net_create_aggregate(build->network, variant->name, &params), build->inputs[0],
                NULL);
}

/* Functions of x by k: of one node, or in the general way of one each and a join of them all. */
enum { FUNCTIONS = 4 };

/* OPTION: of an aggregate's segments, which come as they stop. */
static struct net_node *build_order(struct build *build, const struct variant *variant) {
  struct variant groups = *variant;
  struct net_node *below = build->inputs[0];
  groups.option = 0;
  if (variant->option) below = build_aggregate(build, &groups);
  return joined(net_create_order(build->network, variant->name, net_node_layout(below)), below,
                NULL);
}

static struct net_node *build_functions(struct build *build, const struct variant *variant,
                                        const struct net_aggregate_more *functions, size_t count) {
  static const uint32_t by = DOMAIN_K;
  struct net_field fields[1 + FUNCTIONS] = {build->layouts[0]->fields[DOMAIN_K]};
  struct net_aggregate_params params = {.function = functions[0].function,
                                        .argument_field = functions[0].argument_field,
                                        .more = functions + 1,
                                        .more_count = count - 1,
                                        .by_fields = &by,
                                        .by_count = 1,
                                        .where_field = -1,
                                        .when_field = -1,
                                        .unless_field = -1,
                                        .origin_given = true,
                                        .domain_fields = DOMAINS,
                                        .in = build->layouts[0]};
  for (size_t i = 0; i < count; i++)
    fields[1 + i] = (struct net_field){
        .name = "value",
        .type = {functions[i].function == NET_AGG_AVG ? NET_FLOAT : NET_INTEGER, 8}};
  params.out = net_layout_new(build->arena, NET_PERIOD, fields, (uint32_t)(1 + count));
  return joined(net_create_aggregate(build->network, variant->name, &params), build->inputs[0],
                NULL);
}

/* The segments of LEFT, which have k and COUNT values, with those of RIGHT, which have k and one. */
static struct net_node *join_functions(struct build *build, struct net_node *left, uint32_t count,
                                       struct net_node *right) {
  const struct net_layout *sides[2] = {net_node_layout(left), net_node_layout(right)};
  struct net_field fields[1 + FUNCTIONS];
  struct net_product_field from[1 + FUNCTIONS];
  for (uint32_t i = 0; i <= count; i++) {
    fields[i] = sides[0]->fields[i];
    from[i] = (struct net_product_field){0, fields[i].slot};
  }
  fields[count + 1] = sides[1]->fields[1];
  from[count + 1] = (struct net_product_field){1, fields[count + 1].slot};
  struct net_participant period = {false, 0, 2};
  struct net_join_key key = {sides[0]->fields[0].slot, sides[1]->fields[0].slot};
  struct net_product_params params = {
      .rule = NET_PRODUCT_OVERLAP,
      .left = sides[0],
      .right = sides[1],
      .out = net_layout_new(build->arena, NET_PERIOD, fields, count + 2),
      .left_participants = &period,
      .right_participants = &period,
      .left_count = 1,
      .right_count = 1,
      .fields = from,
      .keys = &key,
      .key_count = 1};
  return joined(net_create_product(build->network, "join", &params), left, right);
}

/* OPTION: which of the functions is the first. */
static struct net_node *build_several(struct build *build, const struct variant *variant) {
  static const struct net_aggregate_more all[2 * FUNCTIONS] = {
      {NET_AGG_COUNT, -1, false},     {NET_AGG_SUM, DOMAIN_X, false},
      {NET_AGG_MAX, DOMAIN_X, false}, {NET_AGG_AVG, DOMAIN_X, false},
      {NET_AGG_COUNT, -1, false},     {NET_AGG_SUM, DOMAIN_X, false},
      {NET_AGG_MAX, DOMAIN_X, false}, {NET_AGG_AVG, DOMAIN_X, false}};
  const struct net_aggregate_more *functions = all + variant->option;
  if (!build->general) return build_functions(build, variant, functions, FUNCTIONS);
  struct net_node *top = build_functions(build, variant, functions, 1);
  for (uint32_t i = 1; i < FUNCTIONS; i++)
    top = join_functions(build, top, i, build_functions(build, variant, functions + i, 1));
  return top;
}

/* --- the table */

#define CLOSEST(NAME, LEFT, OPTION, SHARE)                                           \
  {                                                                                  \
    .name = NAME, .classes = {LEFT, NET_EVENT}, .inputs = 2, .build = build_closest, \
    .define = define_closest, .option = OPTION, .live = 8, .share = SHARE            \
  }
#define TWO(NAME, A, B, OPTION, LIVE, SHARE)                                                \
  {                                                                                         \
    .name = NAME, .classes = {A, B}, .inputs = 2, .build = build_product, .option = OPTION, \
    .live = LIVE, .share = SHARE                                                            \
  }
#define TAIL(NAME, A, B, OPTION)                                                         \
  {                                                                                      \
    .name = NAME, .classes = {A, B}, .inputs = 2, .build = build_tail, .option = OPTION, \
    .live = 64, .share = 10                                                              \
  }
#define ONCE(NAME, A, B, OPTION, LIVE, SHARE)                                            \
  {                                                                                      \
    .name = NAME, .classes = {A, B}, .inputs = 2, .build = build_once, .option = OPTION, \
    .live = LIVE, .share = SHARE                                                         \
  }
#define ONE(NAME, CLASS, BUILD, OPTION) \
  { .name = NAME, .classes = {CLASS}, .inputs = 1, .build = BUILD, .option = OPTION, .live = 64 }
#define AGGREGATE(NAME, CLASS, FUNCTION, ...)                                            \
  {                                                                                      \
    .name = NAME, .classes = {CLASS}, .inputs = 1, .build = build_aggregate, .live = 64, \
    .aggregate = {                                                                       \
      .function = NET_AGG_##FUNCTION,                                                    \
      __VA_ARGS__                                                                        \
    }                                                                                    \
  }
#define ASKED(NAME, ROWS, EVENTS, OPTION, FUNCTION, ...)                                    \
  {                                                                                         \
    .name = NAME, .classes = {ROWS, EVENTS}, .inputs = 2, .build = build_asked, .live = 64, \
    .option = OPTION, .aggregate = {                                                        \
      .function = NET_AGG_##FUNCTION,                                                       \
      .cumulative = true,                                                                   \
      __VA_ARGS__                                                                           \
    }                                                                                       \
  }

const struct variant variants[] = {
    TWO("overlap", NET_PERIOD, NET_PERIOD, 0, 8, 0),
    TWO("overlap, event and period", NET_EVENT, NET_PERIOD, 0, 8, 0),
    TWO("overlap, events", NET_EVENT, NET_EVENT, 0, 8, 0),
    TWO("overlap, condition", NET_PERIOD, NET_PERIOD, SMALLER, 8, 0),
    TWO("overlap, condition on times", NET_PERIOD, NET_PERIOD, DIFFERENT, 8, 0),
    TWO("hash and time", NET_PERIOD, NET_PERIOD, KEY, 64, 10),
    TWO("hash and time, event and period", NET_EVENT, NET_PERIOD, KEY, 64, 10),
    TWO("hash and time, period and event", NET_PERIOD, NET_EVENT, KEY | SMALLER, 64, 10),
    TWO("hash and time, condition", NET_PERIOD, NET_PERIOD, KEY | SMALLER, 64, 10),
    TWO("hash and time, condition on times", NET_PERIOD, NET_PERIOD, KEY | DIFFERENT, 64, 10),
    TWO("hash of two keys and time", NET_PERIOD, NET_PERIOD, KEYS, 64, 10),
    ONE("self-join", NET_PERIOD, build_self_join, 0),
    ONE("self-join, events", NET_EVENT, build_self_join, 0),
    ONE("self-join, at the start", NET_PERIOD, build_self_join, SELF_START),
    ONE("self-join, slow condition", NET_PERIOD, build_self_join, SELF_SLOW),
    ONE("self-join of values", NET_PERIOD, build_self_join, SELF_VALUE),
    ONE("self-join of values, events", NET_EVENT, build_self_join, SELF_VALUE),
    ONE("self-join, two keys", NET_PERIOD, build_self_join, SELF_KEYS | SELF_START),
    ONE("self-join of events, two keys", NET_EVENT, build_self_join, SELF_KEYS | SELF_SLOW),
    TAIL("join and projection", NET_PERIOD, NET_PERIOD, TAIL_BARE),
    TAIL("join and what follows", NET_PERIOD, NET_PERIOD, 0),
    TAIL("join and what follows, event and period", NET_EVENT, NET_PERIOD, TAIL_OLDER),
    TAIL("join and what follows, older start", NET_PERIOD, NET_PERIOD, TAIL_OLDER),
    TAIL("join and what follows, failing", NET_PERIOD, NET_PERIOD, TAIL_FAILS),
    {.name = "hash and time, three periods",
     .classes = {NET_PERIOD, NET_PERIOD},
     .inputs = 2,
     .build = build_three,
     .live = 64,
     .share = 20},
    TWO("full", NET_PERIOD, NET_PERIOD, FULL, 8, 1000),
    TWO("full, hash", NET_PERIOD, NET_EVENT, FULL | KEY, 8, 1000),
    TWO("full, hash of two keys", NET_EVENT, NET_EVENT, FULL | KEYS, 8, 200),
    TWO("full, hash, condition", NET_PERIOD, NET_PERIOD, FULL | KEY | SMALLER, 8, 1000),
    TWO("partial overlap", NET_PERIOD, NET_PERIOD, FULL | PARTIAL, 8, 200),
    TWO("partial overlap, hash", NET_PERIOD, NET_EVENT, FULL | PARTIAL | KEY, 64, 200),
    TWO("within", NET_EVENT, NET_EVENT, FULL | WITHIN, 8, 200),
    TWO("within, hash", NET_PERIOD, NET_EVENT, FULL | WITHIN | KEY, 8, 200),
    TWO("within, partial overlap", NET_PERIOD, NET_PERIOD, FULL | WITHIN | PARTIAL, 8, 200),
    TWO("overlap, within", NET_PERIOD, NET_PERIOD, WITHIN, 8, 200),
    TWO("overlap, within, hash", NET_PERIOD, NET_PERIOD, WITHIN | KEY, 64, 200),
    TWO("overlap, within, event", NET_PERIOD, NET_EVENT, WITHIN | SMALLER, 8, 200),
    ONCE("once, overlap", NET_PERIOD, NET_PERIOD, CHECKOPS_ONCE, 64, 100),
    ONCE("once, overlap, event", NET_EVENT, NET_PERIOD, CHECKOPS_ONCE | SMALLER, 64, 10),
    ONCE("once, hash", NET_PERIOD, NET_PERIOD, CHECKOPS_ONCE | CHECKOPS_ONCE_RIGHT | KEY, 64, 10),
    ONCE("once, hash of two keys", NET_EVENT, NET_PERIOD,
         CHECKOPS_ONCE | CHECKOPS_ONCE_RIGHT | KEYS | DIFFERENT, 64, 10),
    ONCE("once, full", NET_PERIOD, NET_PERIOD, CHECKOPS_ONCE | FULL | DIFFERENT, 8, 1000),
    ONCE("once, full, right", NET_EVENT, NET_PERIOD,
         CHECKOPS_ONCE | CHECKOPS_ONCE_RIGHT | FULL | SMALLER, 8, 1000),
    ONCE("once, partial overlap", NET_PERIOD, NET_EVENT, CHECKOPS_ONCE | FULL | PARTIAL | KEY, 64,
         200),
    ONCE("once, within", NET_EVENT, NET_EVENT, CHECKOPS_ONCE | CHECKOPS_ONCE_RIGHT | FULL | WITHIN,
         8, 200),
    ONCE("once, where it is whole", NET_PERIOD, NET_PERIOD, CHECKOPS_WHOLE, 64, 100),
    ONCE("once, where it is whole, condition", NET_PERIOD, NET_PERIOD,
         CHECKOPS_WHOLE | CHECKOPS_ONCE_RIGHT | SMALLER, 64, 100),
    CLOSEST("closest", NET_EVENT, 0, 0),
    CLOSEST("closest, one group", NET_EVENT, NO_KEYS, 0),
    CLOSEST("closest, periods", NET_PERIOD, 0, 0),
    CLOSEST("closest, stops", NET_PERIOD, LEFT_STOPS, 0),
    CLOSEST("closest, stops, one group", NET_PERIOD, LEFT_STOPS | NO_KEYS, 0),
    CLOSEST("distinct", NET_EVENT, DISTINCT, 200),
    CLOSEST("distinct, one group", NET_EVENT, DISTINCT | NO_KEYS, 200),
    CLOSEST("distinct, periods", NET_PERIOD, DISTINCT, 200),
    CLOSEST("distinct, stops", NET_PERIOD, DISTINCT | LEFT_STOPS, 200),
    CLOSEST("distinct, within", NET_EVENT, DISTINCT | NEAR, 200),
    CLOSEST("distinct, within, stops, one group", NET_PERIOD,
            DISTINCT | NEAR | LEFT_STOPS | NO_KEYS, 200),
    {.name = "compensate",
     .classes = {NET_PERIOD, NET_EVENT},
     .inputs = 2,
     .build = build_compensate,
     .define = define_compensate,
     .option = 2,
     .live = 8,
     .share = 10},
    {.name = "compensate, much",
     .classes = {NET_PERIOD, NET_EVENT},
     .inputs = 2,
     .build = build_compensate,
     .define = define_compensate,
     .option = 9,
     .live = 8,
     .share = 10},
    {.name = "coalesce",
     .classes = {NET_PERIOD},
     .inputs = 1,
     .build = build_coalesce,
     .define = define_coalesce,
     .option = 1,
     .live = 64},
    {.name = "coalesce, many groups",
     .classes = {NET_PERIOD},
     .inputs = 1,
     .build = build_coalesce,
     .define = define_coalesce,
     .option = 2,
     .live = 64},
    ONE("selection, quick program", NET_PERIOD, build_selection, QUICK),
    ONE("selection, events", NET_EVENT, build_selection, QUICK),
    ONE("selection, waits for the stop", NET_PERIOD, build_selection, TIMES),
    ONE("apply, quick program", NET_PERIOD, build_apply, QUICK),
    ONE("apply, events", NET_EVENT, build_apply, QUICK),
    ONE("apply, waits for the stop", NET_PERIOD, build_apply, TIMES),
    ONE("projection", NET_PERIOD, build_projection, 0),
    ONE("projection to events", NET_PERIOD, build_projection, 1),
    ONE("order", NET_PERIOD, build_order, 0),
    ONE("order, events", NET_EVENT, build_order, 0),
    ONE("order of segments", NET_PERIOD, build_order, 1),
    {.name = "event-to-period",
     .classes = {NET_EVENT},
     .inputs = 1,
     .records = true,
     .build = build_event_to_period},
    {.name = "event-to-period, one entity",
     .classes = {NET_EVENT},
     .inputs = 1,
     .records = true,
     .build = build_event_to_period,
     .option = 1},
    {.name = "event-to-period, two keys",
     .classes = {NET_EVENT},
     .inputs = 1,
     .records = true,
     .build = build_event_to_period,
     .option = 2},
    AGGREGATE("count", NET_PERIOD, COUNT),
    AGGREGATE("count, events", NET_EVENT, COUNT),
    {.name = "count, one group",
     .classes = {NET_PERIOD},
     .inputs = 1,
     .build = build_aggregate,
     .live = 64,
     .option = 1,
     .aggregate = {.function = NET_AGG_COUNT}},
    AGGREGATE("countc", NET_PERIOD, COUNT, .cumulative = true),
    {.name = "countc, one group",
     .classes = {NET_EVENT},
     .inputs = 1,
     .build = build_aggregate,
     .option = 1,
     .aggregate = {.function = NET_AGG_COUNT, .cumulative = true}},
    {.name = "countc of periods, one group",
     .classes = {NET_PERIOD},
     .inputs = 1,
     .build = build_aggregate,
     .live = 64,
     .option = 1,
     .aggregate = {.function = NET_AGG_COUNT, .cumulative = true}},
    AGGREGATE("countu", NET_PERIOD, COUNT, .unique = true),
    AGGREGATE("count for a time", NET_PERIOD, COUNT, .window = 20),
    AGGREGATE("count for a time, events", NET_EVENT, COUNT, .window = 20),
    AGGREGATE("countu for a time", NET_PERIOD, COUNT, .unique = true, .window = 20),
    AGGREGATE("countu for ever", NET_PERIOD, COUNT, .unique = true, .cumulative = true),
    AGGREGATE("any", NET_PERIOD, ANY),
    ONE("count and three more", NET_PERIOD, build_several, 0),
    ONE("sum and three more", NET_EVENT, build_several, 1),
    ONE("max and three more", NET_PERIOD, build_several, 2),
    AGGREGATE("sum", NET_PERIOD, SUM),
    AGGREGATE("sumc", NET_PERIOD, SUM, .cumulative = true),
    AGGREGATE("sumc, events", NET_EVENT, SUM, .cumulative = true),
    AGGREGATE("sumu", NET_PERIOD, SUM, .unique = true),
    AGGREGATE("sum for a time", NET_EVENT, SUM, .window = 20),
    AGGREGATE("sum for a time, periods", NET_PERIOD, SUM, .window = 20),
    AGGREGATE("sumu for ever", NET_EVENT, SUM, .unique = true, .cumulative = true),
    AGGREGATE("avg", NET_PERIOD, AVG),
    AGGREGATE("avg for a time", NET_EVENT, AVG, .window = 20),
    AGGREGATE("min", NET_PERIOD, MIN),
    AGGREGATE("max", NET_PERIOD, MAX),
    AGGREGATE("minc", NET_PERIOD, MIN, .cumulative = true),
    AGGREGATE("maxc, events", NET_EVENT, MAX, .cumulative = true),
    AGGREGATE("max for a time", NET_EVENT, MAX, .window = 20),
    AGGREGATE("min for a time, periods", NET_PERIOD, MIN, .window = 20),
    AGGREGATE("min for a time, apart", NET_PERIOD, MIN, .window = 20, .apart = true),
    AGGREGATE("first", NET_PERIOD, FIRST),
    AGGREGATE("last", NET_PERIOD, LAST),
    AGGREGATE("first for ever", NET_PERIOD, FIRST, .cumulative = true),
    AGGREGATE("last for a time", NET_EVENT, LAST, .window = 20),
    AGGREGATE("first for a time, periods", NET_PERIOD, FIRST, .window = 20),
    AGGREGATE("quantile", NET_PERIOD, QUANTILE, .fraction = 0.9),
    AGGREGATE("quantile for a time", NET_EVENT, QUANTILE, .window = 20, .fraction = 0.5),
    AGGREGATE("quantile_of", NET_PERIOD, QUANTILE_OF, .fraction = 0.25),
    AGGREGATE("quantile_of for ever", NET_EVENT, QUANTILE_OF, .cumulative = true, .fraction = 0.75),
    AGGREGATE("stdev", NET_PERIOD, STDEV),
    AGGREGATE("stdev for a time", NET_EVENT, STDEV, .window = 20),
    AGGREGATE("varts for ever", NET_EVENT, VARTS, .cumulative = true),
    AGGREGATE("varts for a time", NET_EVENT, VARTS, .window = 20),
    AGGREGATE("avgti", NET_PERIOD, AVGTI),
    AGGREGATE("avgti for a time", NET_EVENT, AVGTI, .window = 20),
    AGGREGATE("avgc", NET_PERIOD, AVGC, .cumulative = true),
    AGGREGATE("avgc, apart", NET_PERIOD, AVGC, .cumulative = true, .apart = true),
    AGGREGATE("earliest", NET_PERIOD, EARLIEST),
    AGGREGATE("latest", NET_PERIOD, LATEST),
    AGGREGATE("earliest for a time", NET_EVENT, EARLIEST, .window = 20),
    AGGREGATE("latest for a time", NET_PERIOD, LATEST, .window = 20),
    AGGREGATE("earliest for ever", NET_PERIOD, EARLIEST, .cumulative = true),
    AGGREGATE("extendc", NET_EVENT, EXTEND, .cumulative = true),
    ASKED("avgc at events", NET_PERIOD, NET_EVENT, ASKED_TUPLES, AVGC, .apart = false),
    ASKED("avgc at events, of x", NET_PERIOD, NET_EVENT, ASKED_LEFT, AVGC, .apart = false),
    ASKED("avgc at events, apart", NET_PERIOD, NET_EVENT, ASKED_ORIGINS, AVGC, .apart = true),
    ASKED("avgc at starts", NET_PERIOD, NET_PERIOD, 0, AVGC, .averaging_origin_given = true),
    ASKED("avgc at events, of events", NET_EVENT, NET_EVENT, 0, AVGC, .apart = false),
    ASKED("countc at events", NET_PERIOD, NET_EVENT, ASKED_TUPLES, COUNT, .apart = false),
    ASKED("countc at events, apart", NET_EVENT, NET_EVENT, ASKED_TUPLES | ASKED_LEFT, COUNT,
          .apart = true),
    ASKED("countu for ever at events", NET_EVENT, NET_EVENT, 0, COUNT, .unique = true),
    ASKED("minc at events", NET_PERIOD, NET_EVENT, ASKED_ORIGINS, MIN, .apart = false),
    ASKED("last for ever at starts", NET_EVENT, NET_PERIOD, 0, LAST, .apart = false),
};
const size_t variant_count = sizeof variants / sizeof variants[0];
