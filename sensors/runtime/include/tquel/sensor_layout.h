/* What an instrumented program and whoever collects its records have in common: the layout of the
 * announcement (a file in shared memory, one a process) and of the records in its rings.
 *
 *     announcement   header | chunk | chunk | ...         found by its name in the directory
 *     a chunk        what it is, then units of one size   appended, never moved or given back
 *     a ring         a sealed memfd, mapped twice in a row so that no record is broken in two; its
 *                    positions and counters are a slot in the announcement, and so outlive it
 *
 * Every word has one writer, said beside it: the program, the reader, or both by atomic operations.
 * Numbers are in the byte order of the machine, times in nanoseconds, stamps in ticks of the clock that
 * the header names. Positions in a ring count bytes and only grow. A reader takes nothing on trust:
 * sensors/collect checks all of it. C99 and C++11.                                                 */
#ifndef TQUEL_SENSOR_LAYOUT_H
#define TQUEL_SENSOR_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* No program that includes this is to be warned of it, whatever it wants to be warned of. */
#if defined(__GNUC__) && defined(__INCLUDE_LEVEL__) && __INCLUDE_LEVEL__ > 0
#pragma GCC system_header
#endif

/* As each language wants them written: no pointer, and conversions, of values, and of pointers to bits and back. */
#ifdef __cplusplus
#define SN_NULL              nullptr
#define SN_AS(TYPE, VALUE)   static_cast<TYPE>(VALUE)
#define SN_BITS(TYPE, VALUE) reinterpret_cast<TYPE>(VALUE)
#else
#define SN_NULL              NULL
#define SN_AS(TYPE, VALUE)   ((TYPE)(VALUE))
#define SN_BITS(TYPE, VALUE) ((TYPE)(VALUE))
#endif

#define SN_MAGIC  "tquelsn\n" /* the first eight bytes */
#define SN_LAYOUT 2

enum sn_clock { SN_CLOCK_MONOTONIC = 1, SN_CLOCK_CYCLES = 2 };
enum sn_ability { SN_CAN_THIN = 1 }; /* SN_THINNED is honoured */
enum sn_state { SN_FREE = 0, SN_LIVE = 1, SN_CLOSED = 2 };

/* Why a record that was generated is not received. The first ones the program counts. */
enum sn_cause {
  SN_FULL,        /* the ring was full, perhaps after waiting as declared */
  SN_UNREACHABLE, /* no ring could be made, or handed to the reader */
  SN_NESTED,      /* signal handlers were nested deeper than there are rings */
  SN_OVERSIZE,    /* the record can never fit */
  SN_COUNTED,     /* number of those that the program counts by ring */
  /* found by the reader */
  SN_TORN = SN_COUNTED, /* the thread died while it wrote the record */
  SN_ABANDONED,         /* it was in a ring that was lost with the program */
  SN_CORRUPT,           /* the ring's content makes no sense */
  SN_UNSENT,            /* the reader had no room to keep it */
  SN_SAMPLED, /* passed over: SN_THINNED. Counted by the program, in `rounds` of the process's entry */
  SN_CAUSES
};

/* A switch: one word for each event in each receptacle. 0: off. Else the generation of the reader that
 * set it, and what is to be done.                                                                  */
enum sn_mode {
  SN_TRACE = 1,     /* write a record */
  SN_ONCE = 2,      /* ... once: whoever writes it clears SN_TRACE and SN_ONCE */
  SN_COUNT = 4,     /* add to the entry's count */
  SN_HISTOGRAM = 8, /* add to its histogram */
  SN_SUM = 16,      /* add to its sum and squares */
  SN_MODES = 31,
  SN_MEASURE =
      32, /* beside SN_TRACE: see what records cost; cleared when some have been measured */
  SN_THINNED =
      64 /* not every record: of the process as many as its word that asks for rounds says, which
                    * counts down; of an object one, whose writer clears SN_TRACE. The others are counted */
};
#define SN_GENERATION_SHIFT 8

/* Room for the name of a machine without its domain; a longer one is cut off. */
#define SN_HOST_ROOM 40

