/* Types of the domains. What is neither a number nor a time in all records is a text, and so is what would not be the same as a number. */
#include <string.h>

#include "tquel/infer/infer_impl.h"

static const char *label(const struct infer *infer, const struct infer_column *column) {
  if (column->name != NULL) return base_arena_printf(infer->arena, "\"%s\"", column->name);
  return base_arena_printf(infer->arena, "column %u", column->number);
}

static const char *number_type(const struct infer_column *column) {
  if (!column->integers) return "f8";
  return column->least >= INT32_MIN && column->most <= INT32_MAX ? "i4" : "i8";
}

static void note_gaps(struct infer *infer, const struct infer_column *column) {
  infer_note(infer,
             "%s is a number or empty (%zu of %zu records), so text; %s and else VALUE behind its "
             "column would make it a number",
             label(infer, column), infer->records - column->values, infer->records,
             number_type(column));
}

/* Responses without a body: a dash, in the common format of logs. */
static bool is_size_of_nothing(const struct infer *infer, const struct infer_column *column) {
  return infer->log != NULL && strcmp(infer->log->name, "access") == 0 &&
         strcmp(column->name, "bytes") == 0;
}

static void find_type(struct infer *infer, struct infer_column *column) {
  bool gaps = infer_has_gaps(infer, column);
  column->type = "text";
  if (column->not_utf8)
    infer_note(infer, "%s has bytes that are not UTF-8: such records are refused",
               label(infer, column));
  /* Without an offset from UTC it depends on who reads it. */
  if (column->values > 0 && column->dates && column->zone_always && column->endless == 0 && !gaps) {
    column->type = "instant";
    return;
  }
  if (column->values == 0 || column->texts) return;
  if (column->truths && !gaps) {
    column->type = "bool";
    return;
  }
  if (!column->decimals) return;
  if (column->leading_zero) {
    infer_note(infer, "%s has leading zeros, so it is text", label(infer, column));
  } else if (column->fractions && column->long_digits) {
    infer_note(infer, "%s has more digits than a number keeps, so it is text",
               label(infer, column));
  } else if (gaps && is_size_of_nothing(infer, column)) {
    column->type = "i8";
    column->otherwise = "0";
    infer_note(infer, "%s is 0 where the log has a dash", label(infer, column));
  } else if (gaps) {
    note_gaps(infer, column);
  } else {
    column->type = number_type(column);
  }
}

void infer_types(struct infer *infer) {
  for (size_t i = 0; i < infer->count; i++)
    if (infer->columns[i].role == INFER_DOMAIN) find_type(infer, &infer->columns[i]);
}
