/* Records that were left out where they arose, as nobody asked for them (rules selections-at-source, counts-at-source).
 *
 *      collector ──▶ how many, of which process, when ──▶ tq_filtered ──▶ \ds, \d, a note beside an answer
 *                                                              └──▶ summaries that ask how many there are
 *
 * No standing query lacks them. But what is stored of the relation lacks them, so whoever reads that is told: the
 * question itself may be about them. Who asks how many there are has them counted: whenever a network is built its counts
 * are told what tq_filtered has, and those of the live network what comes. */
#include <string.h>
#include <strings.h>

#include "tquel/session/losses/losses.h"
#include "tquel/session/session_impl.h"

enum base_status session_each_filtered(struct tql_session *session,
                                       const struct session_relation *relation, void *context,
                                       void (*each)(void *context,
                                                    const struct st_filtered *filtered)) {
  return relation->sensors.announced
             ? st_filtered(session->database, relation->ng.name, context, each)
             : BASE_OK;
}

/* --- who counts them */

struct passing {
  struct tql_session *session;
  struct net_node *node;
};

static void pass(void *context, const struct st_filtered *filtered) {
  const struct passing *passing = context;
  int64_t count = filtered->count > INT64_MAX ? INT64_MAX : (int64_t)filtered->count;
  union net_slot process = {
      .s = base_strings_intern_text(passing->session->strings, filtered->source)};
  net_aggregate_pass(passing->node, process, count);
}

enum base_status session_count_once(void *context, const struct ng_relation *ng,
                                    struct net_node *node) {
  struct passing passing = {context, node};
  const struct session_relation *relation = session_of(passing.session, ng);
  return relation != NULL ? session_each_filtered(passing.session, relation, &passing, pass)
                          : BASE_OK;
}

enum base_status session_count_live(void *context, const struct ng_relation *ng,
                                    struct net_node *node) {
  struct session_relation *relation = session_of(context, ng);
  if (relation == NULL) return BASE_OK;
  base_grow(&relation->network.counts, &relation->network.count_capacity,
            relation->network.count_count + 1, sizeof *relation->network.counts);
  relation->network.counts[relation->network.count_count++] = node;
  return session_count_once(context, ng, node);
}

/* They are told with the next checkpoint. */
void session_pass_filtered(struct tql_session *session, const struct st_filtered *filtered) {
  struct session_relation *relation = session_find(session, filtered->relation);
  for (size_t i = 0; relation != NULL && i < relation->network.count_count; i++) {
    struct passing passing = {session, relation->network.counts[i]};
    pass(&passing, filtered);
  }
}

/* --- how many there are in all */

static void add_up(void *context, const struct st_filtered *filtered) {
  struct st_filtered *sum = context;
  bool first = sum->count == 0;
  if (__builtin_add_overflow(sum->count, filtered->count, &sum->count)) sum->count = UINT64_MAX;
  if (first || filtered->since < sum->since) sum->since = filtered->since;
  if (first || filtered->until > sum->until) sum->until = filtered->until;
}

/* Of RELATION in all; a count of 0: none. */
static enum base_status sum_of(struct tql_session *session, const struct session_relation *relation,
                               struct st_filtered *ret) {
  *ret = (struct st_filtered){0};
  return session_each_filtered(session, relation, ret, add_up);
}

static void put_times(const struct tql_session *session, const struct st_filtered *sum,
                      struct base_buffer *out) {
  net_time_print(out, session->timeline, sum->since);
  base_buffer_puts(out, " and ");
  net_time_print(out, session->timeline, sum->until);
}

void session_describe_filtered(struct tql_session *session, const struct session_relation *relation,
                               struct base_buffer *out) {
  struct st_filtered sum;
  if (sum_of(session, relation, &sum) != BASE_OK || sum.count == 0) return;
  base_buffer_printf(out, "filtered:   %llu records, which were counted and not sent, between ",
                     (unsigned long long)sum.count);
  put_times(session, &sum, out);
  base_buffer_putc(out, '\n');
}

static enum base_status say_filtered(struct tql_session *session,
                                     const struct session_relation *relation) {
  struct st_filtered sum;
  struct base_buffer times = BASE_BUFFER_EMPTY;
  enum base_status status = sum_of(session, relation, &sum);
  if (status != BASE_OK || sum.count == 0) return status;
  put_times(session, &sum, &times);
  base_report_hint(session->diags, MSG_FILTERED, session->source,
                   session->statement ? &session->statement->range : NULL,
                   "create persistent, save or a display asks for all records from then on",
                   "%s: %llu record%s between %s %s not here: no standing query asked for %s",
                   relation->ng.name, (unsigned long long)sum.count, sum.count == 1 ? "" : "s",
                   base_buffer_text(&times), sum.count == 1 ? "is" : "are",
                   sum.count == 1 ? "it" : "them");
  base_buffer_done(&times);
  return BASE_OK;
}

static enum base_status say_read(struct tql_session *session, struct session_relation *relation,
                                 uint64_t walk) {
  enum base_status status = BASE_OK;
  if (relation == NULL || !session_visit(relation, walk)) return BASE_OK;
  if (!session_is_derived(relation)) return say_filtered(session, relation);
  for (size_t i = 0; relation->view && i < relation->derived.input_count && status == BASE_OK; i++)
    status = say_read(session, session_find(session, relation->derived.inputs[i]), walk);
  return status;
}

/* Does QUERY ask of variable INDEX how many tuples there are, and nothing else? Then it has them counted. */
static bool only_counts(const struct ng_query *query, size_t index) {
  bool only = query->summary && !query->variables[index].outside;
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (query->aggregates[i].variable == index) only = only && query->aggregates[i].passes;
  return only;
}

enum base_status session_say_filtered(struct tql_session *session, const struct ng_query *query,
                                      struct session_relation *relation) {
  uint64_t walk = ++session->walks;
  enum base_status status = say_read(session, relation, walk);
  for (size_t i = 0; query != NULL && i < query->variable_count && status == BASE_OK; i++)
    if (!query->variables[i].costs && !only_counts(query, i))
      status = say_read(session, session_of(session, query->variables[i].relation), walk);
  return status;
}

struct counts {
  const struct tql_sensor_report *reports;
  size_t report_count;
  uint64_t *counts;
};

/* Reports of objects have no counts of their own. */
static void count_report(void *context, const struct st_filtered *filtered) {
  const struct counts *counts = context;
  for (size_t i = 0; i < counts->report_count; i++) {
    const char *const *cells = counts->reports[i].cells;
    if (strcasecmp(cells[TQL_SENSOR_RELATION], filtered->relation) == 0 &&
        strcmp(cells[TQL_SENSOR_PROCESS], filtered->source) == 0 &&
        cells[TQL_SENSOR_OBJECT][0] == '\0')
      counts->counts[i] = filtered->count;
  }
}

uint64_t *session_count_filtered(struct tql_session *session,
                                 const struct tql_sensor_report *reports, size_t report_count) {
  struct counts counts = {reports, report_count,
                          base_xcalloc(report_count + 1, sizeof *counts.counts)};
  for (size_t k = 0; k < session->relation_count; k++) {
    const struct session_relation *relation = session->relations[k];
    if (relation->sensors.announced &&
        st_filtered(session->database, relation->ng.name, &counts, count_report) != BASE_OK)
      break; /* reported */
  }
  return counts.counts;
}
