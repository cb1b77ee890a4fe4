#include "core/facts/state_change.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/facts/price_facts.hpp"
#include "core/state/account.hpp"
#include "core/state/ended_job.hpp"

namespace tidepool::core {

Job& StateChange::job(JobId id) {
  advance_time();
  Job& job = state_.mutable_job(id);
  touched_.jobs.insert(id);
  if (charged_.insert(id)) {
    leave_budgets(state_, job, at_);
    charge_with_tenant(state_, job, at_);
  }
  return job;
}

void StateChange::advance_time() {
  if (!std::exchange(time_passes_, false)) return;
  const bool window_ended = follow_prices(*this);
  follow_budgets(*this, window_ended);
}

void StateChange::settle_budgets() {
  for (const JobId id : charged_) join_budgets(state_, *state_.find_job(id));
  if (due_times_ == nullptr) return;
  if (budgets_changed_) return due_times_->follow_all(state_.budgets);
  if (state_.budgets.empty()) return;
  for (const JobId id : charged_) {
    for (const Tenant* tenant : state_.tenants->path_to(state_.find_job(id)->spec.tenant)) {
      due_times_->follow(state_.budgets, tenant->name);
    }
  }
}

std::optional<Instant> StateChange::next_budget_due() const {
  return due_times_ == nullptr || budgets_changed_ ? tidepool::core::next_budget_due(state_) : due_times_->next(state_);
}

void StateChange::settle_pool(Instant at) {
  if (books_ != nullptr) books_->settle(state_, touched_.jobs, written_nodes_, at);
}

Job& StateChange::words_of(JobId id) {
  touched_.jobs.insert(id);
  return state_.mutable_job(id);
}

Worker& StateChange::worker(WorkerId id) {
  TP_CHECK(state_.workers.contains(id), "a worker that changes exists");
  return state_.workers.edit(id);
}

Node& StateChange::node(NodeId id) {
  TP_CHECK(state_.nodes.contains(id), "a node that changes exists");
  advance_time();
  written_nodes_.insert(id);
  return state_.nodes.edit(id);
}

Worker& StateChange::add_worker(JobId job_id, const WorkerPlacement& placement) {
  TP_CHECK(placement.worker.number() == state_.next_worker, "worker ids are handed out in order");
  Job& owner = job(job_id);
  Node& host = node(placement.node);
  for (const int slot : placement.slots) {
    WorkerId& holder = host.owners.at(static_cast<std::size_t>(slot));
    TP_CHECK(!holder, "no slot is given twice");
    holder = placement.worker;
  }
  ++state_.next_worker;
  owner.membership.workers.push_back(placement.worker);
  capacity_changed();
  Worker worker;
  worker.id = placement.worker;
  worker.job = job_id;
  worker.node = placement.node;
  worker.slots = placement.slots;
  worker.started_at = at_;
  state_.workers.insert_or_assign(placement.worker, std::move(worker));
  return state_.workers.edit(placement.worker);
}

void StateChange::remove_worker(WorkerId id) {
  const Worker& gone = worker(id);
  Job& owner = job(gone.job);
  Node& host = node(gone.node);
  for (const int slot : gone.slots) {
    WorkerId& holder = host.owners.at(static_cast<std::size_t>(slot));
    TP_CHECK(holder == id, "only the owner of a slot gives it back");
    holder = WorkerId();
  }
  std::erase(owner.membership.workers, id);
  state_.workers.erase(id);
  capacity_changed();
  touched_.closed = touched_.closed || host.is_closed();
  if (host.is_drained()) emit("node.drained", host, {{"name", host.name}});
}

StateChange::Left StateChange::drop_ended_jobs() {
  Left left;
  for (const JobId id : touched_.jobs) {
    if (has_left(*state_.find_job(id))) left.jobs.push_back(take_out(state_, id, left.forgotten));
  }
  for (const auto& job : left.jobs) touched_.jobs.erase(job->id);
  return left;
}

void StateChange::emit(std::string type, nlohmann::json data) {
  Event event;
  event.seq = state_.next_event++;
  event.at = at_;
  event.type = std::move(type);
  event.decision = decision_;
  event.data = std::move(data);
  events_.push_back(std::move(event));
}

void StateChange::emit(std::string type, const Job& job, nlohmann::json data) {
  emit(std::move(type), std::move(data));
  events_.back().job = job.id;
  events_.back().tenant = job.spec.tenant;
}

void StateChange::emit_of_tenant(std::string type, const std::string& tenant, nlohmann::json data) {
  emit(std::move(type), std::move(data));
  events_.back().tenant = tenant;
}

void StateChange::emit(std::string type, const Node& node, nlohmann::json data) {
  emit(std::move(type), std::move(data));
  events_.back().node = node.id;
}

void StateChange::emit(std::string type, const Job& job, NodeId on, nlohmann::json data) {
  emit(std::move(type), job, std::move(data));
  if (on) events_.back().node = on;
}

}  // namespace tidepool::core
