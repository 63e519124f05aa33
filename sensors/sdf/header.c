/* The C header: for each event an inline function that does exactly what that event needs, no more
 * (thesis 8.2.2, 8.3.2; the run-time's part is tquel/sensor.h).
 *
 *   IterationSensor(iternum)   one load and a branch while nobody wants to know
 *     └▶ the recording part: size known at compile time, values copied one by one
 *
 * Names in the header: what users call is made of their own names (IterationSensor, FileReceptacle,
 * PDESolverProcess); everything else begins with sn_. Parameters are called like the domains, except
 * where that is a word of C or C++ or a usual macro: such a name gets an underscore.
 *
 * The remote description is written by the assembler into a COMDAT group, so that a program has it
 * once, in however many files the header is included; link-time optimisation, which puts the text of
 * all files together, is served by the .ifndef. All symbols have the digest of the description in
 * their names: files that were compiled with different versions of the header can be linked, each
 * refers to its own description, and records cannot be taken for those of the other.             */
#include <inttypes.h>
#include <string.h>

#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"

struct header {
  struct base_buffer *out;
  struct base_arena *arena;
  const struct sn_description *description;
  const char *module; /* sn_PDE_0123456789abcdef */
};

/* A value of a sensor's record that is a parameter of the sensor; but a receptacle is no value, and a ticket no
 * parameter. */
struct parameter {
  const char *name;
  struct net_type type;
  const char
      *length; /* the parameter with the length of a text; NULL: it ends at its first zero byte */
  bool is_receptacle, is_ticket;
};

struct parameters {
  struct parameter *items;
  size_t count;
  const struct parameter *receptacle; /* the one that is asked; NULL: the process's */
};

/* --- names ------------------------------------------------------------------------------------ */

static bool is_taken_word(const char *name) {
  static const char *const words[] = {"alignas",      "alignof",
                                      "and",          "and_eq",
                                      "asm",          "assert",
                                      "auto",         "bitand",
                                      "bitor",        "bool",
                                      "break",        "case",
                                      "catch",        "char",
                                      "char16_t",     "char32_t",
                                      "char8_t",      "class",
                                      "co_await",     "co_return",
                                      "co_yield",     "compl",
                                      "concept",      "const",
                                      "const_cast",   "consteval",
                                      "constexpr",    "constinit",
                                      "continue",     "decltype",
                                      "default",      "delete",
                                      "do",           "double",
                                      "dynamic_cast", "else",
                                      "enum",         "errno",
                                      "explicit",     "export",
                                      "extern",       "false",
                                      "float",        "for",
                                      "friend",       "goto",
                                      "i386",         "if",
                                      "inline",       "int",
                                      "linux",        "long",
                                      "mutable",      "namespace",
                                      "new",          "noexcept",
                                      "not",          "not_eq",
                                      "nullptr",      "operator",
                                      "or",           "or_eq",
                                      "private",      "protected",
                                      "public",       "register",
                                      "requires",     "restrict",
                                      "return",       "short",
                                      "signed",       "sizeof",
                                      "static",       "static_assert",
                                      "stderr",       "stdin",
                                      "stdout",       "struct",
                                      "switch",       "template",
                                      "this",         "thread_local",
                                      "throw",        "true",
                                      "try",          "typedef",
                                      "typeid",       "typename",
                                      "typeof",       "union",
                                      "unix",         "unsigned",
                                      "using",        "virtual",
                                      "void",         "volatile",
                                      "wchar_t",      "while",
                                      "xor",          "xor_eq",
                                      "memcpy",       "strlen",
                                      "size_t",       "offsetof",
                                      "NULL",         "EOF",
                                      "errno",        "int8_t",
                                      "int16_t",      "int32_t",
                                      "int64_t",      "uint8_t",
                                      "uint32_t",     "uint64_t",
                                      "asm",          "isnan",
                                      "isinf",        "signbit",
                                      "major",        "minor",
                                      "makedev",      "I"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(name, words[i]) == 0) return true;
  return strncmp(name, "sn_", 3) == 0 || strncmp(name, "SN_", 3) == 0;
}

