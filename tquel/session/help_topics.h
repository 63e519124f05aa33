/* The help topics: sections of the manual page tquel(7), made into C by tquel/man/topics.awk. */
#ifndef TQL_HELP_TOPICS_H
#define TQL_HELP_TOPICS_H

#include <stddef.h>

struct session_help_topic {
  const char
      *names; /* of the topic, parted by blanks; the first is its own, the others lead to it */
  const char *title;   /* the heading */
  const char *section; /* the heading of the section that it belongs to, or is */
  const char *text;
};
extern const struct session_help_topic session_help_topics[];
extern const size_t session_help_topic_count;

#endif
