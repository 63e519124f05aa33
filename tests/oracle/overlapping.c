/* A derived relation whose equal tuples overlap and are open together, and what counts them: of a traced
 * relation the entity is left out, and several entities change at one time to what is left. Which of
 * those tuples are one only their stops will say; so where a course defines one of these statements after the data, the
 * stored table must not be taken for all that is known. Chance alone hardly ever makes that.           */
#include <string.h>

#include "tests/oracle/judge.h"

static struct input *find(struct scenario *scenario, const char *kind) {
  for (size_t i = 0; i < scenario->input_count; i++)
    if (is_kind(&scenario->inputs[i], kind)) return &scenario->inputs[i];
  return NULL;
}

void scenario_make_overlapping(struct scenario *scenario) {
  struct input *input = find(scenario, "traced");
  if (input == NULL) return;
  if (input->count < 4) input->count = 4 + below(scenario, 3);
  for (size_t i = 0; i < input->count; i++) {
    struct input_row *row = &input->rows[i];
    *row = some_row(scenario, input);
    if (i == 0 || chance(scenario, 40)) continue;
    struct input_value own[DOMAINS_MAX];
    memcpy(own, row->values, sizeof own);
    memcpy(row->values, input->rows[i - 1].values, sizeof row->values);
    for (size_t k = 0; k < input->by_count; k++) row->values[input->by[k]] = own[input->by[k]];
    memcpy(row->time, input->rows[i - 1].time, sizeof row->time);
  }
}

static struct statement *add(struct scenario *scenario, const char *name, const char *target,
                             const char *second) {
  struct statement *statement = &scenario->statements[scenario->statement_count++];
  *statement = (struct statement){.kind = RETRIEVE, .name = name};
  statement->kinds[0] = statement->kinds[1] = 'i';
  statement->targets[statement->target_count++] = target;
  if (second != NULL) statement->targets[statement->target_count++] = second;
  return statement;
}

/* Those that make no statement are left out by whoever draws it. */
static const char *aggregate(struct scenario *scenario, const char *over) {
  const char *function =
      PICK(scenario, "count", "countc", "countc", "sum", "sumc", "min", "minc", "max", "avg",
           "avgc", "avgc", "countu", "sumu", "any", "first", "last");
  const char *value = chance(scenario, 70) ? ".x" : "";
  const char *by = chance(scenario, 25) ? TEXT(" by %s.x", over) : "";
  const char *tail = chance(scenario, 25) ? PICK(scenario, " for ever", " for each 2") : "";
  return TEXT("%s(%s%s%s%s)", function, over, value, by, tail);
}

void scenario_add_overlapping(struct scenario *scenario) {
  struct input *traced = find(scenario, "traced"), *period = find(scenario, "period");
  if (traced == NULL || scenario->statement_count + 5 > STATEMENTS_MAX) return;
  const char *name = TEXT("D%zu", scenario->statement_count);
  struct statement *base = add(scenario, name, TEXT("x = a%s.x", traced->name), NULL);
  if (chance(scenario, 20)) base->targets[0] = "x = 1";
  if (period != NULL && chance(scenario, 40))
    base->where[base->where_count++] =
        TEXT("a%s.x %s a%s.x", traced->name, PICK(scenario, "=", "!=", "<="), period->name);
  if (chance(scenario, 10)) base->modes = "coalesced ";
  const char *over = TEXT("a%s", name);
  for (int i = 0; i < 3; i++) {
    const char *second = chance(scenario, 40) ? TEXT("n = %s", aggregate(scenario, over)) : NULL;
    add(scenario, TEXT("D%zu", scenario->statement_count),
        TEXT("m = %s", aggregate(scenario, over)), second);
  }
  struct statement *pairs = add(scenario, TEXT("D%zu", scenario->statement_count),
                                TEXT("x = a%s.x", name), TEXT("y = b%s.x", name));
  if (chance(scenario, 50))
    pairs->targets[pairs->target_count - 1] = TEXT("y = %s", aggregate(scenario, over));
}
