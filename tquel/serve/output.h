/* What a shell is shown (output.c), by whoever has something to show it. */
#ifndef TQL_SERVE_OUTPUT_H
#define TQL_SERVE_OUTPUT_H

#include "tquel/serve/server.h"

/* Bytes that a shell has not taken yet: beyond the first, rows of displays are dropped; beyond the second it
 * gets no new statement done. */
#define SERVER_DISPLAY_BYTES ((size_t)4 << 20)
#define SERVER_RESULT_BYTES  ((size_t)1 << 20)

/* SHELL has its peer. */
void server_output_open(struct server_shell *shell);
void server_output_close(struct server_shell *shell);
/* Times of statements are shown or not. */
void server_output_timing(struct server_shell *shell, bool on);
/* The reader's result is over: rows of displays that came meanwhile follow. */
void server_output_release(struct server_shell *shell);
/* Sends what displays have shown, and how many of their rows were dropped. */
void server_output_tick(struct server_shell *shell);

/* A diagnostic of its statement. */
void server_output_report(struct server_shell *shell, const struct base_diag *diag);
/* A reader has sent it an error of its statement; some of its result, so displays wait until that is over. */
void server_output_told(struct server_shell *shell);
void server_output_begun(struct server_shell *shell);

#endif
