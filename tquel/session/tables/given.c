/* Tuples in memory that a network reads in the place of a relation's own. */
#include <stdlib.h>

#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

struct given_source {
  struct net_source source;
  const struct session_given *given;
  struct net_batch_builder builder;
  size_t at;
  bool ended;
};

static bool is_before(const struct session_given *given, const union net_slot *row) {
  return given->checkpoint == NET_FOREVER || row[0].i < given->checkpoint;
}

static enum base_status given_next(struct net_source *base, struct net_batch *ret) {
  struct given_source *source = (struct given_source *)base;
  const struct net_rows *rows = source->given->rows;
  if (source->ended) return BASE_END;
  net_batch_builder_clear(&source->builder);
  net_chronon last = NET_BEGINNING;
  while (source->at < rows->count && !net_batch_builder_full(&source->builder)) {
    const union net_slot *row = net_rows_row(rows, source->at++);
    if (!is_before(source->given, row)) continue;
    last = row[0].i;
    session_copy_fields(source->builder.layout,
                        net_batch_builder_add(&source->builder, rows->marks[source->at - 1]),
                        rows->layout, row);
  }
  source->ended = source->at == rows->count;
  *ret = net_batch_builder_batch(
      &source->builder, source->ended ? source->given->checkpoint : net_batch_followed(last));
  return BASE_OK;
}

static void given_free(struct net_source *base) {
  struct given_source *source = (struct given_source *)base;
  net_batch_builder_done(&source->builder);
  free(source);
}

struct net_source *session_open_given(const struct session_given *given,
                                      const struct net_layout *layout, uint32_t batch_rows) {
  struct given_source *source = base_xcalloc(1, sizeof *source);
  source->source = (struct net_source){.next = given_next, .free = given_free};
  source->given = given;
  net_batch_builder_init(&source->builder, layout, batch_rows);
  return &source->source;
}
