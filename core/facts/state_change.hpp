// One change of the state in progress: where step() and accept() write, what they touched, and the events they make.
// Only this class writes slots, so what the state says of nodes, workers and jobs always agrees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/id_set.hpp"
#include "core/facts/budget_dues.hpp"
#include "core/facts/pool_books.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"

namespace tidepool::core {

struct Touched {
  IdSet<JobId> jobs;
  bool capacity = false;  // free slots or the queue changed
  bool closed = false;    // a worker has left a node that takes no others: the pool has fewer slots than before
  bool nodes = false;     // which nodes take workers, whatever fact has changed that
  bool prices = false;    // of nodes or pools

  void add(const Touched& other) {
    jobs.insert(other.jobs);
    capacity = capacity || other.capacity;
    closed = closed || other.closed;
    nodes = nodes || other.nodes;
    prices = prices || other.prices;
  }
};

class StateChange {
 public:
  // `books` and `dues`: of the state, which outlive it; null = the pool's account is of no interest, and what budgets
  // are due next is looked for among all.
  StateChange(ClusterState& state, Instant at, PoolBooks* books = nullptr, BudgetDues* dues = nullptr)
      : state_(state), at_(at), books_(books), dues_(dues) {}

  [[nodiscard]] ClusterState& state() { return state_; }
  [[nodiscard]] Instant at() const { return at_; }

  // A fact tells that time has passed: what prices and budgets make of it comes before what else the fact changes. Of
  // no effect until advance_time(), or before the first job or node is written to, whichever is first.
  void time_has_passed() { time_passes_ = true; }
  void advance_time();
  // Jobs that were written to count in the budgets again with what they hold now. Once, after all else.
  void settle_budgets();
  // Accounts of budgets have changed, or are about to, beside those that the jobs count in that are written to.
  void budgets_changed() { budgets_changed_ = true; }
  // Requires: no job has been written to.
  [[nodiscard]] std::optional<Instant> next_budget_due() const;
  // Slots have changed hands, or jobs wait for them, since then. After all that is of that moment.
  void settle_pool(Instant at);

  // The job to write to; its account is brought up to date first, so that what it held until now is
  // charged before it changes. Requires: the job exists.
  [[nodiscard]] Job& job(JobId id);
  // The job, to write its verdict or target only: nothing that it holds changes, so nothing is charged, and a policy
  // that counts from the newest fact counts on. Requires: the job exists.
  [[nodiscard]] Job& words_of(JobId id);
  // Requires: the worker exists.
  [[nodiscard]] Worker& worker(WorkerId id);
  [[nodiscard]] Node& node(NodeId id);

  // Gives the placed slots to a new worker of the job. Requires: they are free, the id is the next one.
  Worker& add_worker(JobId job, const WorkerPlacement& placement);
  // Takes a worker out of the books and frees its slots; the job's members are left to the caller.
  void remove_worker(WorkerId id);

  void capacity_changed() { touched_.capacity = true; }
  // A node takes workers from now on, or takes none any more.
  void nodes_changed() { touched_.capacity = touched_.nodes = true; }
  void prices_changed() { touched_.capacity = touched_.prices = true; }

  // Events carry the decision from here on.
  void follow(DecisionId decision) { decision_ = decision; }
  // Requires: one is being carried out.
  [[nodiscard]] DecisionId decision() const { return decision_.value(); }
  void emit(std::string type, nlohmann::json data);
  void emit(std::string type, const Job& job, nlohmann::json data);
  void emit_of_tenant(std::string type, const std::string& tenant, nlohmann::json data);
  void emit(std::string type, const Node& node, nlohmann::json data);
  // Of a worker of the job: also its node's, so that a node's events say what became of those on it. `on`: none = the
  // state does not know it any more.
  void emit(std::string type, const Job& job, NodeId on, nlohmann::json data);

  // Jobs that were touched, have ended and hold nothing more leave the state. Once, after all else.
  struct Left {
    std::vector<std::shared_ptr<const Job>> jobs;
    IdSet<JobId> forgotten;  // of earlier ones, what was remembered
  };
  [[nodiscard]] Left let_ended_go();

  [[nodiscard]] const Touched& touched() const { return touched_; }
  // Jobs that were written to, beyond their words.
  [[nodiscard]] const IdSet<JobId>& charged() const { return charged_; }
  [[nodiscard]] const IdSet<NodeId>& written_nodes() const { return written_nodes_; }
  [[nodiscard]] std::vector<Event> take_events() { return std::move(events_); }

 private:
  ClusterState& state_;
  Instant at_;
  PoolBooks* books_;
  BudgetDues* dues_;
  std::optional<DecisionId> decision_;
  Touched touched_;
  IdSet<JobId> charged_;
  IdSet<NodeId> written_nodes_;
  bool time_passes_ = false;
  bool budgets_changed_ = false;
  std::vector<Event> events_;
};

}  // namespace tidepool::core
