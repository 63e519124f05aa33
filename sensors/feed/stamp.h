/* Times and lengths of time as files have them that were not made for a relation: numbers of seconds or of parts of
 * them, and texts by a format. For sensors/feed and tquel/infer. */
#ifndef SN_STAMP_H
#define SN_STAMP_H

#include "engine/time.h"
#include "sensors/feed/form.h"

/* What reading them remembers from one to the next. */
struct sn_stamps {
  struct net_time_context time;
  /* Of formats without a year: that of the first time is the last one that is not in the future, and a time that is far
   * before the one read last is of the next year. */
  int64_t year;       /* of the last one; 0: none was read */
  int month;          /* and its month */
  bool assumed;       /* a year was */
  int64_t first_year; /* the first that was */
};

void sn_stamps_init(struct sn_stamps *stamps, const struct net_time_context *time);

/* The time TEXT in FORM, which is not SN_TIME_OWN. NULL: it is *RET; else what TEXT is instead, as in "is no time". What is
 * finer than a chronon is left out. */
const char *sn_stamp_read(struct sn_stamps *stamps, enum sn_time_form form, const char *like,
                          const char *text, size_t length, struct net_instant *ret);
/* Does TEXT, which FORM may be SN_TIME_OWN of, say that there is no end: a day after the last one of the timeline, as 9999-12-31 is,
 * or infinity? */
bool sn_stamp_is_endless(const struct sn_stamps *stamps, enum sn_time_form form, const char *like,
                         const char *text, size_t length);
/* A length of time in ns, a number in FORM, or with SN_TIME_OWN also one with a unit ("2.3 ms"); never below zero. */
const char *sn_length_read(enum sn_time_form form, const char *text, size_t length, int64_t *ret);

/* What is wrong with a format, or NULL: "%Q". */
const char *sn_like_fault(struct base_arena *arena, const char *like);
/* Does it say no year, so that one is assumed? */
bool sn_like_lacks_year(const char *like);

#endif
