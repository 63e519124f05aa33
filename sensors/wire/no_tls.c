/* TLS where there is no OpenSSL: nothing can be opened, so nothing else is ever called. */
#include "engine/base/status.h"
#include "sensors/wire/transport.h"

struct sn_tls_context *sn_tls_context_new(const struct sn_address *address, bool server,
                                          const char **ret_reason) {
  (void)address, (void)server;
  *ret_reason = "this tquel was built without TLS (OpenSSL)";
  return NULL;
}

void sn_tls_context_free(struct sn_tls_context *context) {
  BASE_CHECK(context == NULL, "no-tls");
}

struct sn_tls *sn_tls_new(struct sn_tls_context *context, int descriptor, const char *host,
                          const char **ret_reason) {
  (void)context, (void)descriptor, (void)host;
  *ret_reason = "this tquel was built without TLS (OpenSSL)";
  return NULL;
}

void sn_tls_free(struct sn_tls *tls) {
  BASE_CHECK(tls == NULL, "no-tls");
}

ssize_t sn_tls_receive(struct sn_tls *tls, void *to, size_t room, short *ret_events,
                       const char **ret_reason) {
  (void)to, (void)room, (void)ret_events, (void)ret_reason;
  BASE_CHECK(tls == NULL, "no-tls");
  return SN_IO_FAILED;
}

ssize_t sn_tls_send(struct sn_tls *tls, const void *from, size_t length, short *ret_events,
                    const char **ret_reason) {
  (void)from, (void)length, (void)ret_events, (void)ret_reason;
  BASE_CHECK(tls == NULL, "no-tls");
  return SN_IO_FAILED;
}

bool sn_tls_pending(const struct sn_tls *tls) {
  return tls != NULL;
}

void sn_tls_close(struct sn_tls *tls) {
  (void)tls;
}

const char *sn_tls_peer(struct sn_tls *tls) {
  (void)tls;
  return NULL;
}

bool sn_tls_refused(const struct sn_tls *tls) {
  return tls != NULL;
}
