/* What the header made from good/files.sdf does, seen by the stand-in for the run-time. C99 and C++11.
 * Prints TAP.                                                                                     */
#include "files.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
struct sn_module *other_module(void);
void other_idle(void);
#ifdef __cplusplus
}
#endif

static int count, failed;

static void ok(int good, const char *what) {
  count++;
  failed += !good;
  printf("%sok %d - %s\n", good ? "" : "not ", count, what);
}

/* --- payloads that are written here by hand */

static unsigned char wanted[1024];
static uint32_t wanted_size;

static void begin(void) {
  wanted_size = 0;
  mock_opened = mock_closed = 0;
}

static void put(const void *bytes, size_t size) {
  memcpy(wanted + wanted_size, bytes, size);
  wanted_size += (uint32_t)size;
}

static void put_i4(int32_t value) {
  put(&value, 4);
}
static void put_i8(int64_t value) {
  put(&value, 8);
}
static void put_name(uint64_t value) {
  put(&value, 8);
}

static void put_text(const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  put(&length, 4);
  put(text, length);
}

/* One record came, as it should be; and its table of fields describes it. */
static void came(const char *name, const char *what) {
  uint32_t size = 0, texts = 0;
  int good = mock_opened == 1 && mock_closed == 1 && mock_size == wanted_size &&
             memcmp(mock_payload, wanted, wanted_size) == 0 && mock_payload[wanted_size] == 0xee &&
             strcmp(mock_event->name, name) == 0;
  ok(good, what);
  for (uint32_t i = 0; good && i < mock_event->field_count; i++) {
    const struct sn_field *field = &mock_event->fields[i];
    uint32_t length = field->size;
    if (field->type == SN_TEXT) {
      memcpy(&length, mock_payload + size, 4);
      texts += length;
      length += 4;
    }
    size += length;
  }
  ok(good && size == wanted_size && mock_event->fixed_size == wanted_size - texts,
     "... and as its fields say");
}

static void came_not(const char *what) {
  ok(mock_opened == 0 && mock_closed == 0, what);
}

/* --- the sensors */

static void test_objects(void) {
  struct sn_receptacle *file = FileReceptacle(77), *user = UserReceptacle(5);
  ok(file->minor == 77 && file->type == 3 && user->type == 4, "receptacles have types");
  begin();
  FileReadSensor(file, 1, 2, 3);
  FileReadSensor(NULL, 1, 2, 3);
  came_not("nothing is enabled");
  mock_on[1] = 1;
  FileReadSensor(NULL, 1, 2, 3);
  came_not("no receptacle");
  FileReadSensor(file, -1, INT64_MAX, UINT64_MAX);
  put_i4(-1), put_i8(INT64_MAX), put_name(UINT64_MAX);
  came("FileRead", "an object's event");
  ok(mock_receptacle == file && mock_event->number == 1 && mock_event->consulted == SN_OBJECT &&
         mock_event->object == 3 && mock_event->histogram_field == 1 &&
         mock_value == (double)INT64_MAX &&
         mock_event->flags == (SN_TIMESTAMP | SN_CHECK_ONE_TIME | SN_DECLARE_OBJECT),
     "... with its receptacle, value and flags");
  begin();
  mock_on[1] = 0, mock_on[7] = 1;
  FileReadSensor(file, 1, 2, 3);
  FileReadByUserSensor(77, NULL, 9);
  came_not("of two sensors each asks its own switch, in its own receptacle");
  FileReadByUserSensor(77, user, 9);
  put_name(77), put_i4(9);
  came("FileReadByUser", "an initiator's event");
  ok(mock_receptacle == user && mock_event->wait_ms == 20 && mock_event->flags == SN_TIMESTAMP &&
         mock_value == 0,
     "... with the initiator's receptacle");
  mock_on[7] = 0;
  FileRelease(file);
  UserRelease(user);
}

static void test_types(void) {
  const int8_t small = -128;
  const int16_t two = 32767;
  const float speed = 1.5f;
  const double load = -0.25;
  const unsigned char yes = 1;
  begin();
  StartupSensor(small, two, speed, load, 5, "/a path", NULL, 7);
  came_not("nobody listens");
  ok(!StartupEnabled(), "... and that can be asked");
  mock_on[0] = 1;
  ok(StartupEnabled(), "... as can that somebody does");
  StartupSensor(small, two, speed, load, 5, "/a path", NULL, 7);
  put(&small, 1), put(&two, 2), put(&speed, 4), put(&load, 8), put(&yes, 1);
  put_text("/a path"), put_text(""), put_i4(7);
  came("Startup", "all types");
  ok(mock_value == -0.25 && mock_receptacle == NULL && mock_event->wait_ms == -1,
     "... with its value");
  begin();
  mock_full = 1;
  StartupSensor(small, two, speed, load, 5, "", "", 7);
  came_not("no room");
  mock_full = 0;
  mock_on[0] = 0;
}

static int called;
static void sample(void *context) {
  called = *(int *)context;
  QueueSensor("sda", 3);
}

static void test_sampling(void) {
  int context = 42;
  begin();
  ok(!OpenRequested(), "nothing is asked for");
  mock_on[5] = mock_on[2] = mock_on[4] = 1;
  ok(OpenRequested(), "a round is asked for");
  OpenSensor(11, 2, "note");
  put_name(11), put_i4(2), put_text("note");
  came("Open", "messagesampled");
  OpenRound();
  ok(mock_done == 5, "... and its round");
  begin();
  ok(QueueOnSample(sample, &context) == 2 && called == 42, "a function is called");
  put_text("sda"), put_i4(3);
  came("Queue", "invocationsampled");
  begin();
  FreeSensor(1234567890123);
  put_i8(1234567890123);
  came("Free", "receptaclesampled");
  mock_on[6] = 1;
  begin();
  other_idle();
  came("Idle", "no domains, in another file");
}

static uint64_t digest_of(const char *text, uint32_t length) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = 0; i < length; i++)
    digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return digest;
}

static void test_module(void) {
  const struct sn_module *module = mock_module;
  ok(module != NULL && module == other_module(), "one module in all files");
  ok(strcmp(module->name, "FileSystem") == 0 && module->event_count == 7 &&
         module->event_greatest == 7 && module->type_count == 4,
     "the module's tables");
  ok(digest_of(module->description, module->description_bytes) == module->digest &&
         memcmp(module->description, "(taskforce (name FileSystem)", 28) == 0,
     "the module's description has the module's digest");
  ok(ServerProcess("main") == 1 && SchedulerProcess("x") == 2, "processes");
}

int main(void) {
  test_objects();
  test_types();
  test_sampling();
  test_module();
  printf("1..%d\n", count);
  return failed != 0;
}
