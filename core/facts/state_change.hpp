// One change of the state in progress: step() and accept() write through it, and it records what they touched and the
// resulting events. Only this class writes slots, so the state's records of nodes, workers and jobs always agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/id_set.hpp"
#include "core/facts/budget_due_times.hpp"
#include "core/facts/pool_books.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"

namespace tidepool::core {

struct Touched {
  IdSet<JobId> jobs;
  bool capacity = false;  // free slots or the queue changed
  bool closed = false;    // a worker has left a node that accepts no others: the pool has fewer slots than before
  bool nodes = false;     // which nodes accept workers has changed, whatever fact caused it
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
  // `books` and `dues` belong to the state and outlive this object; null = the pool's account is not needed, and the
  // next due budget is searched among all.
  StateChange(ClusterState& state, Instant at, PoolBooks* books = nullptr, BudgetDueTimes* dues = nullptr)
      : state_(state), at_(at), books_(books), due_times_(dues) {}

  [[nodiscard]] ClusterState& state() { return state_; }
  [[nodiscard]] Instant at() const { return at_; }

  // The fact reports that time has passed: changes of prices and budgets until then are applied before the fact's other
  // changes. They are applied at advance_time() or before the first job or node is written to, whichever is first.
  void time_has_passed() { time_passes_ = true; }
  void advance_time();
  // Adds the jobs that were written to back to the budgets, with their present slots. Call once, last.
  void settle_budgets();
  // Accounts of budgets have changed, or will, other than those of the jobs that are written to.
  void budgets_changed() { budgets_changed_ = true; }
  // Requires: no job has been written to.
  [[nodiscard]] std::optional<Instant> next_budget_due() const;
  // Slots have changed owners, or jobs wait for them, since the last call. Call after all changes of that moment.
  void settle_pool(Instant at);

  // The job to write to; its account is updated first, so that its use until now is charged before it changes.
  // Requires: the job exists.
  [[nodiscard]] Job& job(JobId id);
  // The job, to write only its verdict or target: its slots do not change, so nothing is charged, and a policy that
  // counts from the newest fact continues to count. Requires: the job exists.
  [[nodiscard]] Job& words_of(JobId id);
  // Requires: the worker exists.
  [[nodiscard]] Worker& worker(WorkerId id);
  [[nodiscard]] Node& node(NodeId id);

  // Gives the placed slots to a new worker of the job. Requires: they are free, the id is the next one.
  Worker& add_worker(JobId job, const WorkerPlacement& placement);
  // Removes a worker from the state and frees its slots; the caller updates the job's members.
  void remove_worker(WorkerId id);

  void capacity_changed() { touched_.capacity = true; }
  // A node starts or stops accepting workers.
  void nodes_changed() { touched_.capacity = touched_.nodes = true; }
  void prices_changed() { touched_.capacity = touched_.prices = true; }

  // From here on events carry the decision.
  void follow(DecisionId decision) { decision_ = decision; }
  // Requires: a decision is being carried out.
  [[nodiscard]] DecisionId decision() const { return decision_.value(); }
  void emit(std::string type, nlohmann::json data);
  void emit(std::string type, const Job& job, nlohmann::json data);
  void emit_of_tenant(std::string type, const std::string& tenant, nlohmann::json data);
  void emit(std::string type, const Node& node, nlohmann::json data);
  // An event about a worker of the job that is also an event of its node, so that a node's events include its workers.
  // `on`: none = the state no longer has the node.
  void emit(std::string type, const Job& job, NodeId on, nlohmann::json data);

  // Jobs that were touched, have ended and hold nothing leave the state. Call once, last.
  struct Left {
    std::vector<std::shared_ptr<const Job>> jobs;
    IdSet<JobId> forgotten;  // earlier jobs whose remembered data were removed
  };
  [[nodiscard]] Left drop_ended_jobs();

  [[nodiscard]] const Touched& touched() const { return touched_; }
  // Jobs that were written to, apart from verdicts and targets.
  [[nodiscard]] const IdSet<JobId>& charged() const { return charged_; }
  [[nodiscard]] const IdSet<NodeId>& written_nodes() const { return written_nodes_; }
  [[nodiscard]] std::vector<Event> take_events() { return std::move(events_); }

 private:
  ClusterState& state_;
  Instant at_;
  PoolBooks* books_;
  BudgetDueTimes* due_times_;
  std::optional<DecisionId> decision_;
  Touched touched_;
  IdSet<JobId> charged_;
  IdSet<NodeId> written_nodes_;
  bool time_passes_ = false;
  bool budgets_changed_ = false;
  std::vector<Event> events_;
};

}  // namespace tidepool::core
