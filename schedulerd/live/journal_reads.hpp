// The lookups of a turn in the journal. Stored policy files are looked over here, because reading one needs their
// host's rules.
#pragma once

#include "schedulerd/leader/turn_reads.hpp"
#include "schedulerd/live/store/journal.hpp"

namespace tidepool::live {

class JournalReads final : public leader::TurnReads {
 public:
  // `journal` outlives it.
  explicit JournalReads(Journal& journal) : journal_(journal) {}

  [[nodiscard]] Result<std::optional<leader::StoredReceipt>> receipt_for(const Idempotency& request) override;
  [[nodiscard]] Result<std::optional<leader::EndedNote>> ended(JobId job) override;
  [[nodiscard]] Result<std::vector<TokenRecord>> tokens() override;
  [[nodiscard]] Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override;
  [[nodiscard]] Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override;
  [[nodiscard]] Result<std::optional<PolicyVersion>> policy_version(const std::string& name,
                                                                    const std::string& version) override;
  [[nodiscard]] Status can_run(const PolicyVersion& version, const std::string& params) override;

 private:
  Journal& journal_;
};

}  // namespace tidepool::live
