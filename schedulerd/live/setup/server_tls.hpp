// What the daemon shows to those who connect: a certificate from its own small authority, or one that it was given.
// The authority lies in tls/ of the state directory (ca.pem, ca.key) and stays the same. The server's certificate is
// made anew at each start and lives in memory only, so that it always has the names of now and its key is in no file.
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
  tls::Context context;                  // null = no TLS
  tls::Context agents;                   // the same for the agents' port, where certificates are asked for
  tls::Identity node_authority;          // the daemon's own, which signs those of nodes
  std::vector<std::string> names;        // under which the daemon is reached
  std::string ca_file;                   // empty if a certificate was given without its authority
  std::string ca_fingerprint;            // of the authority from which it is shown, at the start
  std::vector<std::string> authorities;  // fingerprints of that one and of those that go or come beside it
  GivenFiles given;                      // what both show if it was given; else empty
};

// Without `config.tls` an empty one. Makes the authority at the first call.
[[nodiscard]] Result<ServerTls> prepare_tls(const Config& config, const StateDir& state_dir, std::int64_t now_unix_s);

// Whether a certificate that is given could be shown; makes nothing.
[[nodiscard]] Status check_given_files(const Config& config, std::int64_t now_unix_s);

// The configured names and those by which this machine may be called where it listens.
[[nodiscard]] std::vector<std::string> server_names(const Config& config);

}  // namespace tidepool::live
