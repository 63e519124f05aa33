/* What the server wants to see: its watches, by relation (thesis 8.4, "adjust object").
 *
 * A watch wants the records of a relation that have certain values in certain domains, Process among them.
 * What a sensor cannot tell apart is not taken into account: it depends on whose receptacle it asks.
 * Watches with an exact value besides Process are found by that value: there may be as many of them as
 * there are objects, where objects are computed by another query.                                    */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/env.h" /* base_hash */
#include "engine/pattern.h"
#include "sensors/collect/monitor_impl.h"

enum { LOOSE, EXACT };

static struct sn_interest *find_interest(const struct sn_monitor *monitor, const char *relation) {
  struct sn_interest *interest = monitor->interests;
  while (interest != NULL && strcasecmp(interest->relation, relation) != 0) {
    interest = interest->next;
  }
  return interest;
}

struct sn_interest *sn_interest_of(struct sn_monitor *monitor, const char *relation) {
  struct sn_interest *interest = find_interest(monitor, relation);
  if (interest != NULL) return interest;
  interest = base_xcalloc(1, sizeof *interest);
  interest->relation = base_xstrdup(relation);
  interest->checked = monitor->checked_all;
  interest->next = monitor->interests;
  monitor->interests = interest;
  return interest;
}

static void add_to(struct sn_monitor *monitor, struct sn_interest *interest,
                   struct sn_watch *watch);

/* Who says EVENT means that of each task force. */
bool sn_relation_means(const char *wanted, const char *relation) {
  const char *event = strchr(relation, '.');
  return strcasecmp(wanted, relation) == 0 || (event != NULL && strcasecmp(wanted, event + 1) == 0);
}

/* What was wanted of EVENT of whatever task force before this one came is wanted of it. */
struct sn_interest *sn_interest_of_event(struct sn_monitor *monitor, const char *taskforce,
                                         const char *event) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  struct sn_interest *last = monitor->interests;
  base_buffer_printf(&name, "%s.%s", taskforce, event);
  struct sn_interest *interest = sn_interest_of(monitor, name.data);
  base_buffer_done(&name);
  const struct sn_interest *all = find_interest(monitor, event);
  if (monitor->interests == last || all == NULL) return interest;
  interest->counted = all->counted;
  interest->counted_before = all->counted_before;
  interest->sampled_in_overload = all->sampled_in_overload;
  interest->sampled_before = all->sampled_before;
  for (unsigned list = 0; list < 2; list++) {
    for (const struct sn_watch *watch = all->watches[list]; watch != NULL; watch = watch->next) {
      add_to(monitor, interest, sn_watch_copy(watch));
    }
  }
  return interest;
}

/* --- the index */

static bool is_exact(const struct sn_watch *watch) {
  return watch->key < watch->value_count;
}

static uint64_t hash_of(const char *domain, const char *text, size_t length) {
  uint64_t hash = 0;
  for (; *domain != '\0'; domain++) hash = hash * 31 + (unsigned char)(*domain | 0x20);
  return base_hash(text, length, hash);
}

static size_t place_of(const struct sn_interest *interest, const struct sn_watch *watch) {
  const struct sn_watch_value *value = &watch->values[watch->key];
  return hash_of(value->domain, value->text, value->length) & (interest->index_size - 1);
}

static void index_add(struct sn_interest *interest, struct sn_watch *watch) {
  if (!is_exact(watch)) return;
  if (interest->exact++ >= interest->index_size) {
    free(interest->index);
    interest->index_size = interest->index_size != 0 ? 4 * interest->index_size : 64;
    interest->index = base_xcalloc(interest->index_size, sizeof(struct sn_watch *));
    for (struct sn_watch *each = interest->watches[EXACT]; each != NULL; each = each->next) {
      if (each == watch) continue;
      size_t place = place_of(interest, each);
      each->same_hash = interest->index[place];
      interest->index[place] = each;
    }
  }
  size_t place = place_of(interest, watch);
  watch->same_hash = interest->index[place];
  interest->index[place] = watch;
  const char *domain = watch->values[watch->key].domain;
  if (interest->exact == 1) {
    free(interest->domain);
    interest->domain = base_xstrdup(domain);
    interest->mixed = false;
  }
  if (strcasecmp(interest->domain, domain) != 0) interest->mixed = true;
}

static void index_remove(struct sn_interest *interest, const struct sn_watch *watch) {
  if (!is_exact(watch)) return;
  struct sn_watch **link = &interest->index[place_of(interest, watch)];
  while (*link != watch) link = &(*link)->same_hash;
  *link = watch->same_hash;
  interest->exact--;
}

/* --- adding and removing */

static void watch_free(struct sn_watch *watch) {
  for (uint32_t i = 0; i < watch->value_count; i++) {
    free(watch->values[i].domain);
    free(watch->values[i].text);
  }
  free(watch->values);
  free(watch->filter);
  free(watch);
}

