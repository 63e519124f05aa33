/* The columns that records for a layout may have. Internal to sensors/feed. */
#ifndef SN_COLUMNS_H
#define SN_COLUMNS_H

#include "engine/layout.h"
#include "sensors/feed/form.h"

enum sn_role {
  SN_WHOLE, /* at, start: both bounds of a determinate instant */
  SN_LO,    /* at_lo, start_lo */
  SN_HI,    /* at_hi, start_hi */
  SN_STOP,  /* may be empty, and so may the next two */
  SN_STOP_LO,
  SN_STOP_HI,
  SN_DEFINITE,
  SN_DOMAIN,
  SN_PART,   /* of a temporal domain: d_n0 and so on */
  SN_LENGTH, /* how long the period lasts */
};

struct sn_column {
  const char *name;
  enum sn_role role;
  uint32_t slot;
  const struct net_field *field; /* of SN_DOMAIN and SN_PART */
  /* Of a mapping. */
  enum sn_time_form form;
  const char *like, *otherwise;
  uint32_t number; /* of the file's column; 0: by its name */
  bool before;     /* SN_LENGTH: the start is what is looked for */
  const struct sn_column
      *next;    /* another one that has its values from the same column of the file */
  bool follows; /* it is the next of one */
};

/* First the triples (whole, lo, hi) of at, or of start and stop; then definite; then the domains in
 * their order, a temporal one as its four parts. */
struct sn_columns {
  struct base_arena *arena;
  struct sn_column *items;
  const char **names; /* of ITEMS, for suggestions */
  size_t count;
  size_t instants; /* triples at the front; of mappings none */
  bool
      mapped; /* the names are those of the file, and what must be there was looked at before (sn_form_fault) */
};

void sn_columns_init(struct sn_columns *columns, const struct net_layout *layout);
/* What the mappings of FORM name, in their order. They fit LAYOUT. */
void sn_columns_map(struct sn_columns *columns, const struct net_layout *layout,
                    const struct sn_form *form);
void sn_columns_done(struct sn_columns *columns);
/* -1: none of that name (case does not matter; of mappings a name that is the same in case goes first, and of those with one
 * origin the first is meant). LIKELY is tried first. */
int sn_columns_find(const struct sn_columns *columns, const char *name, size_t length,
                    size_t likely);

enum sn_lack { SN_COMPLETE, SN_MISSING, SN_TWICE };

/* Which of the columns are there: SEEN[i] == STAMP. TIMELESS: records need no times at all;
 * STOP_OPTIONAL: without a stop the period is open. *RET: the column that is missing, or that
 * stands beside another of the same meaning. */
enum sn_lack sn_columns_check(const struct sn_columns *columns, const uint64_t *seen,
                              uint64_t stamp, bool timeless, bool stop_optional, const char **ret);
/* Do mappings say anything of time? */
bool sn_columns_any_mapped_time(const struct sn_columns *columns);
/* Is any time among them? */
bool sn_columns_any_time(const struct sn_columns *columns, const uint64_t *seen, uint64_t stamp);

#endif