static bool is_parameter(const struct parameters *parameters, const char *name) {
  for (size_t i = 0; i < parameters->count; i++) {
    const struct parameter *one = &parameters->items[i];
    if (strcmp(one->name, name) == 0) return true;
    if (one->length != NULL && strcmp(one->length, name) == 0) return true;
  }
  return false;
}

static bool is_domain(const struct sn_event_description *event, const char *name) {
  for (size_t i = 0; i < event->domain_count; i++)
    if (strcmp(event->domains[i].name, name) == 0) return true;
  return false;
}

/* OWN: a domain has this name itself. */
static const char *free_name(struct header *header, const struct parameters *parameters,
                             const struct sn_event_description *event, const char *name, bool own) {
  while (is_taken_word(name) || is_parameter(parameters, name) ||
         (!own && is_domain(event, name))) {
    name = base_arena_printf(header->arena, "%s_", name);
    own = false;
  }
  return name;
}

static void add_parameter(struct header *header, struct parameters *parameters,
                          const struct sn_event_description *event, const char *name, bool own,
                          struct net_type type, bool is_receptacle) {
  name = free_name(header, parameters, event, name, own);
  parameters->items[parameters->count] = (struct parameter){name, type, NULL, is_receptacle, false};
  if (is_receptacle) parameters->receptacle = &parameters->items[parameters->count];
  parameters->count++;
}

static struct parameters parameters_of(struct header *header,
                                       const struct sn_event_description *event) {
  const struct net_type name = {NET_NAME, 0};
  struct parameters parameters = {
      .items = BASE_NEW_ARRAY(header->arena, event->domain_count + 2, struct parameter)};
  if (event->object != NULL)
    add_parameter(header, &parameters, event, "object", false, name,
                  event->holder == SN_HOLDER_OBJECT);
  if (event->initiator != NULL)
    add_parameter(header, &parameters, event, "initiator", false, name,
                  event->holder == SN_HOLDER_INITIATOR);
  if (event->is_period)
    parameters.items[parameters.count++] =
        (struct parameter){"sn_number", event->domains[0].type, NULL, false, true};
  for (size_t i = event->is_period; i < event->domain_count; i++) {
    const struct sn_domain_description *domain = &event->domains[i];
    add_parameter(header, &parameters, event, domain->name, true, domain->type, false);
    if (!domain->counted) continue;
    const char *length = base_arena_printf(header->arena, "%s_length", domain->name);
    parameters.items[parameters.count - 1].length =
        free_name(header, &parameters, event, length, false);
  }
  return parameters;
}

/* Is its length in the record, and the bytes behind that? */
static bool has_length(struct net_type type) {
  return type.base == NET_STRING || type.base == NET_BYTES;
}

/* --- small pieces ----------------------------------------------------------------------------- */

static const char *c_type(struct net_type type) {
  switch (type.base) {
    case NET_INTEGER:
      return type.width == 1   ? "int8_t "
             : type.width == 2 ? "int16_t "
             : type.width == 4 ? "int32_t "
                               : "int64_t ";
    case NET_FLOAT:
      return type.width == 4 ? "float " : "double ";
    case NET_BOOL:
      return "int ";
    case NET_STRING:
      return "const char *";
    case NET_BYTES:
      return "const void *";
    default:
      return "uint64_t ";
  }
}

static const char *field_type(struct net_type type) {
  switch (type.base) {
    case NET_INTEGER:
      return type.width == 1   ? "SN_I1"
             : type.width == 2 ? "SN_I2"
             : type.width == 4 ? "SN_I4"
                               : "SN_I8";
    case NET_FLOAT:
      return type.width == 4 ? "SN_F4" : "SN_F8";
    case NET_BOOL:
      return "SN_BOOL";
    case NET_STRING:
      return "SN_TEXT";
    case NET_BYTES:
      return "SN_BYTES";
    default:
      return "SN_NAME";
  }
}

