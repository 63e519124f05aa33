/* Completion by TAB.
 *
 * The automaton says what may come next after the text before the word at the cursor: keywords, signs,
 * and classes of names, which the session's catalogue fills in. Inside a string, and behind \i, files
 * are offered. A word is completed as far as it is certain; when nothing can be added, the
 * possibilities are listed. At the beginning of a line TAB indents, so that indented text can be
 * pasted. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "engine/base/printable.h"
#include "engine/base/arena.h"
#include "tquel/lang/parse.h"
#include "tquel/shell/terminal.h"

#define LISTED_MAX 200

struct candidate {
  char *text;
  const char *tail; /* what follows it when it is the only one */
};

struct completion {
  struct terminal *terminal;
  const char *text; /* before the word */
  size_t length;
  const char *word; /* to be completed */
  size_t word_length;
  const char *tail;
  struct candidate *items;
  size_t count, capacity;
};

/* What has control characters cannot be typed, and must not be shown as it is. */
static void offer(struct completion *completion, const char *text) {
  if (!base_is_printable(text, strlen(text))) return;
  if (strncasecmp(text, completion->word, completion->word_length) != 0) return;
  for (size_t i = 0; i < completion->count; i++)
    if (strcmp(completion->items[i].text, text) == 0) return;
  base_grow(&completion->items, &completion->capacity, completion->count + 1,
            sizeof *completion->items);
  completion->items[completion->count++] = (struct candidate){base_xstrdup(text), completion->tail};
}

static void on_name(void *context, const char *name) {
  offer(context, name);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool is_word(char byte) {
  return isalnum((unsigned char)byte) || byte == '_' || (unsigned char)byte >= 0x80;
}

/* The word that ends before *END; moves *END to its beginning. Free it. */
static char *word_before(const char *text, size_t *end) {
  size_t last = *end;
  while (last > 0 && isspace((unsigned char)text[last - 1])) last--;
  size_t first = last;
  while (first > 0 && is_word(text[first - 1])) first--;
  *end = first;
  char *word = base_xmalloc(last - first + 1);
  memcpy(word, text + first, last - first);
  word[last - first] = '\0';
  return word;
}

/* The relation or variable that an append or replace in front of END is about: the word in front of
 * the parenthesis that is open. */
static char *target_before(const char *text, size_t end) {
  while (end > 0 && text[end - 1] != '(') end--;
  if (end > 0) end--;
  return word_before(text, &end);
}

static void offer_names(struct completion *completion, enum shell_names kind, const char *owner) {
  struct shell_backend *backend = completion->terminal->shell->backend;
  backend->class->each_name(backend, kind, owner, on_name, completion);
}

static void offer_domains(struct completion *completion) {
  size_t end = completion->length;
  bool dotted = end > 0 && completion->text[end - 1] == '.';
  if (dotted) end--;
  char *owner = dotted ? word_before(completion->text, &end) : target_before(completion->text, end);
  offer_names(completion, SHELL_DOMAINS, owner);
  free(owner);
}

static void on_expected(void *context, const char *word) {
  struct completion *completion = context;
  completion->tail = "";
  if (strcmp(word, "<relation>") == 0) {
    completion->tail = " ";
    offer_names(completion, SHELL_RELATIONS, NULL);
  } else if (strcmp(word, "<variable>") == 0) {
    offer_names(completion, SHELL_VARIABLES, NULL);
  } else if (strcmp(word, "<domain>") == 0) {
    offer_domains(completion);
  } else if (isalpha((unsigned char)word[0])) {
    completion->tail = " ";
    offer(completion, word);
  }
}

/* --- files ------------------------------------------------------------------------------------ */

static void offer_files(struct completion *completion) {
  const char *word = completion->word;
  const char *slash = memrchr(word, '/', completion->word_length);
  size_t kept = slash ? (size_t)(slash + 1 - word) : 0;
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_append(&path, word, kept);
  DIR *directory = opendir(kept ? path.data : ".");
  struct dirent *entry;
  while (directory && (entry = readdir(directory))) {
    if (entry->d_name[0] == '.' && word[kept] != '.') continue;
    if (strncmp(entry->d_name, word + kept, completion->word_length - kept) != 0) continue;
    base_buffer_clear(&path);
    base_buffer_append(&path, word, kept);
    base_buffer_puts(&path, entry->d_name);
    struct stat status;
    bool is_directory = stat(path.data, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_directory) base_buffer_putc(&path, '/');
    completion->tail = "";
    offer(completion, path.data);
  }
  if (directory) closedir(directory);
  base_buffer_done(&path);
}

/* Where the string that TEXT ends in begins, behind its quotation mark; SIZE_MAX: it ends in none. */
static size_t open_string(const char *text, size_t length) {
  size_t begin = SIZE_MAX;
  for (size_t i = 0; i < length; i++) {
    if (begin == SIZE_MAX && text[i] == '-' && i + 1 < length && text[i + 1] == '-') {
      while (i < length && text[i] != '\n') i++;
    } else if (begin != SIZE_MAX && text[i] == '\\') {
      i++;
    } else if (text[i] == '"' || text[i] == '\n') {
      begin = text[i] == '"' && begin == SIZE_MAX ? i + 1 : SIZE_MAX;
    }
  }
  return begin;
}

/* --- the shell's own commands ----------------------------------------------------------------- */

static void offer_for_command(struct completion *completion, const char *line, size_t length) {
  size_t name_length = strcspn(line, " \t");
  completion->tail = " ";
  if (name_length >= length) {
    completion->word = line;
    completion->word_length = length;
    for (size_t i = 0; terminal_command_name(i); i++) offer(completion, terminal_command_name(i));
    return;
  }
  completion->word = line + name_length + strspn(line + name_length, " \t");
  completion->word_length = length - (size_t)(completion->word - line);
  if (strncmp(line, "\\d ", 3) == 0 || strncmp(line, "\\dn ", 4) == 0)
    offer_names(completion, SHELL_RELATIONS, NULL);
  else if (strncmp(line, "\\format ", 8) == 0)
    for (int i = 0; i <= TQL_FORMAT_COUNT; i++)
      offer(completion, tql_format_name((enum tql_format)i));
  else if (strncmp(line, "\\i ", 3) == 0)
    offer_files(completion);
}

/* --- what TAB does ---------------------------------------------------------------------------- */

/* How many bytes all candidates have in common (upper and lower case alike). */
static size_t common_length(const struct completion *completion) {
  size_t length = strlen(completion->items[0].text);
  for (size_t i = 1; i < completion->count; i++) {
    size_t same = 0;
    while (same < length && tolower((unsigned char)completion->items[i].text[same]) ==
                                tolower((unsigned char)completion->items[0].text[same]))
      same++;
    length = same;
  }
  /* Not into the middle of a character. */
  while (length > 0 && ((unsigned char)completion->items[0].text[length] & 0xc0) == 0x80) length--;
  return length;
}

static int compare_candidates(const void *a, const void *b) {
  return strcasecmp(((const struct candidate *)a)->text, ((const struct candidate *)b)->text);
}

static void list_candidates(struct completion *completion) {
  size_t width = 0, column = 0, shown = completion->count;
  FILE *out = completion->terminal->out;
  int columns = 80;
  (void)el_get(completion->terminal->edit, EL_GETTC, "co", &columns, NULL);
  qsort(completion->items, completion->count, sizeof *completion->items, compare_candidates);
  if (shown > LISTED_MAX) shown = LISTED_MAX;
  for (size_t i = 0; i < shown; i++) {
    size_t length = strlen(completion->items[i].text) + 2;
    if (length > width) width = length;
  }
  fputc('\n', out);
  for (size_t i = 0; i < shown; i++) {
    if (column > 0 && column + width > (size_t)(columns > 0 ? columns : 80)) {
      fputc('\n', out);
      column = 0;
    }
    fprintf(out, "%-*s", (int)width, completion->items[i].text);
    column += width;
  }
  if (shown < completion->count) fprintf(out, "\n(%zu more)", completion->count - shown);
  fputc('\n', out);
  fflush(out);
}

static unsigned char act(struct completion *completion) {
  if (completion->count == 0) return CC_ERROR;
  const struct candidate *first = &completion->items[0];
  size_t length = common_length(completion);
  bool single = completion->count == 1;
  if (single || length > completion->word_length) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    /* A keyword in capitals stays so; anything else is written as it is. */
    bool capitals = completion->word_length > 1;
    for (size_t i = 0; i < completion->word_length; i++)
      if (!isupper((unsigned char)completion->word[i])) capitals = false;
    capitals = capitals && tql_is_keyword(first->text);
    for (size_t i = 0; i < length; i++)
      base_buffer_putc(&text,
                       capitals ? (char)toupper((unsigned char)first->text[i]) : first->text[i]);
    if (single) base_buffer_puts(&text, first->tail);
    size_t characters = 0;
    for (size_t i = 0; i < completion->word_length; i++)
      characters += ((unsigned char)completion->word[i] & 0xc0) != 0x80;
    el_deletestr(completion->terminal->edit, (int)characters);
    el_insertstr(completion->terminal->edit, base_buffer_text(&text));
    base_buffer_done(&text);
    return CC_REFRESH;
  }
  list_candidates(completion);
  return CC_REDISPLAY;
}

