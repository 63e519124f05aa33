/* Each sensor stands in a function of its own, which is in a section of its own: the linker says how long it is. */
#include "tests/bench/sensor_sizes.h"

#include <stdint.h>
#include <stdio.h>

#include "measure.h" /* made from tests/sdf/good/measure.sdf and tests/bench/lasting.sdf.in */

#define PLACE(NAME, BODY)                                                                         \
  extern const char __start_place_##NAME[], __stop_place_##NAME[];                                \
  __attribute__((section("place_" #NAME), noinline, used)) static void NAME(int32_t a, int32_t b, \
                                                                            const char *text) {   \
    BODY;                                                                                         \
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(text));                                             \
  }
PLACE(nothing, )
PLACE(shortest, ShortestSensor())
PLACE(shorter, ShortSensor(a))
PLACE(medium, MediumSensor(a, b))
PLACE(longest, LongSensor(a, b, text))
PLACE(lasting, sn_ticket one = LastingStart(a); LastingStop(&one))
#undef PLACE

#define BYTES_AT(NAME) (size_t)(__stop_place_##NAME - __start_place_##NAME)

void print_sensor_sizes(void) {
  const size_t none = BYTES_AT(nothing);
  const struct {
    const char *what;
    size_t bytes, words; /* those of 16 bits in the thesis, inline; 0: it does not say */
  } rows[] = {
      {"sensor: nothing, no stamp", BYTES_AT(shortest) - none, 41},
      {"sensor: stamp, integer", BYTES_AT(shorter) - none, 60},
      {"sensor: stamp, 2 integers", BYTES_AT(medium) - none, 62},
      {"sensor: stamp, 2 integers, text", BYTES_AT(longest) - none, 87},
      {"period sensor: start with integer, stop", BYTES_AT(lasting) - none, 0},
      {"event, in its process", sizeof(struct sn_entry) + sizeof(struct sn_tally), 0},
      {"receptacle of an object, with one event",
       sizeof(struct sn_receptacle) + sizeof(uint32_t) + sizeof(struct sn_entry), 0},
      {"process, without its events",
       sizeof(struct sn_header) + sizeof(struct sn_chunk) + sizeof(struct sn_module_unit), 0},
      {"ring of a thread that has made a record", sizeof(struct sn_slot) + SN_RING_BYTES, 0},
  };
  printf("\n%-40s %8s %10s\n", "space", "bytes", "[8-1]");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    printf("%-40s %8zu", rows[i].what, rows[i].bytes);
    if (rows[i].words > 0) printf("      [%zu]", 2 * rows[i].words);
    putchar('\n');
  }
}
