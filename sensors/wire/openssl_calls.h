/* The functions of OpenSSL that TLS is made of, each by a pointer: the library is loaded with the first context (library.h).
 * Included once, by tls.c, in place of OpenSSL's own headers. */
#ifndef SENSORS_WIRE_OPENSSL_CALLS_H
#define SENSORS_WIRE_OPENSSL_CALLS_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "engine/base/library.h"

/* clang-format off */
#define OPENSSL_FUNCTIONS(F) \
  F(ASN1_STRING_to_UTF8) F(BIO_clear_flags) F(BIO_free) F(BIO_get_data) F(BIO_get_new_index) F(BIO_meth_new) \
  F(BIO_meth_set_ctrl) F(BIO_meth_set_read) F(BIO_meth_set_write) F(BIO_new) F(BIO_set_data) F(BIO_set_flags) \
  F(BIO_set_init) F(BIO_test_flags) F(CRYPTO_free) F(ERR_clear_error) F(ERR_peek_last_error) \
  F(ERR_reason_error_string) F(SSL_CTX_check_private_key) F(SSL_CTX_ctrl) F(SSL_CTX_free) \
  F(SSL_CTX_load_verify_file) F(SSL_CTX_new) F(SSL_CTX_set_client_CA_list) F(SSL_CTX_set_default_verify_paths) \
  F(SSL_CTX_set_num_tickets) F(SSL_CTX_set_verify) F(SSL_CTX_use_PrivateKey_file) \
  F(SSL_CTX_use_certificate_chain_file) F(SSL_ctrl) F(SSL_free) F(SSL_get0_param) F(SSL_get0_peer_certificate) \
  F(SSL_get_error) F(SSL_get_verify_result) F(SSL_has_pending) F(SSL_is_init_finished) F(SSL_load_client_CA_file) \
  F(SSL_new) F(SSL_peek) F(SSL_read) F(SSL_set1_host) F(SSL_set_accept_state) F(SSL_set_bio) \
  F(SSL_set_connect_state) F(SSL_set_hostflags) F(SSL_shutdown) F(SSL_write) F(TLS_client_method) \
  F(TLS_server_method) F(X509_NAME_ENTRY_get_data) F(X509_NAME_get_entry) F(X509_NAME_get_index_by_NID) \
  F(X509_VERIFY_PARAM_set1_ip_asc) F(X509_get_subject_name) F(X509_verify_cert_error_string)
/* clang-format on */

#define OPENSSL_POINTER(name) typeof(name) *name;
static struct { OPENSSL_FUNCTIONS(OPENSSL_POINTER) } openssl;

/* False: it cannot be loaded. */
static bool openssl_load(void) {
#define LIBSSL_TEXT(number) #number
#define LIBSSL_FILE(number) "libssl.so." LIBSSL_TEXT(number)
#define OPENSSL_ENTRY(name) BASE_LIBRARY_FUNCTION(openssl, name)
  static const char *const names[] = {LIBSSL_FILE(OPENSSL_SHLIB_VERSION), NULL};
  static const struct base_library_function functions[] = {OPENSSL_FUNCTIONS(OPENSSL_ENTRY)};
  return base_library_load(names, functions, sizeof functions / sizeof *functions);
}

