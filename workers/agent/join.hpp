// How a machine becomes a node: it creates a key, proves with a signing request that it has the key, and gets a
// certificate for one node name in exchange for a node token. The daemon must first prove that it is the one that made
// the token.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"
#include "workers/agent/node_identity.hpp"

namespace tidepool::agent {

struct JoinOptions {
  std::string daemon;  // HOST:PORT; empty = the daemon that was joined before
  std::string token;   // as typed; empty = none
  std::filesystem::path token_file;
  std::string node;          // empty = the host's name
  bool anew = false;         // with a new key, whatever the folder contains
  std::string node_options;  // the other options given: " --slots 2"
};

// The options of an `agentd join` command line that the node needs at each start, quoted for a shell, each preceded by
// a blank. Leaves out the options that are only for joining, the location of the state, and the descriptor of a
// lifeline.
[[nodiscard]] std::string node_options_of(std::span<const char* const> words);

// Uses the identity in the folder if it is valid and matches the options; else joins. Requires: this process has locked
// the folder. Errors say what to do.
[[nodiscard]] Result<NodeIdentity> join_or_resume(const std::filesystem::path& state_dir, const JoinOptions& options);

}  // namespace tidepool::agent
