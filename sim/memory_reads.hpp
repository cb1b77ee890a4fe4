// Lookups of the simulated daemon in the results of its earlier turns. It holds only durable data: its owner adds to it
// after a commit. Tokens and node certificates are not simulated. Policy files are not stored in it either: the owner
// has checked an activated file, so every version can be run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/turn_reads.hpp"

namespace tidepool::sim {

class MemoryReads final : public leader::TurnReads {
 public:
  [[nodiscard]] Result<std::optional<leader::StoredReceipt>> receipt_for(const leader::Idempotency& asked) override;
  [[nodiscard]] Result<std::optional<leader::EndedNote>> ended(JobId job) override;
  [[nodiscard]] Result<std::vector<leader::TokenRecord>> tokens() override;
  [[nodiscard]] Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override;
  [[nodiscard]] Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override;
  [[nodiscard]] Result<std::optional<leader::PolicyVersion>> policy_version(const std::string& name,
                                                                            const std::string& version) override;
  [[nodiscard]] Status can_run(const leader::PolicyVersion& version, const std::string& params) override;

  std::map<std::string, JobId> keys;                             // accepted submissions
  std::map<JobId, std::shared_ptr<const core::Job>> ended_jobs;  // that have left the state
};

}  // namespace tidepool::sim
