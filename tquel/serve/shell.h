/* A shell as the server knows it: what output.c, questions.c and shells.c share. */
#ifndef TQL_SERVE_SHELL_H
#define TQL_SERVE_SHELL_H

#include "tquel/serve/output.h"
#include "tquel/serve/peer.h"

struct server_shell {
  struct server_peer *peer;
  struct tql_seat *seat;
  struct program_output output;
  void (*show)(void *context, const char *name, const struct net_layout *layout,
               const union net_slot *row, uint8_t marks, net_chronon checkpoint);
  struct base_buffer text;                 /* of statements, as far as it came */
  struct base_buffer name;                 /* of the text */
  struct sn_message_statements statements; /* how they are to be run; its texts are those above */
  struct tql_rest rest;                    /* of the text, what is not done */
  struct server_reading *reading;          /* a reader runs that one; NULL: none does */
  struct base_buffer held;                 /* of displays, until its result is over */
  bool begun;                              /* some of the reader's result has been sent */
  int64_t awaits_until,
      try_at;      /* monotonic ns: it waits for checkpoints (tql_rest.awaits); 0: it does not */
  size_t awaiting; /* which statement of the text does */
  bool running;
  bool cancelled;    /* its statement is not wanted any more */
  bool told;         /* an error of the text that runs was sent to it */
  int64_t looked_at; /* monotonic ns: for CANCEL */
  uint64_t dropped;  /* rows of displays, since it was told */
};

/* --- questions.c */

void server_question_take(struct server_peer *peer, const struct sn_message *message);

#endif
