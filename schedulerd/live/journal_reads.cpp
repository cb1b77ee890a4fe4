#include "schedulerd/live/journal_reads.hpp"

#include "base/json.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live {

Result<std::optional<leader::StoredReceipt>> JournalReads::receipt_for(const Idempotency& request) {
  return journal_.receipt_for(request);
}

Result<std::optional<leader::EndedNote>> JournalReads::ended(JobId job) {
  return journal_.ended(job);
}

Result<std::vector<TokenRecord>> JournalReads::tokens() {
  return journal_.tokens();
}

Result<std::optional<leader::NodeToken>> JournalReads::node_token(const std::string& id) {
  return journal_.node_token(id);
}

Result<std::optional<leader::NodeCredential>> JournalReads::node_credential(const std::string& node) {
  return journal_.node_credential(node);
}

Result<std::optional<PolicyVersion>> JournalReads::policy_version(const std::string& name, const std::string& version) {
  return journal_.policy_version(name, version);
}

Status JournalReads::can_run(const PolicyVersion& version, const std::string& params) {
  const auto given = parse_json(params);
  if (!given) return given.error();
  const auto made = make_runnable(version, *given);
  return made.ok() ? ok_status() : Status(made.error());
}

}  // namespace tidepool::live
