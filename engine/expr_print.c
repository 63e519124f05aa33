/* Expression programs for people: infix form, with the names that a layout gives to slots.
 *
 * The steps are first tied into a tree (each step to the steps that made its operands), then written
 * from the left to the right with an agenda in place of recursion, so that a condition of many
 * thousand conjuncts needs no deep stack and no more than linear time. Parentheses stand where the
 * order of evaluation needs them and nowhere else.
 *
 * The form is for reading (explain, messages). It is stable for one program, but it is not TQuel and
 * is not read back.                                                                                 */
#include <stdlib.h>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/expr_ops.h"

/* How tightly the outermost operator of a text binds. */
enum {
  TIES_OR = 1,
  TIES_AND,
  TIES_NOT,
  TIES_COMPARE,
  TIES_ADD,
  TIES_MULTIPLY,
  TIES_NEGATE,
  TIES_POWER,
  TIES_NAME
};

struct node {
  size_t operands[4]; /* indexes of the steps that made them */
};

/* Something still to be written: a text, or (text NULL) the tree under a step, in parentheses if it
 * binds less tightly than WANTED. */
struct task {
  const char *text;
  size_t step;
  int wanted;
};

struct printer {
  struct base_buffer *out;
  const struct net_program *program;
  const struct net_layout *layout;
  struct node *nodes;
  struct task *agenda; /* a stack: the next task last */
  size_t count, capacity;
};

static int ties(const struct net_step *step) {
  switch (step->op) {
    case NET_OP_OR:
      return TIES_OR;
    case NET_OP_AND:
      return TIES_AND;
    case NET_OP_NOT:
      return TIES_NOT;
    case NET_OP_I_COMPARE:
    case NET_OP_F_COMPARE:
    case NET_OP_I_F_COMPARE:
    case NET_OP_S_COMPARE:
    case NET_OP_B_COMPARE:
    case NET_OP_T_EQUAL:
    case NET_OP_T_COMPARE:
    case NET_OP_MATCHES:
    case NET_OP_FINDS:
      return TIES_COMPARE;
    case NET_OP_I_ADD:
    case NET_OP_I_SUB:
    case NET_OP_F_ADD:
    case NET_OP_F_SUB:
    case NET_OP_T_ADD:
    case NET_OP_T_SUB:
      return TIES_ADD;
    case NET_OP_I_MUL:
    case NET_OP_I_DIV:
    case NET_OP_I_MOD:
    case NET_OP_F_MUL:
    case NET_OP_F_DIV:
    case NET_OP_T_MUL:
    case NET_OP_T_DIV:
      return TIES_MULTIPLY;
    case NET_OP_I_NEG:
    case NET_OP_F_NEG:
    case NET_OP_T_NEG:
      return TIES_NEGATE;
    case NET_OP_I_POWER:
    case NET_OP_F_POWER:
      return TIES_POWER;
    case NET_OP_INTEGER:
      return step->i < 0 ? TIES_NEGATE : TIES_NAME;
    case NET_OP_FLOAT:
      return step->f < 0 ? TIES_NEGATE : TIES_NAME;
    default:
      return TIES_NAME;
  }
}

/* --- leaves */

static void print_string(struct base_buffer *out, const struct base_strings *strings,
                         base_string_id id) {
  size_t length;
  const char *text = base_strings_text(strings, id, &length);
  base_buffer_putc(out, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (byte == '"' || byte == '\\') {
      base_buffer_putc(out, '\\');
      base_buffer_putc(out, (char)byte);
    } else if (byte == '\n') {
      base_buffer_puts(out, "\\n");
    } else if (byte == '\t') {
      base_buffer_puts(out, "\\t");
    } else if (byte < 0x20 || byte == 0x7F) {
      base_buffer_printf(out, "\\x%02x", byte);
    } else {
      base_buffer_putc(out, (char)byte);
    }
  }
  base_buffer_putc(out, '"');
}

