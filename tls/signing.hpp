// Common to certificates of servers and of clients: an unsigned certificate, its extensions, a signature.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tls/certificate.hpp"
#include "tls/openssl.hpp"

namespace tidepool::tls {

struct Party {
  std::string name;
  const X509* issuer = nullptr;  // null: it signs itself
  Validity validity;
};
struct Extension {
  int kind;
  std::string value;
};

// An error with OpenSSL's newest error message as the reason.
[[nodiscard]] Error cannot_make(const std::string& what);

[[nodiscard]] Result<CertificateHandle> unsigned_certificate(const Party& party, EVP_PKEY& key);
[[nodiscard]] bool add_extensions(X509& certificate, const X509* issuer, const std::vector<Extension>& extensions);

// The validity period of `certificate`.
[[nodiscard]] Result<Validity> validity_of(const X509& certificate);

}  // namespace tidepool::tls
