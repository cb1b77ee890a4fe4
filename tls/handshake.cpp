#include "tls/handshake.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "base/check.hpp"
#include "tls/openssl.hpp"

namespace tidepool::tls {
namespace {

const char* advice(long verdict) {
  const bool by_time = verdict == X509_V_ERR_CERT_NOT_YET_VALID || verdict == X509_V_ERR_CERT_HAS_EXPIRED;
  return by_time ? "; look at the clocks of both machines"
                 : "; check the authority or fingerprint that was given, and the daemon's tls.names; if the daemon's "
                   "authority was replaced, give the new one, and a node that has joined joins anew";
}

}  // namespace

SSL* new_session(const Context& context) {
  SSL* session = SSL_new(context.get());
  TP_CHECK(session != nullptr, "there is memory for a TLS session");
  return session;
}

void expect_host(SSL* session, const std::string& host) {
  X509_VERIFY_PARAM* expected = SSL_get0_param(session);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  ERR_clear_error();  // it is not an address, so it is a name
  SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  TP_CHECK(SSL_set1_host(session, host.c_str()) == 1 && SSL_set_tlsext_host_name(session, host.c_str()) == 1,
           "a name fits into a session");
}

std::string peer_certificate(const SSL* session) {
  X509* shown = SSL_get0_peer_certificate(session);
  return shown == nullptr ? std::string() : to_pem(*shown);
}

std::string explain_handshake(const boost::system::error_code& error, const SSL* session) {
  if (error == boost::asio::error::eof || error == boost::asio::ssl::error::stream_truncated ||
      error == boost::asio::error::connection_reset) {
    return "the other side closed the link before TLS was agreed; perhaps it speaks no TLS";
  }
  if (error.category() != boost::asio::error::get_ssl_category()) return error.message();
  switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
    case SSL_R_HTTP_REQUEST: return "it speaks plain HTTP to a port with TLS; the address begins with https://";
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG: return "the other side does not speak TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: return "the other side has no TLS 1.3, and older versions are refused";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "the other side does not trust this daemon's certificate; give it the authority of this daemon";
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return std::string("the daemon's certificate is not trusted: ") +
             X509_verify_cert_error_string(SSL_get_verify_result(session)) + advice(SSL_get_verify_result(session));
    default: return error.message();
  }
}

}  // namespace tidepool::tls
