/* What is made from a description: the C header of its sensors, declarations of its relations,
 * documentation, a summary, and what a change of it means. All are appended to a buffer.          */
#ifndef SN_SDF_OUTPUT_H
#define SN_SDF_OUTPUT_H

#include "sensors/sdf/description.h"

/* The C header (C99, C++11) with one inline function per event; REMOTE is the remote description. */
void sn_write_header(struct base_buffer *out, const struct sn_description *description,
                     const struct base_buffer *remote);

/* TQuel: a create statement for each event. RESERVED, which NULL ends, are the words of the language that
 * must be quoted as names.                                                                       */
void sn_write_tquel(struct base_buffer *out, const struct sn_description *description,
                    const char *const *reserved);
/* The create statement of one event, without a newline. */
void sn_write_create(struct base_buffer *out, const struct sn_event_description *event,
                     const char *const *reserved);

/* Markdown. */
void sn_write_document(struct base_buffer *out, const struct sn_description *description,
                       const char *const *reserved);

/* What there is, in a few lines (figure E-2 of the thesis). */
void sn_write_summary(struct base_buffer *out, const struct sn_description *description);

/* A line for each difference. Returns whether NEWER is compatible with OLDER: standing queries over
 * OLDER's relations go on, with the same meaning, when programs are built with NEWER.              */
bool sn_write_differences(struct base_buffer *out, const struct sn_description *older,
                          const struct sn_description *newer);
/* Whether every value of FROM is one of TO. */
bool sn_type_fits(struct net_type from, struct net_type to);

#endif