/* A C comment of TEXT, which cannot end it, one line of text a line. */
static void put_comment(struct base_buffer *out, const char *text) {
  base_buffer_puts(out, "/* ");
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '\n') {
      base_buffer_puts(out, "\n * ");
    } else {
      base_buffer_putc(out, *c);
      if ((*c == '*' && c[1] == '/') || (*c == '/' && c[1] == '*')) base_buffer_putc(out, ' ');
    }
  }
  base_buffer_puts(out, " */\n");
}

/* A line of the assembler's as a line of a C string. */
static void put_assembly(struct base_buffer *out, const char *line) {
  base_buffer_printf(out, "  \"%s\\n\"\n", line);
}

/* TEXT as .ascii lines inside a C string: escaped twice. */
static void put_ascii(struct base_buffer *out, const char *text, size_t length) {
  bool open = false;
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (!open) base_buffer_puts(out, "  \".ascii \\\"");
    open = true;
    if (byte == '"' || byte == '\\')
      base_buffer_printf(out, "\\\\%s", byte == '"' ? "\\\"" : "\\\\");
    else if (byte >= ' ' && byte < 0x7f)
      base_buffer_putc(out, (char)byte);
    else
      base_buffer_printf(out, "\\\\%03o", byte);
    if (byte == '\n' || i + 1 == length) {
      base_buffer_puts(out, "\\\"\\n\"\n");
      open = false;
    }
  }
}

/* --- the remote description ------------------------------------------------------------------- */

static void put_note(struct header *header, const struct base_buffer *remote) {
  struct base_buffer *out = header->out;
  const char *module = header->module;
  base_buffer_puts(out,
                   "/* The remote description, which the monitor reads from the program. */\n");
  base_buffer_puts(out,
                   "#pragma GCC diagnostic push\n"
                   "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
                   "__asm__(\n");
  base_buffer_printf(out, "  \".ifndef %s_text\\n\"\n", module);
  base_buffer_printf(out, "  \".pushsection .note.tquel,\\\"aG\\\",%%note,%s,comdat\\n\"\n",
                     module);
  put_assembly(out, ".balign 4");
  base_buffer_printf(out, "  \".long %zu, %zu, %d\\n\"\n", sizeof SN_NOTE_NAME, remote->length,
                     SN_NOTE_TYPE);
  put_assembly(out, ".ascii \\\"" SN_NOTE_NAME "\\\\000\\\"");
  put_assembly(out, ".balign 4");
  base_buffer_printf(out, "  \".weak %s_text\\n\"\n  \".hidden %s_text\\n\"\n", module, module);
  base_buffer_printf(out, "  \".type %s_text, %%object\\n\"\n", module);
  base_buffer_printf(out, "  \"%s_text:\\n\"\n", module);
  put_ascii(out, remote->data, remote->length);
  base_buffer_printf(out, "  \".size %s_text, %zu\\n\"\n", module, remote->length);
  put_assembly(out, ".balign 4");
  put_assembly(out, ".popsection");
  put_assembly(out, ".endif");
  base_buffer_puts(out, ");\n#pragma GCC diagnostic pop\n");
  base_buffer_printf(
      out, "extern const char %s_text[] __attribute__((visibility(\"hidden\")));\n\n", module);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_fields(struct header *header, const struct sn_event_description *event) {
  struct parameters parameters = parameters_of(header, event);
  const char *names[2] = {NULL, NULL};
  size_t implicit = 0, written = 0;
  if (event->object != NULL) names[implicit++] = event->object->name;
  if (event->initiator != NULL) names[implicit++] = "Initiator";
  for (size_t i = 0; i < parameters.count; i++) {
    const struct parameter *one = &parameters.items[i];
    if (one->is_receptacle) continue;
    if (written++ == 0)
      base_buffer_printf(header->out, "static const struct sn_field sn_%s_fields_%s[] = {\n",
                         header->description->name, event->name);
    const char *name = i < implicit ? names[i] : event->domains[i - implicit].name;
    uint32_t size = has_length(one->type) ? 0 : sn_type_size(one->type);
    base_buffer_printf(header->out, "  {\"%s\", %s, %u},\n", name, field_type(one->type), size);
  }
  if (written > 0) base_buffer_puts(header->out, "};\n");
}

static void put_flags(struct base_buffer *out, const struct sn_event_description *event,
                      bool stop) {
  const struct {
    bool value;
    const char *name;
  } flags[] = {{event->timestamp, "SN_TIMESTAMP"},
               {event->assume_enabled || stop, "SN_ASSUME_ENABLED"},
               {event->check_one_time, "SN_CHECK_ONE_TIME"},
               {event->assume_one_time, "SN_ASSUME_ONE_TIME"},
               {event->declare_object, "SN_DECLARE_OBJECT"},
               {stop, "SN_STOP"}};
  bool any = false;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    if (!flags[i].value) continue;
    base_buffer_printf(out, "%s%s", any ? " | " : "", flags[i].name);
    any = true;
  }
  if (!any) base_buffer_putc(out, '0');
}

