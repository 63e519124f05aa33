/* Included before each test with Check (meson.build). Check writes to a file where each assertion that holds was passed, to
 * say it of a test that crashes: in loops that check each element this takes twenty times what is tested. Here the last
 * place is kept in memory, and written to standard error by what ends the test.                                        */
#ifndef TESTS_CHEAP_MARKS_H
#define TESTS_CHEAP_MARKS_H

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const char *volatile marked_file = "the start";
static volatile int marked_line;

#define _mark_point(file, line) ((void)(marked_file = (file), marked_line = (line)))

/* Where a test ends the process, what the others before it have said is there.  */
__attribute__((constructor)) static void say_at_once(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
}

/* The sanitizers' own handlers show the stack; they stay.  */
#ifndef __SANITIZE_ADDRESS__
static void show_mark(int number) {
  char text[300];
  int length =
      snprintf(text, sizeof text, "# signal %d after %s:%d\n", number, marked_file, marked_line);
  if (length > 0)
    (void)!write(STDERR_FILENO, text,
                 (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
  raise(number);
}

__attribute__((constructor)) static void watch_marks(void) {
  static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  struct sigaction action = {.sa_handler = show_mark, .sa_flags = SA_RESETHAND | SA_NODEFER};
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) sigaction(fatal[i], &action, NULL);
}
#endif

#endif
