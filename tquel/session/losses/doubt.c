/* What may have been lost of what a retrieve or print reads (tquel(7), "loss").
 *
 *      Lost, Late, Rejected ──▶ losses of a relation, by process ──▶ its tuples, as far as they are certain
 *
 * Nothing of it is stored: the table of a traced or sampled relation says what its records say, and a loss
 * may become known long after them. Who asks has the losses of what he reads collected once (session_begin_doubts);
 * relations of which nothing was lost are read as ever. Of a traced one the stored periods are read in the
 * place of its records (ng_relation's in_doubt), each with the stop that it has for sure; a sampled one is made
 * anew from its samples, as a period does not tell at which times the entity was looked at.
 *
 * A derived relation that is stored was made of what was there then. Who looks at one of whose inputs something was
 * lost looks through it, as through a view (session_is_looked_through), so that it says what the same retrieve asked
 * once would. Not where it was defined to ignore losses; and where it cannot be computed anew, because old tuples
 * of its inputs are gone, it has rejected combinations, or that fails, its table is read, and that is said beside the
 * answer.
 *
 * A tuple of Lost concerns the relation that it names, or, naming none, all that its source may bring. A source
 * that is called like a process, with a # in its name, brings what its process says alone, where the relation
 * has a domain that tells.                                                                           */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tquel/session/losses/doubt.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/tables/tables.h"

/* --- what was lost */

/* COUNTED: it is what aggregates count, perhaps. */
static bool may_be_in_doubt(const struct session_relation *relation, bool counted) {
  return session_has_records(relation) ||
         (counted && (relation->kind == ST_EVENT || relation->kind == ST_PERIOD));
}

/* The domain that says whose records they are; -1: none does. */
static int process_domain(const struct session_relation *relation) {
  const struct net_layout *layout = relation->ng.layout;
  int index = net_layout_find(layout, "Process");
  if (index < 0) return -1;
  enum net_base_type base = layout->fields[index].type.base;
  return base == NET_STRING || base == NET_NAME ? index : -1;
}

static void note(struct session_doubt *doubt, struct net_loss loss) {
  if (loss.from >= loss.to) return;
  net_losses_add(&doubt->losses, loss);
  if (loss.from < doubt->from) doubt->from = loss.from;
  if (loss.to > doubt->to) doubt->to = loss.to;
}

static bool is_text(const struct tql_session *session, base_string_id id, const char *text) {
  size_t length;
  return strcasecmp(base_strings_text(session->strings, id, &length), text) == 0;
}

/* A tuple of Lost, which may be about DOUBT's relation. */
static void note_lost(const struct tql_session *session, struct session_doubt *doubt,
                      const struct net_layout *layout, const union net_slot *row) {
  base_string_id relation = row[layout->fields[0].slot].s, source = row[layout->fields[1].slot].s;
  int64_t count = row[layout->fields[3].slot].i;
  size_t length;
  bool of_process = strchr(base_strings_text(session->strings, source, &length), '#') != NULL;
  bool told_apart = of_process && doubt->process >= 0;
  if (!is_text(session, relation, doubt->relation->ng.name)) {
    if (!is_text(session, relation, "") || (of_process && doubt->process < 0)) return;
  }
  if (count > 0) doubt->lost += (uint64_t)count;
  if (count > 0 && is_text(session, row[layout->fields[2].slot].s, "sampled"))
    doubt->sampled += (uint64_t)count;
  if (count <= 0) doubt->uncounted = true;
  note(doubt, (struct net_loss){!told_apart, told_apart ? source : 0, row[0].i, row[3].i});
}

/* A tuple of Late or Rejected. A record that cannot be read has the latest time that was seen before it: it may have
 * ended also what began then. */
static void note_diverted(const struct tql_session *session, struct session_doubt *doubt,
                          const struct net_layout *layout, const union net_slot *row, bool late) {
  if (!is_text(session, row[layout->fields[0].slot].s, doubt->relation->ng.name)) return;
  doubt->late += late;
  doubt->rejected += !late;
  note(doubt, (struct net_loss){true, 0, row[0].i, net_chronon_add(row[1].i, late ? 1 : 2)});
}

