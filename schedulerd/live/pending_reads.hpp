// Lookups of a turn while earlier turns are still being written: their rows come first, the newest before older ones,
// then the storage.
//
// Rule: rows of a turn are dropped only after its commit, so that no lookup misses both.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "schedulerd/leader/keyed_rows.hpp"
#include "schedulerd/leader/turn_reads.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

class PendingReads final : public leader::TurnReads {
 public:
  // `stored` outlives it, and sees whatever is committed.
  explicit PendingReads(leader::TurnReads& stored) : stored_(stored) {}

  // Turns are numbered from 1, in the order in which they are added.
  void add(leader::KeyedRows rows);
  // The turns up to this one are durable.
  void forget_until(std::uint64_t turn);

  [[nodiscard]] Result<std::optional<leader::StoredReceipt>> receipt_for(const Idempotency& request) override;
  [[nodiscard]] Result<std::optional<leader::EndedNote>> ended(JobId job) override;
  [[nodiscard]] Result<std::vector<TokenRecord>> tokens() override;
  [[nodiscard]] Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override;
  [[nodiscard]] Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override;
  [[nodiscard]] Result<std::optional<PolicyVersion>> policy_version(const std::string& name,
                                                                    const std::string& version) override;
  [[nodiscard]] Status can_run(const PolicyVersion& version, const std::string& params) override;

 private:
  leader::TurnReads& stored_;
  std::deque<leader::KeyedRows> turns_;  // not yet known to be durable
  std::uint64_t forgotten_ = 0;          // turns before them
};

}  // namespace tidepool::live
