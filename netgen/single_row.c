/* The one row of a query of constants: see single_row.h. It is there from the origin on, for ever: what such a
 * query says holds at all times. The source gives it once, with the checkpoint at `forever`, and is at its end:
 * nothing that anybody brings will change it. Its memory is freed with the access node that reads it. */
#include "netgen/single_row.h"

#include <stdlib.h>

#include "engine/base/arena.h"

struct single_row {
  struct net_source source;
  const struct net_layout *layout;
  union net_slot row[4];
  uint8_t marks;
  bool given;
};

static enum base_status next_single(struct net_source *source, struct net_batch *ret) {
  struct single_row *single = (struct single_row *)source;
  if (single->given) return BASE_END;
  single->given = true;
  *ret = (struct net_batch){.layout = single->layout,
                            .rows = single->row,
                            .marks = &single->marks,
                            .count = 1,
                            .checkpoint = NET_FOREVER,
                            .bound = NET_FOREVER};
  return BASE_OK;
}

static void free_single(struct net_source *source) {
  free(source);
}

struct net_source *ng_single_row(const struct ng_query *query, const struct net_layout *layout) {
  struct single_row *single = base_xcalloc(1, sizeof *single);
  net_chronon unset = query->timeline == NET_TIMELINE_ABSTRACT ? 0 : NET_BEGINNING;
  net_chronon origin = query->origin_given ? query->origin : unset;
  single->source = (struct net_source){.next = next_single, .free = free_single};
  single->layout = layout;
  single->row[0].i = single->row[1].i = origin;
  single->row[2].i = single->row[3].i = NET_FOREVER;
  single->marks = NET_DEFINITE;
  return &single->source;
}
