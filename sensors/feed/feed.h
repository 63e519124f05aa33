/* Feeds: readers of event and period records in CSV and NDJSON, from files, FIFOs and standard
 * input.
 *
 * A reader implements engine/ingest.h: it turns text into rows of a layout, checks every value, and
 * can follow an input that is still growing. It only reads; results are written elsewhere. What the
 * columns and keys are called, what a record may hold and what each mistake is called stands in the
 * README of this folder. */
#ifndef SN_FEED_H
#define SN_FEED_H

#include "engine/ingest.h"
#include "sensors/feed/form.h"

#define SN_LINE_LIMIT ((size_t)16 * 1024 * 1024)
#define SN_HOLD_BYTES ((size_t)16 * 1024 * 1024)

struct sn_reader_options {
  const char *path; /* "-": standard input; NULL: DESCRIPTOR */
  int descriptor;   /* stays the caller's: it is not closed and its flags are not changed */
  enum sn_format format;
  const struct sn_form
      *form; /* outlives the reader, and has the format; NULL: the file is made for the relation */
  const struct net_layout *layout; /* outlives the reader; no fields of type NET_INSTANT */
  struct net_time_context time;
  struct base_strings *strings; /* outlives the reader */
  /* Never wait. A file that PATH names is read to its end and then answered for with NET_READ_AGAIN
   * for ever, as it may grow; its last line counts only when it has its newline. When it is rotated,
   * the reader says so and goes on at the beginning of what has its name. FIFOs, sockets,
   * terminals, standard input and DESCRIPTOR end when they end. */
  bool following;
  /* What was reported and is not settled yet is held in memory and can be reported again, also what came by a FIFO
   * and what stood in a file that has been rotated meanwhile. When SN_HOLD_BYTES are held it is to be settled. */
  bool holding;
  /* A snapshot relation: a record without any time lasts from beginning to forever. */
  bool timeless;
  /* Where to go on: what position() said. Of what is no regular file nothing is skipped; there the
   * bytes are only counted from here. */
  int64_t position;
  size_t line_limit; /* longest record in bytes; 0: SN_LINE_LIMIT */
};

/* Opens the input; the header line is read by the first calls of read(). BASE_SYSTEM: it cannot be
 * opened, which was reported to DIAGS. An input that is not followed is waited for; when a signal
 * interrupts the wait and base_env_interrupted() says so, read() returns NET_READ_AGAIN, and
 * opening returns BASE_CANCEL. */
enum base_status sn_reader_open(const struct sn_reader_options *options,
                                struct base_diag_sink *diags,
                                struct net_reader **ret) BASE_MUST_USE;

#endif