/* STOP: of the stops of a period sensor, whose value is the ticket. */
static void put_event_row(struct header *header, const struct sn_event_description *event,
                          bool stop) {
  static const char *const minors[] = {"SN_OBJECT_TRACED", "SN_SENSOR_TRACED",
                                       "SN_RECEPTACLE_SAMPLED", "SN_MESSAGE_SAMPLED",
                                       "SN_INVOCATION_SAMPLED"};
  static const char *const holders[] = {"SN_PERFORMER", "SN_OBJECT", "SN_INITIATOR"};
  struct base_buffer *out = header->out;
  struct parameters parameters = parameters_of(header, event);
  uint32_t size = 0, count = 0;
  for (size_t i = 0; i < parameters.count; i++) {
    if (parameters.items[i].is_receptacle) continue;
    size += sn_type_size(parameters.items[i].type);
    count++;
  }
  int histogram = stop ? -1 : event->histogram; /* SN_DURATIONS is SN_OF_DURATION */
  if (histogram >= 0) histogram += (int)(count - event->domain_count);
  base_buffer_printf(out, "  {\"%s\", %u, %s, %s, ", event->name, event->number,
                     minors[event->minor - 1], holders[event->holder]);
  put_flags(out, event, stop);
  if (stop) {
    size = 8;
    count = 1;
  }
  base_buffer_printf(out, ",\n   %d, %u, %u, %u, %d, %u, %u, ", (int)event->wait_ms,
                     event->location->number, event->object != NULL ? event->object->number : 0,
                     event->initiator != NULL ? event->initiator->number : 0, histogram, size,
                     count);
  if (count > 0)
    base_buffer_printf(out, "sn_%s_%s_%s},\n", header->description->name,
                       stop ? "ticket" : "fields", event->name);
  else
    base_buffer_puts(out, "SN_NULL},\n");
}

static void put_tables(struct header *header, uint64_t digest, size_t text_length) {
  const struct sn_description *description = header->description;
  struct base_buffer *out = header->out;
  const char *name = description->name;
  for (size_t i = 0; i < description->event_count; i++) put_fields(header, &description->events[i]);
  if (description->event_count > 0) {
    base_buffer_printf(out, "static const struct sn_event sn_%s_events[] = {\n", name);
    for (size_t i = 0; i < description->event_count; i++)
      put_event_row(header, &description->events[i], false);
    base_buffer_puts(out, "};\n");
  }
  for (size_t i = 0; i < description->event_count; i++) {
    const struct sn_event_description *event = &description->events[i];
    if (!event->is_period) continue;
    base_buffer_printf(out,
                       "static const struct sn_field sn_%s_ticket_%s[] = {{\"%s\", SN_I8, 8}};\n"
                       "static const struct sn_event sn_%s_stop_%s[] = {\n",
                       name, event->name, sn_ticket_domain, name, event->name);
    put_event_row(header, event, true);
    base_buffer_puts(out, "};\n");
  }
  base_buffer_printf(out, "static const struct sn_type sn_%s_types[] = {\n", name);
  for (size_t i = 0; i < description->type_count; i++) {
    const struct sn_type_description *type = &description->types[i];
    base_buffer_printf(out, "  {\"%s\", %u, %d},\n", type->name, type->number, type->is_process);
  }
  base_buffer_puts(out, "};\n");
  base_buffer_printf(out, "SN_MODULE(%s, \"%s\", UINT64_C(0x%016" PRIx64 "),\n", header->module,
                     name, digest);
  if (description->event_count > 0)
    base_buffer_printf(out, "  sn_%s_events, %zu, %u,\n", name, description->event_count,
                       description->number_max);
  else
    base_buffer_puts(out, "  SN_NULL, 0, 0,\n");
  base_buffer_printf(out, "  sn_%s_types, %zu, %s_text, %zu);\n\n", name, description->type_count,
                     header->module, text_length);
}