static void print_instant(struct base_buffer *out, enum net_timeline timeline,
                          struct net_instant instant) {
  if (instant.lo == instant.hi) {
    net_time_print(out, timeline, instant.lo);
    return;
  }
  base_buffer_putc(out, '[');
  net_time_print(out, timeline, instant.lo);
  base_buffer_puts(out, ", ");
  net_time_print(out, timeline, instant.hi);
  base_buffer_putc(out, ']');
}

static void print_slot(struct base_buffer *out, const struct net_layout *layout, uint32_t slot) {
  const char *name = NULL;
  if (layout != NULL && layout->tuple_class == NET_EVENT && slot == 0) name = "at";
  if (layout != NULL && layout->tuple_class == NET_PERIOD && slot == 0) name = "start";
  if (layout != NULL && layout->tuple_class == NET_PERIOD && slot == 2) name = "stop";
  for (uint32_t i = 0; layout != NULL && i < layout->field_count; i++) {
    if (layout->fields[i].slot == slot) name = layout->fields[i].name;
  }
  if (name != NULL) {
    base_buffer_puts(out, name);
  } else {
    base_buffer_printf(out, "slot %u", (unsigned)slot);
  }
}

static void print_leaf(const struct printer *printer, const struct net_step *step) {
  static const char *const truths[] = {"false", "unknown", "true"};
  struct base_buffer *out = printer->out;
  size_t length;
  const char *bytes;
  switch (step->op) {
    case NET_OP_INTEGER:
      base_buffer_int(out, step->i);
      return;
    case NET_OP_FLOAT:
      base_buffer_double(out, step->f);
      return;
    case NET_OP_STRING:
      if (step->slot == 0) {
        print_string(out, printer->program->strings, step->s);
        return;
      }
      bytes = base_strings_text(printer->program->strings, step->s, &length);
      base_buffer_bytes_constant(out, bytes, length);
      return;
    case NET_OP_TRUTH:
      base_buffer_puts(out, truths[step->i]);
      return;
    case NET_OP_CONST_INSTANT:
      print_instant(out, printer->program->timeline, step->instant);
      return;
    default:
      print_slot(out, printer->layout, step->slot);
      return;
  }
}

/* --- the tree */

static void link_steps(const struct net_program *program, struct node *nodes) {
  size_t *stack = base_xcalloc(program->count, sizeof *stack);
  size_t depth = 0;
  for (size_t i = 0; i < program->count; i++) {
    size_t operands = net_op_info(program->steps[i].op)->operand_count;
    depth -= operands;
    for (size_t k = 0; k < operands; k++) nodes[i].operands[k] = stack[depth + k];
    stack[depth++] = i;
  }
  free(stack);
}

static void put_off(struct printer *printer, struct task task) {
  base_grow(&printer->agenda, &printer->capacity, printer->count + 1, sizeof *printer->agenda);
  printer->agenda[printer->count++] = task;
}

static void put_off_text(struct printer *printer, const char *text) {
  put_off(printer, (struct task){.text = text});
}

static void put_off_operand(struct printer *printer, size_t step, unsigned operand, int wanted) {
  put_off(printer, (struct task){.step = printer->nodes[step].operands[operand], .wanted = wanted});
}

/* The functions whose name says what .i chooses. */
static const char *function_name(const struct net_step *step) {
  static const char *const spans[] = {"span", "span_lo", "span_hi"};
  static const char *const chronons[] = {"chronon", "chronon_lo", "chronon_hi"};
  switch (step->op) {
    case NET_OP_SPAN:
      return spans[step->i];
    case NET_OP_CHRONON:
      return chronons[step->i];
    case NET_OP_HEX:
      return step->i == 1 ? "ascii" : "hex";
    case NET_OP_INTEGER_FITS:
      return step->i == 1 ? "i1" : step->i == 2 ? "i2" : step->i == 4 ? "i4" : "i8";
    default:
      return net_op_info(step->op)->name;
  }
}

/* What the step itself carries. */
static void print_own(const struct printer *printer, const struct net_step *step) {
  if (step->op == NET_OP_MATCHES) {
    print_string(printer->out, printer->program->strings, step->s);
  } else if (step->op == NET_OP_FINDS || step->op == NET_OP_CAPTURE) {
    print_string(printer->out, printer->program->strings, net_regex_text(step->regex));
  } else {
    base_buffer_int(printer->out, step->i);
  }
}

