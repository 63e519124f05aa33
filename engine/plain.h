/* Which rows are plain (batch.h): by looking at them, and from memory.
 *
 * Of rows that stay where they are and are read again and again (relations in memory, results of views) it
 * is noted, a block of them at a time, what was found, so that whoever sends them as a batch knows without
 * looking. A note is made when somebody asks; rows may be added behind those that are there, and none may
 * change.                                                                                            */
#ifndef NET_PLAIN_H
#define NET_PLAIN_H

#include "engine/batch.h"

/* Are COUNT rows of LAYOUT that stand together plain, and in order? */
bool net_rows_are_plain(const struct net_layout *layout, const union net_slot *rows,
                        const uint8_t *marks, size_t count);

/* What is known of rows; zeroed: nothing. */
struct net_plain_notes {
  uint8_t *blocks; /* NET_PLAIN_... */
  size_t capacity;
};
void net_plain_notes_done(struct net_plain_notes *notes);
/* NOTES, of which there are none yet, are that the first COUNT of the rows are plain, and in order. */
void net_plain_notes_begin(struct net_plain_notes *notes, size_t count);
/* Are the rows FROM to END - 1 of ROWS, to which NOTES belong, plain for sure? False says nothing. */
bool net_plain_notes_say(struct net_plain_notes *notes, const struct net_rows *rows, size_t from,
                         size_t end);

#endif