enum which { LOST, LATE, REJECTED };

/* What a standing query went on without, because it failed, would fail who asks now. */
static void note_rejecting(const struct tql_session *session, const struct net_layout *layout,
                           const union net_slot *row) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (relation->derived.looked_through && !relation->derived.as_stored)
      relation->derived.as_stored =
          is_text(session, row[layout->fields[0].slot].s, relation->ng.name);
  }
}

static void note_row(const struct tql_session *session, enum which which,
                     const struct net_layout *layout, const union net_slot *row) {
  if (which == REJECTED) note_rejecting(session, layout, row);
  for (size_t i = 0; i < session->doubt_count; i++) {
    struct session_doubt *doubt = &session->doubts[i];
    if (which == LOST)
      note_lost(session, doubt, layout, row);
    else
      note_diverted(session, doubt, layout, row, which == LATE);
  }
}

struct noting {
  struct tql_session *session;
  enum which which;
};

static enum base_status note_batch(void *context, const struct net_batch *batch) {
  const struct noting *noting = context;
  for (uint32_t i = 0; i < batch->count; i++)
    note_row(noting->session, noting->which, batch->layout, net_batch_row(batch, i));
  return BASE_OK;
}

static enum base_status read_losses(struct tql_session *session, enum which which) {
  static const char *const names[] = {"Lost", "Late", "Rejected"};
  const struct session_relation *relation = session_find(session, names[which]);
  if (relation == NULL) return BASE_OK;
  struct noting noting = {session, which};
  const struct net_scan scan = {.relation = relation->ng.name,
                                .layout = relation->ng.layout,
                                .form = NET_SCAN_TUPLES,
                                .checkpoint = NET_FOREVER};
  return net_store_each_batch(st_net(session->database), &scan, note_batch, &noting);
}

/* --- for a statement */

static void add(struct tql_session *session, struct session_relation *relation,
                const struct session_relation *through) {
  base_grow(&session->doubts, &session->doubt_capacity, session->doubt_count + 1,
            sizeof *session->doubts);
  session->doubts[session->doubt_count++] = (struct session_doubt){
      .relation = relation,
      .through = through,
      .process = process_domain(relation),
      .from = NET_FOREVER,
      .to = NET_BEGINNING,
  };
}

static bool is_made(const struct session_relation *relation) {
  return session_is_derived(relation) && !relation->view;
}

/* Losses are no business of who reads it? */
static bool ignores_losses(struct tql_session *session, struct session_relation *relation) {
  const struct ng_query *query = session_query(session, relation);
  return query == NULL || query->losses_ignored;
}

static bool may_look_through(struct tql_session *session, struct session_relation *relation) {
  return is_made(relation) && !relation->derived.as_stored &&
         !session_lacks_tuples(session, relation) && !ignores_losses(session, relation);
}

static void add_read(struct tql_session *session, struct session_relation *relation, bool counted,
                     uint64_t walk) {
  if (!session_visit(relation, walk)) return;
  if (may_be_in_doubt(relation, counted)) add(session, relation, NULL);
  relation->derived.looked_through = may_look_through(session, relation);
  for (size_t i = 0; session_is_looked_through(relation) && i < relation->derived.input_count;
       i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL) add_read(session, input, true, walk);
  }
}

static void free_doubt(struct session_doubt *doubt) {
  if (doubt->through == NULL) doubt->relation->ng.in_doubt = false;
  net_losses_done(&doubt->losses);
  if (doubt->samples.layout != NULL) net_rows_done(&doubt->samples);
}

/* May an aggregate count what QUERY reads, or be the nearest partner among it, or absent? Those of definitions may, which come by their
 * names alone. */
static bool may_count(struct tql_session *session, const struct ng_query *query) {
  bool counts =
      query->aggregate_count > 0 || query->absence_count > 0 || query->sequence != NG_SEQUENCE_FULL;
  for (size_t i = 0; i < query->variable_count && !counts; i++) {
    const struct session_relation *input = session_of(session, query->variables[i].relation);
    counts = input != NULL && session_is_derived(input);
  }
  return counts;
}

