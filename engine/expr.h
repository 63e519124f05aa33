/* Expression programs: flat arrays of steps over the slots of a row, run by a small stack machine.
 *
 * Values on the stack are typed by construction; the compiler (netgen) is responsible for types.
 * Conditions are three-valued. An open stop is loaded as [bound, hi], where BOUND is what the reader
 * knows of it: Kleene's logic then makes T and F final; unknown over an open row is not yet decided.
 *
 * A program that cannot fail never reports; one that can (overflow, division by zero, a result that
 * is no number, a temporal value that leaves its form) stops with a net_eval_error.                 */
#ifndef NET_EXPR_H
#define NET_EXPR_H

#include "engine/base/arena.h"
#include "engine/calendar.h"
#include "engine/layout.h"
#include "engine/regex.h"

struct net_value {
  union {
    int64_t i;
    double f;
    base_string_id s;
    enum net_truth truth;
    struct net_instant instant;
    struct net_temporal temporal;
  };
};

enum net_op {
  /* pushes */
  NET_OP_INTEGER,       /* .i */
  NET_OP_FLOAT,         /* .f */
  NET_OP_STRING,        /* .s; .slot 1: shown as bytes */
  NET_OP_TRUTH,         /* .i: 0, 1, 2 */
  NET_OP_CONST_INSTANT, /* .instant */
  NET_OP_SLOT,          /* one slot: integer, float, string */
  NET_OP_BOOL_SLOT,     /* a bool domain, as truth (F or T) */
  NET_OP_TEMPORAL_SLOT, /* four slots */
  NET_OP_INSTANT_SLOT,  /* two slots, never open */
  NET_OP_STOP_SLOT,     /* two slots, perhaps open */
  /* integers: fail on overflow, division by zero */
  NET_OP_I_NEG,
  NET_OP_I_ADD,
  NET_OP_I_SUB,
  NET_OP_I_MUL,
  NET_OP_I_DIV,
  NET_OP_I_MOD,
  NET_OP_I_ABS,
  NET_OP_I_POWER, /* exact; a negative exponent truncates, as division does */
  /* floats: fail when the result is no finite number */
  NET_OP_F_NEG,
  NET_OP_F_ADD,
  NET_OP_F_SUB,
  NET_OP_F_MUL,
  NET_OP_F_DIV,
  NET_OP_F_POWER,
  NET_OP_F_ABS,
  NET_OP_F_SQRT,
  NET_OP_F_LOG,
  NET_OP_F_EXP,
  NET_OP_F_SIN,
  NET_OP_F_COS,
  NET_OP_F_ATAN,
  /* conversions */
  NET_OP_I_TO_F,
  NET_OP_F_TO_I /* truncates; fails outside int64 */,
  NET_OP_I_TO_TEMPORAL,
  NET_OP_F_TO_TEMPORAL,
  NET_OP_TRUTH_TO_I /* F 0, T 1; unknown fails */,
  NET_OP_INTEGER_FITS, /* .i = width in bytes: fails when the integer does not fit */
  NET_OP_F_TO_F4,      /* rounds to single precision; fails outside its range */
  NET_OP_S_TO_I, /* a number in decimal digits; fails when the string is none, or out of range */
  NET_OP_S_TO_F,
  NET_OP_I_TO_S, /* as CSV writes it */
  NET_OP_F_TO_S,
  NET_OP_B_TO_S,
  /* strings, in code points */
  NET_OP_CONCAT,
  NET_OP_LEFT, /* string, integer; fail when it is negative */
  NET_OP_RIGHT,
  NET_OP_LENGTH,
  NET_OP_LOWER, /* each character for itself, as Unicode maps it */
  NET_OP_UPPER,
  NET_OP_TRIM,       /* blanks, tabs and ends of lines at both sides */
  NET_OP_SUBSTRING,  /* string, first character (1), how many; fails when that is negative */
  NET_OP_POSITION,   /* string, string -> where the second begins first (1); 0: nowhere */
  NET_OP_SUBSTITUTE, /* string, what is replaced, by what */
  NET_OP_SPLIT,      /* string, separator, number of the part (1); fails when that is less than 1 */
  NET_OP_MATCHES,    /* .s = pattern (pattern.h) -> truth */
  NET_OP_FINDS, /* .regex (regex.h), anywhere in a string -> truth; fails where that takes too long */
  NET_OP_CAPTURE, /* string, number of a group of .regex: what that stands for; so does this */
  /* bytes, which are strings of the table like others; positions count bytes */
  NET_OP_BYTES_LEFT,
  NET_OP_BYTES_RIGHT,
  NET_OP_BYTES_LENGTH,
  NET_OP_BYTES_SUBSTRING,
  NET_OP_BYTES_POSITION,
  NET_OP_BYTES_TO_S, /* a text, escaped where they are none (base/bytes.h) */
  NET_OP_HEX,        /* digits; .i = 1: as CSV writes them */
  NET_OP_UNHEX,      /* of such a string; fails when it is none */
  /* temporal values */
  NET_OP_DURATION, /* pushes (0 1 1 0): the time since its own tuple's start */
  NET_OP_T_NEG,
  NET_OP_T_ADD,
  NET_OP_T_SUB,
  NET_OP_T_MUL,
  NET_OP_T_DIV,
  NET_OP_T_REBASE, /* temporal, instant from, instant to -> temporal: origin moved from from.lo to to.lo */
  /* comparisons: two operands -> truth. .i = enum net_comparison */
  NET_OP_I_COMPARE,
  NET_OP_F_COMPARE,
  NET_OP_I_F_COMPARE, /* an integer with a float, as real numbers: nothing is rounded */
  NET_OP_S_COMPARE,
  NET_OP_B_COMPARE,
  NET_OP_T_EQUAL,   /* same function, same origin */
  NET_OP_T_COMPARE, /* .i = enum net_comparison: their values at a moment, in exact arithmetic */
  /* Kleene's logic */
  NET_OP_AND,
  NET_OP_OR,
  NET_OP_NOT,
  NET_OP_IF, /* truth, value: the value; 0 or "" where the truth is F, whatever the value's error */
  NET_OP_T_IF, /* the same of temporal values */
  /* instants */
  NET_OP_LATER,
  NET_OP_EARLIER,
  NET_OP_SHIFT, /* .i chronons; fails when it leaves the time line; beginning and forever stay */
  NET_OP_INTERSECT, /* two instants -> [max lo, min hi] (two events that coincide) */
  NET_OP_BEFORE,
  NET_OP_NOT_AFTER,
  NET_OP_EQUAL_INSTANTS, /* -> truth */
  NET_OP_WITHIN,         /* two instants -> truth; .i chronons */
  /* periods stand on the stack as start, stop */
  NET_OP_OVERLAP_PERIODS, /* 4 instants */
  NET_OP_OVERLAP_EVENT,   /* event, start, stop */
  NET_OP_EQUAL_PERIODS,
  NET_OP_CONTAIN, /* 4 instants */
  /* scalars from time: span(start, stop), chronon(instant). .i: 0 midpoint, 1 lo, 2 hi */
  NET_OP_SPAN,
  NET_OP_CHRONON,
  NET_OP_CALENDAR, /* an integer, of the real time line: what .calendar says of it; fails where that is nothing */
};

