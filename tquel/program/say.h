/* What a process that serves others says on standard error. */
#ifndef TQUEL_PROGRAM_SAY_H
#define TQUEL_PROGRAM_SAY_H

#include <stddef.h>

/* Writes TEXT, one message or more with their line ends, to standard error, and waits for nobody: where who reads it takes
 * nothing now (a pipe that is full, a terminal that is stopped), TEXT is counted, and the first that can be written
 * again is how many were not shown (MSG_NOT_SAID). SIGPIPE is to be ignored; who has gone is told nothing. */
void program_say(const char *text, size_t length);

#endif