void sn_watch_list_free(struct sn_watch *watches) {
  for (struct sn_watch *next; watches != NULL; watches = next) {
    next = watches->next;
    watch_free(watches);
  }
}

static void remove_watch(struct sn_monitor *monitor, struct sn_interest *interest,
                         struct sn_watch **link) {
  struct sn_watch *watch = *link;
  index_remove(interest, watch);
  sn_filter_remove(interest, watch);
  *link = watch->next;
  interest->count--;
  monitor->watched--;
  watch_free(watch);
}

static char *copy_of(struct sn_string string) {
  char *copy = base_xmalloc(string.length + 1u);
  if (string.length > 0) memcpy(copy, string.bytes, string.length);
  copy[string.length] = '\0';
  return copy;
}

/* Values that are neither names nor texts no receptacle is called by: the watch is taken for wider. */
static bool read_values(struct sn_watch *watch, const struct sn_message_adjust_object *command) {
  struct sn_reading reading = sn_reading_from(command->objects);
  size_t room = 0;
  for (uint32_t i = 0; i < command->count; i++) {
    struct sn_watched_object object;
    if (!sn_get_object(&reading, &object)) return false;
    if (object.type != SN_DOMAIN_STRING && object.type != SN_DOMAIN_NAME) continue;
    if (object.pattern &&
        net_pattern_fault(object.value.text.bytes, object.value.text.length) != NULL) {
      continue;
    }
    base_grow(&watch->values, &room, watch->value_count + 1, sizeof *watch->values);
    struct sn_watch_value *value = &watch->values[watch->value_count++];
    *value = (struct sn_watch_value){.domain = copy_of(object.domain),
                                     .text = copy_of(object.value.text),
                                     .length = object.value.text.length,
                                     .pattern = object.pattern};
    value->process = strcasecmp(value->domain, "Process") == 0;
  }
  watch->key = watch->value_count;
  for (uint32_t i = watch->value_count; i-- > 0;) {
    if (!watch->values[i].pattern && !watch->values[i].process) watch->key = i;
  }
  return sn_reading_end(&reading);
}

static void add_to(struct sn_monitor *monitor, struct sn_interest *interest,
                   struct sn_watch *watch) {
  unsigned list = is_exact(watch) ? EXACT : LOOSE;
  watch->interest = interest;
  watch->next = interest->watches[list];
  interest->watches[list] = watch;
  interest->count++;
  monitor->watched++;
  monitor->sampled = true; /* or it turns out that it is not */
  index_add(interest, watch);
  sn_filter_add(interest, watch);
}

struct sn_watch *sn_watch_copy(const struct sn_watch *watch) {
  struct sn_watch *copy = base_xcalloc(1, sizeof *copy);
  *copy = *watch;
  copy->copied = true;
  copy->next = copy->same_hash = NULL;
  copy->filter = copy_of(sn_string_from(watch->filter, watch->filter_length));
  copy->values = base_xcalloc(watch->value_count + 1u, sizeof *copy->values);
  for (uint32_t i = 0; i < watch->value_count; i++) {
    const struct sn_watch_value *value = &watch->values[i];
    copy->values[i] = *value;
    copy->values[i].domain = base_xstrdup(value->domain);
    copy->values[i].text = copy_of(sn_string_from(value->text, value->length));
  }
  return copy;
}

static bool add_watch(struct sn_monitor *monitor, const struct sn_message_adjust_object *command) {
  struct sn_watch *watch = base_xcalloc(1, sizeof *watch);
  watch->id = command->watch;
  watch->starts_only = command->starts_only;
  watch->every = command->every;
  watch->origin = command->origin;
  watch->since = sn_monitor_time(monitor);
  watch->tick = INT64_MIN;
  watch->filter = copy_of(command->filter);
  watch->filter_length = command->filter.length;
  if (!read_values(watch, command) || !sn_filter_is_one(watch->filter, watch->filter_length)) {
    watch_free(watch);
    return false;
  }
  char *relation = copy_of(command->relation);
  add_to(monitor, sn_interest_of(monitor, relation), watch);
  for (struct sn_interest *each = monitor->interests; each != NULL; each = each->next) {
    if (each != watch->interest && sn_relation_means(relation, each->relation)) {
      add_to(monitor, each, sn_watch_copy(watch));
    }
  }
  free(relation);
  return true;
}

struct sn_watch *sn_watch_read(struct sn_string objects) {
  struct sn_reading reading = sn_reading_from(objects);
  struct sn_message_adjust_object command = {.count = sn_get_u32(&reading)};
  if (objects.length < sizeof command.count) return NULL;
  command.objects = sn_string_from(objects.bytes + sizeof command.count,
                                   objects.length - (uint32_t)sizeof command.count);
  struct sn_watch *watch = base_xcalloc(1, sizeof *watch);
  if (read_values(watch, &command)) return watch;
  watch_free(watch);
  return NULL;
}

