/* Signals: Ctrl-C interrupts the session, SIGTERM and SIGHUP also end the program in order. */
#ifndef TQL_PROGRAM_SIGNALS_H
#define TQL_PROGRAM_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* INTERACTIVE: Ctrl-C never ends the program. Otherwise the second one does at once. */
void program_signals_install(bool interactive);
/* Not interactive: the Ctrl-C that came is dealt with, the next one is as the first. */
void program_signals_interrupt_again(void);
/* The signal that asked the program to end (SIGTERM, SIGHUP), 0: none. */
int program_signals_ending(void);
/* The terminal's size changed, or the program was continued after a stop, since the last question. */
bool program_signals_resized(void);
bool program_signals_continued(void);
/* Waits until one of COUNT has news, or TIMEOUT_MS have passed (-1: for ever); false: nothing has, and REVENTS
 * are 0. A signal ends the wait, also one that came before. */
bool program_signals_wait(struct pollfd *polled, size_t count, int timeout_ms);
/* Ends the process by SIGNAL, so that the caller sees why. */
_Noreturn void program_signals_die(int signal_number);
/* In a child before exec: the signals as the user expects them. */
void program_signals_reset(void);

#endif
