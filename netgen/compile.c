/* From a lowered expression to a program of the engine's stack machine: postfix order, one step for
 * each operator, columns by the slot they have in the rows that the program runs over.
 *
 * Nothing is reordered and nothing is cut short: the machine itself sees to it that an error in one
 * operand of `and` does not count when the other is false. */
#include "netgen/expr.h"

struct compiler {
  struct base_arena *arena;
  struct net_program *program;
  ng_slot_fn slot;
  void *context;
};

static void emit(struct compiler *compiler, struct net_step step) {
  net_program_emit(compiler->arena, compiler->program, step);
}

static void emit_op(struct compiler *compiler, enum net_op op) {
  emit(compiler, (struct net_step){.op = op});
}

static void emit_integer(struct compiler *compiler, enum net_op op, int64_t integer) {
  emit(compiler, (struct net_step){.op = op, .i = integer});
}

static void compile_column(struct compiler *compiler, const struct ng_column *column) {
  enum net_op op = NET_OP_SLOT;
  switch (column->type.base) {
    case NET_BOOL:
      op = NET_OP_BOOL_SLOT;
      break;
    case NET_TEMPORAL:
      op = NET_OP_TEMPORAL_SLOT;
      break;
    case NET_INSTANT:
      op = column->openable ? NET_OP_STOP_SLOT : NET_OP_INSTANT_SLOT;
      break;
    case NET_INTEGER:
    case NET_FLOAT:
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      break;
  }
  emit(compiler, (struct net_step){.op = op, .slot = compiler->slot(compiler->context, column)});
}

/* Is EXPR a comparison of a float with an integer, in this order? There is a step for the other one. */
static bool is_turned(const struct ng_expr *expr) {
  return expr->op >= NG_EQ && expr->op <= NG_GE && expr->args[0]->type.base == NET_FLOAT &&
         expr->args[1]->type.base == NET_INTEGER;
}

static void compile_comparison(struct compiler *compiler, const struct ng_expr *expr) {
  static const enum net_comparison comparisons[] = {NET_EQ, NET_NE, NET_LT, NET_LE, NET_GT, NET_GE};
  static const enum net_comparison turned[] = {NET_EQ, NET_NE, NET_GT, NET_GE, NET_LT, NET_LE};
  enum net_op op = NET_OP_I_COMPARE;
  if (expr->args[0]->type.base != expr->args[1]->type.base) {
    bool turn = is_turned(expr);
    enum net_base_type integer = expr->args[turn ? 1 : 0]->type.base;
    enum net_base_type real = expr->args[turn ? 0 : 1]->type.base;
    BASE_CHECK(integer == NET_INTEGER && real == NET_FLOAT, "compared-types");
    emit_integer(compiler, NET_OP_I_F_COMPARE, (turn ? turned : comparisons)[expr->op - NG_EQ]);
    return;
  }
  switch (expr->args[0]->type.base) {
    case NET_INTEGER:
      break;
    case NET_FLOAT:
      op = NET_OP_F_COMPARE;
      break;
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      op = NET_OP_S_COMPARE;
      break;
    case NET_BOOL:
      op = NET_OP_B_COMPARE;
      break;
    case NET_TEMPORAL:
      op = NET_OP_T_COMPARE;
      break;
    case NET_INSTANT:
      BASE_CHECK(false, "compared-types");
  }
  emit_integer(compiler, op, comparisons[expr->op - NG_EQ]);
}

static void compile_conversion(struct compiler *compiler, const struct ng_expr *expr) {
  const struct ng_expr *from = expr->args[0];
  enum net_base_type base = from->type.base, to = expr->type.base;
  if (base == NET_BOOL && to != NET_BOOL) {
    emit_op(compiler, NET_OP_TRUTH_TO_I);
    base = NET_INTEGER;
  }
  if (base == NET_INTEGER && to == NET_FLOAT) emit_op(compiler, NET_OP_I_TO_F);
  if (base == NET_INTEGER && to == NET_TEMPORAL) emit_op(compiler, NET_OP_I_TO_TEMPORAL);
  if (base == NET_FLOAT && to == NET_TEMPORAL) emit_op(compiler, NET_OP_F_TO_TEMPORAL);
  if (base == NET_FLOAT && to == NET_INTEGER) emit_op(compiler, NET_OP_F_TO_I);
  if (base == NET_STRING && to == NET_INTEGER) emit_op(compiler, NET_OP_S_TO_I);
  if (base == NET_STRING && to == NET_FLOAT) emit_op(compiler, NET_OP_S_TO_F);
  if (base == NET_BYTES && to == NET_STRING) emit_op(compiler, NET_OP_BYTES_TO_S);
  bool single = base == NET_FLOAT && from->type.width == 4;
  if (to == NET_FLOAT && expr->type.width == 4 && !single) emit_op(compiler, NET_OP_F_TO_F4);
  if (to == NET_INTEGER && expr->type.width && expr->type.width < 8) {
    int64_t lo, hi, limit = INT64_C(1) << (8 * expr->type.width - 1);
    ng_expr_range(from, &lo, &hi);
    if (from->type.base != NET_INTEGER || lo < -limit || hi >= limit) {
      emit_integer(compiler, NET_OP_INTEGER_FITS, expr->type.width);
    }
  }
}

