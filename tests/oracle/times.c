/* Random temporal expressions, as conditions and as times. */
#include <string.h>

#include "tests/oracle/choice.h"

static const char *end_of(struct scenario *scenario, const char *text) {
  switch (below(scenario, 6)) {
    case 0:
      return TEXT("begin of (%s)", text);
    case 1:
      return TEXT("end of (%s)", text);
    case 2:
      return TEXT("(%s).stop", text);
    default:
      return TEXT("(%s).%s", text, PICK(scenario, "start", "stop"));
  }
}

static const char *leaf(struct choice *choice, bool *ret_event) {
  struct scenario *scenario = choice->scenario;
  *ret_event = true;
  if (choice->used_count == 0 || chance(scenario, 10))
    return time_text(scenario, some_time(scenario));
  const struct source *v = some_used(choice);
  if (chance(scenario, 35)) return TEXT("%s.%s", v->name, PICK(scenario, "start", "stop"));
  *ret_event = v->event;
  return v->name;
}

/* An event moved by a distance. */
static const char *shifted(struct scenario *scenario, const char *event) {
  return TEXT("(%s %s %s)", event, PICK(scenario, "+", "-"),
              duration_text(scenario, (int64_t)below(scenario, 6)));
}

const char *time_expression(struct choice *choice, int depth, bool value, bool *ret_event) {
  struct scenario *scenario = choice->scenario;
  bool left_event, right_event;
  if (choice->used_count == 0 || depth == 0 || chance(scenario, 45)) return leaf(choice, ret_event);
  bool end = chance(scenario, 35);
  const char *left = time_expression(choice, depth - 1, value || end, &left_event);
  const char *right = time_expression(choice, depth - 1, value || end, &right_event);
  const char *text;
  bool events = left_event && right_event, event = false;
  switch (below(scenario, value || end ? 6 : 8)) {
    case 0:
      text = TEXT("((%s) extend (%s))", left, right);
      break;
    case 1:
      text = TEXT("(%s ; within %s %s)", left, duration_text(scenario, (int64_t)below(scenario, 6)),
                  right);
      break;
    case 2:
    case 3:
      if ((value || end) && events && !scenario->coverage) {
        text = TEXT("(%s ; %s)", left, right);
      } else {
        text = TEXT("(%s, %s)", left, right);
        event = !scenario->coverage && (left_event || right_event);
      }
      break;
    case 4:
      if ((value || end) && events) {
        text = TEXT("(%s ; %s)", left, right);
      } else {
        text = TEXT("((%s) overlap (%s))", left, right);
        event = left_event || right_event;
      }
      break;
    case 6:
      text = TEXT("(%s | %s)", left, right);
      event = left_event && right_event;
      break;
    default:
      text = TEXT("(%s ; %s)", left, right);
  }
  *ret_event = event || end;
  if (end) text = end_of(scenario, text);
  return *ret_event && (value || end) && chance(scenario, 4) ? shifted(scenario, text) : text;
}

const char *event_expression(struct choice *choice) {
  bool event;
  struct scenario *scenario = choice->scenario;
  if (chance(scenario, 6)) {
    const char *chosen = chosen_time(choice, &event);
    if (chosen) return event ? chosen : end_of(scenario, chosen);
  }
  const char *text = time_expression(choice, 2, true, &event);
  return event ? text : end_of(scenario, text);
}

static const char *operand(struct choice *choice, int depth) {
  bool event;
  if (chance(choice->scenario, 4)) {
    const char *chosen = chosen_time(choice, &event);
    if (chosen) return chosen;
  }
  return time_expression(choice, depth, false, &event);
}

const char *when_condition(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (depth > 0 && chance(scenario, 20)) {
    const char *left = when_condition(choice, depth - 1);
    if (chance(scenario, 30)) return TEXT("not (%s)", left);
    return TEXT("(%s %s %s)", left, PICK(scenario, "and", "or"), when_condition(choice, depth - 1));
  }
  const char *left = operand(choice, 2), *right = operand(choice, 1);
  switch (below(scenario, 6)) {
    case 0:
      return TEXT("(%s) precede (%s)", left, right);
    case 1:
      return TEXT("(%s) equal (%s)", left, right);
    case 2:
      return TEXT("(%s) contain (%s)", left, right);
    case 3:
      return TEXT("%s ; %s", left, right);
    case 4:
      return TEXT("%s, %s", left, right);
    default:
      return left;
  }
}

/* Which pairs `;` is of, said at it: a word before the variable that is chosen, or the statement's setting. */
static const char *sequence(struct scenario *scenario, const char *others, const char *chosen) {
  bool word = chance(scenario, scenario->sequence ? 25 : 85);
  const char *within =
      chance(scenario, 30)
          ? TEXT("within %s ", duration_text(scenario, (int64_t)below(scenario, 6)))
          : "";
  if (chance(scenario, 40))
    return TEXT("(%s%s ; %s%s)", word ? "last " : "", chosen, within, others);
  return TEXT("(%s ; %s%s%s)", others, within,
              word ? PICK(scenario, "first ", "first ", "closest ", "each ") : "", chosen);
}

/* Each variable once, so that both sides of every `;` speak of different ones. */
const char *closest_condition(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  const char *text = NULL;
  for (size_t i = 0; i < choice->used_count; i++) {
    const char *name = choice->used[i].name;
    const char *next =
        chance(scenario, 40) ? TEXT("%s.%s", name, PICK(scenario, "start", "stop")) : name;
    if (!text)
      text = next;
    else
      text = chance(scenario, 15) ? TEXT("(%s, %s)", text, next) : sequence(scenario, text, next);
  }
  return text;
}
