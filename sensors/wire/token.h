/* Tokens: a secret that both sides have in a file, for connections over TLS. */
#ifndef SN_WIRE_TOKEN_H
#define SN_WIRE_TOKEN_H

#include "sensors/wire/message.h"

/* The first line of the file at PATH, to be freed; NULL: *ret_reason (a constant). The file must be the
 * user's or root's and nobody else may read it; a token has 16 to 4096 characters. */
char *sn_token_read(const char *path, const char **ret_reason);
/* Takes a time that does not depend on where they differ. */
bool sn_token_is(struct sn_string said, const char *token);

#endif
