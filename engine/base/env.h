/* The only way to the clock, to randomness and to files' durability for code above: tests drive them.
 *
 * The real environment reads CLOCK_REALTIME; a test environment is set by hand.                    */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds since 1970-01-01T00:00:00Z. */
int64_t base_env_now(void);
/* Nanoseconds of a clock that never jumps, for measuring. */
int64_t base_env_monotonic(void);
/* Benchmarks: from now on base_env_monotonic() is the processor time of this process, so that what others do
 * on the machine counts for little. */
void base_env_use_processor_clock(void);
/* Tests: from now on base_env_now() answers NOW_NS, until base_env_use_real_clock(). */
void base_env_set_clock(int64_t now_ns);
void base_env_use_real_clock(void);

/* A small reproducible generator (splitmix64) for tests and hash seeds. */
struct base_random {
  uint64_t state;
};
uint64_t base_random_next(struct base_random *random);
/* Uniform in [0, bound); bound > 0. */
uint64_t base_random_below(struct base_random *random, uint64_t bound);

/* The mixer of splitmix64: every bit of the word has its say in every bit of the result. */
static inline uint64_t base_mix(uint64_t word) {
  word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
  return word ^ (word >> 31);
}
/* 64-bit hash of LENGTH bytes (FNV-1a finished with the mixer); base_hash_u64 of one word. */
uint64_t base_hash(const void *bytes, uint64_t length, uint64_t seed);
static inline uint64_t base_hash_u64(uint64_t word, uint64_t seed) {
  return base_mix(word + base_mix(seed + UINT64_C(0x9e3779b97f4a7c15)));
}

/* The user interrupted (SIGINT): set by the signal handler, polled by long loops, cleared by the
 * shell.                                                                                            */
void base_env_interrupt(void); /* async-signal-safe */
/* Has the user interrupted, or what runs exceeded its budget (budget.h), or SOURCE something against it? */
bool base_env_interrupted(void);
/* Has the user? */
bool base_env_is_stopped(void);
/* Between the two nobody is interrupted: what is not the interrupted one's affair is brought to its end, and
 * takes no longer than a moment. They nest. */
void base_env_shield(void);
void base_env_unshield(void);
void base_env_clear_interrupt(void);
/* Somebody else who may interrupt what runs now: SOURCE is asked at each poll, which may be a thousand
 * times a millisecond, and says true from when on it is interrupted. NULL: nobody. */
void base_env_interrupt_source(bool (*source)(void *context), void *context);

#endif
