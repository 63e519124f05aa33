/* The program tquel: its subcommands, and the shell for everything else.
 *
 * A first argument that is a subcommand's name is taken as such; a database called like one is
 * written ./NAME. Subcommands that are not executed yet know their --help and answer with a number of
 * their own, so that scripts see a difference between a slip and a version that is too old. */
#include <stdio.h>
#include <string.h>

#include "engine/base/diag.h"
#include "tquel/program/help.h"
#include "tquel/program/options.h"
#include "tquel/serve/serve.h"
#include "tquel/shell/shell.h"

static void describe_explain(struct base_buffer *out) {
  program_options_describe(PROGRAM_EXPLAIN, out);
}

static void describe_serve(struct base_buffer *out) {
  program_options_describe(PROGRAM_SERVE, out);
}

static void describe_feed(struct base_buffer *out) {
  program_options_describe(PROGRAM_FEED, out);
}

static const struct program_subcommand subcommands[] = {
    {.name = "explain",
     .what = "shows the update network of each statement",
     .usage = "[OPTION]... [DB] FILE",
     .run = shell_explain_main,
     .about = "The statements of FILE are read and bound, with the relations of DB if it is\n"
              "given, and nothing is run or changed. FILE - is standard input.",
     .describe_options = describe_explain},
    {.name = "help",
     .what = "explains a command or the number of a message",
     .usage = "[COMMAND | TQ-nnnn | messages]",
     .run = program_help_main},
    {.name = "serve",
     .what = "keeps standing queries running over live feeds, for shells and collectors",
     .usage = "[OPTION]... DB",
     .run = serve_main,
     .about =
         "Shells (tquel --connect), feeds and collectors connect to the socket. It runs in the\n"
         "foreground until it gets SIGINT or SIGTERM, which end it in order.",
     .describe_options = describe_serve},
    {.name = "collect",
     .what = "gathers the event records of one machine and sends them to a server",
     .usage = "[OPTION]...",
     .run = shell_collect_main,
     .about = "It runs in the foreground and is quiet; SIGTERM and SIGINT end it.",
     .describe_options = shell_collect_describe},
    {.name = "feed",
     .what = "sends records from standard input (CSV or NDJSON) to a server",
     .usage = "[OPTION]... RELATION",
     .run = shell_feed_main,
     .about =
         "The records come on standard input; what stands in their columns or keys is told by\n"
         "tquel(7), COPY. It ends when they do.",
     .describe_options = describe_feed},
    {.name = "infer",
     .what = "prints the statements that take a file: its form, times, domains and types",
     .usage = "[OPTION]... FILE...",
     .run = shell_infer_main,
     .about =
         "Looks at the first records of each FILE (- is standard input; a quoted pattern, such as\n"
         "'logs/*.csv.gz', several as one) and prints create and copy, with what was guessed as\n"
         "comments. Nothing is stored: the statements can be changed, and given to tquel.",
     .describe_options = shell_infer_describe},
    {.name = "sdf",
     .what = "checks a sensor description, writes its C header and documentation",
     .usage = "FILE [--header OUT] [--tquel OUT] [--doc OUT] [--diff OLD NEW]",
     .run = shell_sdf_main,
     .about = "FILE is a description, or a program that carries one; - is standard input.\n"
              "OUT - is standard output. Without OUT it says what is in the description.",
     .describe_options = shell_sdf_describe},
    {.name = "check",
     .what = "checks performance assertions against a log or a live feed",
     .usage = "SPECIFICATION LOG",
     .not_executed = MSG_CHECK_NOT_EXECUTED},
    {.name = "check-database",
     .what = "says what is wrong with a database, or that it is consistent",
     .usage = "[OPTION]... DB",
     .run = shell_check_database_main,
     .about =
         "Looks at all of the file DB, also at what is stored: that it is as SQLite and tquel\n"
         "made it, that definitions can be read, that each row is a tuple, and that derived\n"
         "relations are what they are computed from. A line for each finding, SUBJECT: what is\n"
         "wrong; then \"consistent\" (exit status 0) or how many there are (3). The database is\n"
         "only read, and a server may be at work on it.",
     .describe_options = shell_check_database_describe},
    {.name = "solve",
     .what = "fills in the constants of performance assertions",
     .usage = "SPECIFICATION LOG",
     .not_executed = MSG_SOLVE_NOT_EXECUTED},
    {.name = "eval",
     .what = "evaluates the expressions of performance assertions",
     .usage = "SPECIFICATION LOG",
     .not_executed = MSG_EVAL_NOT_EXECUTED},
    {.name = NULL},
};

static int answer_not_executed(const struct program_subcommand *subcommand) {
  const struct base_message_info *info = base_message_find(subcommand->not_executed);
  fprintf(stderr, "error TQ-%04d: tquel %s is not executed yet\nhint: %s\n", info->number,
          subcommand->name, info->fix);
  return info->exit_code;
}

int main(int argc, char **argv) {
  program_help_know(subcommands);
  const struct program_subcommand *subcommand = argc > 1 ? program_find_subcommand(argv[1]) : NULL;
  if (!subcommand) return shell_main(argc > 0 ? argc - 1 : 0, argv + (argc > 0));
  if (subcommand->run) return subcommand->run(argc - 2, argv + 2);
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0) return program_help_command(subcommand->name);
  return answer_not_executed(subcommand);
}
