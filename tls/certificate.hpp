// The small certificate authority of one daemon: its own certificate, and the certificates that it signs for servers.
// Keys are ECDSA on P-256. Times are arguments; randomness is OpenSSL's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::tls {

// A party's certificate chain and its key, as PEM.
struct Identity {
  std::string chain;  // its own certificate first
  std::string key;    // a secret
};

struct Validity {
  std::int64_t from_unix_s = 0;
  std::int64_t until_unix_s = 0;
};

// A key with a self-signed certificate that may sign certificates of servers, but no further authorities.
[[nodiscard]] Result<Identity> make_authority(const std::string& name, const Validity& validity);

// A certificate for a server that is reached under `names`: host names and IP addresses, at least one.
[[nodiscard]] Result<Identity> issue_server(const Identity& authority, const std::vector<std::string>& names,
                                            const Validity& validity);

// The fingerprint of the first certificate in a PEM text: "sha256:" and 64 lower-case hexadecimal digits.
[[nodiscard]] Result<std::string> fingerprint(const std::string& pem);
// The fingerprint of each certificate in the text, in order.
[[nodiscard]] Result<std::vector<std::string>> fingerprints(const std::string& pem);
// The fingerprint of the certificate in `authorities` that issued the first certificate of `chain`, directly or through
// the certificates in `chain`. Checks signatures only, no times or names.
[[nodiscard]] Result<std::string> authority_of(const std::string& chain, const std::string& authorities);
// Whether the text has the form of a fingerprint.
[[nodiscard]] bool is_fingerprint(const std::string& text);

// Until when the first certificate of a PEM text is valid.
[[nodiscard]] Result<std::int64_t> expiry_unix_s(const std::string& pem);

[[nodiscard]] Result<Validity> validity_of(const std::string& pem);
// Those of `names`, host names and IP addresses, for which the first certificate of a PEM text is valid.
[[nodiscard]] Result<std::vector<std::string>> covered_names(const std::string& pem,
                                                             const std::vector<std::string>& names);

}  // namespace tidepool::tls
