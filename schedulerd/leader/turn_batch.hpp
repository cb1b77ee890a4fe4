// One turn while it goes on: the engine learns through it, and each consequence is noted in its result. Lookups see
// what the turn has written before what the storage holds.
//
// Rule: a refused fact leaves nothing behind. A failed lookup is kept (failure()) and ends the turn, whatever the
// command that asked answers.
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
  // What of the daemon goes on from turn to turn; each outlives the batch.
  struct Leader {
    core::Engine& engine;
    Executor& executor;
    NewestMeasurements& newest;
  };
  TurnBatch(const Leader& leader, TurnReads& reads, Instant now) : leader_(leader), reads_(reads), now_(now) {}

  // Events of what is learnt from now on are of this user's command; empty: of none.
  void act_for(const std::string& actor) { actor_ = actor; }
  // An error is the engine's refusal.
  Status learn(core::Fact fact);
  // Requires: the engine has found it valid, and it is not empty.
  void accept(core::Decision decision);

  void add(TurnRow row) { result_.rows.push_back(std::move(row)); }
  void note(TurnNote note) { result_.notes.push_back(std::move(note)); }
  void order(TurnOrder order) { result_.orders.push_back(std::move(order)); }
  void order(const std::vector<NodeOrder>& orders);
  // As a message, by the state as it is now. None: the worker has gone, or cannot be started, which is noted.
  [[nodiscard]] std::optional<api::DaemonToAgent> message_of(const Order& order);
  void answer(std::size_t item, Result<Receipt> receipt) { result_.answers.push_back({item, std::move(receipt)}); }
  void mark_planned() { result_.planned = true; }
  // Rows with a key of their own, which later lookups of this turn find.
  void add_receipt(const Idempotency& request, const Receipt& receipt);
  void add_token(CreateToken token);
  void revoke_token(const std::string& id);
  void add_policy(PolicyVersion version);
  void keep(NodeToken token);
  void keep(NodeCredential credential);

  [[nodiscard]] Result<std::optional<StoredReceipt>> receipt_for(const Idempotency& request);
  // Of a job that has ended, whether it is still in the state or not; none: it goes on, or it is not known.
  [[nodiscard]] Result<std::optional<EndedNote>> ended(JobId job);
  // All of them. Those of this turn are without times.
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
  // Once, at the end.
  [[nodiscard]] TurnResult take() { return std::move(result_); }

 private:
  void let_ended_go();
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
