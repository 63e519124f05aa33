/* memcached's DTrace probes as sensors: memcached includes this as its memcached_dtrace.h (ENABLE_DTRACE),
 * after which the benchmark has put empty definitions for the probes that are not here.                 */
#ifndef PROBES_H
#define PROBES_H

#include "memcached_sensors.h"

#define MEMCACHED_PROCESS_COMMAND_START(conn, line, bytes) CommandSensor(conn, line)

#define MEMCACHED_COMMAND_GET(conn, key, key_bytes, bytes, cas) \
  GetSensor(conn, key, key_bytes, bytes)

/* The last is the value's version, which nobody asks for. */
#define STORED(conn, how, key_bytes, bytes, cas) \
  ((void)(cas), StoreSensor(conn, how, key_bytes, bytes))
#define MEMCACHED_COMMAND_SET(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "set", key_bytes, bytes, cas)
#define MEMCACHED_COMMAND_ADD(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "add", key_bytes, bytes, cas)
#define MEMCACHED_COMMAND_REPLACE(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "replace", key_bytes, bytes, cas)
#define MEMCACHED_COMMAND_APPEND(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "append", key_bytes, bytes, cas)
#define MEMCACHED_COMMAND_PREPEND(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "prepend", key_bytes, bytes, cas)
#define MEMCACHED_COMMAND_CAS(conn, key, key_bytes, bytes, cas) \
  STORED(conn, "cas", key_bytes, bytes, cas)

#define MEMCACHED_ITEM_LINK(key, key_bytes, bytes)   LinkSensor(key_bytes, bytes)
#define MEMCACHED_ITEM_UNLINK(key, key_bytes, bytes) UnlinkSensor(key_bytes, bytes)

/* Both probes are in one file; what they have in common is the descriptor. */
#define DESCRIPTORS 65536
__attribute__((unused)) static sn_ticket connections[DESCRIPTORS];
#define MEMCACHED_CONN_ALLOCATE(conn) \
  (conn < DESCRIPTORS ? (void)(connections[conn] = OpenStart(conn)) : (void)0)
#define MEMCACHED_CONN_RELEASE(conn) (conn < DESCRIPTORS ? OpenStop(&connections[conn]) : (void)0)

#endif