struct sn_header {
  /* by the program, once */
  char magic[8];
  uint32_t layout, header_bytes;
  uint32_t pid, uid;
  uint64_t start_ticks;  /* of the process: field 22 of /proc/PID/stat; with pid, who it is */
  uint64_t announced_ns; /* CLOCK_REALTIME */
  uint32_t clock, able;  /* enum sn_clock; enum sn_ability; 0 from programs of earlier versions */
  uint64_t pair_stamp, pair_monotonic_ns, pair_realtime_ns; /* taken together */
  uint64_t process_space,
      time_space;          /* its pid and time namespaces, as numbers of files; 0: not known */
  char host[SN_HOST_ROOM]; /* what it is called, so far; "" from programs of earlier versions */
  /* by the program: offset 128 */
  uint64_t bytes;   /* of the file: chunks before this are complete */
  uint32_t changes; /* grows with each unit made or closed */
  uint32_t ended;   /* the program has ended in the ordinary way */
  uint64_t aside_generated, aside_lost[SN_COUNTED]; /* of threads without a ring; by all threads */
  uint32_t own_ring_bytes; /* what its user wants, whatever its readers wish for; 0: nothing */
  uint32_t ring_refused;   /* SN_RING_ENVIRONMENT is there, and no size */
  uint64_t pad3[8];
  /* by the reader: offset 256 */
  uint32_t generation; /* 1..2^24-1, one more for each reader; 0: there never was one */
  uint32_t ring_bytes; /* size of the rings that it wishes for; 0: SN_RING_BYTES */
  uint64_t beat_ns;    /* CLOCK_MONOTONIC when it was last there */
  uint32_t requests;   /* grows with each round asked for; a futex */
  uint32_t pad4;
  uint64_t
      epoch; /* in its name and those of its objects, as its first reader gave it; 0: as yet none */
  uint32_t naming; /* how names are made of it (sensors/collect/programs.c); before epoch */
  uint32_t pad5;
  uint64_t page; /* whose page of what is wanted goes for it (sn_wanted); 0: nobody's. By both */
  uint64_t pad6[10];
};

#define SN_RING_BYTES     (256u << 10)
#define SN_RING_BYTES_MIN (4u << 10)
#define SN_RING_BYTES_MAX (64u << 20)
/* In the environment of a program: the size of its rings in KiB, a power of two. */
#define SN_RING_ENVIRONMENT "TQUEL_RING"
/* A reader that has not been there for so long is taken for dead by those who wait for it. On a loaded machine
 * one that lives may be kept from running for a second or two. */
#define SN_BEAT_NS UINT64_C(5000000000)

/* SN_LEFT: nobody's, of a parent's; a reader passes over it, as over kinds it does not know. */
enum sn_chunk_kind { SN_MODULES = 1, SN_OBJECTS, SN_SLOTS, SN_HISTOGRAMS, SN_TEXTS, SN_LEFT };

struct sn_chunk {
  uint32_t kind, bytes; /* bytes: with this head, a multiple of the page */
  uint32_t unit_bytes, units;
  uint64_t pad[6];
};

/* Receptacle: of the process (in an sn_module_unit, one a module), or of an object. Behind it the
 * switches, `switches` words, filled up to a multiple of 64 bytes; of a process then as many words
 * that ask for rounds, or, of events that have none, allow records (SN_THINNED); then the entries; of a process then
 * as many tallies.                                                                                   */
struct sn_receptacle {
  uint32_t state;  /* by the program */
  uint32_t module; /* index of its module */
  uint32_t type;   /* of the object, numbered by the description; 0: this is the process */
  uint32_t epoch;  /* grows with every receptacle of the process: names with `minor` the object */
  uint64_t minor;
  uint64_t opened; /* stamp */
  uint32_t switches, entries;
  uint64_t owner; /* the program's own use */
  uint64_t pad[2];
};

/* What a receptacle keeps of one event. Of a process the entry of event N is number N; of an object
 * they stand for the events that consult its type, in the order of the description.                */
struct sn_entry {
  uint64_t missed;     /* records lost here; by all threads, like the next three */
  uint64_t count;      /* SN_COUNT */
  double sum, squares; /* SN_SUM, of the event's numeric field */
  uint64_t histogram;  /* offset of its sn_histogram in the file; 0: none yet */
  uint64_t
      rounds; /* done, of sampled events; of SN_OF_DURATION: counted ones that have stopped; of others, in the
                    * process's entry: records that were passed over, its objects', too (SN_SAMPLED) */
  /* Of some records, by all threads: ticks from where the record has its place to its publication. Of a
   * process alone: its entry has those of the event's objects, too. */
  uint64_t cost_ticks, cost_samples;
};
/* Measured are the first records after an event is enabled, and one whenever so many bytes have been
 * written by a thread; of those that always take the long way one of so many. Samples that took longer
 * than the most, because the thread was interrupted, do not count.                                   */
#define SN_COST_FIRST   8u
#define SN_COST_BYTES   (32u << 10)
#define SN_COST_RECORDS 1024u
#define SN_COST_MOST    (UINT64_C(1) << 16)

