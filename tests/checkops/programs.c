/* Programs for the nodes of variants, step by step. */
#include "tests/checkops/checkops.h"

struct net_program *build_begin(struct build *build) {
  return net_program_new(build->arena, NET_TIMELINE_ABSTRACT, build->strings);
}

void build_step(struct build *build, struct net_program *program, enum net_op op, uint32_t slot,
                int64_t i) {
  net_program_emit(build->arena, program, (struct net_step){.op = op, .slot = slot, .i = i});
}

const struct net_program *build_finish(struct build *build, struct net_program *program) {
  net_program_finish(program);
  if (build->general) program->quick_count = 0;
  return program;
}
