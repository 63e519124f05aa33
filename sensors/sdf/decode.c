/* Payloads to values: the other side of what header.c writes. Values lie packed, in the byte order of the
 * machine: integers and floats in the width of their type, bool in one byte, names as 64-bit minor
 * names, strings as a 32-bit length and the bytes.                                                */
#include "sensors/sdf/decode.h"

#include <string.h>

struct payload {
  const unsigned char *next;
  size_t left;
};

static bool take(struct payload *payload, void *to, size_t size) {
  if (payload->left < size) return false;
  memcpy(to, payload->next, size);
  payload->next += size;
  payload->left -= size;
  return true;
}

static bool take_integer(struct payload *payload, uint32_t width, int64_t *ret) {
  union {
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
  } value;
  if (!take(payload, &value, width)) return false;
  *ret = width == 1 ? value.one : width == 2 ? value.two : width == 4 ? value.four : value.eight;
  return true;
}

static bool take_real(struct payload *payload, uint32_t width, double *ret) {
  float single;
  if (width == 8) return take(payload, ret, 8);
  if (!take(payload, &single, 4)) return false;
  *ret = (double)single;
  return true;
}

static bool take_text(struct payload *payload, struct sn_value_view *value) {
  if (!take(payload, &value->length, 4) || payload->left < value->length) return false;
  value->text = (const char *)payload->next;
  payload->next += value->length;
  payload->left -= value->length;
  return true;
}

static bool take_bool(struct payload *payload, int64_t *ret) {
  unsigned char byte;
  if (!take(payload, &byte, 1)) return false;
  *ret = byte != 0;
  return true;
}

static bool take_value(struct payload *payload, struct sn_value_view *value) {
  switch (value->type.base) {
    case NET_INTEGER:
      return take_integer(payload, value->type.width, &value->integer);
    case NET_FLOAT:
      return take_real(payload, value->type.width, &value->real);
    case NET_BOOL:
      return take_bool(payload, &value->integer);
    case NET_STRING:
    case NET_BYTES:
      return take_text(payload, value);
    default:
      return take(payload, &value->minor, 8);
  }
}

static bool has_object(const struct sn_event_description *event) {
  return event->object != NULL && event->holder != SN_HOLDER_OBJECT;
}

static bool has_initiator(const struct sn_event_description *event) {
  return event->initiator != NULL && event->holder != SN_HOLDER_INITIATOR;
}

size_t sn_payload_values(const struct sn_event_description *event) {
  return (size_t)has_object(event) + has_initiator(event) + event->domain_count;
}

bool sn_payload_read(const struct sn_event_description *event, const void *payload, size_t length,
                     struct sn_value_view *ret_values) {
  const struct net_type name = {NET_NAME, 0};
  struct payload left = {payload, length};
  struct sn_value_view *value = ret_values;
  if (has_object(event))
    *value++ =
        (struct sn_value_view){.name = event->object->name, .type = name, .object = event->object};
  if (has_initiator(event))
    *value++ =
        (struct sn_value_view){.name = "Initiator", .type = name, .object = event->initiator};
  for (size_t i = 0; i < event->domain_count; i++) {
    const struct sn_domain_description *domain = &event->domains[i];
    *value++ = (struct sn_value_view){
        .name = domain->name, .type = domain->type, .object = domain->object};
  }
  for (struct sn_value_view *one = ret_values; one < value; one++)
    if (!take_value(&left, one)) return false;
  return left.left < 8;
}