/* What the derived relation THROUGH was made of, by way of RELATION. */
static void add_made(struct tql_session *session, const struct session_relation *through,
                     const struct session_relation *relation, uint64_t walk) {
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input == NULL || !session_visit(input, walk)) continue;
    if (session_is_derived(input))
      add_made(session, through, input, walk);
    else if (may_be_in_doubt(input, true))
      add(session, input, through);
  }
}

/* The derived relations whose tables are read where RELATION is. */
static void find_made(struct tql_session *session, struct session_relation *relation,
                      uint64_t walk) {
  if (!session_visit(relation, walk)) return;
  if (!session_is_looked_through(relation) && is_made(relation) &&
      !ignores_losses(session, relation))
    add_made(session, relation, relation, ++session->walks);
  for (size_t i = 0; session_is_looked_through(relation) && i < relation->derived.input_count;
       i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL) find_made(session, input, walk);
  }
}

static void add_all_made(struct tql_session *session, const struct ng_query *query,
                         struct session_relation *relation) {
  struct session_relation **read = base_xcalloc(1 + (query != NULL ? query->variable_count : 0),
                                                sizeof(struct session_relation *));
  size_t count = 0;
  if (relation != NULL) read[count++] = relation;
  for (size_t i = 0; query != NULL && i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    bool known = input == NULL || query->variables[i].costs;
    for (size_t j = 0; j < count && !known; j++) known = read[j] == input;
    if (!known) read[count++] = input;
  }
  for (size_t i = 0; i < count; i++) find_made(session, read[i], ++session->walks);
  free(read);
}

/* What QUERY, or RELATION, reads that may be in doubt. */
static void find_read(struct tql_session *session, const struct ng_query *query,
                      struct session_relation *relation) {
  uint64_t walk = ++session->walks;
  if (relation != NULL) add_read(session, relation, false, walk);
  bool counted = query != NULL && may_count(session, query);
  for (size_t i = 0; query != NULL && i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input != NULL && !query->variables[i].costs) add_read(session, input, counted, walk);
  }
  add_all_made(session, query, relation);
}

static void forget_doubts(struct tql_session *session) {
  for (size_t i = 0; i < session->doubt_count; i++) free_doubt(&session->doubts[i]);
  session->doubt_count = 0;
  for (size_t i = 0; i < session->relation_count; i++)
    session->relations[i]->derived.looked_through = false;
}

/* Derived relations of which nothing was lost are read as they are stored. */
static void look_through_few(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    bool lacks = false;
    for (size_t k = 0; k < session->doubt_count && relation->derived.looked_through && !lacks; k++)
      lacks = session->doubts[k].through == NULL &&
              session_depends(session, relation, session->doubts[k].relation);
    relation->derived.looked_through = lacks;
  }
}

/* What was lost of what was found to be read. *RET_AGAIN: that is to be found once more, as a relation that was to be
 * looked through is to be read as it is stored. */
static enum base_status find_lost(struct tql_session *session, bool *ret_again) {
  enum base_status status = BASE_OK;
  for (int which = LOST; which <= REJECTED && status == BASE_OK && session->doubt_count > 0;
       which++)
    status = read_losses(session, (enum which)which);
  size_t kept = 0;
  for (size_t i = 0; i < session->doubt_count; i++) {
    struct session_doubt *doubt = &session->doubts[i];
    if (doubt->losses.count == 0) {
      free_doubt(doubt);
      continue;
    }
    net_losses_settle(&doubt->losses);
    if (doubt->through == NULL) doubt->relation->ng.in_doubt = doubt->relation->kind == ST_TRACED;
    session->doubts[kept++] = *doubt;
  }
  session->doubt_count = kept;
  look_through_few(session);
  *ret_again = false;
  for (size_t i = 0; i < session->relation_count; i++)
    *ret_again |=
        session->relations[i]->derived.as_stored && session->relations[i]->derived.looked_through;
  return status;
}

static enum base_status find_doubts(struct tql_session *session, const struct ng_query *query,
                                    struct session_relation *relation, bool *ret_again) {
  find_read(session, query, relation);
  return find_lost(session, ret_again);
}

