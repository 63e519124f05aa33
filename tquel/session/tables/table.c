/* Rows that go straight into the table of a relation, or out of it: of a traced one the periods of the entities concerned
 * are computed anew from their records, of a sampled one all are. */
#include "tquel/session/tables/tables.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"

/* The records that are taken away, with the tuples that they opened: by these, and by whose end the record was. */
struct dropped {
  struct net_rowmap starts, ends;
  uint32_t *end_slots; /* the start, and who: END_SLOT_COUNT of them */
  size_t end_slot_count;
  union net_slot *scratch;
};

static void dropped_init(struct dropped *dropped, const struct ng_relation *relation,
                         const struct net_rows *rows) {
  const struct net_layout *layout = relation->layout;
  const struct net_key *entity = &relation->entity;
  *dropped = (struct dropped){.end_slots = base_xcalloc(entity->count + 2, sizeof(uint32_t)),
                              .end_slot_count = entity->count + 2,
                              .scratch = base_xcalloc(layout->slot_count, sizeof(union net_slot))};
  dropped->end_slots[1] = 1;
  for (size_t i = 0; i < entity->count; i++)
    dropped->end_slots[i + 2] = layout->fields[entity->fields[i]].slot;
  net_rowmap_init(&dropped->starts, layout, NET_KEY_IDENTITY, 0, NULL, 0, 0);
  net_rowmap_init(&dropped->ends, layout, NET_KEY_SLOTS, 0, dropped->end_slots,
                  dropped->end_slot_count, 0);
  for (size_t i = 0; rows != NULL && i < rows->count; i++) {
    net_rowmap_put(&dropped->starts, net_rows_row(rows, i), NULL);
    net_rowmap_put(&dropped->ends, net_rows_row(rows, i), NULL);
  }
}

static void dropped_done(struct dropped *dropped) {
  net_rowmap_done(&dropped->starts);
  net_rowmap_done(&dropped->ends);
  free(dropped->end_slots);
  free(dropped->scratch);
}

/* Was the record that opened TUPLE, or, for its END, that of the tuple behind it, taken away? */
static bool is_dropped(const struct dropped *dropped, const union net_slot *tuple, unsigned end) {
  if (end == 0) return net_rowmap_find(&dropped->starts, tuple) != NET_NO_ENTRY;
  dropped->scratch[0] = tuple[2];
  dropped->scratch[1] = tuple[3];
  for (size_t i = 2; i < dropped->end_slot_count; i++)
    dropped->scratch[dropped->end_slots[i]] = tuple[dropped->end_slots[i]];
  return net_rowmap_find(&dropped->ends, dropped->scratch) != NET_NO_ENTRY;
}

/* The records that the tuples of a traced relation stand for: a start, and an end where it is known.
 * The end that a record taken away has given to the tuple before goes with it; the end of its own
 * tuple stays.                                                                                      */
static void add_records_of(struct net_rows *records, const struct net_rows *tuples,
                           const struct dropped *dropped) {
  const struct net_layout *from = tuples->layout, *to = records->layout;
  for (size_t i = 0; i < tuples->count; i++) {
    const union net_slot *tuple = net_rows_row(tuples, i);
    for (unsigned end = 0; end < 2; end++) {
      if (end == 1 && tuple[2].i == NET_OPEN) continue;
      if (is_dropped(dropped, tuple, end)) continue;
      union net_slot *record =
          net_rows_add(records, (uint8_t)(end ? NET_DEFINITE | NET_CLOSES : tuples->marks[i]));
      record[0] = tuple[end * 2];
      record[1] = tuple[end * 2 + 1];
      memcpy(record + to->first_domain_slot, tuple + from->first_domain_slot,
             (to->slot_count - to->first_domain_slot) * sizeof *record);
    }
  }
}

/* The keys of ROWS (may be NULL), each once, behind *COUNT others in VALUES; *EARLIEST: no later than any of their starts. */
static void add_keys(const struct ng_relation *relation, const struct net_rows *rows,
                     union net_slot *values, size_t *count, net_chronon *earliest) {
  if (rows == NULL) return;
  const struct net_key *by = &relation->by;
  uint32_t *slots = session_key_slots(rows->layout, by);
  struct net_rowmap keys;
  net_rowmap_init(&keys, rows->layout, NET_KEY_SLOTS, 0, slots, by->count, 0);
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    net_rowmap_put(&keys, row, NULL);
    if (row[0].i < *earliest) *earliest = row[0].i;
  }
  for (uint32_t i = 0; i < keys.used; i++) {
    union net_slot *to = values + *count * by->count;
    for (size_t k = 0; k < by->count; k++) to[k] = net_rowmap_row(&keys, i)[slots[k]];
    ++*count;
  }
  net_rowmap_done(&keys);
  free(slots);
}

/* Takes the tuples of all entities out that ROWS or DROPPED (may be NULL) name by their keys. */
static enum base_status take_tuples(struct tql_session *session, const struct ng_relation *relation,
                                    const struct net_rows *rows, const struct net_rows *dropped,
                                    struct net_rows *ret) {
  size_t most = rows->count + (dropped ? dropped->count : 0), count = 0;
  union net_slot *values = base_xcalloc(most * relation->by.count + 1, sizeof *values);
  net_chronon earliest = NET_FOREVER; /* tuples that ended before stay as they are */
  add_keys(relation, rows, values, &count, &earliest);
  add_keys(relation, dropped, values, &count, &earliest);
  enum base_status status = st_take_entities(session->database, relation->name, relation->layout,
                                             &relation->by, values, count, earliest, ret);
  free(values);
  return status;
}