/* The step of an arithmetic operator; floats and temporal values have those that make sense. */
static enum net_op arithmetic(const struct ng_expr *expr) {
  enum net_base_type base = expr->type.base;
  bool integer = base == NET_INTEGER, real = base == NET_FLOAT;
  switch (expr->op) {
    case NG_NEG:
      return integer ? NET_OP_I_NEG : real ? NET_OP_F_NEG : NET_OP_T_NEG;
    case NG_ADD:
      return integer ? NET_OP_I_ADD : real ? NET_OP_F_ADD : NET_OP_T_ADD;
    case NG_SUB:
      return integer ? NET_OP_I_SUB : real ? NET_OP_F_SUB : NET_OP_T_SUB;
    case NG_MUL:
      return integer ? NET_OP_I_MUL : real ? NET_OP_F_MUL : NET_OP_T_MUL;
    case NG_DIV:
      return integer ? NET_OP_I_DIV : real ? NET_OP_F_DIV : NET_OP_T_DIV;
    case NG_ABS:
      return integer ? NET_OP_I_ABS : NET_OP_F_ABS;
    case NG_MOD:
      return NET_OP_I_MOD;
    case NG_POWER:
      return integer ? NET_OP_I_POWER : NET_OP_F_POWER;
    case NG_SQRT:
      return NET_OP_F_SQRT;
    case NG_LOG:
      return NET_OP_F_LOG;
    case NG_EXP:
      return NET_OP_F_EXP;
    case NG_SIN:
      return NET_OP_F_SIN;
    case NG_COS:
      return NET_OP_F_COS;
    case NG_ATAN:
      return NET_OP_F_ATAN;
    default:
      BASE_CHECK(false, "arithmetic-operator");
  }
  return NET_OP_I_NEG;
}

/* What asks for parts of a string asks bytes in bytes. */
static void emit_of_string(struct compiler *compiler, const struct ng_expr *expr, enum net_op op,
                           enum net_op of_bytes) {
  emit_op(compiler, expr->args[0]->type.base == NET_BYTES ? of_bytes : op);
}

/* A string is its own text, so is a name. */
static void compile_ascii(struct compiler *compiler, const struct ng_expr *expr) {
  enum net_base_type base = expr->args[0]->type.base;
  if (base == NET_INTEGER) emit_op(compiler, NET_OP_I_TO_S);
  if (base == NET_FLOAT) emit_op(compiler, NET_OP_F_TO_S);
  if (base == NET_BOOL) emit_op(compiler, NET_OP_B_TO_S);
  if (base == NET_BYTES) emit_integer(compiler, NET_OP_HEX, 1);
}

static enum net_op of_instants(enum ng_op op) {
  switch (op) {
    case NG_LATER:
      return NET_OP_LATER;
    case NG_EARLIER:
      return NET_OP_EARLIER;
    case NG_INTERSECT:
      return NET_OP_INTERSECT;
    case NG_SHIFT:
      return NET_OP_SHIFT;
    case NG_BEFORE:
      return NET_OP_BEFORE;
    case NG_NOT_AFTER:
      return NET_OP_NOT_AFTER;
    case NG_EQUAL_INSTANTS:
      return NET_OP_EQUAL_INSTANTS;
    case NG_WITHIN:
      return NET_OP_WITHIN;
    case NG_OVERLAP_PERIODS:
      return NET_OP_OVERLAP_PERIODS;
    case NG_OVERLAP_EVENT:
      return NET_OP_OVERLAP_EVENT;
    case NG_EQUAL_PERIODS:
      return NET_OP_EQUAL_PERIODS;
    case NG_CONTAIN:
      return NET_OP_CONTAIN;
    case NG_REBASE:
      return NET_OP_T_REBASE;
    case NG_SPAN_OF:
      return NET_OP_SPAN;
    case NG_CHRONON_OF:
      return NET_OP_CHRONON;
    default:
      BASE_CHECK(false, "operator-of-instants");
  }
  return NET_OP_LATER;
}

static void emit_regex(struct compiler *compiler, const struct ng_expr *expr) {
  const struct base_strings *strings = compiler->program->strings;
  emit(compiler, (struct net_step){.op = expr->op == NG_FINDS ? NET_OP_FINDS : NET_OP_CAPTURE,
                                   .regex = net_regex_new(compiler->arena, strings, expr->string)});
}

static void emit_calendar(struct compiler *compiler, const struct ng_expr *expr) {
  struct net_calendar *calendar = BASE_NEW(compiler->arena, struct net_calendar);
  calendar->part = (enum net_calendar_part)expr->integer;
  calendar->length = expr->instant.lo;
  const char *zone = base_strings_text(compiler->program->strings, expr->string, NULL);
  BASE_CHECK(net_zone_named(zone, &calendar->zone), "calendar-zone");
  emit(compiler, (struct net_step){.op = NET_OP_CALENDAR, .calendar = calendar});
}