/* --- sensors ---------------------------------------------------------------------------------- */

static void put_parameter_list(struct base_buffer *out, const struct parameters *parameters) {
  size_t put = 0;
  for (size_t i = 0; i < parameters->count; i++) {
    const struct parameter *one = &parameters->items[i];
    if (one->is_ticket) continue;
    base_buffer_printf(out, "%s%s%s", put++ > 0 ? ", " : "",
                       one->is_receptacle ? "struct sn_receptacle *" : c_type(one->type),
                       one->name);
    if (one->length != NULL) base_buffer_printf(out, ", size_t %s", one->length);
  }
  if (put == 0) base_buffer_puts(out, "void");
}

static void put_arguments(struct base_buffer *out, const struct parameters *parameters) {
  size_t put = 0;
  for (size_t i = 0; i < parameters->count; i++) {
    const struct parameter *one = &parameters->items[i];
    if (one->is_ticket) continue;
    base_buffer_printf(out, "%s%s", put++ > 0 ? ", " : "", one->name);
    if (one->length != NULL) base_buffer_printf(out, ", %s", one->length);
  }
}

/* The bytes of the record: fixed, or with the lengths of texts. */
static void put_size(struct base_buffer *out, const struct parameters *parameters) {
  uint32_t fixed = 0;
  bool any_text = false;
  for (size_t i = 0; i < parameters->count; i++) {
    const struct parameter *one = &parameters->items[i];
    if (one->is_receptacle) continue;
    fixed += sn_type_size(one->type);
    if (!has_length(one->type)) continue;
    any_text = true;
    if (one->length != NULL)
      base_buffer_printf(out, "  const size_t sn_length_%zu = sn_counted(%s, %s);\n", i, one->name,
                         one->length);
    else
      base_buffer_printf(out, "  const size_t sn_length_%zu = %s ? strlen(%s) : 0;\n", i, one->name,
                         one->name);
  }
  if (!any_text) {
    base_buffer_printf(out, "  const uint32_t sn_size = %u;\n", fixed);
    return;
  }
  base_buffer_printf(out, "  const uint64_t sn_sum = UINT64_C(%u)", fixed);
  for (size_t i = 0; i < parameters->count; i++)
    if (!parameters->items[i].is_receptacle && has_length(parameters->items[i].type))
      base_buffer_printf(out, " + sn_length_%zu", i);
  base_buffer_puts(out,
                   ";\n  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : "
                   "SN_AS(uint32_t, sn_sum);\n");
}

static void put_copies(struct base_buffer *out, const struct parameters *parameters) {
  size_t left = 0;
  for (size_t i = 0; i < parameters->count; i++) left += !parameters->items[i].is_receptacle;
  for (size_t i = 0; i < parameters->count; i++) {
    const struct parameter *one = &parameters->items[i];
    if (one->is_receptacle) continue;
    bool last = --left == 0;
    if (has_length(one->type)) {
      base_buffer_printf(
          out,
          "  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_%zu); memcpy(sn_to, "
          "&sn_length, 4); }\n  if (sn_length_%zu) memcpy(sn_to + 4, %s, sn_length_%zu);\n",
          i, i, one->name, i);
      if (!last) base_buffer_printf(out, "  sn_to += 4 + sn_length_%zu;\n", i);
    } else {
      if (one->type.base == NET_BOOL)
        base_buffer_printf(out, "  *sn_to = %s != 0;\n", one->name);
      else
        base_buffer_printf(out, "  memcpy(sn_to, &%s, %u);\n", one->name, sn_type_size(one->type));
      if (!last) base_buffer_printf(out, "  sn_to += %u;\n", sn_type_size(one->type));
    }
  }
}

