/* What the language has and networks do not execute yet: reported with its place, before a plan is
 * made. */
#ifndef NG_SUPPORT_H
#define NG_SUPPORT_H

#include "netgen/netgen.h"

/* False after at least one TQ-09xx. */
bool ng_query_is_supported(const struct ng_query *query, struct base_diag_sink *diags);

#endif