static void compile(struct compiler *compiler, const struct ng_expr *expr) {
  if (is_turned(expr)) {
    compile(compiler, expr->args[1]);
    compile(compiler, expr->args[0]);
  } else {
    for (unsigned i = 0; i < expr->arg_count; i++) compile(compiler, expr->args[i]);
  }
  switch (expr->op) {
    case NG_INTEGER:
      emit_integer(compiler, NET_OP_INTEGER, expr->integer);
      break;
    case NG_FLOAT:
      emit(compiler, (struct net_step){.op = NET_OP_FLOAT, .f = expr->real});
      break;
    case NG_STRING:
      emit(compiler,
           (struct net_step){
               .op = NET_OP_STRING, .slot = expr->type.base == NET_BYTES, .s = expr->string});
      break;
    case NG_TRUTH:
      emit_integer(compiler, NET_OP_TRUTH, expr->integer ? NET_TRUE : NET_FALSE);
      break;
    case NG_DURATION:
      emit_op(compiler, NET_OP_DURATION);
      break;
    case NG_COLUMN:
      compile_column(compiler, expr->column);
      break;
    case NG_INSTANT:
      emit(compiler, (struct net_step){.op = NET_OP_CONST_INSTANT, .instant = expr->instant});
      break;
    case NG_CONVERT:
      compile_conversion(compiler, expr);
      break;
    case NG_HEX:
      emit_op(compiler, NET_OP_HEX);
      break;
    case NG_UNHEX:
      emit_op(compiler, NET_OP_UNHEX);
      break;
    case NG_ASCII:
      compile_ascii(compiler, expr);
      break;
    case NG_CONCAT:
      emit_op(compiler, NET_OP_CONCAT);
      break;
    case NG_LEFT:
      emit_of_string(compiler, expr, NET_OP_LEFT, NET_OP_BYTES_LEFT);
      break;
    case NG_RIGHT:
      emit_of_string(compiler, expr, NET_OP_RIGHT, NET_OP_BYTES_RIGHT);
      break;
    case NG_LENGTH:
      emit_of_string(compiler, expr, NET_OP_LENGTH, NET_OP_BYTES_LENGTH);
      break;
    case NG_LOWER:
      emit_op(compiler, NET_OP_LOWER);
      break;
    case NG_UPPER:
      emit_op(compiler, NET_OP_UPPER);
      break;
    case NG_TRIM:
      emit_op(compiler, NET_OP_TRIM);
      break;
    case NG_SUBSTRING:
      emit_of_string(compiler, expr, NET_OP_SUBSTRING, NET_OP_BYTES_SUBSTRING);
      break;
    case NG_POSITION:
      emit_of_string(compiler, expr, NET_OP_POSITION, NET_OP_BYTES_POSITION);
      break;
    case NG_SUBSTITUTE:
      emit_op(compiler, NET_OP_SUBSTITUTE);
      break;
    case NG_SPLIT:
      emit_op(compiler, NET_OP_SPLIT);
      break;
    case NG_MATCHES:
      emit(compiler, (struct net_step){.op = NET_OP_MATCHES, .s = expr->string});
      break;
    case NG_CALENDAR:
      emit_calendar(compiler, expr);
      break;
    case NG_FINDS:
    case NG_CAPTURE:
      emit_regex(compiler, expr);
      break;
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
      compile_comparison(compiler, expr);
      break;
    case NG_AND:
      emit_op(compiler, NET_OP_AND);
      break;
    case NG_OR:
      emit_op(compiler, NET_OP_OR);
      break;
    case NG_NOT:
      emit_op(compiler, NET_OP_NOT);
      break;
    case NG_IF:
      emit_op(compiler, expr->type.base == NET_TEMPORAL ? NET_OP_T_IF : NET_OP_IF);
      break;
    case NG_NEG:
    case NG_ADD:
    case NG_SUB:
    case NG_MUL:
    case NG_DIV:
    case NG_MOD:
    case NG_POWER:
    case NG_ABS:
    case NG_SQRT:
    case NG_LOG:
    case NG_EXP:
    case NG_SIN:
    case NG_COS:
    case NG_ATAN:
      emit_op(compiler, arithmetic(expr));
      break;
    default:
      emit_integer(compiler, of_instants(expr->op), expr->integer);
  }
}

const struct net_program *ng_expr_compile(struct base_arena *arena, const struct ng_expr *expr,
                                          enum net_timeline timeline, struct base_strings *strings,
                                          ng_slot_fn slot, void *context) {
  struct compiler compiler = {
      .arena = arena,
      .program = net_program_new(arena, timeline, strings),
      .slot = slot,
      .context = context,
  };
  compile(&compiler, expr);
  net_program_finish(compiler.program);
  return compiler.program;
}
