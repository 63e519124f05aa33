/* The source of a query without variables: one row, from the query's origin to `forever`. */
#ifndef NG_SINGLE_ROW_H
#define NG_SINGLE_ROW_H

#include "netgen/query.h"

/* LAYOUT is a period's without fields, and lives as long as the source. The caller takes it over. */
struct net_source *ng_single_row(const struct ng_query *query, const struct net_layout *layout);

#endif
