/* What a row must satisfy to be written: the types of its domains.
 *
 * Constants were checked when the statement was analysed; what is computed (a string, a converted
 * number) is looked at here, before anything is written.                                           */
#include <string.h>

#include "tquel/session/session_impl.h"

static bool fits(struct tql_session *session, const struct session_relation *relation,
                 const struct net_layout *layout, const union net_slot *row) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    if (net_type_slots(field->type.base) != 1) continue;
    const char *fault = net_value_check(session->strings, field->type, row[field->slot]);
    if (fault == NULL) continue;
    struct base_buffer text = BASE_BUFFER_EMPTY;
    session_print_row(session, &text, layout, row);
    base_report(session->diags, MSG_STORED_VALUE, session->source,
                session->statement ? &session->statement->range : NULL,
                "the value for %s of %s is %s in the tuple %s", field->name, relation->ng.name,
                fault, base_buffer_text(&text));
    base_buffer_done(&text);
    return false;
  }
  return true;
}

enum base_status session_check_rows(struct tql_session *session, struct session_relation *relation,
                                    const struct net_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    if (!fits(session, relation, rows->layout, net_rows_row(rows, i))) return BASE_USER;
  return BASE_OK;
}
