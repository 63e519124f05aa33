/* Inside of the reference's aggregates: members, their membership at one chronon, values. */
#ifndef ORACLE_AGGREGATE_H
#define ORACLE_AGGREGATE_H

#include "tests/oracle/oracle_internal.h"

/* A tuple, or a piece of one that the inner where cuts. It counts possibly from counts.start.lo to
 * counts.stop.hi, surely from counts.start.hi to counts.stop.lo.                                   */
struct oracle_member {
  const union net_slot *row; /* of the whole tuple */
  struct net_period time;    /* of the piece; an event in its start */
  struct net_period counts;
  bool definite;
  enum net_truth condition; /* inner where and when */
  const struct oracle_value *by;
  struct oracle_value argument; /* temporal: tau counts from time.start.lo */
};

struct oracle_evaluation {
  struct oracle *oracle;
  const struct ng_aggregate *aggregate;
  const struct net_layout *layout;
  enum net_aggregate_function function; /* on events avgc is the running mean */
  bool events, as_set;                  /* the members at a chronon are a set over the domains */
  bool
      groups_of_all; /* tuples outside have groups, of which inner where and when leave out something */
  bool surely_there; /* ... that are there whenever they are asked for */
  struct oracle_member *members;
  size_t member_count;
  bool averaging_known;
  net_chronon averaging_origin;
};

/* The value at one instant; avgc: (a + w t) / (t - T0) with CONSTANT false. */
struct oracle_sample {
  bool present, definite;
  struct oracle_value value; /* temporal, but for avgc: tau counts from the instant */
  bool average, constant;
  long double a, w;
  __extension__ __int128 whole_w; /* w of integers: two may be one long double */
  struct net_period chosen;
};

bool oracle_same_group(const struct oracle_evaluation *e, const struct oracle_value *a,
                       const struct oracle_value *b);
/* Is the member there at T (cumulative: has it started)? Without the inner where and when. */
enum net_truth oracle_there(const struct oracle_member *member, net_chronon t);

/* aggregate_value.c: of group BY at T, whose presence and definiteness are in RET. */
void oracle_average_at(const struct oracle_evaluation *e, const struct oracle_value *by,
                       net_chronon t, struct oracle_sample *ret);
void oracle_value_at(struct oracle_evaluation *e, const struct oracle_value *by, net_chronon t,
                     struct oracle_sample *ret);

#endif