/* A double is one: who converts it all the same may be told that it is useless. */
static void put_as_double(struct base_buffer *out, const struct parameter *number) {
  bool is_double = number->type.base == NET_FLOAT && number->type.width == 8;
  base_buffer_printf(out, is_double ? "%s" : "SN_AS(double, %s)", number->name);
}

/* What only happens while somebody wants to know. */
static const char *recording(const struct sn_event_description *event) {
  return event->is_inline ? "inline __attribute__((always_inline))"
                          : "__attribute__((noinline, unused))";
}

static void put_record_function(struct header *header, const struct sn_event_description *event,
                                size_t index, const struct parameters *parameters) {
  struct base_buffer *out = header->out;
  const char *name = header->description->name;
  size_t offset = parameters->count - event->domain_count;
  base_buffer_printf(out, "static %s %s sn_%s_record_%s(", recording(event),
                     event->is_period ? "sn_ticket" : "void", name, event->name);
  put_parameter_list(out, parameters);
  base_buffer_puts(out, ") {\n");
  if (event->is_period)
    base_buffer_puts(out, "  sn_ticket sn_new = SN_NO_PERIOD;\n  int64_t sn_number;\n");
  put_size(out, parameters);
  base_buffer_puts(out, "  struct sn_record sn_one;\n");
  if (event->is_period)
    base_buffer_puts(out, "  unsigned char *sn_to;\n  sn_one.since = 0;\n  sn_to");
  else
    base_buffer_puts(out, "  unsigned char *sn_to");
  base_buffer_printf(out, " = sn_record_open(&%s, &sn_%s_events[%zu], %s, sn_size, ",
                     header->module, name, index,
                     parameters->receptacle != NULL ? parameters->receptacle->name : "SN_NULL");
  if (event->histogram >= 0)
    put_as_double(out, &parameters->items[offset + (size_t)event->histogram]);
  else
    base_buffer_puts(out, "0.0");
  base_buffer_puts(out, ", &sn_one);\n");
  if (event->is_period)
    base_buffer_printf(out, "  sn_period_counted(&sn_new, &sn_one, %s);\n",
                       parameters->receptacle != NULL ? parameters->receptacle->name : "SN_NULL");
  base_buffer_printf(out, "  if (!sn_to) return%s;\n", event->is_period ? " sn_new" : "");
  if (event->is_period)
    base_buffer_puts(out, "  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);\n");
  put_copies(out, parameters);
  base_buffer_printf(out, "  sn_record_close(&sn_one);\n%s}\n",
                     event->is_period ? "  return sn_new;\n" : "");
  if (!event->is_period) return;
  base_buffer_printf(out,
                     "static %s void sn_%s_stopped_%s(const sn_ticket sn_old) {\n"
                     "  sn_period_stop(&%s, sn_%s_stop_%s, &sn_old);\n}\n",
                     recording(event), name, event->name, header->module, name, event->name);
}

static void put_condition(struct header *header, const struct sn_event_description *event,
                          const struct parameters *parameters) {
  if (event->assume_enabled)
    base_buffer_printf(header->out, "sn_listening(&%s)", header->module);
  else if (parameters->receptacle != NULL)
    base_buffer_printf(header->out, "sn_object_enabled(%s, %u)", parameters->receptacle->name,
                       event->number);
  else
    base_buffer_printf(header->out, "sn_enabled(&%s, %u)", header->module, event->number);
}

/* For arguments that are dear. */
static void put_enabled(struct header *header, const struct sn_event_description *event,
                        const struct parameters *parameters) {
  struct base_buffer *out = header->out;
  base_buffer_printf(out,
                     "/* Not 0: %s%s would do something now. */\n"
                     "static inline int %sEnabled(",
                     event->name, event->is_period ? "Start" : "Sensor", event->name);
  if (parameters->receptacle != NULL && !event->assume_enabled)
    base_buffer_printf(out, "const struct sn_receptacle *%s", parameters->receptacle->name);
  else
    base_buffer_puts(out, "void");
  base_buffer_puts(out, ") { return ");
  put_condition(header, event, parameters);
  base_buffer_puts(out, "; }\n");
}

