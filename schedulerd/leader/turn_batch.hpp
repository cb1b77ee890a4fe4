// One turn in progress: facts are applied through it, and each consequence is recorded in its result. Lookups see what
// the turn has written before what the storage holds.
//
// Rule: a refused fact leaves no trace. A failed lookup is kept (failure()) and ends the turn, whatever the command
// that asked answers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/engine/engine.hpp"
#include "schedulerd/leader/executor.hpp"
#include "schedulerd/leader/newest_measurements.hpp"
#include "schedulerd/leader/turn_reads.hpp"
#include "schedulerd/leader/turn_result.hpp"

namespace tidepool::leader {

class TurnBatch {
 public:
  // The parts of the daemon that persist between turns; each outlives the batch.
  struct Leader {
    core::Engine& engine;
    Executor& executor;
    NewestMeasurements& newest;
  };
  TurnBatch(const Leader& leader, TurnReads& reads, Instant now) : leader_(leader), reads_(reads), now_(now) {}

  // Attributes the following events to this user's command; empty: to none.
  void act_for(const std::string& actor) { actor_ = actor; }
  // An error means that the engine refused the fact.
  Status learn(core::Fact fact);
  // Requires: the engine validated it, and it is not empty.
  void accept(core::Decision decision);

  void add(TurnRow row) { result_.rows.push_back(std::move(row)); }
  void note(TurnNote note) { result_.notes.push_back(std::move(note)); }
  void order(TurnOrder order) { result_.orders.push_back(std::move(order)); }
  void order(const std::vector<NodeOrder>& orders);
  // The order as a message, for the present state. None: the worker no longer exists, or cannot be started, which is
  // logged.
  [[nodiscard]] std::optional<api::DaemonToAgent> message_of(const Order& order);
  void answer(std::size_t item, Result<Receipt> receipt) { result_.answers.push_back({item, std::move(receipt)}); }
  void mark_planned() { result_.planned = true; }
  // Rows with a key, which later lookups of this turn find.
  void add_receipt(const Idempotency& request, const Receipt& receipt);
  void add_token(CreateToken token);
  void revoke_token(const std::string& id);
  void add_policy(PolicyVersion version);
  void keep(NodeToken token);
  void keep(NodeCredential credential);

  [[nodiscard]] Result<std::optional<StoredReceipt>> receipt_for(const Idempotency& request);
  // For an ended job, whether it is still in the state or not; none: it has not ended, or is unknown.
  [[nodiscard]] Result<std::optional<EndedNote>> ended(JobId job);
  // All tokens. Those of this turn have no times.
  [[nodiscard]] Result<std::vector<TokenRecord>> tokens();
  [[nodiscard]] Result<std::optional<NodeToken>> node_token(const std::string& id);
  [[nodiscard]] Result<std::optional<NodeCredential>> node_credential(const std::string& node);
  // The error says that the version is not stored, or why it cannot be run with these parameters.
  [[nodiscard]] Status can_run(const core::PolicyFileRef& file);

  [[nodiscard]] const core::ClusterState& state() const { return leader_.engine.view(); }
  [[nodiscard]] const Leader& leader() const { return leader_; }
  [[nodiscard]] Instant now() const { return now_; }
  // The engine's time never goes back.
  [[nodiscard]] Instant engine_now() const { return std::max(now_, state().now); }
  [[nodiscard]] bool changed() const { return result_.changed; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  // Call once, at the end.
  [[nodiscard]] TurnResult take() { return std::move(result_); }

 private:
  void drop_ended_jobs();
  template <class T>
  [[nodiscard]] Result<T> kept(Result<T> found) {
    if (!found.ok() && !failure_) failure_ = found.error();
    return found;
  }

  Leader leader_;
  TurnReads& reads_;
  Instant now_;
  std::string actor_;
  TurnResult result_;
  std::optional<Error> failure_;
};

}  // namespace tidepool::leader