/* Of the connection that is: STALE ones are another's, with numbers of their own. */
static void drop(struct sn_monitor *monitor, bool stale, uint32_t id) {
  for (struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    for (unsigned list = 0; list < 2; list++) {
      for (struct sn_watch **link = &interest->watches[list]; *link != NULL;) {
        if ((*link)->stale == stale && (stale || (*link)->id == id)) {
          remove_watch(monitor, interest, link);
        } else {
          link = &(*link)->next;
        }
      }
    }
  }
}

bool sn_watch_adjust(struct sn_monitor *monitor, const struct sn_message_adjust_object *command) {
  if (command->on) {
    if (!add_watch(monitor, command)) return false;
  } else {
    drop(monitor, false, command->watch);
  }
  monitor->commands++;
  return true;
}

void sn_watches_stale(struct sn_monitor *monitor) {
  for (struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    interest->counted_before = interest->counted;
    interest->sampled_before = interest->sampled_in_overload;
    for (unsigned list = 0; list < 2; list++) {
      for (struct sn_watch *watch = interest->watches[list]; watch != NULL; watch = watch->next) {
        watch->stale = true;
      }
    }
  }
}

void sn_watches_drop_stale(struct sn_monitor *monitor) {
  drop(monitor, true, 0);
  monitor->stale_until = 0;
  monitor->commands++;
}

void sn_watches_free(struct sn_monitor *monitor) {
  for (struct sn_interest *interest = monitor->interests, *next; interest != NULL;
       interest = next) {
    next = interest->next;
    for (unsigned list = 0; list < 2; list++) {
      while (interest->watches[list] != NULL) {
        remove_watch(monitor, interest, &interest->watches[list]);
      }
    }
    free(interest->index);
    free(interest->clocks);
    free(interest->domain);
    free(interest->relation);
    free(interest);
  }
}

/* --- asking */

static bool matches(const struct sn_watch_value *value, const char *text, size_t length) {
  if (value->pattern) return net_pattern_match(value->text, value->length, text, length);
  return value->length == length && memcmp(value->text, text, length) == 0;
}

bool sn_watch_wants_process(const struct sn_watch *watch, const char *process) {
  for (uint32_t i = 0; i < watch->value_count; i++) {
    const struct sn_watch_value *value = &watch->values[i];
    if (value->process && !matches(value, process, strlen(process))) return false;
  }
  return true;
}

/* OBJECT NULL: whether it wants every object of HOLDER. */
static bool wants_object(const struct sn_watch *watch, const char *holder,
                         const struct sn_name *object) {
  for (uint32_t i = 0; i < watch->value_count && holder != NULL; i++) {
    const struct sn_watch_value *value = &watch->values[i];
    if (value->process || strcasecmp(value->domain, holder) != 0) continue;
    if (object == NULL || !matches(value, object->text, object->length)) return false;
  }
  return true;
}

bool sn_watch_wants(const struct sn_watch *watch, const char *process, const char *holder,
                    const struct sn_name *object) {
  return wants_object(watch, holder, object) && sn_watch_wants_process(watch, process);
}

static bool any_wants(const struct sn_watch *watch, const char *process, const char *holder,
                      const struct sn_name *object) {
  for (; watch != NULL; watch = watch->next) {
    if (sn_watch_wants(watch, process, holder, object)) return true;
  }
  return false;
}

static bool indexed_wants(const struct sn_interest *interest, const char *process,
                          const char *holder, const struct sn_name *object) {
  size_t place = hash_of(holder, object->text, object->length) & (interest->index_size - 1);
  for (const struct sn_watch *watch = interest->index[place]; watch != NULL;
       watch = watch->same_hash) {
    if (sn_watch_wants(watch, process, holder, object)) return true;
  }
  return false;
}

bool sn_interest_wants(const struct sn_interest *interest, const char *process, const char *holder,
                       const struct sn_name *object) {
  if (any_wants(interest->watches[LOOSE], process, holder, object)) return true;
  if (interest->exact == 0) return false;
  bool by_holder = holder != NULL && !interest->mixed && strcasecmp(interest->domain, holder) == 0;
  if (by_holder) return object != NULL && indexed_wants(interest, process, holder, object);
  return any_wants(interest->watches[EXACT], process, holder, object);
}

bool sn_interest_wants_process(const struct sn_interest *interest, const char *process) {
  for (unsigned list = 0; list < 2; list++) {
    for (const struct sn_watch *watch = interest->watches[list]; watch != NULL;
         watch = watch->next) {
      if (sn_watch_wants_process(watch, process)) return true;
    }
  }
  return false;
}
