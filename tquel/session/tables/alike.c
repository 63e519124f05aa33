/* Open tuples of derived relations that are alike: one row of the table, and perhaps several tuples.
 *
 *      live, once:   relation-store ──▶ table, and tq_alike
 *      read again:   table ────┬──▶ access
 *                  tq_alike ───┘
 *
 * Tuples that are open and equal in all that is known of them are one in the table, as a relation is a set. Whether
 * they will be one tuple depends on when they stop. In the live network a reader is told each of them, and waits where it
 * has to know (engine/alike.h); who reads the table would take them for one, and say what has to be
 * taken back when they stop at different times. So the file says of which rows of the table there are more, and
 * they come out of the table as many as they matter (net_store_node_alike). A relation that is closed at forever
 * has none: what is open there stops at forever.
 *
 * While the relation is in the live network, its store node knows what the file has perhaps not been told.         */
#include <stdlib.h>
#include <string.h>

#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

/* --- writing */

enum base_status session_keep_alike(struct tql_session *session, const char *name,
                                    const struct net_node *store, const struct net_layout *layout) {
  struct net_rows rows;
  net_rows_init(&rows, layout);
  net_store_node_alike(store, &rows);
  enum base_status status = st_alike_save(session->database, name, &rows);
  net_rows_done(&rows);
  return status;
}

static bool may_have(const struct session_relation *relation) {
  return relation->kind == ST_DERIVED_PERIOD && !relation->view && !session_is_summary(relation);
}

enum base_status session_save_alike(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    const struct session_relation *relation = session->relations[i];
    if (may_have(relation) && relation->network.store_node != NULL &&
        net_store_node_alike_changed(relation->network.store_node))
      status = session_keep_alike(session, relation->ng.name, relation->network.store_node,
                                  relation->ng.layout);
  }
  return status;
}

/* --- reading */

void session_copy_fields(const struct net_layout *to, union net_slot *out,
                         const struct net_layout *from, const union net_slot *row) {
  memcpy(out, row, to->first_domain_slot * sizeof *out);
  for (uint32_t f = 0; f < to->field_count; f++) {
    int field = net_layout_find(from, to->fields[f].name);
    BASE_CHECK(field >= 0, "given-field");
    memcpy(out + to->fields[f].slot, row + from->fields[field].slot,
           net_type_slots(to->fields[f].type.base) * sizeof *out);
  }
}

struct joined_source {
  struct net_source source;
  struct net_source *inner;
  struct net_rows rows; /* that are not in the table, in the order of their starts */
  size_t at;
  struct net_batch held; /* of INNER, for after those that start before its checkpoint */
  bool holds;
  net_chronon passed; /* checkpoint of the batch before it */
  struct net_batch_builder builder;
};

static int by_start(const void *a, const void *b) {
  net_chronon x = (*(const union net_slot *const *)a)->i,
              y = (*(const union net_slot *const *)b)->i;
  return (x > y) - (x < y);
}

static enum base_status joined_next(struct net_source *base, struct net_batch *ret) {
  struct joined_source *source = (struct joined_source *)base;
  enum base_status status = BASE_OK;
  if (!source->holds) status = source->inner->next(source->inner, &source->held);
  if (status != BASE_OK) return status;
  source->holds = true;
  net_batch_builder_clear(&source->builder);
  while (source->at < source->rows.count && !net_batch_builder_full(&source->builder)) {
    const union net_slot *row = net_rows_row(&source->rows, source->at);
    if (row[0].i > source->held.checkpoint) break;
    union net_slot *to = net_batch_builder_add(&source->builder, source->rows.marks[source->at++]);
    session_copy_fields(source->builder.layout, to, source->rows.layout, row);
  }
  if (source->builder.count > 0) {
    *ret = net_batch_builder_batch(&source->builder, source->passed);
    return BASE_OK;
  }
  source->holds = false;
  source->passed = source->held.checkpoint;
  *ret = source->held;
  return BASE_OK;
}

static void joined_free(struct net_source *base) {
  struct joined_source *source = (struct joined_source *)base;
  source->inner->free(source->inner);
  net_batch_builder_done(&source->builder);
  net_rows_done(&source->rows);
  free(source);
}

/* Those of ROWS before the checkpoint, in the order of their starts. */
static void take_in_order(const struct net_rows *rows, net_chronon checkpoint,
                          struct net_rows *ret) {
  const union net_slot **order = base_xcalloc(rows->count + 1, sizeof *order);
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++)
    if (net_rows_row(rows, i)[0].i < checkpoint) order[count++] = net_rows_row(rows, i);
  qsort(order, count, sizeof *order, by_start);
  for (size_t i = 0; i < count; i++)
    net_rows_add_copy(ret, order[i],
                      rows->marks[(size_t)(order[i] - rows->rows) / rows->layout->slot_count]);
  free(order);
}

enum base_status session_join_alike(struct tql_session *session, struct session_relation *relation,
                                    const struct net_layout *layout, uint32_t batch_rows,
                                    struct net_source **source) {
  if (!may_have(relation) || relation->checkpoint == NET_FOREVER) return BASE_OK;
  struct net_rows rows;
  net_rows_init(&rows, relation->ng.layout);
  enum base_status status = BASE_OK;
  if (relation->network.store_node != NULL)
    net_store_node_alike(relation->network.store_node, &rows);
  else
    status = st_alike_load(session->database, relation->ng.name, rows.layout, &rows);
  if (status == BASE_OK && rows.count > 0) {
    struct joined_source *joined = base_xcalloc(1, sizeof *joined);
    joined->source = (struct net_source){.next = joined_next, .free = joined_free};
    joined->inner = *source;
    joined->passed = NET_BEGINNING;
    net_rows_init(&joined->rows, rows.layout);
    take_in_order(&rows, relation->checkpoint, &joined->rows);
    net_batch_builder_init(&joined->builder, layout, batch_rows);
    *source = &joined->source;
  }
  net_rows_done(&rows);
  return status;
}
