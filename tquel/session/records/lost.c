/* Into the relation Lost: what never came, as far as it is known. */
#include <stdlib.h>

#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"

/* Is ROW there with its stop LATER chronons later? */
static enum base_status is_there(struct tql_session *session, const struct session_relation *to,
                                 union net_slot *row, net_chronon stop, int64_t later, bool *ret) {
  row[2].i = row[3].i = net_chronon_add(stop, later);
  return st_has(session->database, to->ng.name, to->ng.layout, row, ret);
}

/* A stop at which ROW is not there yet, not long behind its own: those before it are looked at in steps that double, and
 * then halve, so that ever so many equal rows are no work. */
static enum base_status find_stop(struct tql_session *session, const struct session_relation *to,
                                  union net_slot *row) {
  net_chronon stop = row[3].i;
  int64_t taken = 0, free_at = 1;
  bool there = true;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && there && free_at < INT64_C(1) << 40) {
    status = is_there(session, to, row, stop, free_at, &there);
    if (there) {
      taken = free_at;
      free_at *= 2;
    }
  }
  while (status == BASE_OK && free_at - taken > 1) {
    int64_t middle = taken + (free_at - taken) / 2;
    status = is_there(session, to, row, stop, middle, &there);
    if (there)
      taken = middle;
    else
      free_at = middle;
  }
  row[2].i = row[3].i = net_chronon_add(stop, free_at);
  return status;
}

/* A relation is a set: of equal rows that COUNT the later ones last longer. */
static enum base_status put_row(struct tql_session *session, struct session_relation *to,
                                union net_slot *row, bool counts) {
  struct net_store *store = st_net(session->database);
  bool there = false;
  enum base_status status = st_has(session->database, to->ng.name, to->ng.layout, row, &there);
  if (status == BASE_OK && there && counts) {
    status = find_stop(session, to, row);
    there = false;
  }
  to->waiting.diverted = true; /* what is derived from it follows with the group */
  return status == BASE_OK && !there
             ? store->class->put(store, to->ng.name, to->ng.layout, row, NET_DEFINITE)
             : status;
}

enum base_status session_put_lost(struct tql_session *session, const char *relation,
                                  const char *source, const char *cause, uint64_t count,
                                  struct net_instant from, struct net_instant to) {
  struct session_relation *lost = session_system_relation(session, "Lost");
  if (lost == NULL) return BASE_SYSTEM;
  const struct net_layout *layout = lost->ng.layout;
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  row[0].i = from.lo;
  row[1].i = from.hi;
  row[2].i = to.lo;
  row[3].i = to.hi;
  const char *const texts[] = {relation, source, cause};
  for (unsigned i = 0; i < 3; i++)
    row[layout->fields[i].slot].s = base_strings_intern_text(session->strings, texts[i]);
  row[layout->fields[3].slot].i = count > INT64_MAX ? INT64_MAX : (int64_t)count;
  enum base_status status = put_row(session, lost, row, count > 0);
  free(row);
  if (status == BASE_OK) session_note_lost(session, relation, count);
  return status;
}
