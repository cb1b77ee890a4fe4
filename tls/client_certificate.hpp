// Certificates of clients: the client creates a key, which it never sends, and sends a signing request; the authority
// signs a name and a validity for that key. A client is identified by its name and its key: a renewed certificate for
// the same key is the same client.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "tls/certificate.hpp"

namespace tidepool::tls {

// A new key, as PEM. A secret.
[[nodiscard]] Result<std::string> make_key();

// Requests a certificate for this key, and proves that the requester has it. PEM.
[[nodiscard]] Result<std::string> signing_request(const std::string& key);

// The key of a signing request, as "sha256:" and 64 digits. Refuses a request that is not signed by its own key, and
// keys other than ECDSA on P-256.
[[nodiscard]] Result<std::string> requested_key(const std::string& request);

// Signs the request's key under `name`, and uses nothing else from the request. Returns only the certificate, as PEM.
[[nodiscard]] Result<std::string> issue_client(const Identity& authority, const std::string& request,
                                               const std::string& name, const Validity& validity);

struct Client {
  std::string name;
  std::string key;  // "sha256:" and 64 digits
  Validity validity;
};

// Reads a certificate without checking it.
[[nodiscard]] Result<Client> read_client(const std::string& certificate);

// Checks that the authority signed the certificate, that it is for a client, and that it is valid now. The error says
// what is wrong.
[[nodiscard]] Result<Client> check_client(const std::string& authority, const std::string& certificate,
                                          std::int64_t now_unix_s);

}  // namespace tidepool::tls