/* What became of the records of one event in the whole process. What a slot counts as lost is more by
 * those that were just being counted when a thread, or the reader, died.                            */
struct sn_tally {
  uint64_t lost[SN_COUNTED]; /* by all threads */
  uint64_t received, unsent; /* by the reader */
};

/* Buckets by powers of two: [64] counts |v| < 1, [65 + k] 2^k <= v < 2^(k+1), [63 - k] the same of -v;
 * the outermost take what lies beyond.                                                             */
#define SN_BUCKETS 129
struct sn_histogram {
  uint32_t state, pad;
  uint64_t buckets[SN_BUCKETS];
  uint64_t pad2[14];
};

struct sn_module_unit {
  uint32_t state, index;
  uint64_t digest;      /* of the description */
  uint64_t description; /* its address in the program, and its length */
  uint64_t description_bytes;
  uint64_t name; /* offset of the sn_text: the task force */
  uint64_t
      process; /* type of sensor process in the upper 16 bits; offset of the sn_text with its minor
                     * name (0: the process id) below */
  uint64_t text; /* offset of the sn_text with the description; 0: it is in the program alone */
  uint64_t pad;
  struct sn_receptacle receptacle; /* ... and what is behind it */
};

struct sn_text {
  uint32_t state, length; /* the bytes follow */
};

struct sn_place {
  uint64_t tail, received; /* bytes read, records received */
  uint64_t unsent;         /* of the latter: those that the reader had no room to keep */
};

/* The head of a ring. */
struct sn_slot {
  /* by the program */
  uint32_t state;      /* SN_LIVE: it has memory; SN_CLOSED: that is given back */
  uint32_t generation; /* of the reader it was handed to */
  uint32_t tid, level; /* who writes: thread, depth of signal handlers */
  uint32_t serial; /* of the ring's memory, set before the head moves in it: which one to read */
  uint32_t pad1;
  uint64_t ring_bytes;
  uint64_t pad2[4];
  /* by the program: offset 64 */
  uint64_t head; /* bytes written */
  uint64_t generated, lost[SN_COUNTED];
  uint64_t pad3[2];
  /* by the reader: offset 128. One store, of `which`, moves position and count at once. */
  uint32_t which, pad4;
  struct sn_place place[2];
  uint64_t pad5;
};

/* --- records */

/* A record: this, then what its kind says, then the payload; filled up to a multiple of 8 bytes.
 *     SN_RECORD_STAMP    u64 stamp
 *     SN_RECORD_NAME     u64 minor, u32 epoch, u32 type: whose receptacle was consulted            */
struct sn_ring_record {
  uint32_t event;
  uint16_t words;  /* of 8 bytes, with this one */
  uint16_t module; /* index of the module below, kind above */
};
enum sn_record_kind {
  SN_RECORD_STAMP = 1 << 12,
  SN_RECORD_NAME = 1 << 13,
  SN_RECORD_ROUND = 1 << 14,  /* a round of a sampled event ends here: stamp, no payload */
  SN_RECORD_STOP = 1 << 14,   /* of a period sensor, which has no rounds: u64 ticket */
  SN_RECORD_THREAD = 1 << 15, /* what follows is written by this thread: u64 tid. Not counted */
  SN_RECORD_MODULE = (1 << 12) - 1
};
#define SN_RECORD_BYTES_MAX (UINT32_C(65535) * 8)

/* Sent with the descriptor of a ring over the reader's socket. */
#define SN_HANDOVER 0x74716e52u
struct sn_handover {
  uint32_t magic, layout;
  uint32_t pid, serial; /* of the ring, as in its slot */
  uint64_t slot;        /* offset in the announcement */
  uint64_t ring_bytes;
  char announcement[96]; /* name of the file */
};

/* The reader's socket (SOCK_SEQPACKET) in the directory of the announcements, and how their names end.
 * A name that begins with a dot is not yet complete.                                               */
#define SN_SOCKET "collector"
#define SN_SUFFIX ".sensors"

/* --- what is wanted of programs that begin

 * A file beside the announcements, while a reader wants anything: a program, a child, a library that is loaded
 * looks into it before its first sensor, and puts on what it finds there. It is replaced as a whole when that
 * changes, so nobody reads half of it; only the beat is written in place, and rows are as many as there are.
 * A page whose beat is older than SN_BEAT_NS and that nobody has a lock on (F_OFD_SETLK, F_WRLCK) is a dead reader's and
 * goes for nobody.                                                                                     */
