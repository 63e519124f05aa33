/* All sensors of good/files.sdf with the run-time itself, while nobody listens: nothing happens. C99 and
 * C++11.                                                                                          */
#include "files.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass_all(void) {
  struct sn_receptacle *file = FileReceptacle(1), *user = UserReceptacle(2);
  for (int i = 0; i < 1000; i++) {
    FileReadSensor(file, i, i, 2);
    FileReadSensor(NULL, i, i, 2);
    FileReadByUserSensor(1, user, i);
    StartupSensor(1, 2, 3.0f, 4.0, 1, "path", NULL, i);
    FreeSensor(i);
    if (OpenRequested()) {
      OpenSensor(1, 2, "note");
      OpenRound();
    }
    QueueSensor("sda", i);
    if (FileReadEnabled(file) || FileReadEnabled(NULL) || StartupEnabled() || IdleEnabled())
      _exit(2);
    IdleSensor();
  }
  FileRelease(file);
  UserRelease(user);
}

int main(void) {
  int status = 1;
  if (ServerProcess("main") != 0) printf("# no process\n");
  pass_all();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    SchedulerProcess(NULL);
    pass_all();
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return status != 0;
}
