// Lookups of a turn in the journal, over a separate read-only connection: they see committed rows while the next ones
// are being written. Stored policy files are checked here, because reading one needs their host's rules. Belongs to the
// loop's thread.
#pragma once

#include <memory>
#include <string>

#include "schedulerd/leader/turn_reads.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/store/node_trust_rows.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

class JournalReads final : public leader::TurnReads {
 public:
  // Requires: this process has opened the journal before. `vfs` as in JournalOptions.
  [[nodiscard]] static Result<std::unique_ptr<JournalReads>> open(const std::string& path, const std::string& vfs = "");

  [[nodiscard]] Result<std::optional<leader::StoredReceipt>> receipt_for(const Idempotency& request) override;
  [[nodiscard]] Result<std::optional<leader::EndedNote>> ended(JobId job) override;
  [[nodiscard]] Result<std::vector<TokenRecord>> tokens() override;
  [[nodiscard]] Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override;
  [[nodiscard]] Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override;
  [[nodiscard]] Result<std::optional<PolicyVersion>> policy_version(const std::string& name,
                                                                    const std::string& version) override;
  [[nodiscard]] Status can_run(const PolicyVersion& version, const std::string& params) override;

 private:
  explicit JournalReads(Database database) : database_(std::move(database)) {}
  [[nodiscard]] Status prepare();

  Database database_;
  NodeTrustRows node_trust_;
  Statement find_receipt_, find_ended_, find_tokens_, find_policy_;
};

}  // namespace tidepool::live