enum base_status session_begin_doubts(struct tql_session *session, const struct ng_query *query,
                                      struct session_relation *relation) {
  enum base_status status;
  BASE_CHECK(session->doubt_count == 0, "doubts-nested");
  if (session->seat->settings.losses_ignored) return BASE_OK;
  bool again;
  while ((status = find_doubts(session, query, relation, &again)) == BASE_OK && again)
    forget_doubts(session);
  if (status != BASE_OK) session_end_doubts(session, false);
  return status;
}

static bool looks_through(const struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (session->relations[i]->derived.looked_through) return true;
  return false;
}

/* Begins anew, with none that is looked through. */
static enum base_status begin_as_stored(struct tql_session *session, const struct ng_query *query,
                                        struct session_relation *relation) {
  bool again;
  for (size_t i = 0; i < session->relation_count; i++)
    session->relations[i]->derived.as_stored |= session->relations[i]->derived.looked_through;
  forget_doubts(session);
  session_end_missing(session);
  return find_doubts(session, query, relation, &again);
}

enum base_status session_look(struct tql_session *session, const struct ng_query *query,
                              struct session_relation *relation,
                              enum base_status (*look)(void *context), void *context) {
  enum base_status status = session_begin_doubts(session, query, relation);
  if (status != BASE_OK) return status;
  if (looks_through(session)) {
    size_t first = session->diags->count;
    base_diag_hold(session->diags);
    status = look(context);
    if (status == BASE_USER) {
      base_diag_drop(session->diags, first);
      status = begin_as_stored(session, query, relation);
      if (status == BASE_OK) status = look(context);
    }
    base_diag_release(session->diags);
  } else {
    status = look(context);
  }
  session_end_doubts(session, status == BASE_OK);
  return status;
}

static void count_of(struct base_buffer *out, uint64_t count, const char *what) {
  if (count == 0) return;
  base_buffer_printf(out, "%s%llu record%s %s", out->length > 0 ? ", " : "",
                     (unsigned long long)count, count == 1 ? "" : "s", what);
}

static void print_counts(const struct session_doubt *doubt, struct base_buffer *counts) {
  count_of(counts, doubt->lost, "lost");
  if (doubt->sampled > 0)
    base_buffer_printf(counts, " (%llu as sensors were sampled)",
                       (unsigned long long)doubt->sampled);
  if (doubt->uncounted)
    base_buffer_printf(counts, "%s",
                       counts->length > 0 ? " and others that nobody counted"
                                          : "records lost that nobody counted");
  count_of(counts, doubt->late, "late");
  count_of(counts, doubt->rejected, "rejected");
}

static void report_through(struct tql_session *session, const struct session_doubt *doubt,
                           const char *counts, const char *times) {
  const char *name = doubt->relation->ng.name, *made = doubt->through->ng.name;
  base_report_hint(session->diags, MSG_LOSSES_OF_INPUT, session->source,
                   session->statement ? &session->statement->range : NULL,
                   base_arena_printf(session->statement_arena,
                                     "ask %s itself, or a view of it, for what is certain", name),
                   "%s is made of what is there of %s: %s between %s", made, name, counts, times);
}

void session_describe_losses(struct tql_session *session, struct session_relation *relation,
                             struct base_buffer *out) {
  bool again, stored = session_is_derived(relation) && !relation->view;
  enum base_status status;
  do {
    forget_doubts(session);
    add_read(session, relation, true, ++session->walks);
    add_all_made(session, NULL, relation);
    status = find_lost(session, &again);
  } while (status == BASE_OK && again);
  for (size_t i = 0; i < session->doubt_count && status == BASE_OK; i++) {
    const struct session_doubt *doubt = &session->doubts[i];
    struct base_buffer counts = BASE_BUFFER_EMPTY;
    print_counts(doubt, &counts);
    base_buffer_printf(out, "lost:       %s: %s between ", doubt->relation->ng.name,
                       base_buffer_text(&counts));
    net_time_print(out, session->timeline, doubt->from);
    base_buffer_puts(out, " and ");
    net_time_print(out, session->timeline, doubt->to);
    base_buffer_puts(out, !stored ? "\n"
                          : doubt->through == NULL
                              ? "; print heeds it, the table does not\n"
                              : "; print reads the table, which does not heed it\n");
    base_buffer_done(&counts);
  }
  session_end_doubts(session, false);
}

