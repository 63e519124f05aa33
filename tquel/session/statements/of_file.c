/* Relations that are made of a file: create R from "x.csv", range of r is file "x.csv".
 *
 * What the file holds is inferred (tquel/infer), which gives the statements create and copy, as text; they are run as one
 * statement. If a record does not fit what its first ones have made believe, it is inferred from all of them. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sensors/feed/feed.h"
#include "tquel/infer/infer.h"
#include "tquel/infer/spool.h"
#include "tquel/lang/parse.h"
#include "tquel/lang/print.h"
#include "tquel/session/catalogue/catalogue.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/users/users.h"

struct making {
  struct tql_session *session;
  const struct tql_statement *statement;
  session_run run;
  struct tql_infer_options options;
  struct sn_form form;
  bool ran; /* the statements were run, so what failed is in the records */
};

static bool is_taken(void *context, const char *name) {
  return session_find(context, name) != NULL || session_find_unusable(context, name) != NULL;
}

static enum tql_infer_kind kind_of(const struct tql_statement *statement) {
  if (!statement->kind_given) return TQL_INFER_ANY;
  return statement->relation_kind == TQL_EVENT    ? TQL_INFER_EVENT
         : statement->relation_kind == TQL_PERIOD ? TQL_INFER_PERIOD
                                                  : TQL_INFER_SNAPSHOT;
}

/* How the statement says the form of the file. */
static const char *format_text(const struct making *making) {
  const struct tql_file_form *form = making->statement->form;
  if (form == NULL || form->format.text == NULL) return NULL;
  const char *name = form->format.text;
  if (form->how == NULL) return name;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s ", name);
  tql_print_string(&text, form->how, strlen(form->how));
  const char *made = base_arena_strdup(making->session->statement_arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return made;
}

static enum base_status prepare(struct making *making) {
  struct tql_session *session = making->session;
  const struct tql_statement *statement = making->statement;
  struct tql_infer_options *options = &making->options;
  enum base_status status =
      session_files_of(session, statement, &options->paths, &options->path_count);
  if (status != BASE_OK) return status;
  options->shown = statement->path;
  options->relation = statement->name.text;
  options->kind = kind_of(statement);
  options->skipping = statement->skipping_errors;
  options->sample = TQL_INFER_SAMPLE;
  options->time = session->seat->time;
  options->taken = is_taken;
  options->context = session;
  options->format = format_text(making);
  if (statement->form != NULL && statement->form->empty.text != NULL)
    options->empty = statement->form->empty.text;
  const struct tql_file_form *said = statement->form;
  if (said == NULL) return BASE_OK;
  if (options->format == NULL && !said->headless && !said->ragged && !said->continued &&
      said->skipped == 0)
    return BASE_OK;
  making->form.skipped = said->skipped;
  making->form.continued = said->continued;
  making->form.headless = statement->form->headless;
  making->form.ragged = statement->form->ragged;
  making->form.format = SN_GUESS;
  options->form = &making->form;
  return statement->form->format.text != NULL
             ? session_said_format(session, statement->form, &making->form)
             : BASE_OK;
}

/* The statements, on one line, for people. */
static const char *on_one_line(struct tql_session *session, const char *text) {
  char *line = base_arena_strdup(session->statement_arena, text), *to = line;
  for (const char *at = line; *at != '\0'; at++) {
    bool blank = *at == '\n' || *at == ' ';
    if (blank && (to == line || to[-1] == ' ' || to[-1] == '(')) continue;
    *to++ = blank ? ' ' : *at;
  }
  while (to > line && to[-1] == ' ') to--;
  *to = '\0';
  return line;
}

static void say_what(const struct making *making, const struct tql_inferred *inferred) {
  struct tql_session *session = making->session;
  const char *hint = "";
  for (size_t i = 0; i < inferred->note_count; i++)
    hint = base_arena_printf(session->statement_arena, "%s%s%s", hint, i > 0 ? "; " : "",
                             inferred->notes[i]);
  base_report_hint(session->diags, MSG_INFERRED, session->source, &making->statement->path_range,
                   base_arena_strdup(session->arena, hint), "%s is made by: %s", inferred->relation,
                   on_one_line(session, inferred->text));
}

/* Runs the statements as one, with what they say about themselves at places of their own. */
static enum base_status run_text(struct making *making, const struct tql_inferred *inferred) {
  struct tql_session *session = making->session;
  const struct base_source *source = session->source;
  struct base_source *own = BASE_NEW(session->arena, struct base_source);
  *own = (struct base_source){
      .name = base_arena_printf(session->arena, "<inferred from %s>", making->options.shown),
      .text = base_arena_strdup(session->arena, inferred->text),
      .length = strlen(inferred->text),
      .first_line = 1};
  size_t count;
  bool parsed, outer = session->single_transaction;
  struct tql_statement **statements =
      tql_parse(session->statement_arena, own, 1, session->diags, &count, &parsed);
  enum base_status status = parsed ? BASE_OK : BASE_USER;
  session->single_transaction = true;
  session->source = own;
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    session->statement = statements[i];
    status = making->run(session, statements[i]);
  }
  session->single_transaction = outer;
  session->source = source;
  session->statement = making->statement;
  if (!outer && session->in_script_transaction) {
    session->in_script_transaction = false;
    status = session_end(session, status);
  }
  making->ran = true;
  return status;
}

static enum base_status make(struct making *making, struct tql_inferred *ret) {
  struct tql_session *session = making->session;
  enum base_status status =
      tql_infer(session->statement_arena, &making->options, session->diags, ret);
  return status == BASE_OK ? run_text(making, ret) : status;
}

static enum base_status make_twice(struct making *making, struct tql_inferred *ret) {
  struct tql_session *session = making->session;
  size_t before = session->diags->count;
  enum base_status status = make(making, ret);
  if (status == BASE_OK || status == BASE_CANCEL || !making->ran || ret->all ||
      session->single_transaction)
    return status;
  base_diag_drop(session->diags, before);
  making->options.sample = 0;
  return make(making, ret);
}

enum base_status session_make_of_file(struct tql_session *session,
                                      const struct tql_statement *statement, session_run run,
                                      const char **ret_name) {
  struct tql_statement here = *statement;
  struct making making = {.session = session, .statement = &here, .run = run};
  struct tql_inferred inferred;
  here.path = session_path(session, statement);
  if (here.path == NULL) return BASE_USER;
  if (strcmp(here.path, "-") == 0 && session->options.stdin_is_script) {
    base_report_hint(session->diags, MSG_STDIN_TAKEN, session->source, &statement->path_range,
                     "give the script with -f FILE",
                     "the statements come from standard input, which cannot be a file as well");
    return BASE_USER;
  }
  enum base_status status = prepare(&making);
  bool stream = status == BASE_OK && making.options.path_count == 1 && tql_is_stream(here.path);
  int kept = -1;
  if (stream) {
    static const char *const input[] = {"-"};
    status = tql_spool(here.path, 0, session->diags, &kept);
    making.options.paths = input;
    making.options.descriptor = kept;
    session->input_kept = kept;
  }
  if (status == BASE_OK) status = make_twice(&making, &inferred);
  if (stream && kept >= 0) close(kept);
  session->input_kept = 0;
  if (status != BASE_OK) return status;
  say_what(&making, &inferred);
  *ret_name = inferred.relation;
  return BASE_OK;
}
