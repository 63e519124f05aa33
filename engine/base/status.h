/* Statuses and checks.
 *
 * Errors are of three kinds and never mixed:
 *   - a programmer's mistake: BASE_CHECK, always on, prints its id and aborts;
 *   - a user's mistake in a statement, description or record: a diagnostic (diag.h);
 *   - an operating failure (memory, file, database): a base_status that the caller must look at,
 *     usually with a diagnostic that says why.                                                    */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

enum base_status {
  BASE_OK = 0,
  BASE_USER,   /* a user's mistake; a diagnostic was reported */
  BASE_SYSTEM, /* the operating system or a library failed; a diagnostic was reported */
  BASE_AGAIN,  /* nothing now, ask again later (a feed without news) */
  BASE_END,    /* nothing any more */
  BASE_CANCEL, /* the user interrupted */
};

#define BASE_MUST_USE __attribute__((warn_unused_result))

/* Aborts with ID, a short stable name for the precondition, when COND is false. Never compiled out. */
#define BASE_CHECK(COND, ID) ((COND) ? (void)0 : base_check_failed((ID), #COND, __FILE__, __LINE__))

_Noreturn void base_check_failed(const char *id, const char *condition, const char *file, int line);

#endif
