/* Which rows of the right input are partners of one of the left: what anti-join and difference share.
 *
 * Rows of both sides that can be partners have equal keys, and are of one group; of two rows of a group a condition says
 * whether they are partners, if there is one. */
#ifndef NET_NODES_PARTNERS_H
#define NET_NODES_PARTNERS_H

#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct net_partners {
  const struct net_layout *layouts[2];
  const struct net_partner_params *params;
  const struct net_layout *key_layout;
  union net_slot *key, *tested; /* rows */
};

/* How far behind a row's start, and behind its stop, in chronons, something was. */
struct net_partners_guess {
  int64_t behind[2];
};

void net_partners_init(struct net_partners *partners, struct base_arena *arena,
                       const struct net_partner_params *params);
/* A map of groups, with STATE_SIZE bytes for each. */
void net_partners_init_groups(const struct net_partners *partners, struct net_rowmap *groups,
                              size_t state_size);
/* The group of ROW, of SIDE; made if it is not there: *RET_NEW. */
uint32_t net_partners_group(struct net_partners *partners, struct net_rowmap *groups, unsigned side,
                            const union net_slot *row, bool *ret_new);
/* Are LEFT and RIGHT, of one group, partners? Open stops are at BOUND or later. *RET_OPEN: unknown, and one of them is
 * open. */
enum net_eval_error net_partners_test(struct net_partners *partners, const union net_slot *left,
                                      const union net_slot *right, net_chronon bound,
                                      enum net_truth *ret, bool *ret_open);
/* May a row of SIDE all of whose instants lie in START and STOP (an event: in START) be a partner of ROW, of the other
 * side, whatever its domains are? Of a row of the left all instants are taken to lie in START. */
bool net_partners_may_be(struct net_partners *partners, unsigned side, const union net_slot *row,
                         struct net_instant start, struct net_instant stop, net_chronon bound);
/* From when on nothing that comes on SIDE is a partner of ROW, whose instants are known: none of a later start and, on the
 * left, later instants; NET_FOREVER: until nothing comes. *GUESS makes it quick where it is as far behind one of ROW's own times as it
 * was of the last ROW. */
net_chronon net_partners_over(struct net_partners *partners, unsigned side,
                              const union net_slot *row, struct net_partners_guess *guess);
/* May a row of the right that was lost, and began before END, be a partner of LEFT? Open stops are at BOUND or later.
 * *GUESS: as above, of its own. */
bool net_partners_lost(struct net_partners *partners, const union net_slot *left, net_chronon end,
                       net_chronon bound, struct net_partners_guess *guess);

#endif
