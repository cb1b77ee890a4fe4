#include "core/state/measured/type_records.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace tidepool::core {
namespace {

bool is_empty(const TypeRecords& records) {
  const auto never = [](const auto&... costs) { return ((costs.count == 0) && ...); };
  return records.sizes.empty() &&
         never(records.grow_cost, records.replace_cost, records.shrink_cost, records.failure_cost, records.start_cost,
               records.restart_cost, records.rebalance_cost, records.boot_cost);
}

template <class Cost>
const Cost& most_measured(const Measurements& measurements, Cost TypeRecords::* kind) {
  const Cost* best = &(measurements.*kind);
  if (best->count > 0) return *best;
  for (const auto& [type, records] : measurements.on_other_types) {
    if ((records.*kind).count > best->count) best = &(records.*kind);
  }
  return *best;
}

}  // namespace

namespace {

// Samples a second per worker at the smallest size measured there; none: nothing was measured there.
std::optional<double> measured_speed(const Measurements& measurements, const std::string& slot_type) {
  const TypeRecords* records = &measurements;
  if (measurements.slot_type != slot_type) {
    const auto found = measurements.on_other_types.find(slot_type);
    if (found == measurements.on_other_types.end()) return std::nullopt;
    records = &found->second;
  }
  for (const auto& [size, record] : records->sizes) {
    if (record.steps > 0 && record.samples_per_second > 0) return record.samples_per_second / size;
  }
  return std::nullopt;
}

}  // namespace

double expected_speed(const Job& job, const std::string& slot_type) {
  const auto& asked = job.spec.slot_types;
  const bool all_measured = std::all_of(asked.begin(), asked.end(), [&](const std::string& type) {
    return measured_speed(job.measurements, type).has_value();
  });
  const auto measured = measured_speed(job.measurements, slot_type);
  if (all_measured && measured) return *measured;
  const auto stated = job.spec.type_speeds.find(slot_type);
  return stated == job.spec.type_speeds.end() ? 1 : stated->second;
}

std::string type_of_workers(const ClusterState& state, const std::vector<WorkerId>& workers) {
  for (const WorkerId id : workers) {
    const Worker* worker = state.find_worker(id);
    const Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
    if (node != nullptr) return node->slot_type;
  }
  return {};
}

std::optional<std::string> bound_type(const ClusterState& state, const Job& job) {
  const auto& members = job.membership.members;
  if (job.spec.mixed_types || members.empty()) return std::nullopt;
  // The last worker decides: the first worker of a moving job is still on the old type.
  const Worker* worker = state.find_worker(members.back());
  const Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
  return node == nullptr ? std::nullopt : std::optional(node->slot_type);
}

bool is_split(const ClusterState& state, const Job& job) {
  const auto bound = bound_type(state, job);
  return bound && type_of_workers(state, job.membership.members) != *bound;
}

void measure_on(Measurements& measurements, const std::string& slot_type) {
  if (measurements.slot_type == slot_type || slot_type.empty()) return;
  TypeRecords& own = measurements;
  if (!measurements.slot_type.empty()) {
    if (!is_empty(own)) measurements.on_other_types[measurements.slot_type] = own;
    const auto known = measurements.on_other_types.find(slot_type);
    own = known == measurements.on_other_types.end() ? TypeRecords{} : std::move(known->second);
    measurements.on_other_types.erase(slot_type);
  }
  measurements.slot_type = slot_type;
}

const TransitionCost& cost_of(const Measurements& measurements, TransitionCost TypeRecords::* kind) {
  return most_measured(measurements, kind);
}

const BootCost& boot_cost_of(const Measurements& measurements) {
  return most_measured(measurements, &TypeRecords::boot_cost);
}

namespace {

void add_to_mean(std::int64_t& count, double& mean, double value) {
  ++count;
  mean += (value - mean) / static_cast<double>(count);
}

void add_at_size(std::map<int, SizeCost>& by_size, int workers, double ms) {
  if (workers < 1) return;
  SizeCost& cost = by_size[size_class(workers)];
  add_to_mean(cost.count, cost.mean_ms, ms);
}

double at_size(const std::map<int, SizeCost>& by_size, int workers, double at_all) {
  const auto found = by_size.find(size_class(workers));
  return found == by_size.end() ? at_all : found->second.mean_ms;
}

}  // namespace

void note_cost(TransitionCost& cost, int workers, double stall_ms) {
  add_to_mean(cost.count, cost.mean_stall_ms, stall_ms);
  add_at_size(cost.by_size, workers, stall_ms);
}

void note_cost(BootCost& cost, int workers, double ms) {
  add_to_mean(cost.count, cost.mean_ms, ms);
  add_at_size(cost.by_size, workers, ms);
}

double cost_at(const TransitionCost& cost, int workers) {
  return at_size(cost.by_size, workers, cost.mean_stall_ms);
}

double cost_at(const BootCost& cost, int workers) {
  return at_size(cost.by_size, workers, cost.mean_ms);
}

namespace {

// The single type of all nodes that the state knows; empty: they have several.
std::string only_type(const ClusterState& state) {
  std::string only;
  for (const auto& [id, node] : state.nodes) {
    if (!only.empty() && node.slot_type != only) return {};
    only = node.slot_type;
  }
  return only;
}

bool has_run(const Job& job) {
  return job.membership.generation > 0 || !job.membership.workers.empty() || !is_empty(job.measurements);
}

// Where its workers or its newest state are.
std::string type_where_it_is(const ClusterState& state, const Job& job) {
  std::string type = type_of_workers(state, job.membership.workers);
  for (const auto& saved : {job.recovery.suspended, job.recovery.checkpoint}) {
    const Node* node = type.empty() && saved ? state.find_node(saved->node) : nullptr;
    if (node != nullptr) type = node->slot_type;
  }
  return type;
}

}  // namespace

void name_slot_types(ClusterState& state) {
  std::vector<JobId> unnamed;
  for (const auto& [id, job] : state.jobs) {
    if (job->measurements.slot_type.empty() && has_run(*job)) unnamed.push_back(id);
  }
  std::vector<JobId> unnamed_ended;
  for (const auto& [id, job] : state.ended) {
    if (job->slot_type.empty()) unnamed_ended.push_back(id);
  }
  if (unnamed.empty() && unnamed_ended.empty()) return;
  const std::string only = only_type(state);
  for (const JobId id : unnamed) {
    Job& job = state.mutable_job(id);
    const std::string type = type_where_it_is(state, job);
    measure_on(job.measurements, type.empty() ? only : type);
  }
  for (const JobId id : unnamed_ended) {
    EndedJob named = *state.ended.at(id);
    named.slot_type = only;
    state.ended.edit(id) = std::make_shared<const EndedJob>(std::move(named));
  }
}

}  // namespace tidepool::core
