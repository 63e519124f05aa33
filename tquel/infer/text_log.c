/* Logs of whoever: lines with a time near their beginning, perhaps how grave it is, and text.
 *
 * A pattern is made of one way to stand before the time, one form of times and what follows. What the time then is,
 * its values tell as those of any column do (roles.c). Where more stands behind it that belongs to the time (a zone by an
 * abbreviation, which names several, AM or PM), there is no match: it would be taken for another time. */
#include "tquel/infer/infer_impl.h"

#define FRACTION   "(?:[.,]\\d+)?"
#define CLOCK_TIME "\\d\\d:\\d\\d:\\d\\d" FRACTION
#define MONTH      "[A-Z][a-z]{2}"

#define ZONE "(?: ?(?:Z|UTC|GMT|[+-]\\d\\d(?::?\\d\\d)?)(?![\\w+-]))?"

static const char *const before[] = {"\\[?", "(?<origin>\\S+) \\[?"};
static const char *const times[] = {
    "\\d{4}[-/]\\d\\d[-/]\\d\\d[ T]" CLOCK_TIME ZONE,
    MONTH " " MONTH " [ \\d]\\d " CLOCK_TIME "(?: (?:UTC|GMT))? \\d{4}" ZONE,
    MONTH " [ \\d]\\d " CLOCK_TIME ZONE "(?! (?:19|20)\\d\\d\\b)",
    "\\d\\d/" MONTH "/\\d{4}:" CLOCK_TIME ZONE,
    "\\d\\d? " MONTH " \\d{4} " CLOCK_TIME ZONE,
    "\\d\\d/\\d\\d/\\d{4} " CLOCK_TIME ZONE,
    "\\d\\d\\.\\d\\d\\.\\d{4} " CLOCK_TIME ZONE,
    "\\d\\d-" MONTH "-\\d{4} " CLOCK_TIME ZONE,
    "\\d{10}(?:\\.\\d+)?",
    "\\d{13}",
};
enum { BEFORE = sizeof before / sizeof before[0], TIMES = sizeof times / sizeof times[0] };

/* What would say more of the time than was taken: zones by an abbreviation or a place, offsets, halves of the day. */
#define ABBREVIATIONS                                                                             \
  "UTC|GMT|A[CEKW]?[DS]T|AKDT|AKST|BST|C[DAES]T|CEST|E[ADES]T|EEST|HDT|HKT|HST|I[DS]T|JST|KST|M[" \
  "DES]"                                                                                          \
  "T|MEST|MSK|MSD|N[DS]T|NZ[DS]T|P[DKS]T|SAST|SGT|SST|WAT|WEST|WET|WIT|WIB|WITA"
#define MORE_TIME \
  "(?: ?[+-]\\d| (?:" ABBREVIATIONS ")\\b| ?(?i:[ap]\\.?m\\b)| [A-Z][a-z]+/[A-Z][a-z])"
#define BEHIND "\\]?(?!" MORE_TIME ")(?:[ :]+(?:- +)?|(?=\\[))"
#define LEVELS                                                                                 \
  "(?i:trace|debug|info|notice|warn|warning|error|err|crit|critical|severe|fatal|alert|emerg|" \
  "panic)"
#define LEVEL "(?:[\\[<(]?(?<level>" LEVELS ")(?:\\](?=\\[)|[\\]>)]?[ :]+(?:- +)?))?"
/* Only if how grave it is stands behind it. */
#define THREAD "(?:\\[(?<thread>[^\\]]+)\\] +(?=" LEVELS "\\b))?"

const char *infer_text_pattern(struct base_arena *arena, size_t i, unsigned parts) {
  if (i >= (size_t)BEFORE * TIMES) return NULL;
  return base_arena_printf(arena, "%s(?<time>%s)%s%s%s(?<message>.*)", before[i / TIMES],
                           times[i % TIMES], BEHIND, parts & INFER_THREAD ? THREAD : "",
                           parts & INFER_LEVEL ? LEVEL : "");
}
