/* Node variants against the general node, on random input, and against the clock.
 *
 * A variant is a node, or a few, with everything that makes it fast: hash keys, expiries, short ways for
 * plain rows, quick programs. The same result is also had in the general way: in a network that takes no
 * short way (net_network_set_general), with what keys say in the condition, without expiries; or, where
 * there is no other way, from the definition, row by row over all rows.                            */
#ifndef TESTS_CHECKOPS_CHECKOPS_H
#define TESTS_CHECKOPS_CHECKOPS_H

#include "engine/base/arena.h"
#include "engine/network.h"

/* --- input */

enum { DOMAIN_K, DOMAIN_X, DOMAIN_Y, DOMAINS }; /* i8, i8, f8 */
enum {
  ROW_SLOTS = 4 + DOMAINS,
  FORTUNE_MAX = 40
}; /* slots of a period; longest period of the random */

/* What comes in, in the order in which it comes: rows of some input, and a checkpoint behind them. */
struct portion {
  unsigned input;
  size_t first, count;
  net_chronon checkpoint;
  bool more; /* another one of that input follows */
};
struct stream {
  const struct net_layout *layouts[2]; /* by input; NULL: there is none */
  bool records;                        /* of a traced relation: some close without opening */
  union net_slot *rows[2];             /* by input, of its layout's width */
  uint8_t *marks[2];
  size_t counts[2], row_capacities[2], mark_capacities[2];
  struct portion *portions;
  size_t portion_count, portion_capacity;
};

/* How the tuples of a random stream are. */
enum manner {
  PLAIN, /* determinate, definite, whole, in order */
  MIXED, /* most of them */
  UNSURE, /* indeterminate and omega ones, open ones with later closes, out of order between checkpoints */
  MANNERS,
};
void stream_random(struct stream *stream, uint64_t seed, enum manner manner, size_t count);
/* COUNT plain rows for each input, one a chronon, of which LIVE are valid at a time, in full batches. */
void stream_regular(struct stream *stream, size_t count, size_t live);
void stream_done(struct stream *stream);

/* --- variants */

struct build {
  struct net_network *network;
  struct base_arena *arena;
  struct base_strings *strings;
  const struct net_layout *layouts[2];
  struct net_node *inputs[2]; /* access nodes */
  bool general;
};

struct variant;
/* What comes out, as it is at `forever`. */
typedef struct net_node *(*build_fn)(struct build *build, const struct variant *variant);
typedef void (*define_fn)(const struct stream *stream, const struct variant *variant,
                          struct net_rows *ret);

struct variant {
  const char *name;
  enum net_tuple_class classes[2];
  unsigned inputs; /* 1 or 2 */
  bool records;
  build_fn build;
  define_fn define; /* NULL: the general network says */
  /* for build */
  int option;
  struct net_aggregate_params aggregate;
  size_t live;  /* rows that are valid at a time when it is timed */
  size_t share; /* it is timed over the SHARE-th part of the rows; 0: all */
};

/* Options of closest: nothing else of the same domains counts as between; the stop of a left row is its
 * instant; all rows go with each other. */
enum { DISTINCT = 1, LEFT_STOPS = 2, NO_KEYS = 4, NEAR = 8, NEAR_BY = 15 };

extern const struct variant variants[];
extern const size_t variant_count;

/* --- programs.c: what nodes evaluate */

struct net_program *build_begin(struct build *build);
void build_step(struct build *build, struct net_program *program, enum net_op op, uint32_t slot,
                int64_t i);
/* In the general way a program has no quick form. */
const struct net_program *build_finish(struct build *build, struct net_program *program);

/* self_joins.c: OPTION of the variant: the right side takes part at its start; a condition has no quick form;
 * two keys; each side has the rows of one value. */
enum { SELF_START = 1, SELF_SLOW = 2, SELF_KEYS = 4, SELF_VALUE = 8 };
struct net_node *build_self_join(struct build *build, const struct variant *variant);

/* variants.c: OPTION of the variant: k is equal (and others); the left side alone is read above, or the right one,
 * with the common period or without. */
enum {
  CHECKOPS_KEY = 1,
  CHECKOPS_ONCE = 128,
  CHECKOPS_WHOLE = 256,
  CHECKOPS_ONCE_RIGHT = 512,
};
struct net_node *build_product(struct build *build, const struct variant *variant);

/* once.c: OPTION of the variant: as of a product. */
struct net_node *build_once(struct build *build, const struct variant *variant);

/* tails.c: OPTION of the variant: the projection alone; the result starts when the left row does; a value fails. */
enum { TAIL_BARE = 1, TAIL_OLDER = 2, TAIL_FAILS = 4 };
struct net_node *build_tail(struct build *build, const struct variant *variant);

/* asked.c: OPTION of the variant: the aggregate is the left side; of tuples; the first gives the origin. */
enum { ASKED_LEFT = 1, ASKED_TUPLES = 2, ASKED_ORIGINS = 4 };
struct net_node *build_asked(struct build *build, const struct variant *variant);

/* define.c, define_coalesce.c, define_compensate.c */
/* OPTION of the variant: distinct. */
void define_closest(const struct stream *stream, const struct variant *variant,
                    struct net_rows *ret);
/* OPTION of the variant: how many domains are left, from the first. */
void define_coalesce(const struct stream *stream, const struct variant *variant,
                     struct net_rows *ret);
/* OPTION of the variant: what each event costs. */
void define_compensate(const struct stream *stream, const struct variant *variant,
                       struct net_rows *ret);

#endif