enum net_comparison { NET_EQ, NET_NE, NET_LT, NET_LE, NET_GT, NET_GE };

struct net_step {
  enum net_op op;
  uint32_t slot;
  union {
    int64_t i;
    double f;
    base_string_id s;
    const struct net_regex *regex;
    struct net_instant instant;
    const struct net_calendar *calendar;
  };
};

struct net_program {
  struct net_step *steps;
  size_t count, capacity;
  uint32_t stack_depth; /* the most values ever on the stack; set by net_program_finish */
  bool reads_open;      /* has a STOP_SLOT step */
  bool can_fail;
  bool
      moves_back; /* has a SHIFT by less than 0: what it makes of an open stop is not known before */
  enum net_timeline timeline;
  struct base_strings *strings; /* strings that steps make go there */
  struct net_quick_step *quick; /* the second form (expr_quick.c), as far as there is one */
  size_t quick_count;           /* 0: there is none */
  struct net_quick_step *plain; /* the same over plain rows, where instants are numbers */
  size_t plain_count;
  bool quick_truth;  /* it gives a truth, not an integer (or an instant) */
  bool only_rebases; /* a temporal value of the row, from one of its instants to another */
};

enum net_eval_error {
  NET_EVAL_OK = 0,
  NET_EVAL_OVERFLOW,  /* integer */
  NET_EVAL_DIVISION,  /* by zero */
  NET_EVAL_NUMBER,    /* float result not finite, or argument outside the function's domain */
  NET_EVAL_FORM,      /* a temporal value that is no ratio of linear functions */
  NET_EVAL_RANGE,     /* conversion out of range */
  NET_EVAL_TEXT,      /* a string that is no number */
  NET_EVAL_HEX,       /* a string that has no bytes in hexadecimal */
  NET_EVAL_COUNT,     /* a negative number of characters, a part before the first */
  NET_EVAL_REGEX,     /* a regular expression that a text takes too long for */
  NET_EVAL_CUT,       /* a condition that would cut a period whose ends are uncertain */
  NET_EVAL_POLE,      /* a temporal value without a value at some time of the period */
  NET_EVAL_TICKS,     /* of no expression: a clock would tick too often at once */
  NET_EVAL_QUADRATIC, /* a comparison of two temporal values that is not linear */
  NET_EVAL_OPEN,      /* no error: a scalar from a stop that is still open, not known yet */
};
/* One line for messages: "integer overflow", ... */
const char *net_eval_error_text(enum net_eval_error error);

