/* From the payload of an event record to values, by the event's description. */
#ifndef SN_SDF_DECODE_H
#define SN_SDF_DECODE_H

#include "sensors/sdf/description.h"

struct sn_value_view {
  const char *name; /* of the relation's domain */
  struct net_type type;
  const struct sn_type_description *object; /* of a name: what kind of object */
  int64_t integer;                          /* of integers and bool (0 or 1) */
  double real;                              /* of floats: as it came, NaN and infinities as well */
  uint64_t minor;                           /* of a name */
  const char *text; /* of strings, in the payload: any bytes, not terminated */
  uint32_t length;
  bool escaped; /* for who changes the text; sn_payload_read leaves false */
};

/* How many values the event's payload has: its domains, and before them the object and the initiator,
 * except the one whose receptacle was asked, whose name stands in the record itself.               */
size_t sn_payload_values(const struct sn_event_description *event);

/* Reads PAYLOAD, which has LENGTH bytes and was written by another program of this machine; up to 7 bytes
 * behind the values fill up the record. False: it does not fit the description. RET_VALUES has room
 * for sn_payload_values(event).                                                                   */
bool sn_payload_read(const struct sn_event_description *event, const void *payload, size_t length,
                     struct sn_value_view *ret_values);

#endif
