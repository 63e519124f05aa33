/* See variables.h. */
#include "tquel/shell/variables.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/heap.h"
#include "tquel/lang/variables.h"

/* Where the variable is, or is to be. */
static size_t place_of(const struct shell_variables *variables, const char *name, size_t length) {
  size_t i = 0;
  for (; i < variables->count; i++) {
    const char *other = variables->items[i].name;
    int order = strncmp(other, name, length);
    if (order > 0 || (order == 0 && strlen(other) >= length)) break;
  }
  return i;
}

static struct shell_variable *find(const struct shell_variables *variables, const char *name,
                                   size_t length) {
  size_t i = place_of(variables, name, length);
  if (i == variables->count || strncmp(variables->items[i].name, name, length) != 0 ||
      variables->items[i].name[length] != '\0')
    return NULL;
  return &variables->items[i];
}

static char *copy(const char *text, size_t length) {
  char *own = base_xmalloc(length + 1);
  memcpy(own, text, length);
  own[length] = '\0';
  return own;
}

static void set(struct shell_variables *variables, const char *name, size_t length,
                const char *value, size_t value_length) {
  struct shell_variable *variable = find(variables, name, length);
  if (variable == NULL) {
    size_t place = place_of(variables, name, length);
    base_grow(&variables->items, &variables->capacity, variables->count + 1,
              sizeof *variables->items);
    variable = &variables->items[place];
    memmove(variable + 1, variable, (variables->count++ - place) * sizeof *variable);
    *variable = (struct shell_variable){.name = copy(name, length)};
  }
  free(variable->value);
  variable->value = copy(value, value_length);
}

bool shell_variables_assign(struct shell_variables *variables, const char *text) {
  size_t length = strcspn(text, "=");
  if (text[length] != '=' || !tql_is_variable_name(text, length)) return false;
  set(variables, text, length, text + length + 1, strlen(text + length + 1));
  return true;
}

bool shell_variables_command(struct shell_variables *variables, const char *argument,
                             struct base_diag_sink *diags, struct base_buffer *out) {
  size_t length = strcspn(argument, " \t");
  const char *value = argument + length + strspn(argument + length, " \t");
  size_t value_length = strlen(value);
  for (size_t i = 0; length == 0 && i < variables->count; i++)
    base_buffer_printf(out, "%s = %s\n", variables->items[i].name, variables->items[i].value);
  if (length == 0) return true;
  if (!tql_is_variable_name(argument, length)) {
    base_report_hint(diags, MSG_USAGE, NULL, NULL, "\\set NAME VALUE; in statements: $NAME",
                     "%.*s cannot be the name of a variable", (int)length, argument);
    return false;
  }
  if (value_length >= 2 && value[0] == '"' && value[value_length - 1] == '"') {
    value++;
    value_length -= 2;
  }
  set(variables, argument, length, value, value_length);
  return true;
}

bool shell_variables_unset(struct shell_variables *variables, const char *argument,
                           struct base_diag_sink *diags) {
  struct shell_variable *variable = find(variables, argument, strlen(argument));
  if (variable == NULL) {
    base_report_hint(diags, MSG_NO_VALUE, NULL, NULL, "\\set lists those that there are",
                     "there is no variable $%s", argument);
    return false;
  }
  free(variable->name);
  free(variable->value);
  size_t behind = (size_t)(variables->items + --variables->count - variable);
  memmove(variable, variable + 1, behind * sizeof *variable);
  return true;
}

static const char *value_of(void *context, const char *name, size_t length) {
  const struct shell_variable *variable = find(context, name, length);
  return variable != NULL ? variable->value : NULL;
}

const char *shell_variables_expand(const struct shell_variables *variables, const char *source,
                                   const char *text, size_t *length, struct base_diag_sink *diags,
                                   struct base_buffer *scratch) {
  struct base_range range;
  const char *name;
  size_t name_length;
  struct shell_variables known = *variables;
  if (memchr(text, '$', *length) == NULL) return text;
  if (tql_put_values(text, *length, value_of, &known, scratch, &range, &name, &name_length)) {
    *length = scratch->length;
    return base_buffer_text(scratch);
  }
  const struct base_source from = {.name = source, .text = text, .length = *length};
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  base_buffer_printf(&hint, "\\set %.*s VALUE gives it one, or -v %.*s=VALUE", (int)name_length,
                     name, (int)name_length, name);
  base_report_hint(diags, MSG_NO_VALUE, &from, &range, base_buffer_text(&hint),
                   "there is no variable $%.*s", (int)name_length, name);
  base_buffer_done(&hint);
  return NULL;
}

void shell_variables_done(struct shell_variables *variables) {
  for (size_t i = 0; i < variables->count; i++) {
    free(variables->items[i].name);
    free(variables->items[i].value);
  }
  free(variables->items);
  *variables = (struct shell_variables){0};
}
