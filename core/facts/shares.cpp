#include "core/facts/shares.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/job_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {

std::vector<std::int64_t> shares_of(std::int64_t samples, const std::vector<std::int64_t>& weights) {
  const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  TP_CHECK(all > 0, "somebody has a share");
  std::vector<std::int64_t> shares;
  shares.reserve(weights.size());
  std::int64_t before = 0;  // weights of the ranks so far
  for (const std::int64_t weight : weights) {
    shares.push_back(samples * (before + weight) / all - samples * before / all);
    before += weight;
  }
  return shares;
}

std::vector<std::int64_t> weights_of(const SampleWeights& table, std::size_t ranks) {
  return table.weights.empty() ? std::vector<std::int64_t>(ranks, kFullShare) : table.weights;
}

std::vector<std::int64_t> eased_weights(const Job& job) {
  if (job.rebalanced.empty()) return {};
  std::vector<std::int64_t> weights;
  for (const WorkerId id : job.members) {
    const auto rebalanced = job.rebalanced.find(id);
    weights.push_back(rebalanced == job.rebalanced.end() ? kFullShare : rebalanced->second.weight);
  }
  return weights;
}

void begin_shares(Job& job) {
  std::erase_if(job.rebalanced, [&](const auto& entry) { return !contains(job.members, entry.first); });
  job.weights_used = {};
  job.weights_told = {};
  job.weights_ordered = false;
  if (!job.rebalanced.empty()) job.weights_told = {.number = 1, .weights = eased_weights(job)};
}

void use_told_shares(StateChange& change, Job& job) {
  job.weights_used = job.weights_told;
  job.weights_ordered = false;
  for (const WorkerId id : job.members) {
    if (change.state().find_worker(id) == nullptr) continue;
    StragglerTrack& track = change.worker(id).track;
    track.busy_us = 0;
    track.busy_steps = 0;
  }
  for (auto& [id, rebalanced] : job.rebalanced) rebalanced.idle_s = 0;
}

Status apply(StateChange& change, const SharesChanged& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const Job& before = **known;
  const bool current = is_active(before.state) && fact.generation == before.generation && before.switched &&
                       fact.number == before.weights_told.number && fact.number > 0;
  if (!current) return ok_status();
  Job& job = change.job(fact.job);
  if (job.weights_used.number < fact.number) use_told_shares(change, job);
  TransitionCost& cost = job.rebalance_cost;
  ++cost.count;
  cost.mean_stall_ms += (fact.stall_ms - cost.mean_stall_ms) / static_cast<double>(cost.count);
  change.emit("job.rebalanced", job, rebalanced_data(job, fact));
  return ok_status();
}

}  // namespace tidepool::core
