#include "tls/signing.hpp"

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>

namespace tidepool::tls {
namespace {

constexpr int kSerialBits = 127;  // RFC 5280 allows 20 octets
constexpr std::size_t kCommonNameMax = 64;

bool set_random_serial(X509& certificate) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_new());
  return BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

Result<std::int64_t> unix_seconds(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return cannot_make("sense of a certificate's time");
  return static_cast<std::int64_t>(::timegm(&parts));
}

}  // namespace

Error cannot_make(const std::string& what) {
  return {ErrorCode::kInternal, "cannot make " + what + ": " + newest_complaint()};
}

Result<CertificateHandle> unsigned_certificate(const Party& party, EVP_PKEY& key) {
  CertificateHandle made(X509_new());
  X509_NAME* subject = X509_get_subject_name(made.get());
  const std::string name = party.name.substr(0, kCommonNameMax);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  const bool good =
      X509_set_version(made.get(), X509_VERSION_3) == 1 && set_random_serial(*made) &&
      ASN1_TIME_set(X509_getm_notBefore(made.get()), static_cast<std::time_t>(party.validity.from_unix_s)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(made.get()), static_cast<std::time_t>(party.validity.until_unix_s)) != nullptr &&
      X509_set_pubkey(made.get(), &key) == 1 &&
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1 &&
      X509_set_issuer_name(made.get(), party.issuer == nullptr ? subject : X509_get_subject_name(party.issuer)) == 1;
  if (!good) return cannot_make("a certificate");
  return made;
}

bool add_extensions(X509& certificate, const X509* issuer, const std::vector<Extension>& extensions) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, const_cast<X509*>(issuer == nullptr ? &certificate : issuer), &certificate, nullptr, nullptr,
                 0);
  return std::all_of(extensions.begin(), extensions.end(), [&](const Extension& one) {
    const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
        X509V3_EXT_conf_nid(nullptr, &context, one.kind, one.value.c_str()));
    return extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1;
  });
}

Result<Validity> validity_of(const X509& certificate) {
  const auto from = unix_seconds(X509_get0_notBefore(&certificate));
  if (!from.ok()) return from.error();
  const auto until = unix_seconds(X509_get0_notAfter(&certificate));
  if (!until.ok()) return until.error();
  return Validity{.from_unix_s = *from, .until_unix_s = *until};
}

}  // namespace tidepool::tls
