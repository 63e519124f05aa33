/* Budgets: how much memory and time what runs now may take, and what becomes of memory that runs out.
 *
 * One thing runs at a time in a process (a statement, a turn of a server): between base_budget_begin() and
 * base_budget_end(). What it exceeds is said once, by base_env_interrupted(): so it unwinds as if the user had
 * interrupted it, and whoever began it asks base_budget_excess() for the reason. One thread uses this.        */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum base_excess {
  BASE_EXCESS_NONE,
  BASE_EXCESS_MEMORY,    /* more than its budget of memory */
  BASE_EXCESS_TOTAL,     /* less than that, but more than the process may have in all */
  BASE_EXCESS_TIME,      /* more than its budget of time */
  BASE_EXCESS_EXHAUSTED, /* the system gave no memory any more */
  BASE_EXCESS_LOG,       /* the state that it reads is too old (storage/ahead.c) */
  BASE_EXCESS_SPILLED,   /* what is larger than its memory has no room on the disk (spill.h) */
};

struct base_budget {
  size_t memory; /* bytes that may come to what the process has now; SIZE_MAX: no limit */
  size_t total;  /* bytes that the process may have in all; SIZE_MAX: no limit */
  int64_t time;  /* ns from now on; INT64_MAX: no limit */
};
#define BASE_BUDGET_NONE ((struct base_budget){SIZE_MAX, SIZE_MAX, INT64_MAX})

/* Something begins. The first call takes the reserve that is given up when memory runs out. */
void base_budget_begin(const struct base_budget *budget);
/* It is over. If it has exceeded its budget of memory, what it has freed goes back to the system, and the reserve
 * is taken again. */
void base_budget_end(void);
/* Has what runs exceeded something? Polled by base_env_interrupted(). */
bool base_budget_is_exceeded(void);
/* It unwinds: from now until its end it is not interrupted by its budget any more. */
void base_budget_wind_up(void);
/* What has been exceeded since the last begin, also after the end. */
enum base_excess base_budget_excess(void);
bool base_budget_excess_is_of_memory(void);
/* There is no room on the disk, for REASON (an errno). */
void base_budget_spill_failed(int reason);
int base_budget_spill_reason(void);
/* What runs reads a state that is kept for it alone, at others' cost. */
void base_budget_log_outgrown(void);
/* What runs cannot have the memory that it needs: for those who were told so by a library. */
void base_budget_exhausted(void);

/* Is there room for BYTES more? Asked before what could also do with less. */
bool base_budget_has_room(size_t bytes);

/* Bytes of memory that the process has for itself, without what is mapped from files. */
size_t base_memory_in_use(void);
/* As many as there were when somebody last looked, which costs nothing; 0: nobody has. */
size_t base_memory_seen(void);
/* Bytes that this machine, or the control group of this process, has in all. */
size_t base_memory_of_machine(void);

/* For the allocator. BYTES are about to be asked for. */
void base_budget_look(size_t bytes);
/* An allocation has failed: gives the reserve up. It is worth trying again the first two times in a row, which
 * ATTEMPT counts from 0 on. */
bool base_budget_relieve(int attempt);

#endif
