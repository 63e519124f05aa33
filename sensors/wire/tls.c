/* TLS with OpenSSL: version 1.3 only, since both sides are ours.
 *
 * A client always checks the server's certificate and that it names the host it wanted. A server asks for a
 * certificate if it has been given authorities. Nothing here waits: the handshake is part of the first
 * receive or send. Bytes go through a BIO of our own, because OpenSSL's would let a broken connection
 * raise SIGPIPE.                                                                                     */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "sensors/wire/openssl_calls.h"
#include "sensors/wire/transport.h"

struct sn_tls_context {
  SSL_CTX *context;
  bool server;
};

struct sn_tls {
  SSL *ssl;
  int descriptor;
  bool server, named; /* named: the other side's certificate has been looked at */
  bool refused;       /* somebody does not accept the other one's certificate */
  int error;          /* errno of the last call that failed */
  char *peer;
};

/* --- bytes to and from the socket */

static int bio_write(BIO *bio, const char *from, int length) {
  struct sn_tls *tls = BIO_get_data(bio);
  ssize_t sent;
  do sent = send(tls->descriptor, from, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  BIO_clear_retry_flags(bio);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
  if (sent < 0) tls->error = errno;
  return (int)sent;
}

static int bio_read(BIO *bio, char *to, int room) {
  struct sn_tls *tls = BIO_get_data(bio);
  ssize_t got;
  do got = recv(tls->descriptor, to, (size_t)room, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  BIO_clear_retry_flags(bio);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
  if (got < 0) tls->error = errno;
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return (int)got;
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
  (void)number, (void)pointer;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method(void) {
  static BIO_METHOD *method; /* one for the process, as OpenSSL's own are */
  if (method == NULL) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tquel socket");
    BASE_CHECK(method != NULL, "tls-bio-method");
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_ctrl(method, bio_control);
  }
  return method;
}

/* --- certificates */

/* What went wrong last, as a constant. */
static const char *last_error(const char *otherwise) {
  unsigned long error = ERR_peek_last_error();
  const char *reason = error == 0                ? NULL
                       : ERR_SYSTEM_ERROR(error) ? strerrordesc_np(ERR_GET_REASON(error))
                                                 : ERR_reason_error_string(error);
  return reason != NULL ? reason : otherwise;
}

static bool use_certificate(SSL_CTX *context, const struct sn_address *address,
                            const char **ret_reason) {
  struct stat status;
  if (address->certificate == NULL) return true;
  if (SSL_CTX_use_certificate_chain_file(context, address->certificate) != 1) {
    *ret_reason = last_error("the certificate cannot be read");
    return false;
  }
  const char *key = address->key != NULL ? address->key : address->certificate;
  if (stat(key, &status) == 0 && (status.st_mode & S_IRWXO) != 0) {
    *ret_reason = "the file of the key may be read by anybody";
    return false;
  }
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    *ret_reason = last_error("the key cannot be used with the certificate");
    return false;
  }
  return true;
}

/* Whom to believe, and whether the other side must show a certificate. */
static bool use_authority(SSL_CTX *context, const struct sn_address *address, bool server,
                          const char **ret_reason) {
  if (address->authority != NULL) {
    if (SSL_CTX_load_verify_file(context, address->authority) != 1) {
      *ret_reason = last_error("the authorities' certificates cannot be read");
      return false;
    }
  } else if (!server) {
    SSL_CTX_set_default_verify_paths(context);
  }
  if (server && address->authority != NULL) {
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(address->authority);
    if (names != NULL) SSL_CTX_set_client_CA_list(context, names);
  }
  int mode = SSL_VERIFY_NONE;
  if (!server || address->authority != NULL) mode = SSL_VERIFY_PEER;
  if (mode == SSL_VERIFY_PEER && server && !address->certificate_optional)
    mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, NULL);
  return true;
}

static const char *fill_context(SSL_CTX *context, const struct sn_address *address, bool server) {
  const char *reason = NULL;
  if (server && address->certificate == NULL) return "a server needs a certificate and its key";
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) return last_error("no TLS 1.3");
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  /* Sessions are not taken up again: each connection shows what it may. */
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  if (!use_certificate(context, address, &reason)) return reason;
  if (!use_authority(context, address, server, &reason)) return reason;
  return NULL;
}

static bool is_loaded;

static void load_library(void) {
  is_loaded = openssl_load();
}

struct sn_tls_context *sn_tls_context_new(const struct sn_address *address, bool server,
                                          const char **ret_reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_library);
  if (!is_loaded) {
    *ret_reason = "OpenSSL 3 cannot be loaded (Debian: libssl3)";
    return NULL;
  }
  ERR_clear_error();
  SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  const char *reason =
      context == NULL ? last_error("no TLS") : fill_context(context, address, server);
  if (reason != NULL) {
    *ret_reason = reason;
    SSL_CTX_free(context);
    return NULL;
  }
  struct sn_tls_context *result = base_xmalloc(sizeof *result);
  *result = (struct sn_tls_context){context, server};
  return result;
}

void sn_tls_context_free(struct sn_tls_context *context) {
  if (context == NULL) return;
  SSL_CTX_free(context->context);
  free(context);
}

/* --- a connection */

