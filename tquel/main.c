/* The program tquel: its subcommands, and the shell for everything else.
 *
 * A first argument that is a subcommand's name is taken as such; a database called like one is
 * written ./NAME. Subcommands that are not executed yet know their --help and answer with a number of
 * their own, so that scripts see a difference between a slip and a version that is too old. */
#include <stdio.h>
#include <string.h>

#include "engine/base/diag.h"
#include "tquel/serve/serve.h"
#include "tquel/shell/help.h"
#include "tquel/shell/shell.h"

const struct shell_subcommand shell_subcommands[] = {
    {"explain", "shows the update network of each statement", "[OPTION]... [DB] FILE", 0,
     shell_explain_main},
    {"help", "explains a command or the number of a message", "[COMMAND | TQ-nnnn | messages]", 0,
     shell_help_main},
    {"serve", "keeps standing queries running over live feeds, for shells and collectors",
     "[OPTION]... DB", 0, serve_main},
    {"collect", "gathers the event records of one machine and sends them to a server",
     "[OPTION]...", 0, shell_collect_main},
    {"feed", "sends records from standard input (CSV or NDJSON) to a server",
     "[OPTION]... RELATION", 0, shell_feed_main},
    {"sdf", "checks a sensor description, writes its C header and documentation",
     "FILE [--header OUT] [--tquel OUT] [--doc OUT] [--diff OLD NEW]", 0, shell_sdf_main},
    {"check", "checks performance assertions against a log or a live feed", "SPECIFICATION LOG",
     MSG_CHECK_NOT_EXECUTED, NULL},
    {"check-database", "says what is wrong with a database, or that it is consistent",
     "[OPTION]... DB", 0, shell_check_database_main},
    {"solve", "fills in the constants of performance assertions", "SPECIFICATION LOG",
     MSG_SOLVE_NOT_EXECUTED, NULL},
    {"eval", "evaluates the expressions of performance assertions", "SPECIFICATION LOG",
     MSG_EVAL_NOT_EXECUTED, NULL},
    {NULL, NULL, NULL, 0, NULL},
};

static int answer_not_executed(const struct shell_subcommand *subcommand) {
  const struct base_message_info *info = base_message_find(subcommand->not_executed);
  fprintf(stderr, "error TQ-%04d: tquel %s is not executed yet\nhint: %s\n", info->number,
          subcommand->name, info->fix);
  return info->exit_code;
}

int main(int argc, char **argv) {
  const struct shell_subcommand *subcommand = argc > 1 ? shell_find_subcommand(argv[1]) : NULL;
  if (!subcommand) return shell_main(argc > 0 ? argc - 1 : 0, argv + (argc > 0));
  if (subcommand->run) return subcommand->run(argc - 2, argv + 2);
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0) return shell_help_command(subcommand->name);
  return answer_not_executed(subcommand);
}