static void put_sampling(struct header *header, const struct sn_event_description *event) {
  struct base_buffer *out = header->out;
  if (event->minor == SN_MINOR_MESSAGE_SAMPLED) {
    base_buffer_printf(
        out,
        "/* Whether a round of %sSensor is asked for: 1 once for each. */\n"
        "static inline int %sRequested(void) { return sn_sample_requested(&%s, %u); }\n",
        event->name, event->name, header->module, event->number);
    base_buffer_printf(out,
                       "/* The round is complete. */\n"
                       "static inline void %sRound(void) { sn_sample_done(&%s, %u); }\n",
                       event->name, header->module, event->number);
  }
  if (event->minor == SN_MINOR_INVOCATION_SAMPLED) {
    base_buffer_printf(
        out,
        "/* The function is called at each request, in a thread of its own, and runs the sensor "
        "once\n"
        " * for each entity. Not 0: no memory, or no thread. */\n"
        "static inline int %sOnSample(void (*function)(void *context), void *context) {\n"
        "  return sn_sample_register(&%s, %u, function, context);\n}\n",
        event->name, header->module, event->number);
  }
}

/* What the event is, and its domains. */
static void put_event_comment(struct header *header, const struct sn_event_description *event) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, event->documentation);
  for (size_t i = event->is_period; i < event->domain_count; i++) {
    const struct sn_domain_description *domain = &event->domains[i];
    if (domain->documentation[0] == '\0' && domain->object == NULL) continue;
    base_buffer_printf(&text, "%s%s: ", text.length > 0 ? "\n" : "", domain->name);
    if (domain->object != NULL) base_buffer_printf(&text, "a %s. ", domain->object->name);
    base_buffer_puts(&text, domain->documentation);
  }
  if (text.length > 0) put_comment(header->out, text.data);
  base_buffer_done(&text);
}

/* The sensor itself: a load or two and a branch, while nobody wants to know. */
static void put_inline(struct header *header, const struct sn_event_description *event,
                       const struct parameters *parameters) {
  struct base_buffer *out = header->out;
  base_buffer_printf(out, "static inline %s %s%s(", event->is_period ? "sn_ticket" : "void",
                     event->name, event->is_period ? "Start" : "Sensor");
  put_parameter_list(out, parameters);
  base_buffer_puts(out, ") {\n  if (SN_UNLIKELY(");
  put_condition(header, event, parameters);
  base_buffer_printf(out, "))\n    %ssn_%s_record_%s(", event->is_period ? "return " : "",
                     header->description->name, event->name);
  put_arguments(out, parameters);
  base_buffer_printf(out, ");\n%s}\n", event->is_period ? "  return sn_no_period();\n" : "");
}

static void put_stop(struct header *header, const struct sn_event_description *event,
                     const struct parameters *parameters) {
  struct base_buffer *out = header->out, list = BASE_BUFFER_EMPTY;
  base_buffer_printf(out,
                     "/* The period that %sStart began ends, once, in whatever thread. */\n"
                     "static inline void %sStop(sn_ticket *sn_old) {\n"
                     "  const sn_ticket sn_one = *sn_old;\n"
                     "  if (SN_UNLIKELY(sn_is_period(&sn_one))) {\n"
                     "    *sn_old = sn_no_period();\n"
                     "    sn_%s_stopped_%s(sn_one);\n  }\n}\n",
                     event->name, event->name, header->description->name, event->name);
  size_t count = 0;
  for (size_t i = 0; i < parameters->count; i++)
    count += !parameters->items[i].is_ticket + (parameters->items[i].length != NULL);
  for (size_t i = 1; i <= count; i++) base_buffer_printf(&list, "%ssn_%zu", i > 1 ? ", " : "", i);
  base_buffer_printf(out,
                     "/* From here to the end of the block, however it is left. */\n"
                     "#define %sScope(%s) \\\n"
                     "  sn_ticket SN_SCOPE(__LINE__) \\\n"
                     "      __attribute__((__cleanup__(%sStop), __unused__)) = %sStart(%s)\n",
                     event->name, base_buffer_text(&list), event->name, event->name,
                     base_buffer_text(&list));
  base_buffer_done(&list);
}

