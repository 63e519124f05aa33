/* What programs and their objects are called.
 *
 *     a process   TYPE:MINOR#EPOCH@HOST:MARK
 *     an object   TYPE:MINOR#EPOCH.OBJECT@HOST:MARK     EPOCH, HOST, MARK of its process
 *
 * EPOCH is when the process began, in ms since 1970, or the next that no other program here has. HOST is what the
 * program's machine was called then, or the container whose programs take it for a machine, up to the domain: for
 * people. MARK tells processes apart that are the same in all that: 32 bits, in hexadecimal, of the boot of the
 * machine, the pid namespace, and the announcement's own name (process id, start, and when it was announced).
 *
 * All that is in it holds as long as the program, whoever collects; only the epoch is chosen, and it is kept in the
 * announcement. Collectors of earlier versions named programs TYPE:MINOR#EPOCH: one that has been named so by its
 * first reader is called so to its end, since what was received of it and lost in it is known by that name. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"
#include "sensors/collect/whereabouts.h"

enum { OF_EPOCH_ALONE, OF_HOST_AND_MARK }; /* sn_header.naming */

/* Of one that an earlier reader has named: what he gave it. */
static bool has_epoch(const struct sn_identity *identity) {
  return identity->epoch > 0 && identity->epoch < UINT64_C(1) << 60; /* else nobody wrote it */
}

static uint64_t epoch_of(const struct sn_identity *identity) {
  if (has_epoch(identity)) return identity->epoch;
  uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
  uint64_t since = identity->pair_monotonic_ns - identity->start_ticks * tick_ns;
  return (identity->pair_realtime_ns - since) / 1000000u;
}

static bool is_taken(const struct sn_program *program) {
  for (const struct sn_program *other = program->monitor->programs; other != NULL;
       other = other->next) {
    if (other != program && other->epoch_given && other->epoch == program->epoch) return true;
  }
  return false;
}

static uint64_t seal_of(const struct sn_peer *peer) {
  const struct sn_whereabouts *ours = sn_whereabouts();
  const char *name = sn_peer_name(peer);
  uint64_t space = sn_peer_identity(peer)->process_space;
  uint64_t machine = base_hash(ours->boot, strlen(ours->boot), space);
  return base_hash(name, strlen(name), machine);
}

void sn_naming_begin(struct sn_program *program) {
  const struct sn_identity *identity = sn_peer_identity(program->peer);
  bool named = has_epoch(identity);
  program->epoch = epoch_of(identity);
  program->epoch_given = named && !is_taken(program);
  if (!named || identity->naming == OF_HOST_AND_MARK) program->seal = seal_of(program->peer);
}

void sn_naming_give(struct sn_program *program) {
  if (program->epoch_given) return;
  while (is_taken(program)) program->epoch++;
  program->epoch_given = true;
  sn_peer_give_epoch(program->peer, program->epoch,
                     program->seal != 0 ? OF_HOST_AND_MARK : OF_EPOCH_ALONE);
}

/* As far as it is fit for a name: whoever wrote it. */
static void put_host(struct base_buffer *out, const char *host) {
  size_t length = strcspn(host, ".");
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)host[i];
    bool fit = byte < 128 && (isalnum(byte) || byte == '-' || byte == '_');
    base_buffer_putc(out, fit ? (char)byte : '_');
  }
  if (length == 0) base_buffer_puts(out, "host");
}

void sn_naming_put(struct base_buffer *out, const struct sn_program *program, uint32_t object) {
  base_buffer_printf(out, "#%" PRIu64, program->epoch);
  if (object != 0) base_buffer_printf(out, ".%" PRIu32, object);
  if (program->seal == 0) return;
  const char *host = sn_peer_identity(program->peer)->host;
  base_buffer_putc(out, '@');
  put_host(out, host[0] != '\0' ? host : program->monitor->uplink.host);
  base_buffer_printf(out, ":%08" PRIx32, (uint32_t)(program->seal >> 32));
}
