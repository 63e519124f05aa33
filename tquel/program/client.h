/* Connecting to a server: addresses from options, the greeting, waiting with an eye on signals. */
#ifndef TQL_PROGRAM_CLIENT_H
#define TQL_PROGRAM_CLIENT_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "sensors/wire/connection.h"
#include "tquel/program/options.h"

struct program_address {
  struct sn_address address;
  char *text;    /* as users know it */
  char *storage; /* of the address's texts */
};

/* The address TEXT (NULL or ".": the default) with the files that the options name. False: reported. */
bool program_address_read(const struct program_options *options, const char *text, bool is_server,
                          struct base_diag_sink *diags, struct program_address *ret);
void program_address_done(struct program_address *address);
/* The secret in the file that the options name; NULL without one. False: reported. The caller's to free. */
bool program_token_read(const struct program_options *options, struct base_diag_sink *diags,
                        char **ret_token);

/* What the server said in its welcome. */
struct program_welcome {
  char *database;
  uint64_t durable;
  uint32_t credit;
  enum net_timeline timeline;
};

/* Connects and greets. BASE_OK, BASE_USER or BASE_SYSTEM after a report, BASE_CANCEL. */
enum base_status program_client_open(const struct program_options *options, enum sn_role role,
                                     const char *identity, struct base_diag_sink *diags,
                                     struct sn_connection **ret,
                                     struct program_welcome *ret_welcome) BASE_MUST_USE;
void program_welcome_done(struct program_welcome *welcome);

/* Waits until something can be sent or received, a signal comes or TIMEOUT_MS have passed (-1: for ever), and
 * then does it. False: the connection is over; what came before can still be asked for. */
bool program_client_wait(struct sn_connection *connection, int timeout_ms);

#endif