static void put_sensor(struct header *header, size_t index) {
  const struct sn_event_description *event = &header->description->events[index];
  struct parameters parameters = parameters_of(header, event);
  struct base_buffer *out = header->out;
  base_buffer_printf(out, "/* --- event %u: %s, %s */\n", event->number, event->name,
                     sn_minor_name(event->minor));
  put_record_function(header, event, index, &parameters);
  put_event_comment(header, event);
  put_inline(header, event, &parameters);
  if (event->is_period) put_stop(header, event, &parameters);
  put_enabled(header, event, &parameters);
  put_sampling(header, event);
  base_buffer_putc(out, '\n');
}

static void put_type(struct header *header, const struct sn_type_description *type) {
  struct base_buffer *out = header->out;
  if (type->documentation[0] != '\0') put_comment(out, type->documentation);
  if (type->is_process) {
    base_buffer_printf(
        out,
        "/* This process is a %s called sn_minor, or, where that is NULL, by its process id.\n"
        " * After fork, again. */\n"
        "static inline int %sProcess(const char *sn_minor) {\n"
        "  return sn_process_declare(&%s, %u, sn_minor);\n}\n\n",
        type->name, type->name, header->module, type->number);
    return;
  }
  base_buffer_printf(
      out,
      "/* The receptacle of the %s called sn_minor. NULL when there is no memory: sensors that\n"
      " * get it do nothing. */\n"
      "static inline struct sn_receptacle *%sReceptacle(uint64_t sn_minor) {\n"
      "  return sn_receptacle_new(&%s, %u, sn_minor);\n}\n"
      "/* The %s is no more. */\n"
      "static inline void %sRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); "
      "}\n\n",
      type->name, type->name, header->module, type->number, type->name, type->name);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void put_opening(struct header *header) {
  const struct sn_description *description = header->description;
  struct base_buffer *out = header->out;
  base_buffer_printf(out, "/* The sensors of the task force %s, made from ", description->name);
  for (const char *c = description->file; *c != '\0'; c++)
    if (*c >= ' ' && *c != '*' && *c != '/') base_buffer_putc(out, *c);
  base_buffer_puts(out, " by tquel sdf. Do not edit. */\n");
  base_buffer_printf(out, "#ifndef TQUEL_SENSORS_%s_H\n#define TQUEL_SENSORS_%s_H\n\n",
                     description->name, description->name);
  base_buffer_puts(out, "#include <stdint.h>\n#include <string.h>\n#include <tquel/sensor.h>\n\n");
  base_buffer_puts(out,
                   "/* Who includes this is warned of his own code alone. */\n"
                   "#if defined(__GNUC__) && defined(__INCLUDE_LEVEL__) && __INCLUDE_LEVEL__ > 0\n"
                   "#pragma GCC system_header\n#endif\n\n");
  base_buffer_puts(out,
                   "#if SN_INTERFACE != 1 || !defined(SN_NULL)\n#error \"tquel/sensor.h is of "
                   "another version than the "
                   "tquel that made this header\"\n#endif\n\n");
  base_buffer_puts(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  if (description->documentation[0] != '\0') {
    put_comment(out, description->documentation);
    base_buffer_putc(out, '\n');
  }
}

void sn_write_header(struct base_buffer *out, const struct sn_description *description,
                     const struct base_buffer *remote) {
  struct header header = {.out = out, .arena = base_arena_new(), .description = description};
  uint64_t digest = sn_remote_digest(remote->data, remote->length);
  header.module = base_arena_printf(header.arena, "sn_%s_%016" PRIx64, description->name, digest);
  put_opening(&header);
  put_note(&header, remote);
  put_tables(&header, digest, remote->length);
  for (size_t i = 0; i < description->type_count; i++) put_type(&header, &description->types[i]);
  for (size_t i = 0; i < description->event_count; i++) put_sensor(&header, i);
  base_buffer_puts(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  base_arena_free(header.arena);
}