static void say_if(struct base_buffer *out, bool is_so, const char *what) {
  if (is_so) base_buffer_printf(out, "%s%s", out->length > 0 ? "; " : "", what);
}

static void say(struct tql_session *session, const struct session_doubt *doubt) {
  struct base_buffer counts = BASE_BUFFER_EMPTY, times = BASE_BUFFER_EMPTY;
  struct base_buffer what = BASE_BUFFER_EMPTY;
  print_counts(doubt, &counts);
  say_if(&what, doubt->matters, "what they may have ended has an uncertain stop");
  say_if(&what, doubt->counted, "what may have counted them is not definite");
  say_if(&what, doubt->nearer, "pairs that they may lie between are not definite");
  say_if(&what, doubt->absent, "that one of them was absent is not definite");
  net_time_print(&times, session->timeline, doubt->from);
  base_buffer_puts(&times, " and ");
  net_time_print(&times, session->timeline, doubt->to);
  if (doubt->through != NULL)
    report_through(session, doubt, base_buffer_text(&counts), base_buffer_text(&times));
  else
    base_report_hint(session->diags, MSG_LOSSES, session->source,
                     session->statement ? &session->statement->range : NULL,
                     "set losses ignored takes what is there for all there was",
                     "%s: %s between %s: %s", doubt->relation->ng.name, base_buffer_text(&counts),
                     base_buffer_text(&times), base_buffer_text(&what));
  base_buffer_done(&counts);
  base_buffer_done(&times);
  base_buffer_done(&what);
}

/* Of a variable with credibility only what is certain is read, so what is not there may be a loss's doing. */
static bool reads_credibly(struct tql_session *session, const struct ng_query *query,
                           uint64_t walk) {
  for (size_t i = 0; query != NULL && i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (query->variables[i].credibility) return true;
    if (input != NULL && session_is_looked_through(input) && session_visit(input, walk) &&
        reads_credibly(session, session_query(session, input), walk))
      return true;
  }
  return false;
}

static bool is_uncertain(const struct net_layout *layout, const union net_slot *row,
                         uint8_t marks) {
  if (!(marks & NET_DEFINITE) || row[0].i != row[1].i) return true;
  return layout->tuple_class == NET_PERIOD && row[2].i != NET_OPEN && row[2].i != row[3].i;
}

void session_note_doubted(struct tql_session *session, const struct ng_query *query,
                          struct session_relation *relation, const struct net_rows *rows) {
  if (!session_is_in_doubt(session)) return;
  if (relation != NULL && session_is_looked_through(relation))
    query = session_query(session, relation);
  if (reads_credibly(session, query, ++session->walks)) return;
  for (size_t i = 0; i < rows->count; i++)
    if (is_uncertain(rows->layout, net_rows_row(rows, i), rows->marks[i])) return;
  for (size_t i = 0; i < session->doubt_count; i++)
    session->doubts[i].matters = session->doubts[i].counted = session->doubts[i].nearer =
        session->doubts[i].absent = false;
}

void session_end_doubts(struct tql_session *session, bool said) {
  for (size_t i = 0; i < session->doubt_count; i++) {
    const struct session_doubt *doubt = &session->doubts[i];
    if (said && (doubt->matters || doubt->counted || doubt->nearer || doubt->absent ||
                 doubt->through != NULL))
      say(session, doubt);
  }
  forget_doubts(session);
  free(session->doubts);
  session->doubts = NULL;
  session->doubt_capacity = 0;
  for (size_t i = 0; i < session->relation_count; i++)
    session->relations[i]->derived.as_stored = false;
  session_end_missing(session);
}

bool session_is_in_doubt(const struct tql_session *session) {
  for (size_t i = 0; i < session->doubt_count; i++)
    if (session->doubts[i].through == NULL) return true;
  return false;
}

