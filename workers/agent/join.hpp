// How a machine becomes a node: it makes a key, proves with a signing request that it has it, and gets a certificate
// for one node name in return for a node token. The daemon must first prove to be the one that made the token.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"
#include "workers/agent/node_identity.hpp"

namespace tidepool::agent {

struct JoinOptions {
  std::string daemon;  // HOST:PORT; empty = the one that was joined before
  std::string token;   // as it was typed; empty = there is none
  std::filesystem::path token_file;
  std::string node;          // empty = the host's name
  bool anew = false;         // with a new key, whatever is kept
  std::string node_options;  // what else was given: " --slots 2"
};

// The options of a command line of `agentd join` that the node needs at each start, as a shell reads them, each with a
// blank before it. Left out is what is only for joining, where the state lies, and the descriptor of a lifeline.
[[nodiscard]] std::string node_options_of(std::span<const char* const> words);

// What the folder keeps, if that is good and fits; else joins. Requires: the folder is locked by this process. Errors
// say what to do.
[[nodiscard]] Result<NodeIdentity> join_or_resume(const std::filesystem::path& state_dir, const JoinOptions& options);

}  // namespace tidepool::agent