static void print_function(struct printer *printer, size_t index) {
  const struct net_step *step = &printer->program->steps[index];
  base_buffer_puts(printer->out, function_name(step));
  base_buffer_putc(printer->out, '(');
  put_off_text(printer, ")");
  if (step->op == NET_OP_WITHIN || step->op == NET_OP_SHIFT) { /* the number is the step's own */
    put_off(printer, (struct task){.step = index, .wanted = -1});
    put_off_text(printer, ", ");
  }
  for (unsigned k = net_op_info(step->op)->operand_count; k-- > 0;) {
    put_off_operand(printer, index, k, TIES_OR);
    if (k > 0) put_off_text(printer, ", ");
    if (k == 1 && step->op == NET_OP_CAPTURE) {
      put_off(printer, (struct task){.step = index, .wanted = -1});
      put_off_text(printer, ", ");
    }
  }
}

static const char *infix_sign(const struct net_step *step) {
  static const char *const comparisons[] = {"=", "!=", "<", "<=", ">", ">="};
  const struct net_op_info *info = net_op_info(step->op);
  return ties(step) == TIES_COMPARE && step->op != NET_OP_T_EQUAL ? comparisons[step->i]
                                                                  : info->name;
}

static void print_infix(struct printer *printer, size_t index) {
  const struct net_step *step = &printer->program->steps[index];
  int own = ties(step);
  bool associative = own == TIES_AND || own == TIES_OR;
  /* Everything else groups to the left; comparisons and powers do not group. */
  bool groups = own != TIES_COMPARE && own != TIES_POWER;
  put_off_operand(printer, index, 1, associative ? own : own + 1);
  put_off_text(printer, " ");
  put_off_text(printer, infix_sign(step));
  put_off_text(printer, " ");
  put_off_operand(printer, index, 0, groups ? own : own + 1);
}

static void print_step(struct printer *printer, size_t index, int wanted) {
  const struct net_step *step = &printer->program->steps[index];
  unsigned operands = net_op_info(step->op)->operand_count;
  int own = ties(step);
  if (own < wanted) {
    base_buffer_putc(printer->out, '(');
    put_off_text(printer, ")");
  }
  if (operands == 0) {
    print_leaf(printer, step);
  } else if (own == TIES_NOT) {
    base_buffer_puts(printer->out, "not ");
    put_off_operand(printer, index, 0, TIES_NOT);
  } else if (step->op == NET_OP_MATCHES || step->op == NET_OP_FINDS) {
    put_off(printer, (struct task){.step = index, .wanted = -1});
    put_off_text(printer, step->op == NET_OP_FINDS ? " matches regular " : " matches ");
    put_off_operand(printer, index, 0, TIES_ADD);
  } else if (own == TIES_NEGATE) {
    base_buffer_putc(printer->out, '-');
    put_off_operand(printer, index, 0, TIES_POWER);
  } else if (own < TIES_NAME) {
    print_infix(printer, index);
  } else {
    print_function(printer, index);
  }
}

void net_program_print(struct base_buffer *out, const struct net_program *program,
                       const struct net_layout *layout) {
  struct printer printer = {.out = out, .program = program, .layout = layout};
  BASE_CHECK(program->stack_depth > 0, "expr-finished");
  printer.nodes = base_xcalloc(program->count, sizeof *printer.nodes);
  link_steps(program, printer.nodes);
  put_off(&printer, (struct task){.step = program->count - 1, .wanted = TIES_OR});
  while (printer.count > 0) {
    struct task task = printer.agenda[--printer.count];
    if (task.text != NULL) {
      base_buffer_puts(out, task.text);
    } else if (task.wanted < 0) {
      print_own(&printer, &program->steps[task.step]);
    } else {
      print_step(&printer, task.step, task.wanted);
    }
  }
  free(printer.agenda);
  free(printer.nodes);
}