/* From here on, what is called by its name, also in macros of OpenSSL, is called by its pointer. */
#define ASN1_STRING_to_UTF8                (*openssl.ASN1_STRING_to_UTF8)
#define BIO_clear_flags                    (*openssl.BIO_clear_flags)
#define BIO_free                           (*openssl.BIO_free)
#define BIO_get_data                       (*openssl.BIO_get_data)
#define BIO_get_new_index                  (*openssl.BIO_get_new_index)
#define BIO_meth_new                       (*openssl.BIO_meth_new)
#define BIO_meth_set_ctrl                  (*openssl.BIO_meth_set_ctrl)
#define BIO_meth_set_read                  (*openssl.BIO_meth_set_read)
#define BIO_meth_set_write                 (*openssl.BIO_meth_set_write)
#define BIO_new                            (*openssl.BIO_new)
#define BIO_set_data                       (*openssl.BIO_set_data)
#define BIO_set_flags                      (*openssl.BIO_set_flags)
#define BIO_set_init                       (*openssl.BIO_set_init)
#define BIO_test_flags                     (*openssl.BIO_test_flags)
#define CRYPTO_free                        (*openssl.CRYPTO_free)
#define ERR_clear_error                    (*openssl.ERR_clear_error)
#define ERR_peek_last_error                (*openssl.ERR_peek_last_error)
#define ERR_reason_error_string            (*openssl.ERR_reason_error_string)
#define SSL_CTX_check_private_key          (*openssl.SSL_CTX_check_private_key)
#define SSL_CTX_ctrl                       (*openssl.SSL_CTX_ctrl)
#define SSL_CTX_free                       (*openssl.SSL_CTX_free)
#define SSL_CTX_load_verify_file           (*openssl.SSL_CTX_load_verify_file)
#define SSL_CTX_new                        (*openssl.SSL_CTX_new)
#define SSL_CTX_set_client_CA_list         (*openssl.SSL_CTX_set_client_CA_list)
#define SSL_CTX_set_default_verify_paths   (*openssl.SSL_CTX_set_default_verify_paths)
#define SSL_CTX_set_num_tickets            (*openssl.SSL_CTX_set_num_tickets)
#define SSL_CTX_set_verify                 (*openssl.SSL_CTX_set_verify)
#define SSL_CTX_use_PrivateKey_file        (*openssl.SSL_CTX_use_PrivateKey_file)
#define SSL_CTX_use_certificate_chain_file (*openssl.SSL_CTX_use_certificate_chain_file)
#define SSL_ctrl                           (*openssl.SSL_ctrl)
#define SSL_free                           (*openssl.SSL_free)
#define SSL_get0_param                     (*openssl.SSL_get0_param)
#define SSL_get0_peer_certificate          (*openssl.SSL_get0_peer_certificate)
#define SSL_get_error                      (*openssl.SSL_get_error)
#define SSL_get_verify_result              (*openssl.SSL_get_verify_result)
#define SSL_has_pending                    (*openssl.SSL_has_pending)
#define SSL_is_init_finished               (*openssl.SSL_is_init_finished)
#define SSL_load_client_CA_file            (*openssl.SSL_load_client_CA_file)
#define SSL_new                            (*openssl.SSL_new)
#define SSL_peek                           (*openssl.SSL_peek)
#define SSL_read                           (*openssl.SSL_read)
#define SSL_set1_host                      (*openssl.SSL_set1_host)
#define SSL_set_accept_state               (*openssl.SSL_set_accept_state)
#define SSL_set_bio                        (*openssl.SSL_set_bio)
#define SSL_set_connect_state              (*openssl.SSL_set_connect_state)
#define SSL_set_hostflags                  (*openssl.SSL_set_hostflags)
#define SSL_shutdown                       (*openssl.SSL_shutdown)
#define SSL_write                          (*openssl.SSL_write)
#define TLS_client_method                  (*openssl.TLS_client_method)
#define TLS_server_method                  (*openssl.TLS_server_method)
#define X509_NAME_ENTRY_get_data           (*openssl.X509_NAME_ENTRY_get_data)
#define X509_NAME_get_entry                (*openssl.X509_NAME_get_entry)
#define X509_NAME_get_index_by_NID         (*openssl.X509_NAME_get_index_by_NID)
#define X509_VERIFY_PARAM_set1_ip_asc      (*openssl.X509_VERIFY_PARAM_set1_ip_asc)
#define X509_get_subject_name              (*openssl.X509_get_subject_name)
#define X509_verify_cert_error_string      (*openssl.X509_verify_cert_error_string)

#endif
