/* What the engine asks of those who bring records in: files, pipes, sensors. sensors/ implements
 * readers, which sessions pump, and sensors, which access nodes control (control.h).                */
#ifndef NET_INGEST_H
#define NET_INGEST_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/batch.h"

enum net_read_result {
  NET_READ_ROWS,       /* rows were added to the builder (it may be full); call again */
  NET_READ_CHECKPOINT, /* an explicit checkpoint record: .time */
  NET_READ_END_RECORD, /* {"end": T, DOMAINS}: .time, .row (a zeroed row with the named domains),
                        * .named[i] tells which fields */
  NET_READ_ROUND,      /* {"round": T}: .time */
  NET_READ_BAD,        /* a malformed record: .line, .column, .reason, .record; the reader stands
                        * behind it and can go on */
  NET_READ_AGAIN,      /* nothing now (following) */
  NET_READ_ROTATED,    /* the file that is followed was truncated or replaced, and is read from its
                        * beginning; .reason: what may be lost of the old one, NULL: nothing */
  NET_READ_END,        /* end of input */
  NET_READ_FAILED, /* reading failed, or the header is wrong: .number, .line, .column, .reason */
};

struct net_read_event {
  net_chronon time;
  union net_slot *row;
  bool *named;
  int64_t line;   /* 1-based; of the header: 1 */
  int64_t column; /* 1-based, in bytes; of NDJSON the byte within the line */
  enum base_message number;
  const char *reason; /* good until the next call */
  const char *record; /* the raw line */
  size_t record_length;
  const int64_t *
      lines; /* NET_READ_ROWS: where each of the rows begins that were added, as .line; until the next call */
  /* NET_READ_ROWS, NET_READ_END: what the times look like that were read so far as bare numbers, which count
   * nanoseconds: "seconds", "milliseconds", "microseconds"; NULL: nothing speaks against them. */
  const char *unit;
  /* NET_READ_ROWS, NET_READ_END, of what was read so far: how many periods were empty, and taken as was asked for; the year of the
   * first of the times that have none (0: all have). */
  uint64_t empty_periods;
  int64_t year_assumed;
};

/* A reader of records for rows of LAYOUT: event rows (event, traced and sampled relations) or period
 * rows (period relations and snapshots; an empty stop is an open one).                              */
struct net_reader {
  const struct net_reader_class *class;
  const struct net_layout *layout;
};

struct net_reader_class {
  /* Adds rows to BUILDER (whose layout is the reader's) until it is full, something else is to be
   * said, or there is nothing more now. Rows added before something else are reported first
   * (NET_READ_ROWS). Every value is checked against its type (net_value_check).                     */
  enum net_read_result (*read)(struct net_reader *reader, struct net_batch_builder *builder,
                               struct net_read_event *event);
  /* File descriptor to poll for more while following; -1 when polling is no use (regular files: ask
   * again after a while).                                                                            */
  int (*descriptor)(struct net_reader *reader);
  /* Bytes consumed by the records reported so far: where to resume. */
  int64_t (*position)(struct net_reader *reader);
  /* Of readers that hold what they have reported, in memory (others do nothing, and want nothing). What was reported so
   * far is kept for good, and need not be held any more. */
  void (*settle)(struct net_reader *reader);
  /* All that was reported since it was settled last, or since the beginning, will be reported again. */
  void (*rewind)(struct net_reader *reader);
  /* Is it to be settled now? Much is held, or what follows can be read only then: until then there is nothing more. */
  bool (*wants_settling)(const struct net_reader *reader);
  void (*free)(struct net_reader *reader);
};

/* --- control */

/* An object, performer or initiator: the domain that names it, and its name, or a pattern that its name
 * matches (pattern.h). */
struct net_watch_object {
  const char *domain;
  struct net_type type;
  union net_slot value;
  bool pattern;
};

/* What is to be watched: the records of RELATION that have the values of all OBJECTS; without any, those of
 * all objects, also of those that appear later. Of these, those that the filter lets pass are enough. */
struct net_watch {
  const char *relation;
  const struct net_watch_object *objects;
  uint32_t object_count;
  bool starts_only; /* traced: nobody asks when a period ends, end records need not come */
  /* sampled: a sample is wanted at ORIGIN and every EVERY chronons after it; 0: as the sensor is used to */
  int64_t every;
  net_chronon origin;
  const char *filter;     /* bytes (engine/filter.h) */
  uint32_t filter_length; /* 0: there is none */
};

/* Who can switch the making of records on and off. He is told of each watch once, remembers what he is told
 * also while nobody can be reached, and says himself what goes wrong. Records begin to come when it is
 * possible: what happened before is not reported, nor what happens until it is. Those of a watch that is
 * disabled may come for a while.                                                                        */
struct net_sensor {
  const struct net_sensor_class *class;
};

struct net_sensor_class {
  /* WATCH lives until it is disabled; its strings are ids of the network's table, and stay. */
  void (*enable)(struct net_sensor *sensor, const struct net_watch *watch);
  void (*disable)(struct net_sensor *sensor, const struct net_watch *watch);
  /* A sample is to be taken now of what has the values of WATCH's objects, and is watched; of all that is, if it
   * has none. What is asked for again before it was taken is taken once. May be NULL. */
  void (*sample)(struct net_sensor *sensor, const struct net_watch *watch);
};

#endif
