// OpenSSL helpers for certificate.cpp, context.cpp and handshake.cpp: objects that free themselves, PEM in and out.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tidepool::tls {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using CertificateHandle = std::unique_ptr<X509, Freed<X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// OpenSSL's newest error message; clears its error queue.
[[nodiscard]] std::string newest_complaint();

// All certificates of a PEM text, in order; at least one.
[[nodiscard]] Result<std::vector<CertificateHandle>> read_certificates(const std::string& pem);
[[nodiscard]] Result<KeyHandle> read_key(const std::string& pem);
[[nodiscard]] std::string to_pem(X509& certificate);
[[nodiscard]] std::string to_pem(EVP_PKEY& key);

// "sha256:" and 64 lower-case hexadecimal digits; for a certificate, of its DER form.
[[nodiscard]] std::string fingerprint_of_bytes(std::string_view bytes);
[[nodiscard]] std::string fingerprint_of(const X509& certificate);

}  // namespace tidepool::tls