struct session_doubt *session_doubt_of(const struct tql_session *session,
                                       const struct session_relation *relation) {
  for (size_t i = 0; i < session->doubt_count; i++)
    if (session->doubts[i].relation == relation && session->doubts[i].through == NULL)
      return &session->doubts[i];
  return NULL;
}

/* --- tuples of traced relations */

/* ROW, whose process is PROCESS, as far as it is certain; CHECKPOINT: of its relation. */
static void doubt_row(struct session_doubt *doubt, base_string_id process, union net_slot *row,
                      net_chronon checkpoint) {
  struct net_period period = {{row[0].i, row[1].i}, {row[2].i, row[3].i}};
  net_chronon stop;
  if (row[2].i == NET_OPEN) period.stop.lo = checkpoint < row[3].i ? checkpoint : row[3].i;
  if (!net_losses_cut(&doubt->losses, process, period, &stop)) return;
  row[2].i = stop;
  doubt->matters = true;
}

/* The periods of INNER, with those of TO's domains that its rows have. */
struct doubtful_source {
  struct net_source source;
  struct net_source *inner;
  struct session_doubt *doubt;
  struct base_arena *arena;
  net_chronon checkpoint;
  int process;       /* slot in the rows of INNER; -1: nobody's in particular */
  uint32_t *sources; /* of each slot of the rows behind their times, in those of INNER */
  struct net_batch_builder builder;
};

static enum base_status doubtful_next(struct net_source *base, struct net_batch *ret) {
  struct doubtful_source *source = (struct doubtful_source *)base;
  const struct net_layout *layout = source->builder.layout;
  struct net_batch batch;
  enum base_status status = source->inner->next(source->inner, &batch);
  if (status != BASE_OK) return status;
  net_batch_builder_clear(&source->builder);
  for (uint32_t i = 0; i < batch.count; i++) {
    const union net_slot *row = net_batch_row(&batch, i);
    union net_slot *out = net_batch_builder_add(&source->builder, net_batch_marks(&batch, i));
    uint32_t times = layout->first_domain_slot;
    net_row_copy(out, row, times);
    for (uint32_t k = times; k < layout->slot_count; k++) out[k] = row[source->sources[k - times]];
    doubt_row(source->doubt, source->process < 0 ? 0 : row[source->process].s, out,
              source->checkpoint);
  }
  *ret = net_batch_builder_batch(&source->builder, batch.checkpoint);
  ret->more = batch.more;
  return BASE_OK;
}

static void doubtful_free(struct net_source *base) {
  struct doubtful_source *source = (struct doubtful_source *)base;
  source->inner->free(source->inner);
  net_batch_builder_done(&source->builder);
  base_arena_free(source->arena);
  free(source);
}

/* LAYOUT, and behind it the process, if it is asked for and LAYOUT has it not. */
static const struct net_layout *with_process(struct base_arena *arena,
                                             const struct session_doubt *doubt,
                                             const struct net_layout *layout, int *ret_slot) {
  *ret_slot = -1;
  if (doubt->process < 0) return layout;
  const struct net_field *process = &doubt->relation->ng.layout->fields[doubt->process];
  int index = net_layout_find(layout, process->name);
  const struct net_layout *wider = layout;
  if (index < 0) {
    struct net_field *fields = BASE_NEW_ARRAY(arena, layout->field_count + 1, struct net_field);
    memcpy(fields, layout->fields, layout->field_count * sizeof *fields);
    index = (int)layout->field_count;
    fields[index] = *process;
    wider = net_layout_new(arena, layout->tuple_class, fields, layout->field_count + 1);
  }
  *ret_slot = (int)wider->fields[index].slot;
  return wider;
}

