// Certificates of clients: the client makes a key, which never leaves it, and asks with a signing request; the
// authority signs a name and a time for that key. A client is known by its name and by its key: a certificate that is
// signed anew for the same key is the same client.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "tls/certificate.hpp"

namespace tidepool::tls {

// A new key, as PEM. A secret.
[[nodiscard]] Result<std::string> make_key();

// Asks for a certificate for this key, and proves that the asker has it. PEM.
[[nodiscard]] Result<std::string> signing_request(const std::string& key);

// The key of a signing request, as "sha256:" and 64 digits. Refuses one that its own key has not signed, and keys other
// than ECDSA on P-256.
[[nodiscard]] Result<std::string> requested_key(const std::string& request);

// Signs the request's key under `name`, and takes nothing else from the request. The certificate alone, as PEM.
[[nodiscard]] Result<std::string> issue_client(const Identity& authority, const std::string& request,
                                               const std::string& name, const Validity& validity);

struct Client {
  std::string name;
  std::string key;  // "sha256:" and 64 digits
  Validity validity;
};

// What a certificate says, unchecked.
[[nodiscard]] Result<Client> read_client(const std::string& certificate);

// Holds it against the authority that must have signed it, for a client, and against the time. The error says in words
// what is wrong.
[[nodiscard]] Result<Client> check_client(const std::string& authority, const std::string& certificate,
                                          std::int64_t now_unix_s);

}  // namespace tidepool::tls