static bool are_in_order(const struct net_rows *rows) {
  net_chronon last = NET_BEGINNING;
  for (size_t i = 0; i < rows->count; i++) {
    net_chronon time = net_rows_row(rows, i)[0].i;
    if (time < last) return false;
    last = time;
  }
  return true;
}

/* Which records of traced RELATION another of the same entity follows at the same time. The first BEFORE of them stand
 * for what was there, which superseded nothing among itself. Equal ones, ends, and times that are not certain do not
 * count. Where rows come in the order of time, as they mostly do, the last one of each entity is all that need be known. */
static void find_superseded(const struct session_relation *relation, const struct net_rows *rows,
                            size_t before, struct session_written *ret) {
  const struct net_key *entity = &relation->ng.entity;
  if (relation->ng.by.count == 0) return;
  uint32_t *slots = session_key_slots(rows->layout, entity); /* with room for one more: */
  bool timed = !are_in_order(rows);
  if (timed) slots[entity->count] = 0; /* the time */
  struct net_rowmap map;
  net_rowmap_init(&map, rows->layout, NET_KEY_SLOTS, 0, slots, entity->count + timed,
                  sizeof(size_t));
  size_t bytes = rows->layout->slot_count * sizeof(union net_slot);
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if ((rows->marks[i] & (NET_CLOSES | NET_ROUND)) || row[0].i != row[1].i) continue;
    bool fresh;
    size_t *last = net_rowmap_state(&map, net_rowmap_put(&map, row, &fresh)), earlier = *last;
    const union net_slot *other = fresh ? NULL : net_rows_row(rows, earlier);
    *last = i;
    if (other == NULL || other[0].i != row[0].i || memcmp(other, row, bytes) == 0) continue;
    if (earlier < before)
      ret->replaced++;
    else if (ret->superseded++ == 0)
      ret->first = earlier - before, ret->next = i - before;
  }
  net_rowmap_done(&map);
  free(slots);
}

/* ROWS are new records, DROPPED (may be NULL) tuples whose records are taken away. RET may be NULL. */
static enum base_status put_traced(struct tql_session *session, struct session_relation *relation,
                                   const struct net_rows *rows, const struct net_rows *dropped,
                                   struct session_written *ret) {
  struct net_rows tuples, records;
  net_rows_init(&tuples, relation->ng.layout);
  net_rows_init(&records, relation->ng.records);
  enum base_status status = take_tuples(session, &relation->ng, rows, dropped, &tuples);
  struct net_network *network = NULL;
  if (status == BASE_OK) {
    struct dropped taken;
    dropped_init(&taken, &relation->ng, dropped);
    add_records_of(&records, &tuples, &taken);
    dropped_done(&taken);
    size_t before = records.count;
    for (size_t i = 0; i < rows->count; i++)
      net_rows_add_copy(&records, net_rows_row(rows, i), rows->marks[i]);
    if (ret != NULL) find_superseded(relation, &records, before, ret);
    network = net_network_new(session->strings, session->timeline, session->diags);
    struct net_node *access =
        net_create_access(network, relation->ng.name, relation->ng.records, NULL, false);
    struct net_node *periods =
        net_create_event_to_period(network, relation->ng.name, relation->ng.records,
                                   relation->ng.layout, &relation->ng.entity);
    struct net_node *sink = net_create_relation_store(
        network, relation->ng.name, relation->ng.layout, st_net(session->database));
    BASE_CHECK(net_link(access, periods, 0) == BASE_OK && net_link(periods, sink, 0) == BASE_OK,
               "write-links");
    net_store_node_collect(sink);
    net_freeze(network);
    /* One batch a thousand rows; nothing is promised before the last. */
    for (size_t at = 0; status == BASE_OK && at <= records.count; at += NET_BATCH_ROWS) {
      size_t count = records.count - at < NET_BATCH_ROWS ? records.count - at : NET_BATCH_ROWS;
      bool last = at + NET_BATCH_ROWS > records.count;
      struct net_batch batch = {.layout = relation->ng.records,
                                .rows = count > 0 ? net_rows_row(&records, at) : NULL,
                                .marks = count > 0 ? records.marks + at : NULL,
                                .count = (uint32_t)count,
                                .checkpoint = last ? NET_FOREVER : NET_BEGINNING,
                                .bound = NET_BEGINNING};
      status = net_access_push(access, &batch);
    }
    if (status == BASE_OK) status = net_store_node_finish(sink);
  }
  net_network_free(network);
  net_rows_done(&tuples);
  net_rows_done(&records);
  return status;
}

enum base_status session_put(struct tql_session *session, struct session_relation *relation,
                             const struct net_rows *rows, struct session_written *ret) {
  if (session_is_sampled(relation)) return session_put_samples(session, relation, rows);
  if (relation->kind == ST_TRACED) return put_traced(session, relation, rows, NULL, ret);
  enum base_status status = st_put_rows(session->database, relation->ng.name, rows);
  if (ret != NULL && status == BASE_OK) ret->equal = st_rows_equal(session->database);
  return status;
}

enum base_status session_revise(struct tql_session *session, struct session_relation *relation,
                                const struct net_rows *removed, const struct net_rows *added) {
  if (relation->kind == ST_TRACED) return put_traced(session, relation, added, removed, NULL);
  if (session_is_sampled(relation))
    return session_revise_samples(session, relation, removed, added);
  for (size_t i = 0; i < removed->count; i++) {
    enum base_status status =
        st_remove(session->database, relation->ng.name, removed->layout, net_rows_row(removed, i));
    if (status != BASE_OK) return status;
    if ((i & 0xfff) == 0 && base_env_interrupted()) return BASE_CANCEL;
  }
  return st_put_rows(session->database, relation->ng.name, added);
}
