#include "core/place/move_costs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/state/job_state.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

std::vector<WorkerId> workers_to_be(const Job& job) {
  std::vector<WorkerId> workers = job.membership.members;
  const Transition* under_way = job.phase.transition();
  if (under_way == nullptr || under_way->committed) return workers;
  const IdSet<WorkerId> members(workers.begin(), workers.end());
  const IdSet<WorkerId> leaving(under_way->leaving_workers.begin(), under_way->leaving_workers.end());
  std::copy_if(under_way->joining_workers.begin(), under_way->joining_workers.end(), std::back_inserter(workers),
               [&](WorkerId id) { return !members.contains(id); });
  std::erase_if(workers, [&](WorkerId id) { return leaving.contains(id); });
  return workers;
}

int size_to_be(const Job& job) {
  return static_cast<int>(workers_to_be(job).size());
}

double cost_of_moving(const Job& job, int workers) {
  const int size = size_to_be(job);
  if (job.spec.resize == ResizeMode::kLive) {
    const double boots_s = cost_at(boot_cost_of(job.measurements), size) * 1e-3 * (workers - 1);
    return cost_of_replacing(job, size) + job.spec.gpus_per_worker * boots_s;
  }
  return job.spec.gpus_per_worker * size * restart_stall(job, size).to_seconds();
}

bool can_hand_on(const Job& job) {
  return job.spec.resize == ResizeMode::kRestart || size_to_be(job) > 1 ||
         (job.spec.elastic.max >= 2 && job.spec.batch.global >= 2);
}

bool may_move(const Job& job) {
  return is_active(job.state()) && !has_gang_rule(job.spec) && can_hand_on(job);
}

MoveCosts::Share MoveCosts::OfJob::all() const {
  Share all;
  for (const auto& [type, share] : shares) {
    all.held += share.held;
    all.movers.insert(all.movers.end(), share.movers.begin(), share.movers.end());
  }
  return all;
}

void MoveCosts::Sorted::add(JobId job, const Share& share) {
  cheapest_first.insert(share.movers.begin(), share.movers.end());
  most_held_first.emplace(-share.held, job);
}

void MoveCosts::Sorted::erase(JobId job, const Share& share) {
  for (const Mover& mover : share.movers) cheapest_first.erase(mover);
  most_held_first.erase({-share.held, job});
}

const MoveCosts::Sorted& MoveCosts::on(const std::string* type) const {
  static const Sorted none;
  if (type == nullptr) return all_;
  const auto found = by_type_.find(*type);
  return found == by_type_.end() ? none : found->second;
}

void MoveCosts::follow(const ClusterState& state, const Job& job) {
  OfJob found = found_of(state, job);
  const auto known = jobs_.find(job.id);
  if (known != jobs_.end() && known->second == found) return;
  forget(job.id);
  if (found.shares.empty()) return;
  all_.add(job.id, found.all());
  for (const auto& [type, share] : found.shares) by_type_[type].add(job.id, share);
  on_their_way_out_.insert(found.on_their_way_out.begin(), found.on_their_way_out.end());
  jobs_.emplace(job.id, std::move(found));
}

void MoveCosts::forget(JobId job) {
  const auto known = jobs_.find(job);
  if (known == jobs_.end()) return;
  const OfJob& of_job = known->second;
  all_.erase(job, of_job.all());
  for (const auto& [type, share] : of_job.shares) by_type_[type].erase(job, share);
  for (const WorkerId id : of_job.on_their_way_out) on_their_way_out_.erase(id);
  jobs_.erase(known);
}

MoveCosts::OfJob MoveCosts::found_of(const ClusterState& state, const Job& job) {
  OfJob found;
  if (job.membership.workers.empty()) return found;
  const bool moves = may_move(job);
  const double cost_s = moves ? cost_of_moving(job, 1) : 0;
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    Share& share = found.shares[state.find_node(worker.node)->slot_type];
    share.held += static_cast<int>(worker.slots.size());
    if (is_on_its_way_out(job, worker)) {
      found.on_their_way_out.push_back(id);
    } else if (moves && !worker.is_gone()) {
      share.movers.push_back({cost_s, worker.node, id});
    }
  }
  return found;
}

}  // namespace tidepool::core
