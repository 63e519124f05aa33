/* The clock, randomness, hashing and the interrupt flag.
 *
 * The clock is real unless a test has set it by hand; setting it is for tests that run one thread.
 * The generator and the hashes are reproducible: the same seed gives the same numbers on every
 * machine of one byte order, and no result that a user sees depends on them. Nothing here is fit
 * for secrets. The interrupt flag is the one thing that a signal handler may touch. */
#include "engine/base/env.h"

#include <signal.h>
#include <time.h>

#include "engine/base/budget.h"
#include "engine/base/status.h"

#define NANOSECONDS_PER_SECOND 1000000000

static bool clock_is_set;
static int64_t clock_set_to_ns;
static clockid_t measuring_clock = CLOCK_MONOTONIC;
static volatile sig_atomic_t interrupt_seen;
static bool (*interrupt_source)(void *context);
static void *interrupt_context;
static unsigned shields;

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  BASE_CHECK(clock_gettime(clock, &now) == 0, "env-clock");
  return (int64_t)now.tv_sec * NANOSECONDS_PER_SECOND + now.tv_nsec;
}

int64_t base_env_now(void) {
  return clock_is_set ? clock_set_to_ns : read_clock(CLOCK_REALTIME);
}

int64_t base_env_monotonic(void) {
  return read_clock(measuring_clock);
}

void base_env_use_processor_clock(void) {
  measuring_clock = CLOCK_PROCESS_CPUTIME_ID;
}

void base_env_set_clock(int64_t now_ns) {
  clock_set_to_ns = now_ns;
  clock_is_set = true;
}

void base_env_use_real_clock(void) {
  clock_is_set = false;
}

uint64_t base_random_next(struct base_random *random) {
  random->state += UINT64_C(0x9e3779b97f4a7c15);
  return base_mix(random->state);
}

uint64_t base_random_below(struct base_random *random, uint64_t bound) {
  BASE_CHECK(bound > 0, "random-bound-positive");
  /* 2^64 mod bound: the numbers below it would make the low remainders more likely. */
  uint64_t surplus = (0 - bound) % bound;
  uint64_t number;
  do number = base_random_next(random);
  while (number < surplus);
  return number % bound;
}

uint64_t base_hash(const void *bytes, uint64_t length, uint64_t seed) {
  const unsigned char *next = bytes;
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
  for (uint64_t i = 0; i < length; i++) hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
  return base_mix(hash);
}

void base_env_interrupt(void) {
  interrupt_seen = 1;
}

void base_env_shield(void) {
  shields++;
}

void base_env_unshield(void) {
  BASE_CHECK(shields > 0, "env-unshield");
  shields--;
}

bool base_env_interrupted(void) {
  if (base_budget_is_exceeded()) return true;
  if (shields > 0) return false;
  return interrupt_seen != 0 || (interrupt_source && interrupt_source(interrupt_context));
}

bool base_env_is_stopped(void) {
  return interrupt_seen != 0;
}

void base_env_interrupt_source(bool (*source)(void *context), void *context) {
  interrupt_source = source;
  interrupt_context = context;
}

void base_env_clear_interrupt(void) {
  interrupt_seen = 0;
}
