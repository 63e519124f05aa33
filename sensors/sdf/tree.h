/* The text of a description file as a tree: atoms, integers, strings, and lists of them.
 *
 * The syntax is that of figure 8-4 of the thesis. An object is a list whose first element is the name
 * of a class, an attribute one whose first element is the name of an attribute; what is what depends
 * on the classes that the format file defines, so the tree knows lists only and check.c does the rest.
 * Description files, format files and remote descriptions are all read by this one parser.
 *
 * Trees live in an arena. Every element has its place in the text.                                */
#ifndef SN_SDF_TREE_H
#define SN_SDF_TREE_H

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/diag.h"

enum sn_element_kind { SN_ATOM, SN_INTEGER, SN_STRING, SN_LIST };

struct sn_element {
  enum sn_element_kind kind;
  struct base_range range; /* of a list: from its "(" to its ")" */
  const char *text; /* an atom or integer as written, a string without quotes; NUL-terminated */
  int64_t integer;  /* of an integer */
  struct sn_element *first; /* of a list */
  struct sn_element *next;  /* in the list that this is in */
};

/* Lists may be nested this deep. */
#define SN_DEPTH_MAX 100

/* Parses SOURCE. Returns a list of its objects (lists all of them, each with an atom at its head), or
 * NULL when something was reported. An empty file gives an empty list.                            */
struct sn_element *sn_tree_parse(struct base_arena *arena, const struct base_source *source,
                                 struct base_diag_sink *diags);

/* Whether ELEMENT is an atom spelled WORD, in upper or lower case. NULL is not. */
bool sn_is_atom(const struct sn_element *element, const char *word);
size_t sn_list_length(const struct sn_element *first);

/* Writes TEXT as an atom if it can be one, else as a string. */
void sn_tree_write_text(struct base_buffer *out, const char *text);
void sn_tree_write_string(struct base_buffer *out, const char *text);
void sn_tree_write(struct base_buffer *out, const struct sn_element *element);

#endif
