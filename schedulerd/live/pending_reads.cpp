#include "schedulerd/live/pending_reads.hpp"

namespace tidepool::live {
namespace {

// `find` is asked of each turn, and says null where that has not written it.
template <class T, class Find>
std::optional<T> newest(const std::deque<leader::KeyedRows>& turns, Find find) {
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    if (const T* found = find(*turn)) return *found;
  }
  return std::nullopt;
}

}  // namespace

void PendingReads::add(leader::KeyedRows rows) {
  turns_.push_back(std::move(rows));
}

void PendingReads::forget_until(std::uint64_t turn) {
  for (; forgotten_ < turn && !turns_.empty(); ++forgotten_) turns_.pop_front();
}

Result<std::optional<leader::StoredReceipt>> PendingReads::receipt_for(const Idempotency& request) {
  auto found = newest<leader::StoredReceipt>(turns_, [&](const auto& turn) { return turn.receipt(request); });
  return found ? std::move(found) : stored_.receipt_for(request);
}

Result<std::optional<leader::EndedNote>> PendingReads::ended(JobId job) {
  auto found = newest<leader::EndedNote>(turns_, [&](const auto& turn) { return turn.ended(job); });
  return found ? std::move(found) : stored_.ended(job);
}

Result<std::vector<TokenRecord>> PendingReads::tokens() {
  auto all = stored_.tokens();
  if (!all.ok()) return all;
  for (const leader::KeyedRows& turn : turns_) all = turn.after(*std::move(all));
  return all;
}

Result<std::optional<leader::NodeToken>> PendingReads::node_token(const std::string& id) {
  auto found = newest<leader::NodeToken>(turns_, [&](const auto& turn) { return turn.node_token(id); });
  return found ? std::move(found) : stored_.node_token(id);
}

Result<std::optional<leader::NodeCredential>> PendingReads::node_credential(const std::string& node) {
  auto found = newest<leader::NodeCredential>(turns_, [&](const auto& turn) { return turn.node_credential(node); });
  return found ? std::move(found) : stored_.node_credential(node);
}

Result<std::optional<PolicyVersion>> PendingReads::policy_version(const std::string& name, const std::string& version) {
  auto found = newest<PolicyVersion>(turns_, [&](const auto& turn) { return turn.policy(name, version); });
  return found ? std::move(found) : stored_.policy_version(name, version);
}

Status PendingReads::can_run(const PolicyVersion& version, const std::string& params) {
  return stored_.can_run(version, params);
}

}  // namespace tidepool::live
