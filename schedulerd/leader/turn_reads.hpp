// Lookups of a turn in the storage. The daemon reads its journal, a simulation its memory. Rows that the turn itself
// has written are found elsewhere (turn_batch.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "schedulerd/leader/commands.hpp"
#include "schedulerd/leader/records.hpp"

namespace tidepool::leader {

// An error of any lookup except the last means that the storage has failed, which ends the turn and the daemon.
class TurnReads {
 public:
  virtual ~TurnReads() = default;
  [[nodiscard]] virtual Result<std::optional<StoredReceipt>> receipt_for(const Idempotency& request) = 0;
  // For a job that has left the state; none: there was none, or its retention is over.
  [[nodiscard]] virtual Result<std::optional<EndedNote>> ended(JobId job) = 0;
  [[nodiscard]] virtual Result<std::vector<TokenRecord>> tokens() = 0;
  [[nodiscard]] virtual Result<std::optional<NodeToken>> node_token(const std::string& id) = 0;
  [[nodiscard]] virtual Result<std::optional<NodeCredential>> node_credential(const std::string& node) = 0;
  [[nodiscard]] virtual Result<std::optional<PolicyVersion>> policy_version(const std::string& name,
                                                                            const std::string& version) = 0;
  // The error says why this version cannot be run with these parameters.
  [[nodiscard]] virtual Status can_run(const PolicyVersion& version, const std::string& params) = 0;
};

}  // namespace tidepool::leader