static enum base_status open_traced(struct tql_session *session, struct session_doubt *doubt,
                                    const struct net_scan *scan, struct net_source **ret) {
  struct doubtful_source *source = base_xcalloc(1, sizeof *source);
  const struct net_layout *layout = scan->layout;
  *source = (struct doubtful_source){
      .source = {.next = doubtful_next, .free = doubtful_free},
      .doubt = doubt,
      .arena = base_arena_new(),
      .checkpoint = scan->checkpoint,
  };
  struct net_scan inner = *scan;
  struct net_wanted wanted = scan->wanted ? *scan->wanted : NET_WANTED_ALL;
  wanted.stop_lo_max = NET_FOREVER; /* stops may be earlier than they are stored */
  inner.wanted = &wanted;
  inner.layout = with_process(source->arena, doubt, layout, &source->process);
  source->sources = BASE_NEW_ARRAY(source->arena, layout->slot_count + 1, uint32_t);
  for (uint32_t f = 0; f < layout->field_count; f++)
    for (uint32_t k = 0; k < net_type_slots(layout->fields[f].type.base); k++)
      source->sources[layout->fields[f].slot - layout->first_domain_slot + k] =
          inner.layout->fields[f].slot + k;
  net_batch_builder_init(&source->builder, layout, scan->batch_rows);
  struct net_store *store = st_net(session->database);
  enum base_status status = store->class->scan(store, &inner, &source->inner);
  if (status == BASE_OK) {
    *ret = &source->source;
    return BASE_OK;
  }
  net_batch_builder_done(&source->builder);
  base_arena_free(source->arena);
  free(source);
  return status;
}

/* --- those of sampled ones */

static int by_start(const void *a, const void *b) {
  const union net_slot *x = *(const union net_slot *const *)a,
                       *y = *(const union net_slot *const *)b;
  return (x[0].i > y[0].i) - (x[0].i < y[0].i);
}

static void sort_rows(struct net_rows *rows) {
  struct net_rows sorted;
  union net_slot **places = base_xcalloc(rows->count + 1, sizeof *places);
  for (size_t i = 0; i < rows->count; i++) places[i] = net_rows_row(rows, i);
  qsort(places, rows->count, sizeof *places, by_start);
  net_rows_init(&sorted, rows->layout);
  for (size_t i = 0; i < rows->count; i++) net_rows_add_copy(&sorted, places[i], NET_DEFINITE);
  free(places);
  net_rows_done(rows);
  *rows = sorted;
}

static enum base_status make_samples(struct tql_session *session, struct session_doubt *doubt) {
  if (doubt->samples.layout != NULL) return BASE_OK;
  net_rows_init(&doubt->samples, doubt->relation->ng.layout);
  enum base_status status = session_doubtful_samples(
      session, doubt->relation, &doubt->losses, doubt->process, &doubt->samples, &doubt->matters);
  sort_rows(&doubt->samples);
  doubt->given =
      (struct session_given){&doubt->relation->ng, &doubt->samples, doubt->relation->checkpoint};
  return status;
}

enum base_status session_open_doubtful(struct tql_session *session, struct session_doubt *doubt,
                                       const struct net_scan *scan, struct net_source **ret) {
  if (doubt->relation->kind == ST_TRACED) return open_traced(session, doubt, scan, ret);
  enum base_status status = make_samples(session, doubt);
  if (status == BASE_OK) *ret = session_open_given(&doubt->given, scan->layout, scan->batch_rows);
  return status;
}

enum base_status session_doubt_rows(struct tql_session *session,
                                    const struct session_relation *relation,
                                    struct tql_rows *rows) {
  struct session_doubt *doubt = session_doubt_of(session, relation);
  if (doubt == NULL || !may_be_in_doubt(relation, false)) return BASE_OK;
  if (relation->kind == ST_TRACED) {
    const struct net_layout *layout = rows->rows.layout;
    int slot = doubt->process < 0 ? -1 : (int)layout->fields[doubt->process].slot;
    for (size_t i = 0; i < rows->rows.count; i++) {
      union net_slot *row = net_rows_row(&rows->rows, i);
      doubt_row(doubt, slot < 0 ? 0 : row[slot].s, row, relation->checkpoint);
    }
    return BASE_OK;
  }
  enum base_status status = make_samples(session, doubt);
  if (status != BASE_OK) return status;
  tql_rows_clear(rows);
  net_rows_add_all(&rows->rows, doubt->samples.rows, doubt->samples.marks, doubt->samples.count);
  return BASE_OK;
}
