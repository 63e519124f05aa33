/* What may have been lost of a relation that a statement reads: for doubt.c, and for missing.c. */
#ifndef SESSION_DOUBT_H
#define SESSION_DOUBT_H

#include "engine/losses.h"
#include "tquel/session/session_impl.h"

struct session_doubt {
  struct session_relation *relation;
  /* A derived relation that is read, and was made of RELATION: what that lacks can only be said. NULL: RELATION is
   * read itself. */
  const struct session_relation *through;
  int process; /* its domain; -1: it has none */
  struct net_losses losses;
  uint64_t lost, late, rejected; /* records */
  uint64_t sampled;              /* of those lost: passed over, as there was too much to do */
  bool uncounted;                /* more were lost */
  net_chronon from, to;          /* all of them */
  bool matters;                  /* a tuple is not as it would be without */
  bool counted;                  /* an aggregate is not */
  bool nearer;                   /* a pair of nearest partners is not */
  bool absent;                   /* what has no partner among its tuples is not */
  struct net_rows samples;       /* sampled: its tuples; layout NULL: not made yet */
  struct session_given given;    /* these */
};

#endif
