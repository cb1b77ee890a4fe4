#include "core/facts/shares.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "base/id_set.hpp"
#include "core/facts/event_data.hpp"
#include "core/facts/job_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/ledger.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

__extension__ using Wide = __int128;  // samples x weights of all ranks

}  // namespace

std::vector<std::int64_t> shares_of(std::int64_t samples, const std::vector<std::int64_t>& weights) {
  const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  TP_CHECK(all > 0, "a member has a share");
  std::vector<std::int64_t> shares;
  shares.reserve(weights.size());
  std::int64_t before = 0;  // weights of the ranks before this one
  std::int64_t given = 0;   // samples given to these ranks
  for (const std::int64_t weight : weights) {
    before += weight;
    const auto up_to = static_cast<std::int64_t>(Wide{samples} * before / all);
    shares.push_back(up_to - std::exchange(given, up_to));
  }
  return shares;
}

std::vector<std::int64_t> weights_of(const SampleWeights& table, std::size_t ranks) {
  return table.weights.empty() ? std::vector<std::int64_t>(ranks, kFullShare) : table.weights;
}

std::vector<std::int64_t> eased_weights(const Job& job) {
  if (job.shares.rebalanced.empty()) return {};
  std::vector<std::int64_t> weights;
  for (const WorkerId id : job.membership.members) {
    const auto rebalanced = job.shares.rebalanced.find(id);
    weights.push_back(rebalanced == job.shares.rebalanced.end() ? kFullShare : rebalanced->second.weight);
  }
  return weights;
}

ShareTurns turns_after(const Job& job, WorkerId worker, bool grows) {
  const auto before = job.shares.turns.find(worker);
  if (before == job.shares.turns.end()) return {.grew = grows};
  const ShareTurns& turns = before->second;
  return {.grew = grows, .count = turns.grew == grows ? turns.count / 2 : turns.count + 1};
}

void begin_shares(Job& job) {
  const IdSet<WorkerId> members(job.membership.members.begin(), job.membership.members.end());
  const auto has_left = [&](const auto& entry) { return !members.contains(entry.first); };
  std::erase_if(job.shares.rebalanced, has_left);
  std::erase_if(job.shares.turns, has_left);
  job.shares.used = {};
  job.shares.ordered = {};
  job.shares.awaited = false;
  if (!job.shares.rebalanced.empty()) job.shares.ordered = {.number = 1, .weights = eased_weights(job)};
}

void use_told_shares(StateChange& change, Job& job) {
  job.shares.used = job.shares.ordered;
  job.shares.awaited = false;
  for (const WorkerId id : job.membership.members) {
    if (change.state().find_worker(id) == nullptr) continue;
    StragglerTrack& track = change.worker(id).track;
    track.busy_us = 0;
    track.busy_steps = 0;
  }
  for (auto& [id, rebalanced] : job.shares.rebalanced) rebalanced.idle_s = 0;
}

Status apply(StateChange& change, const SharesChanged& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const Job& before = **known;
  const bool current = is_active(before.state()) && fact.generation == before.membership.generation &&
                       before.membership.switched && fact.number == before.shares.ordered.number && fact.number > 0;
  if (!current) return ok_status();
  Job& job = change.job(fact.job);
  if (job.shares.used.number < fact.number) use_told_shares(change, job);
  note_cost(job.measurements.rebalance_cost, job.size(), fact.stall_ms);
  book_wait(change.state(), job, Duration::micros(static_cast<std::int64_t>(fact.stall_ms * 1e3)),
            Overhead::kBootAndResize);
  change.emit("job.rebalanced", job, rebalanced_data(job, fact));
  return ok_status();
}

}  // namespace tidepool::core
