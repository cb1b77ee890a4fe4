// What a node that has joined a daemon stores in its state folder: its key, which never leaves the folder, its
// certificate, and the authorities by which it verifies the daemon. One file each, mode 0600, replaced whole: key and
// certificate always belong together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tls/client_certificate.hpp"
#include "tls/context.hpp"

namespace tidepool::agent {

struct NodeIdentity {
  std::string daemon;                    // HOST:PORT at which it was reached
  std::string node;                      // the name in the certificate
  std::vector<std::string> authorities;  // fingerprints, at least one
  std::string key;                       // PEM
  std::string certificate;               // PEM
};

// None: this folder has not joined a daemon.
[[nodiscard]] Result<std::optional<NodeIdentity>> read_identity(const std::filesystem::path& state_dir);
[[nodiscard]] Status write_identity(const std::filesystem::path& state_dir, const NodeIdentity& identity);
[[nodiscard]] bool has_identity(const std::filesystem::path& state_dir);

// The key of a join in progress, created at the first call: if the daemon is asked again with the same token and name,
// it returns the certificate again and counts no further use of the token.
[[nodiscard]] Result<std::string> key_to_join(const std::filesystem::path& state_dir, const std::string& token_id,
                                              const std::string& node);
void forget_join(const std::filesystem::path& state_dir);

// By this machine's clock.
[[nodiscard]] std::int64_t unix_seconds();

// Verifies the daemon by the fingerprints of its authorities and presents the certificate.
[[nodiscard]] Result<tls::Context> context_of(const NodeIdentity& identity);

}  // namespace tidepool::agent
