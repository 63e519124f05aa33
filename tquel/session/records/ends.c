/* End records that name less than an entity: all periods end that records of the process or the object which they name
 * have opened in a traced relation (a sensor was switched off, a process or object has ended, or nobody knows what
 * became of it: its collector has been away for longer than the grace, and the relation goes on without it).
 * One that names all of the key, and no process though that belongs to it, as older collectors do, ends what any has of it.
 *
 * Which these are is known when the checkpoint passes: those that the live network's event-to-period node has
 * open, and those that records before, which go into the network with the end, open and do not close. Such an
 * end becomes an end record of each of the entities; no node hears of anything else.                   */
#include <stdlib.h>
#include <string.h>

#include "engine/rowmap.h"
#include "tquel/session/records/records.h"

struct ending {
  const struct net_layout *layout; /* of records */
  const union net_slot *end;
  uint32_t *slots; /* where END says who is ended: process and objects, or the key */
  size_t slot_count;
  struct net_rowmap entities;
  union net_slot *row; /* scratch */
};

static bool is_ended(const struct ending *ending, const union net_slot *row) {
  for (size_t i = 0; i < ending->slot_count; i++)
    if (row[ending->slots[i]].i != ending->end[ending->slots[i]].i) return false;
  return ending->slot_count > 0;
}

/* ROW: a record of who is ended. */
static void add(struct ending *ending, const union net_slot *row) {
  (void)net_rowmap_put(&ending->entities, row, NULL);
}

static void drop(struct ending *ending, const union net_slot *row) {
  uint32_t place = net_rowmap_find(&ending->entities, row);
  if (place != NET_NO_ENTRY) net_rowmap_remove(&ending->entities, place);
}

/* A period has the domains of its record behind other instants. */
static void add_open(void *context, const struct net_layout *layout, const union net_slot *row) {
  struct ending *ending = context;
  uint32_t to = ending->layout->first_domain_slot, from = layout->first_domain_slot;
  memcpy(ending->row, row, to * sizeof *row);
  memcpy(ending->row + to, row + from, (ending->layout->slot_count - to) * sizeof *row);
  if (is_ended(ending, ending->row)) add(ending, ending->row);
}

static void add_records(struct ending *ending, const struct net_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (!(rows->marks[i] & NET_CLOSES) && is_ended(ending, row))
      add(ending, row);
    else
      drop(ending, row);
  }
}

/* Of the key, what END says beside the process is names of objects; without one it says all of it. */
static void find_names(struct ending *ending, const struct net_key *by, uint32_t process) {
  const struct net_field *fields = ending->layout->fields;
  bool all = ending->end[fields[process].slot].s == 0;
  ending->slots = base_xcalloc(by->count + 1, sizeof *ending->slots);
  if (!all) ending->slots[ending->slot_count++] = fields[process].slot;
  for (size_t i = 0; i < by->count; i++) {
    const struct net_field *field = &fields[by->fields[i]];
    bool name = field->type.base == NET_STRING || field->type.base == NET_NAME;
    if (by->fields[i] == process || (!all && (!name || ending->end[field->slot].s == 0))) continue;
    ending->slots[ending->slot_count++] = field->slot;
  }
}

void session_end_all(const struct session_relation *relation, const union net_slot *end,
                     struct net_rows *rows) {
  struct ending ending = {.layout = rows->layout, .end = end};
  const struct net_key *entity = &relation->ng.entity;
  int process = net_layout_find(rows->layout, "Process");
  if (process < 0 || entity->count == 0 || relation->network.periods == NULL) return;
  find_names(&ending, &relation->ng.by, (uint32_t)process);
  uint32_t *keys = session_key_slots(rows->layout, entity);
  ending.row = base_xcalloc(rows->layout->slot_count, sizeof *ending.row);
  net_rowmap_init(&ending.entities, rows->layout, NET_KEY_SLOTS, 0, keys, entity->count, 0);
  net_periods_each_open(relation->network.periods, add_open, &ending);
  add_records(&ending, rows);
  for (uint32_t i = 0; i < ending.entities.used; i++) {
    if (!net_rowmap_live(&ending.entities, i)) continue;
    memcpy(ending.row, net_rowmap_row(&ending.entities, i),
           rows->layout->slot_count * sizeof *ending.row);
    ending.row[0] = end[0];
    ending.row[1] = end[1];
    net_rows_add_copy(rows, ending.row, NET_DEFINITE | NET_CLOSES);
  }
  net_rowmap_done(&ending.entities);
  free(ending.row);
  free(ending.slots);
  free(keys);
}

enum base_status session_lose_process(struct tql_session *session,
                                      struct session_relation *relation, const char *process) {
  const struct net_layout *layout = session_write_layout(relation);
  int field = net_layout_find(layout, "Process");
  if (relation->kind != ST_TRACED || field < 0) return BASE_OK;
  uint32_t slot = layout->fields[field].slot;
  base_string_id name = base_strings_intern_text(session->strings, process);
  union net_slot *end = base_xcalloc(layout->slot_count, sizeof *end);
  end[0].i = relation->checkpoint;
  const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; (row = net_inbox_waiting(port, i, &marks)); i++)
    if (row[slot].s == name && row[1].i >= end[0].i) end[0].i = net_chronon_add(row[1].i, 1);
  end[1] = end[0];
  end[slot].s = name;
  enum base_status status = session_take_record(
      session, relation, end, NET_DEFINITE | NET_CLOSES | TQL_CLOSES_ALL, relation->checkpoint);
  free(end);
  return status;
}