struct net_program *net_program_new(struct base_arena *arena, enum net_timeline timeline,
                                    struct base_strings *strings);
/* Appends a step (the arena keeps it). */
void net_program_emit(struct base_arena *arena, struct net_program *program, struct net_step step);
/* Computes stack_depth, reads_open, can_fail; checks the stack discipline (BASE_CHECK). The program
 * must leave exactly one value. */
void net_program_finish(struct net_program *program);

/* Runs PROGRAM on ROW; *RET on success only. */
enum net_eval_error net_program_run(const struct net_program *program, const union net_slot *row,
                                    net_chronon bound, struct net_value *ret);
/* The same of a program that only rebases: the four slots of the value go to RET. */
enum net_eval_error net_program_rebase(const struct net_program *program, const union net_slot *row,
                                       union net_slot *ret);
/* Of the rows of WIDTH slots that SELECTED names, *COUNT of them, leaves those for which PROGRAM, a
 * condition, is T; it is F for the others. PLAIN: they are (batch.h). False: the program has no quick form,
 * or fails for a row; then SELECTED is spoilt, and the rows must be looked at one by one.            */
bool net_program_select(const struct net_program *program, bool plain, const union net_slot *rows,
                        uint32_t width, uint32_t *selected, uint32_t *count);
/* Takes BIT out of MARKS[i] where PROGRAM, a condition, does not hold for the i-th of COUNT plain rows, those
 * that SELECTION (or NULL) names. False: there is no quick form, or it fails for one of them; then MARKS is
 * spoilt.                                                                                            */
bool net_program_mark(const struct net_program *program, const union net_slot *rows, uint32_t width,
                      const uint32_t *selection, uint32_t count, uint8_t bit, uint8_t *marks);
/* The same of two conditions that ask the same value, each for one: sets bit 1 of MARKS[i] where the first holds
 * and bit 2 where the second does. False: they are others.                                           */
bool net_programs_mark_values(const struct net_program *first, const struct net_program *second,
                              const union net_slot *rows, uint32_t width, const uint32_t *selection,
                              uint32_t count, uint8_t *marks);
/* The same where each of COUNT plain rows has one of the two values: which, 0 or 1. False: they are others, or a row has
 * neither; then WHICH is spoilt.                                                                     */
bool net_programs_find_values(const struct net_program *first, const struct net_program *second,
                              const union net_slot *rows, uint32_t width, uint32_t count,
                              uint8_t *which);
/* The values over COUNT plain rows, those that SELECTION (or NULL) names: each a truth (0, 1), an integer,
 * or a determinate instant. False: there is no quick form, or it fails for one of them.             */
bool net_program_column(const struct net_program *program, const union net_slot *rows,
                        uint32_t width, const uint32_t *selection, uint32_t count, int64_t *ret);
