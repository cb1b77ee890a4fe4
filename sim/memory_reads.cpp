#include "sim/memory_reads.hpp"

#include <utility>

namespace tidepool::sim {

Result<std::optional<leader::StoredReceipt>> MemoryReads::receipt_for(const leader::Idempotency& asked) {
  const auto found = keys.find(asked.key);
  if (found == keys.end()) return std::optional<leader::StoredReceipt>();
  return std::optional(leader::StoredReceipt{.request_hash = asked.key, .job = found->second, .token_id = {}});
}

Result<std::optional<leader::EndedNote>> MemoryReads::ended(JobId job) {
  const auto found = ended_jobs.find(job);
  if (found == ended_jobs.end()) return std::optional<leader::EndedNote>();
  const core::Job& known = *found->second;
  return std::optional(leader::EndedNote{core::to_text(known.state()), known.phase.ended_at().value_or(Instant())});
}

Result<std::vector<leader::TokenRecord>> MemoryReads::tokens() {
  return std::vector<leader::TokenRecord>();
}

Result<std::optional<leader::NodeToken>> MemoryReads::node_token(const std::string& /*id*/) {
  return std::optional<leader::NodeToken>();
}

Result<std::optional<leader::NodeCredential>> MemoryReads::node_credential(const std::string& /*node*/) {
  return std::optional<leader::NodeCredential>();
}

Result<std::optional<leader::PolicyVersion>> MemoryReads::policy_version(const std::string& name,
                                                                         const std::string& version) {
  leader::PolicyVersion known;
  known.name = name;
  known.version = version;
  return std::optional(std::move(known));
}

Status MemoryReads::can_run(const leader::PolicyVersion& /*version*/, const std::string& /*params*/) {
  return ok_status();
}

}  // namespace tidepool::sim
