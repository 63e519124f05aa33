/* "Did you mean ...?": the candidate nearest to a misspelt name.
 *
 * The distance is that of Damerau and Levenshtein in its restricted form: insertions, deletions,
 * replacements and exchanges of neighbours count 1 each, and nothing is edited twice. Letters of
 * ASCII compare without case. A candidate is worth suggesting when the distance is at most a third
 * of the name's length (but 1 is always allowed) and something of the name is left. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/diag.h"

static char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Three rows of the table of distances between prefixes; the row before the previous one serves
 * the exchanges. */
struct rows {
  size_t *before, *previous, *current;
};

static void fill_row(struct rows *rows, const char *name, size_t i, const char *other,
                     size_t other_length) {
  rows->current[0] = i;
  for (size_t j = 1; j <= other_length; j++) {
    char a = lower(name[i - 1]), b = lower(other[j - 1]);
    size_t best = rows->previous[j - 1] + (a != b);
    best = least(best, least(rows->previous[j], rows->current[j - 1]) + 1);
    if (i > 1 && j > 1 && a == lower(other[j - 2]) && lower(name[i - 2]) == b)
      best = least(best, rows->before[j - 2] + 1);
    rows->current[j] = best;
  }
}

static size_t distance(const char *name, size_t length, const char *other, size_t other_length) {
  size_t width = other_length + 1;
  size_t *cells = base_xcalloc(3 * width, sizeof *cells);
  struct rows rows = {cells, cells + width, cells + 2 * width};
  for (size_t j = 0; j <= other_length; j++) rows.previous[j] = j;
  for (size_t i = 1; i <= length; i++) {
    fill_row(&rows, name, i, other, other_length);
    rows = (struct rows){rows.previous, rows.current, rows.before};
  }
  size_t result = rows.previous[other_length];
  free(cells);
  return result;
}

struct base_near base_near_to(const char *word) {
  size_t length = strlen(word);
  return (struct base_near){.word = word, .below = (length / 3 > 1 ? length / 3 : 1) + 1};
}

void base_near_offer(void *near, const char *candidate) {
  struct base_near *to = near;
  size_t length = strlen(to->word), other_length = strlen(candidate);
  size_t longer = length > other_length ? length : other_length;
  if (longer - least(length, other_length) >= to->below) return;
  size_t away = distance(to->word, length, candidate, other_length);
  if (away >= to->below || (away && away >= longer)) return;
  to->nearest = candidate;
  to->below = away; /* of equally near ones the first is taken */
}

const char *base_nearest(const char *name, const char *const *candidates, size_t count) {
  struct base_near near = base_near_to(name);
  for (size_t i = 0; i < count; i++) base_near_offer(&near, candidates[i]);
  return near.nearest;
}
