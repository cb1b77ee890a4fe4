// What certificates of servers and of clients have in common: an unsigned certificate, its extensions, a signature.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tls/certificate.hpp"
#include "tls/openssl.hpp"

namespace tidepool::tls {

struct Party {
  std::string name;
  const X509* issuer = nullptr;  // none: it signs itself
  Validity validity;
};
struct Extension {
  int kind;
  std::string value;
};

// OpenSSL's newest complaint as the reason.
[[nodiscard]] Error cannot_make(const std::string& what);

[[nodiscard]] Result<CertificateHandle> unsigned_certificate(const Party& party, EVP_PKEY& key);
[[nodiscard]] bool add_extensions(X509& certificate, const X509* issuer, const std::vector<Extension>& extensions);

// Of the first certificate of a PEM text and of its times.
[[nodiscard]] Result<Validity> validity_of(const X509& certificate);

}  // namespace tidepool::tls