struct sn_wanted {
  char magic[8];
  uint32_t layout, rows; /* layout: SN_WANTED_LAYOUT */
  uint64_t page;         /* of this reader alone, not 0 */
  uint64_t beat_ns;      /* CLOCK_MONOTONIC when it was last there */
  uint32_t ring_bytes;   /* as in the header of a program */
  uint32_t pad[7];
};
struct sn_wanted_row {
  uint64_t name; /* sn_name_hash of TASKFORCE.EVENT; of EVENT: that of every task force */
  uint32_t what, pad;
};
enum sn_wanted_what {
  SN_WANTED_PROCESS = 1, /* of every process, where the process's receptacle is asked */
  SN_WANTED_OBJECTS = 2, /* of every object and initiator, where theirs is */
  SN_WANTED_COUNT = 4    /* receptacles count; records are another matter */
};
#define SN_WANTED_NAME     SN_SOCKET ".wanted"
#define SN_WANTED_MAGIC    "tquelwn\n"
#define SN_WANTED_LAYOUT   1
#define SN_WANTED_ROWS_MAX (1u << 20) /* rows behind these are not looked at */

/* Names of events are the same in capitals and small letters (FNV-1a). HASH: of what is before it. */
static inline uint64_t sn_name_hash_on(uint64_t hash, const char *name) {
  for (; *name != '\0'; name++) {
    const unsigned char letter = SN_AS(unsigned char, *name);
    const unsigned char small =
        letter >= 'A' && letter <= 'Z' ? SN_AS(unsigned char, letter + 32) : letter;
    hash = (hash ^ small) * UINT64_C(0x100000001b3);
  }
  return hash;
}

static inline uint64_t sn_name_hash(const char *name) {
  return sn_name_hash_on(UINT64_C(0xcbf29ce484222325), name);
}

typedef char sn_wanted_is_64_bytes[sizeof(struct sn_wanted) == 64 ? 1 : -1];
typedef char sn_wanted_row_is_16_bytes[sizeof(struct sn_wanted_row) == 16 ? 1 : -1];
typedef char sn_header_is_384_bytes[sizeof(struct sn_header) == 384 ? 1 : -1];
typedef char sn_chunk_is_64_bytes[sizeof(struct sn_chunk) == 64 ? 1 : -1];
typedef char sn_receptacle_is_64_bytes[sizeof(struct sn_receptacle) == 64 ? 1 : -1];
typedef char sn_entry_is_64_bytes[sizeof(struct sn_entry) == 64 ? 1 : -1];
typedef char sn_tally_is_48_bytes[sizeof(struct sn_tally) == 48 ? 1 : -1];
typedef char sn_histogram_is_1152_bytes[sizeof(struct sn_histogram) == 1152 ? 1 : -1];
typedef char sn_module_unit_is_128_bytes[sizeof(struct sn_module_unit) == 128 ? 1 : -1];
typedef char sn_slot_is_192_bytes[sizeof(struct sn_slot) == 192 ? 1 : -1];

/* --- finding one's way in a receptacle */

static inline uint32_t sn_switch_words(uint32_t switches) {
  return (switches + 15u) & ~15u;
}

static inline uint32_t *sn_switches(const struct sn_receptacle *receptacle) {
  const uintptr_t behind = SN_BITS(uintptr_t, receptacle + 1);
  return SN_BITS(uint32_t *, behind);
}

/* Of a process: which events a round is asked of. */
static inline uint32_t *sn_asked(const struct sn_receptacle *receptacle, uint32_t switches) {
  return sn_switches(receptacle) + sn_switch_words(switches);
}

static inline struct sn_entry *sn_entries(const struct sn_receptacle *receptacle, uint32_t switches,
                                          int of_process) {
  uint32_t words = sn_switch_words(switches) * (of_process ? 2u : 1u);
  void *behind = sn_switches(receptacle) + words;
  return SN_AS(struct sn_entry *, behind);
}

/* Of a process. */
static inline struct sn_tally *sn_tallies(const struct sn_receptacle *receptacle, uint32_t switches,
                                          uint32_t entries) {
  void *behind = sn_entries(receptacle, switches, 1) + entries;
  return SN_AS(struct sn_tally *, behind);
}

static inline uint64_t sn_receptacle_bytes(uint32_t switches, uint32_t entries, int of_process) {
  uint64_t words = SN_AS(uint64_t, sn_switch_words(switches)) * (of_process ? 2u : 1u);
  uint64_t unit = sizeof(struct sn_entry) + (of_process ? sizeof(struct sn_tally) : 0u);
  uint64_t bytes = sizeof(struct sn_receptacle) + words * 4u + entries * unit;
  return (bytes + 63u) & ~UINT64_C(63);
}

#endif
