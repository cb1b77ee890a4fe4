#include "core/decide/rebalance_planner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/facts/shares.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// Until one has been measured. An agreement takes a few steps, and no member stands still for it.
constexpr double kRebalanceUnknownMs = 100;

constexpr int kTurnsFree = 1;  // a worker may become fast again
constexpr int kPartLeast = 4;  // a change covers at least this fraction (1/n) of the distance
constexpr int kTurnsMax = 20;  // that make the next change dearer

// What the newest reports say of one member by the shares in use: steps, and its compute time against the others'.
struct Balance {
  std::int64_t steps = 0;
  double busy_us = 0;
  double others_us = 0;  // median
};

std::optional<Balance> balance_of(const ClusterState& state, const Job& job, WorkerId member) {
  Balance balance;
  std::vector<double> others;
  balance.steps = kStepsToRegain;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->track.busy_steps == 0) return std::nullopt;
    balance.steps = std::min(balance.steps, worker->track.busy_steps);
    if (id == member) {
      balance.busy_us = worker->track.busy_us;
    } else {
      others.push_back(worker->track.busy_us);
    }
  }
  if (others.empty() || balance.busy_us <= 0) return std::nullopt;
  std::sort(others.begin(), others.end());
  const std::size_t middle = others.size() / 2;
  balance.others_us = others.size() % 2 == 1 ? others[middle] : (others[middle - 1] + others[middle]) / 2;
  return balance;
}

// Live jobs whose members go by the newest table; before that a further order would rest on nothing.
bool may_change_shares(const Job& job) {
  return job.spec.resize == ResizeMode::kLive && !has_groups(job.spec) && job.membership.switched && job.size() >= 2 &&
         job.shares.ordered.number == job.shares.used.number;
}

// Of a small batch a smaller share may be no sample less, or none at all.
bool cuts_samples(const Job& job, const std::vector<std::int64_t>& weights) {
  const std::int64_t batch = job.progress.global_batch > 0 ? job.progress.global_batch : job.spec.batch.global;
  const std::vector<std::int64_t> shares = shares_of(batch, weights);
  const bool all_have_some = std::all_of(shares.begin(), shares.end(), [](std::int64_t share) { return share >= 1; });
  return all_have_some && shares != shares_of(batch, weights_of(job.shares.used, job.membership.members.size()));
}

std::optional<RebalanceIntent> with_weight(const Job& job, WorkerId member, std::int64_t weight) {
  std::vector<std::int64_t> weights;
  weights.reserve(job.membership.members.size());
  for (const WorkerId id : job.membership.members) weights.push_back(id == member ? weight : share_of(job, id));
  if (!cuts_samples(job, weights)) return std::nullopt;
  return RebalanceIntent{.job = job.id,
                         .generation = job.membership.generation,
                         .number = job.shares.ordered.number + 1,
                         .weights = std::move(weights),
                         .worker = member};
}

// Beyond those that are free, by a change that makes it larger, or smaller.
int turns_too_many(const Job& job, WorkerId member, bool grows) {
  return std::clamp(turns_after(job, member, grows).count - kTurnsFree, 0, kTurnsMax);
}

std::int64_t wanted_weight(const Job& job, WorkerId member, const Balance& balance) {
  const double weight = static_cast<double>(share_of(job, member)) * balance.others_us / balance.busy_us;
  // Near enough to a full share is one, so that noise does not leave a member rebalanced for ever.
  if (weight > static_cast<double>(kFullShare) * (1 - kIdleAllowed)) return kFullShare;
  return std::llround(weight);
}

// After many turns a change goes a part of the way.
std::int64_t next_weight(const Job& job, WorkerId member, std::int64_t wanted) {
  const std::int64_t now = share_of(job, member);
  return now + (wanted - now) / std::min(1 + turns_too_many(job, member, wanted > now), kPartLeast);
}

}  // namespace

double cost_of_rebalancing(const Job& job) {
  const TransitionCost& cost = cost_of(job.measurements, &TypeRecords::rebalance_cost);
  const double pause_ms = cost.count > 0 ? cost_at(cost, job.size()) : kRebalanceUnknownMs;
  return job.spec.gpus_per_worker * job.size() * pause_ms * 1e-3;
}

double due_after(const Job& job, WorkerId worker, bool grows) {
  const double cost_s = cost_of_rebalancing(job);
  const double most_s =
      std::max(cost_s, cost_of_replacing(job, job.size()) / 8);  // else a replacement would come first
  return std::min(most_s, std::ldexp(cost_s, turns_too_many(job, worker, grows)));
}

std::int64_t share_of(const Job& job, WorkerId worker) {
  const auto rebalanced = job.shares.rebalanced.find(worker);
  return rebalanced == job.shares.rebalanced.end() ? kFullShare : rebalanced->second.weight;
}

std::optional<double> eased_speed(const ClusterState& state, const Job& job, WorkerId worker) {
  const auto balance = balance_of(state, job, worker);
  if (!balance || job.shares.ordered.number != job.shares.used.number) return std::nullopt;
  return static_cast<double>(share_of(job, worker)) / static_cast<double>(kFullShare) * balance->others_us /
         balance->busy_us;
}

std::optional<RebalanceIntent> ease(const DecisionDraft& draft, const Job& job, const Worker& slow) {
  if (!draft.parts().config.rebalance_stragglers || !may_change_shares(job)) return std::nullopt;
  const auto balance = balance_of(draft.state(), job, slow.id);
  if (!balance || balance->steps < kStepsToWeigh) return std::nullopt;
  const auto now = static_cast<double>(share_of(job, slow.id));
  const std::int64_t weight = wanted_weight(job, slow.id, *balance);
  if (weight < kShareMin || static_cast<double>(weight) > now * (1 - kMoveMin)) return std::nullopt;
  return with_weight(job, slow.id, next_weight(job, slow.id, weight));
}

std::optional<RebalanceIntent> regain(const DecisionDraft& draft, const Job& job) {
  if (!may_change_shares(job)) return std::nullopt;
  for (const auto& [id, rebalanced] : job.shares.rebalanced) {
    if (rebalanced.idle_s < due_after(job, id, true)) continue;
    const auto balance = balance_of(draft.state(), job, id);
    if (!balance || balance->steps < kStepsToRegain) continue;
    const std::int64_t weight = wanted_weight(job, id, *balance);
    if (static_cast<double>(weight) < static_cast<double>(rebalanced.weight) * (1 + kMoveMin)) continue;
    if (auto intent = with_weight(job, id, next_weight(job, id, weight))) {
      intent->regains = true;
      return intent;
    }
  }
  return std::nullopt;
}

}  // namespace tidepool::core