/* Marks in READS, an array of as many as a row has slots, those that a program with a plain form reads of plain rows. */
void net_program_plain_reads(const struct net_program *program, bool *reads);
/* The plain form of PROGRAM alone, of other rows: what was at slot i is at SLOTS[i]. */
const struct net_program *net_program_moved(struct base_arena *arena,
                                            const struct net_program *program,
                                            const uint32_t *slots);
/* A condition over a combination of two plain rows that nobody has written: its slot i is slot SLOTS[i] of
 * the left row where SIDES[i] is 0, of the right row for 1, of the combination's own implicit times for 2.
 * NULL: it has no form for that. Run gives false where it fails: then write the row and ask
 * net_program_run.                                                                                  */
struct net_pair_program {
  const struct net_quick_step *steps;
  size_t count;
  /* one comparison of two slots, to which constants are added */
  bool compares;
  enum net_comparison comparison;
  uint32_t sides[2], slots[2];
  int64_t more[2];
};
const struct net_pair_program *net_pair_program_new(struct base_arena *arena,
                                                    const struct net_program *program,
                                                    const uint8_t *sides, const uint32_t *slots);
bool net_pair_program_run(const struct net_pair_program *pair, const union net_slot *left,
                          const union net_slot *right, const union net_slot *times, bool *ret);
static inline bool net_compare_integers(enum net_comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
    case NET_EQ:
      return a == b;
    case NET_NE:
      return a != b;
    case NET_LT:
      return a < b;
    case NET_LE:
      return a <= b;
    case NET_GT:
      return a > b;
    case NET_GE:
    default:
      return a >= b;
  }
}
/* The same, the short way for what is asked most. */
static inline bool net_pair_program_holds(const struct net_pair_program *pair,
                                          const union net_slot *left, const union net_slot *right,
                                          const union net_slot *times, bool *ret) {
  const union net_slot *const rows[3] = {left, right, times};
  int64_t a, b;
  if (!pair->compares) return net_pair_program_run(pair, left, right, times, ret);
  if (__builtin_add_overflow(rows[pair->sides[0]][pair->slots[0]].i, pair->more[0], &a) ||
      __builtin_add_overflow(rows[pair->sides[1]][pair->slots[1]].i, pair->more[1], &b))
    return false;
  *ret = net_compare_integers(pair->comparison, a, b);
  return true;
}
/* The time at which temporal values are compared: chronons since the row's start. The period that the
 * comparison concerns has its last chronon at LAST; a pole up to there is NET_EVAL_POLE. FOUND (or NULL)
 * hears of every root that a comparison has at or after the start: a change is due at the chronon
 * ROOT, and the one after it if it is a whole number, else only at the one after it.                */
struct net_moment {
  uint64_t offset, last;
  void (*found)(void *context, uint64_t root, bool whole);
  void *context;
};
/* For programs with T_COMPARE steps, which fail in any other run. */
enum net_eval_error net_program_run_moment(const struct net_program *program,
                                           const union net_slot *row, net_chronon bound,
                                           const struct net_moment *moment, struct net_value *ret);
/* For programs that give an instant: the value, and whether it is still open, that is, depends on an
 * open stop: then *RET is {NET_OPEN, upper bound}. (Instants are monotone in the stops, so the value is
 * final when both extremes agree.) NET_EVAL_OPEN: it depends on an open stop, and would come before
 * it, or has bounds of its own at the latest; nothing can be said before the stop is known, or the
 * checkpoint has passed those.                                                                     */
enum net_eval_error net_program_run_instant(const struct net_program *program,
                                            const union net_slot *row, net_chronon bound,
                                            struct net_instant *ret, bool *ret_open);
/* A lower bound of the instant in all rows whose instants are not before those of FLOOR, where open
 * stops are at BOUND or later. */
net_chronon net_program_floor(const struct net_program *program, const union net_slot *floor,
                              net_chronon bound);
/* The BOUND that a row itself gives for its open stops, at least CHECKPOINT (that of its arc before
 * it): an open row's start (+1 when determinate), a closing row's last known stop.                 */
net_chronon net_row_bound(const struct net_layout *layout, const union net_slot *row, uint8_t marks,
                          net_chronon checkpoint);
/* For explain: "slot 4 > slot 9 + 1" in a readable infix form. */
void net_program_print(struct base_buffer *out, const struct net_program *program,
                       const struct net_layout *layout);

#endif