/* The certificate must be for HOST, a name or an address. */
static bool expect_host(SSL *ssl, const char *host) {
  unsigned char address[sizeof(struct in6_addr)];
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct sn_tls *sn_tls_new(struct sn_tls_context *context, int descriptor, const char *host,
                          const char **ret_reason) {
  ERR_clear_error();
  struct sn_tls *tls = base_xcalloc(1, sizeof *tls);
  tls->descriptor = descriptor;
  tls->server = context->server;
  tls->ssl = SSL_new(context->context);
  BIO *bio = BIO_new(socket_method());
  if (tls->ssl == NULL || bio == NULL || (!context->server && !expect_host(tls->ssl, host))) {
    *ret_reason = last_error("no TLS");
    BIO_free(bio);
    sn_tls_free(tls);
    return NULL;
  }
  BIO_set_data(bio, tls);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls->ssl, bio, bio);
  if (context->server) {
    SSL_set_accept_state(tls->ssl);
  } else {
    SSL_set_connect_state(tls->ssl);
  }
  return tls;
}

void sn_tls_free(struct sn_tls *tls) {
  if (tls == NULL) return;
  SSL_free(tls->ssl);
  free(tls->peer);
  free(tls);
}

/* What the other side says of our certificate, or its lack; NULL: it speaks of something else. */
static const char *of_certificates(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server wants a certificate";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "the server does not accept the certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the server does not accept the certificate: it has expired";
    default:
      return NULL;
  }
}

/* The answer to a call that gave RESULT (not above 0). */
static ssize_t judge(struct sn_tls *tls, int result, short *ret_events, const char **ret_reason) {
  switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
      *ret_events = POLLIN;
      return SN_IO_AGAIN;
    case SSL_ERROR_WANT_WRITE:
      *ret_events = POLLOUT;
      return SN_IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
      return SN_IO_END;
    case SSL_ERROR_SYSCALL:
      *ret_reason = tls->error != 0 ? sn_socket_error(tls->error) : "the connection was cut off";
      return SN_IO_FAILED;
    default:
      break;
  }
  long verified = SSL_get_verify_result(tls->ssl);
  unsigned long error = ERR_peek_last_error();
  const char *certificate = of_certificates(ERR_GET_REASON(error));
  tls->refused = verified != X509_V_OK || certificate != NULL;
  if (verified != X509_V_OK) {
    *ret_reason = X509_verify_cert_error_string(verified);
  } else if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    *ret_reason = "the connection was cut off";
  } else if (certificate != NULL) {
    *ret_reason = certificate;
  } else {
    *ret_reason = last_error("TLS failed");
  }
  return SN_IO_FAILED;
}

void sn_tls_close(struct sn_tls *tls) {
  ERR_clear_error();
  if (SSL_is_init_finished(tls->ssl)) SSL_shutdown(tls->ssl);
}

/* A client that shows a certificate without a name would be nobody, or somebody else. */
static bool is_named(struct sn_tls *tls) {
  if (tls->named || !tls->server) return true;
  tls->named = true;
  return SSL_get0_peer_certificate(tls->ssl) == NULL || sn_tls_peer(tls) != NULL;
}

ssize_t sn_tls_receive(struct sn_tls *tls, void *to, size_t room, short *ret_events,
                       const char **ret_reason) {
  size_t got = 0;
  while (got < room) {
    ERR_clear_error();
    tls->error = 0;
    int part = room - got > INT32_MAX ? INT32_MAX : (int)(room - got);
    int result = SSL_read(tls->ssl, (char *)to + got, part);
    if (result > 0 && !is_named(tls)) {
      sn_tls_close(tls);
      *ret_reason = "the certificate has no common name";
      return SN_IO_FAILED;
    }
    if (result > 0) {
      got += (size_t)result;
      continue;
    }
    /* After what has come; an end or an error comes again. */
    if (got > 0 && SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_WRITE) break;
    ssize_t answer = judge(tls, result, ret_events, ret_reason);
    return got > 0 ? (ssize_t)got : answer;
  }
  return (ssize_t)got;
}

/* A server that does not accept a certificate says so after the client's part of the handshake, and closes: writing
 * fails before that has been read. */
static void last_words(struct sn_tls *tls, const char **ret_reason) {
  char byte;
  short events = 0;
  const char *reason = NULL;
  ERR_clear_error();
  int result = SSL_peek(tls->ssl, &byte, 1); /* a GOODBYE is still to be read */
  if (result <= 0) (void)judge(tls, result, &events, &reason);
  if (tls->refused) *ret_reason = reason;
}

ssize_t sn_tls_send(struct sn_tls *tls, const void *from, size_t length, short *ret_events,
                    const char **ret_reason) {
  ERR_clear_error();
  tls->error = 0;
  int result = SSL_write(tls->ssl, from, length > INT32_MAX ? INT32_MAX : (int)length);
  if (result > 0) return result;
  ssize_t answer = judge(tls, result, ret_events, ret_reason);
  if (answer == SN_IO_FAILED && tls->error != 0) last_words(tls, ret_reason);
  return answer;
}

bool sn_tls_refused(const struct sn_tls *tls) {
  return tls != NULL && tls->refused;
}

bool sn_tls_pending(const struct sn_tls *tls) {
  return SSL_has_pending(tls->ssl) == 1;
}

/* Kept with the connection, since it is asked for as a constant. */
static char *common_name(X509 *certificate) {
  X509_NAME *subject = X509_get_subject_name(certificate);
  int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return NULL;
  unsigned char *text = NULL;
  int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  char *name = NULL;
  /* One with a NUL in it would be read as another one. */
  if (length > 0 && strlen((const char *)text) == (size_t)length)
    name = base_xstrdup((const char *)text);
  OPENSSL_free(text);
  return name;
}

const char *sn_tls_peer(struct sn_tls *tls) {
  if (tls->peer == NULL && SSL_is_init_finished(tls->ssl) &&
      SSL_get_verify_result(tls->ssl) == X509_V_OK) {
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    if (certificate != NULL) tls->peer = common_name(certificate);
  }
  return tls->peer;
}
