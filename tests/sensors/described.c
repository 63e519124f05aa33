/* A program whose sensors are those of tests/sdf/good/files.sdf: it passes each of them, with values that
 * described_test.c knows, until a round was asked of it and for a while after.                    */
#include "files.h"

#include <time.h>

static void pass(void) {
  struct sn_receptacle *file = FileReceptacle(77), *user = UserReceptacle(5);
  FileReadSensor(file, -3, 4096, 12);
  FileReadByUserSensor(78, user, 9);
  StartupSensor(-128, 32767, 1.5f, -0.25, 1, "/a path", "host", 7);
  FreeSensor(1234567890123);
  QueueSensor("sda", 3);
  IdleSensor();
  FileRelease(file);
  UserRelease(user);
}

int main(void) {
  const struct timespec nap = {0, 1000000};
  int after = 0;
  if (ServerProcess("main") != 0) return 1;
  for (int i = 0; i < 30000 && after < 100; i++) {
    pass();
    if (OpenRequested()) {
      OpenSensor(77, 2, "first");
      OpenSensor(78, 0, NULL);
      OpenRound();
      after = 1;
    }
    after += after > 0;
    nanosleep(&nap, NULL);
  }
  return after == 0;
}