static void gather(struct completion *completion, const struct base_buffer *text) {
  size_t string = open_string(text->data, text->length);
  size_t first = text->length;
  while (first > 0 && is_word(text->data[first - 1])) first--;
  if (string != SIZE_MAX) first = string;
  completion->text = text->data;
  completion->length = first;
  completion->word = text->data + first;
  completion->word_length = text->length - first;
  if (string != SIZE_MAX)
    offer_files(completion);
  else
    tql_expected(completion->text, completion->length, on_expected, completion);
}

unsigned char terminal_complete(EditLine *edit, int character) {
  (void)character;
  struct completion completion = {0};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  el_get(edit, EL_CLIENTDATA, &completion.terminal);
  const LineInfo *line = el_line(edit);
  base_buffer_append(&text, line->buffer, (size_t)(line->cursor - line->buffer));
  const char *typed = base_buffer_text(&text);
  size_t blanks = strspn(typed, " \t");
  if (blanks == text.length) {
    base_buffer_done(&text);
    el_insertstr(edit, "  ");
    return CC_REFRESH;
  }
  struct base_buffer all = BASE_BUFFER_EMPTY;
  if (typed[blanks] == '\\') {
    offer_for_command(&completion, typed + blanks, text.length - blanks);
  } else {
    const struct base_buffer *workspace = &completion.terminal->workspace;
    base_buffer_append(&all, base_buffer_text(workspace), workspace->length);
    base_buffer_append(&all, typed, text.length);
    gather(&completion, &all);
  }
  unsigned char answer = act(&completion);
  for (size_t i = 0; i < completion.count; i++) free(completion.items[i].text);
  free(completion.items);
  base_buffer_done(&all);
  base_buffer_done(&text);
  return answer;
}
