/* Logs of whoever: lines with a time near their beginning, perhaps how grave it is, and text.
 *
 * A pattern is made of one way to stand before the time, one form of times and what follows. What the time then is,
 * its values tell as those of any column do (roles.c). A zone that is an abbreviation, which names several, is no match: its
 * times would be taken for the session's. */
#include "tquel/infer/infer_impl.h"

#define FRACTION   "(?:[.,]\\d+)?"
#define CLOCK_TIME "\\d\\d:\\d\\d:\\d\\d" FRACTION
#define MONTH      "[A-Z][a-z]{2}"

static const char *const before[] = {"\\[?", "(?<origin>\\S+) \\[?"};
static const char *const times[] = {
    "\\d{4}[-/]\\d\\d[-/]\\d\\d[ T]" CLOCK_TIME "(?:Z| ?(?:UTC|GMT|[+-]\\d\\d:?\\d\\d))?",
    MONTH " " MONTH " [ \\d]\\d " CLOCK_TIME " \\d{4}",
    MONTH " [ \\d]\\d " CLOCK_TIME,
    "\\d\\d/" MONTH "/\\d{4}:" CLOCK_TIME "(?: [+-]\\d{4})?",
    "\\d\\d? " MONTH " \\d{4} " CLOCK_TIME,
    "\\d\\d/\\d\\d/\\d{4} " CLOCK_TIME,
    "\\d\\d\\.\\d\\d\\.\\d{4} " CLOCK_TIME,
    "\\d{10}(?:\\.\\d+)?",
};
enum { BEFORE = sizeof before / sizeof before[0], TIMES = sizeof times / sizeof times[0] };

#define BEHIND "\\]?(?! [A-Z]{2,3}T\\b)[ :]+(?:- +)?"
#define LEVEL                                                                                    \
  "(?:[\\[<(]?(?<level>(?i:trace|debug|info|notice|warn|warning|error|err|crit|critical|severe|" \
  "fatal|alert|emerg|panic))[\\]>)]?[ :]+(?:- +)?)?"

const char *infer_text_pattern(struct base_arena *arena, size_t i, bool level) {
  if (i >= (size_t)BEFORE * TIMES) return NULL;
  return base_arena_printf(arena, "%s(?<time>%s)%s%s(?<message>.*)", before[i / TIMES],
                           times[i % TIMES], BEHIND, level ? LEVEL : "");
}
