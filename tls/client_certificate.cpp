#include "tls/client_certificate.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include "base/timestamp.hpp"
#include "tls/openssl.hpp"
#include "tls/signing.hpp"

namespace tidepool::tls {
namespace {

using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using Checks = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

constexpr int kCurveNameMax = 64;

// The fingerprint of the key in the form used in certificates.
Result<std::string> fingerprint_of_key(const EVP_PKEY& key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(&key, &bytes);
  if (size <= 0) return cannot_make("sense of a key");
  std::string text = fingerprint_of_bytes({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  OPENSSL_free(bytes);
  return text;
}

bool is_on_p256(const EVP_PKEY& key) {
  std::array<char, kCurveNameMax> curve{};
  return EVP_PKEY_get_base_id(&key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(&key, curve.data(), curve.size(), nullptr) == 1 &&
         std::string(curve.data()) == "prime256v1";
}

Result<Request> read_request(const std::string& pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Request request(PEM_read_bio_X509_REQ(memory.get(), nullptr, nullptr, nullptr));
  if (request == nullptr) return invalid_argument("there is no PEM signing request in it: " + newest_complaint());
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr || !is_on_p256(*key)) {
    return invalid_argument("the signing request is for another kind of key than ECDSA on P-256");
  }
  if (X509_REQ_verify(request.get(), key) != 1) {
    (void)newest_complaint();
    return invalid_argument("the signing request is not signed by its own key");
  }
  return request;
}

std::string name_in(const X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (place < 0) return {};
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

Result<Client> client_of(const X509& certificate) {
  const EVP_PKEY* key = X509_get0_pubkey(&certificate);
  if (key == nullptr) return cannot_make("sense of a certificate's key");
  auto fingerprint = fingerprint_of_key(*key);
  if (!fingerprint.ok()) return fingerprint.error();
  const auto validity = validity_of(certificate);
  if (!validity.ok()) return validity.error();
  return Client{.name = name_in(certificate), .key = *std::move(fingerprint), .validity = *validity};
}

// A chain's validity times are checked from its root on.
std::string explain_end(const X509_STORE_CTX& checks, const X509& shown) {
  if (X509_STORE_CTX_get_error_depth(&checks) > 0) return "the authority that has signed it has expired";
  const auto validity = validity_of(shown);
  if (!validity.ok()) return "it has expired";
  return "it has expired, at " + timestamp_text(validity->until_unix_s) + " by the daemon's clock";
}

std::string explain(const X509_STORE_CTX& checks, const X509& shown) {
  const int why = X509_STORE_CTX_get_error(&checks);
  switch (why) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return explain_end(checks, shown);
    case X509_V_ERR_CERT_NOT_YET_VALID: return "it is not valid yet; look at the clocks of both machines";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: return "another authority has signed it";
    case X509_V_ERR_INVALID_PURPOSE: return "it is no client's";
    default: return X509_verify_cert_error_string(why);
  }
}

}  // namespace

Result<std::string> make_key() {
  const KeyHandle key(EVP_EC_gen("P-256"));
  if (key == nullptr) return cannot_make("a key");
  return to_pem(*key);
}

Result<std::string> signing_request(const std::string& key) {
  const auto own = read_key(key);
  if (!own.ok()) return own.error();
  const Request request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), own->get()) != 1 ||
      X509_REQ_sign(request.get(), own->get(), EVP_sha256()) == 0) {
    return cannot_make("a signing request");
  }
  const Memory memory(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509_REQ(memory.get(), request.get()) != 1) return cannot_make("a signing request");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

Result<std::string> requested_key(const std::string& request) {
  const auto read = read_request(request);
  if (!read.ok()) return read.error();
  return fingerprint_of_key(*X509_REQ_get0_pubkey(read->get()));
}

Result<std::string> issue_client(const Identity& authority, const std::string& request, const std::string& name,
                                 const Validity& validity) {
  const auto issuers = read_certificates(authority.chain);
  if (!issuers.ok()) return issuers.error();
  const auto issuer_key = read_key(authority.key);
  if (!issuer_key.ok()) return issuer_key.error();
  const auto asked = read_request(request);
  if (!asked.ok()) return asked.error();
  const X509* issuer = issuers->front().get();
  auto made =
      unsigned_certificate({.name = name, .issuer = issuer, .validity = validity}, *X509_REQ_get0_pubkey(asked->get()));
  if (!made.ok()) return made.error();
  const std::vector<Extension> extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                             {NID_key_usage, "critical,digitalSignature"},
                                             {NID_ext_key_usage, "clientAuth"},
                                             {NID_subject_key_identifier, "hash"},
                                             {NID_authority_key_identifier, "keyid:always"}};
  if (!add_extensions(**made, issuer, extensions) || X509_sign(made->get(), issuer_key->get(), EVP_sha256()) == 0) {
    return cannot_make("the client's certificate");
  }
  return to_pem(**made);
}

Result<Client> read_client(const std::string& certificate) {
  const auto read = read_certificates(certificate);
  if (!read.ok()) return read.error();
  return client_of(*read->front());
}

Result<Client> check_client(const std::string& authority, const std::string& certificate, std::int64_t now_unix_s) {
  const auto issuers = read_certificates(authority);
  if (!issuers.ok()) return issuers.error();
  const auto shown = read_certificates(certificate);
  if (!shown.ok()) return shown.error();
  const Store trusted(X509_STORE_new());
  const Checks checks(X509_STORE_CTX_new());
  if (trusted == nullptr || checks == nullptr || X509_STORE_add_cert(trusted.get(), issuers->front().get()) != 1 ||
      X509_STORE_CTX_init(checks.get(), trusted.get(), shown->front().get(), nullptr) != 1 ||
      X509_STORE_CTX_set_purpose(checks.get(), X509_PURPOSE_SSL_CLIENT) != 1) {
    return cannot_make("a check of a certificate");
  }
  X509_STORE_CTX_set_time(checks.get(), 0, static_cast<std::time_t>(now_unix_s));
  if (X509_verify_cert(checks.get()) == 1) return client_of(*shown->front());
  (void)newest_complaint();
  return invalid_argument(explain(*checks, *shown->front()));
}

}  // namespace tidepool::tls
