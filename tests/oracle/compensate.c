/* `set compensate` from its definition (netgen/README.md): the stop of each period without what the records
 * of its process have cost, every record of every relation of costs looked at for every period. A traced
 * relation's records are where its periods start: of several of one entity at one time there is one. */
#include "tests/oracle/oracle_internal.h"

__extension__ typedef __int128 wide;

static base_string_id process_of(const struct ng_relation *relation, const union net_slot *row) {
  return row[relation->layout->fields[ng_process_domain(relation)].slot].s;
}

/* What the records cost that lie in PERIOD, of PROCESS: perhaps, and for sure. */
static void add_up(const struct oracle *oracle, base_string_id process,
                   const union net_slot *period, wide *ret_may, wide *ret_sure) {
  *ret_may = *ret_sure = 0;
  for (size_t i = 0; i < oracle->cost_count; i++) {
    const struct ng_variable *costs = &oracle->costs[i];
    const struct oracle_relation *records =
        oracle->world->find(oracle->world->context, costs->relation->name);
    for (size_t j = 0; j < records->count; j++) {
      const union net_slot *record = records->tuples[j].row;
      if (process_of(costs->relation, record) != process) continue;
      bool may = record[1].i >= period[0].i && record[0].i < period[3].i;
      bool sure =
          records->tuples[j].definite && record[0].i >= period[1].i && record[1].i < period[2].i;
      if (may) *ret_may += costs->cost;
      if (sure) *ret_sure += costs->cost;
    }
  }
}

static net_chronon without(net_chronon stop, net_chronon start, wide cost) {
  if (stop == NET_BEGINNING || stop == NET_FOREVER) return stop;
  wide least = start == NET_FOREVER ? stop : (wide)start + 1, result = stop - cost;
  if (least > stop) least = stop;
  return (net_chronon)(result > least ? result : least);
}

struct oracle_relation oracle_compensated(struct oracle *oracle, const struct ng_variable *variable,
                                          const struct oracle_relation *periods) {
  bool named = false;
  for (size_t i = 0; i < oracle->cost_count; i++)
    named = named || oracle->costs[i].relation == variable->relation;
  if (!named || variable->relation->kind != NG_REL_TRACED) return *periods;
  struct oracle_relation result = {.layout = periods->layout};
  for (size_t i = 0; i < periods->count; i++) {
    const union net_slot *row = periods->tuples[i].row;
    wide may, sure;
    oracle_add(oracle->arena, &result, row, periods->tuples[i].definite);
    add_up(oracle, process_of(variable->relation, row), row, &may, &sure);
    union net_slot *to = result.tuples[i].row;
    to[2].i = without(row[2].i, row[0].i, may);
    to[3].i = without(row[3].i, row[1].i, sure);
  }
  return result;
}
