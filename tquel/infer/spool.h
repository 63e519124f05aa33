/* Standard input, and what else can be read once only, kept in a file without a name, so that it can be looked at and then read. */
#ifndef TQL_INFER_SPOOL_H
#define TQL_INFER_SPOOL_H

#include "engine/base/diag.h"
#include "engine/base/status.h"

/* All that PATH has ("-": standard input), or whole lines of its first MOST bytes (0: all), as a descriptor that the caller
 * closes. What goes wrong is reported to DIAGS. */
enum base_status tql_spool(const char *path, size_t most, struct base_diag_sink *diags,
                           int *ret) BASE_MUST_USE;
/* Can PATH be read once only? */
bool tql_is_stream(const char *path);

#endif
