/* Relations that can only be destroyed, because somebody has edited the database. */
#ifndef TQUEL_SESSION_UNUSABLE_H
#define TQUEL_SESSION_UNUSABLE_H

#include "tquel/session/catalogue/catalogue.h"

/* A relation that nobody can use: the catalogue contradicts itself about it, or its definition makes no sense. */
struct session_unusable {
  const char *name;
  const char *why;
  const char *definition; /* NULL: none */
  const char *const *inputs;
  size_t input_count;
  bool by_definition; /* only who has tried to bind it knows */
};

/* Adds RELATION to those if it is unusable; KNOWN is what was known before the catalogue was loaded. */
bool session_add_unusable(struct tql_session *session, const struct st_relation *relation,
                          const struct session_unusable *known, size_t known_count);
void session_remove_unusable(struct tql_session *session, const char *name);
/* Binds all definitions; those that do not bind are unusable, with all that is computed from them. */
void session_check_definitions(struct tql_session *session);
/* Warns of each. */
void session_report_unusable(struct tql_session *session);
/* WHY: also what is wrong with it, which names what it is made of. */
void session_describe_unusable(const struct session_unusable *unusable, bool why,
                               struct base_buffer *out);
/* The relations that depend on RELATION, as "A, B"; NULL if none. */
const char *session_dependants(struct tql_session *session, struct base_arena *arena,
                               const struct session_relation *relation);

#endif
