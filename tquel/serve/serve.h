/* `tquel serve`. */
#ifndef TQL_SERVE_SERVE_H
#define TQL_SERVE_SERVE_H

/* Runs `tquel serve`; returns the exit code. */
int serve_main(int count, char *const *arguments);

#endif
