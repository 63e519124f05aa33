/* The interactive shell's state, shared by its files. */
#ifndef TQL_SHELL_TERMINAL_H
#define TQL_SHELL_TERMINAL_H

#include <histedit.h>
#include <stdio.h>

#include "tquel/shell/shell.h"

struct terminal {
  struct shell *shell;
  EditLine *edit;
  History *history;
  char *history_path;           /* NULL: not kept */
  FILE *out;                    /* the terminal */
  struct base_buffer workspace; /* what was typed and has not run yet */
  struct base_buffer previous;  /* what ran last */
  bool reading;                 /* in el_gets */
  bool wrote;                   /* something was written while the user typed */
  bool feeds_over;              /* no more to come from the feeds, until the next statement */
  bool quit;
};

/* --- interactive.c */

/* Runs TEXT, called NAME in messages; says so if it was cancelled. */
void terminal_run_text(struct terminal *terminal, const char *name, const char *text,
                       size_t length);

/* --- history.c */
void terminal_history_open(struct terminal *terminal);
void terminal_history_add(struct terminal *terminal, const char *text);
void terminal_history_close(struct terminal *terminal);

/* --- complete.c */
unsigned char terminal_complete(EditLine *edit, int character);

/* --- commands.c */

/* Does a line that begins with a backslash, other than \g. */
void terminal_command(struct terminal *terminal, const char *line);
/* The backslash commands' names, from 0, NULL at the end. */
const char *terminal_command_name(size_t index);

#endif
