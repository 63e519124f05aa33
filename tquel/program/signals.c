/* Signal handlers, which only set flags.
 *
 * The flag of base_env is what long loops of the session poll. The interactive shell waits for input
 * with SIGINT and its like blocked except during the wait itself, so that none is missed between
 * looking at the flag and sleeping. */
#include "tquel/program/signals.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/env.h"

static volatile sig_atomic_t ending, resized, continued;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  base_env_interrupt();
}

static void on_end(int signal_number) {
  ending = signal_number;
  base_env_interrupt();
}

static void on_resize(int signal_number) {
  (void)signal_number;
  resized = 1;
}

static void on_continue(int signal_number) {
  (void)signal_number;
  continued = 1;
}

static void handle(int signal_number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

static bool is_ignored(int signal_number) {
  struct sigaction action;
  return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void program_signals_install(bool interactive) {
  int flags = interactive ? 0 : (int)SA_RESETHAND;
  handle(SIGPIPE, SIG_IGN, 0);
  handle(SIGXFSZ, SIG_IGN, 0); /* a file too large is an error of write, not the end */
  /* Ignored from the start: a job in the background, or nohup. */
  if (interactive || !is_ignored(SIGINT)) handle(SIGINT, on_interrupt, flags);
  if (!is_ignored(SIGTERM)) handle(SIGTERM, on_end, SA_RESETHAND);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, on_end, SA_RESETHAND);
  if (!interactive) return;
  handle(SIGQUIT, SIG_IGN, 0);
  handle(SIGWINCH, on_resize, 0);
  handle(SIGCONT, on_continue, 0);
}

void program_signals_interrupt_again(void) {
  base_env_clear_interrupt();
  if (!is_ignored(SIGINT)) handle(SIGINT, on_interrupt, (int)SA_RESETHAND);
}

int program_signals_ending(void) {
  return ending;
}

static bool take(volatile sig_atomic_t *flag) {
  bool was_set = *flag != 0;
  *flag = 0;
  return was_set;
}

bool program_signals_resized(void) {
  return take(&resized);
}
bool program_signals_continued(void) {
  return take(&continued);
}

bool program_signals_wait(struct pollfd *polled, size_t count, int timeout_ms) {
  sigset_t blocked, before;
  const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGHUP);
  sigaddset(&blocked, SIGWINCH);
  sigaddset(&blocked, SIGCONT);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  bool signalled = base_env_interrupted() || resized || continued;
  bool news = !signalled && ppoll(polled, count, timeout_ms < 0 ? NULL : &timeout, &before) > 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  for (size_t i = 0; i < count && !news; i++) polled[i].revents = 0;
  return news;
}

void program_signals_die(int signal_number) {
  handle(signal_number, SIG_DFL, 0);
  raise(signal_number);
  _exit(128 + signal_number);
}

void program_signals_reset(void) {
  handle(SIGPIPE, SIG_DFL, 0);
  handle(SIGINT, SIG_DFL, 0);
  handle(SIGQUIT, SIG_DFL, 0);
}
