/* Tuples of which some are gone, as they were old (modify R to keep AGE): what is made of them cannot be computed anew, as it
 * would be lost, and who asks for the time in which they were is warned. */
#include "tquel/session/losses/losses.h"
#include "tquel/session/session_impl.h"

static const struct session_relation *incomplete_input(struct tql_session *session,
                                                       const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *input = session->relations[i];
    if (input->keep.incomplete && session_depends(session, relation, input)) return input;
  }
  return NULL;
}

bool session_lacks_tuples(struct tql_session *session, const struct session_relation *relation) {
  return relation->keep.incomplete || incomplete_input(session, relation) != NULL;
}

bool session_has_incomplete_readers(struct tql_session *session,
                                    const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *reader = session->relations[i];
    if (session_is_derived(reader) && !reader->view && session_depends(session, reader, relation) &&
        incomplete_input(session, reader) != NULL)
      return true;
  }
  return false;
}

enum base_status session_refuse_anew(struct tql_session *session,
                                     const struct session_relation *relation) {
  const struct session_relation *input = incomplete_input(session, relation);
  struct base_buffer time = BASE_BUFFER_EMPTY;
  /* It has nothing to lose yet. */
  if (input == NULL || relation->checkpoint == NET_BEGINNING) return BASE_OK;
  net_time_print(&time, session->timeline, input->keep.gone);
  base_report_hint(session->diags, MSG_NOT_ANEW, NULL, NULL,
                   "write only behind the checkpoint; or destroy it and define it again, over what "
                   "is there",
                   "%s cannot be computed anew: tuples of %s that ended before %s are gone",
                   relation->ng.name, input->ng.name, base_buffer_text(&time));
  base_buffer_done(&time);
  return BASE_USER;
}

enum base_status session_complete(struct tql_session *session, struct session_relation *relation) {
  if (!relation->keep.incomplete) return BASE_OK;
  relation->keep.incomplete = false;
  relation->keep.removed = 0;
  return st_is_complete(session->database, relation->ng.name);
}

void session_warn_incomplete(struct tql_session *session, struct session_relation *relation) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!relation->keep.incomplete || relation->keep.warned == session->statement) return;
  relation->keep.warned = session->statement;
  base_buffer_puts(&text, relation->ng.name);
  if (relation->keep.ages && relation->keep.age > 0) {
    base_buffer_puts(&text, " is kept ");
    session_print_age(session, &text, relation->keep.age);
  } else {
    base_buffer_puts(&text, relation->keep.ages ? " is not kept" : " was not always kept");
  }
  base_buffer_puts(&text, ": tuples that ended before ");
  net_time_print(&text, session->timeline, relation->keep.gone);
  base_report_hint(session->diags, MSG_INCOMPLETE, session->source,
                   session->statement ? &session->statement->range : NULL,
                   "ask about a time behind that: when it overlaps a period that starts there",
                   "%s are gone", base_buffer_text(&text));
  base_buffer_done(&text);
}

static void warn_reader(void *context, const struct ng_relation *ng, net_chronon from) {
  struct tql_session *session = context;
  struct session_relation *relation = session_of(session, ng);
  if (relation != NULL && relation->keep.incomplete && from < relation->keep.gone)
    session_warn_incomplete(session, relation);
}

void session_warn_plan(struct tql_session *session, const struct ng_plan *plan) {
  ng_plan_each_read(plan, warn_reader, session);
}
