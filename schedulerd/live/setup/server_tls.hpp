// The daemon's server certificate: from its own small authority, or one that the operator provides. The authority is in
// tls/ of the state directory (ca.pem, ca.key) and does not change. The server's certificate is created at each start
// and kept in memory only, so that it always has the present names and its key is in no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/live/setup/config.hpp"
#include "schedulerd/live/setup/given_certificate.hpp"
#include "schedulerd/live/setup/state_dir.hpp"
#include "tls/context.hpp"

namespace tidepool::live {

struct ServerTls {
  tls::Context context;            // null = no TLS
  tls::Context agents;             // the same for the agents' port, which requests client certificates
  tls::Identity node_authority;    // the daemon's own, which signs those of nodes
  std::vector<std::string> names;  // names of the daemon
  std::string ca_file;             // empty if a certificate was provided without its authority
  std::string ca_fingerprint;      // of the authority that signed it, at the start
  std::vector<std::string>
      authorities;   // fingerprints of that authority and of those that it replaces or that replace it
  GivenFiles given;  // the provided certificate of both; empty if none
};

// Without `config.tls` an empty one. Creates the authority at the first call.
[[nodiscard]] Result<ServerTls> prepare_tls(const Config& config, const StateDir& state_dir, std::int64_t now_unix_s);

// Checks whether a provided certificate can be used; creates nothing.
[[nodiscard]] Status check_given_files(const Config& config, std::int64_t now_unix_s);

// The configured names and those of this machine at its listening addresses.
[[nodiscard]] std::vector<std::string> server_names(const Config& config);

}  // namespace tidepool::live
