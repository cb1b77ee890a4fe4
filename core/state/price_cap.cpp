#include "core/state/price_cap.hpp"

#include <algorithm>
#include <cstdint>

#include "core/state/account.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

std::optional<Money> slot_price_max(const ClusterState& state, const Job& job, int slots) {
  const auto& cap = job.spec.scaling.price_cap;
  if (!cap) return std::nullopt;
  const Money left = *cap - price_per_hour(state, job);
  return std::min(Money::micros(left.count_micros() / std::int64_t{slots}), *slot_price_max(job));
}

std::optional<Money> slot_price_max(const Job& job) {
  const auto& cap = job.spec.scaling.price_cap;
  if (!cap) return std::nullopt;
  return Money::micros(cap->count_micros() / std::int64_t{job.spec.smallest_slots()});
}

Money dearest_slot(const ClusterState& state) {
  Money dearest;
  for (const auto& [id, node] : state.nodes) {
    if (node.takes_workers()) dearest = std::max(dearest, node.price_per_slot_hour);
  }
  return dearest;
}

bool is_too_dear_for(const Job& job, Money price) {
  const auto most = slot_price_max(job);
  return most && *most < price;
}

bool is_bound_by_cap(const ClusterState& state, const Job& job, Money dearest) {
  if (!is_too_dear_for(job, dearest)) return false;
  const auto& workers = job.membership.workers;
  return std::all_of(workers.begin(), workers.end(), [&](WorkerId id) {
    return !is_too_dear_for(job, state.find_node(state.find_worker(id)->node)->price_per_slot_hour);
  });
}

bool asks_for_nodes(const ClusterState& state, const Job& job, Money dearest) {
  return is_choosy(job.spec) || is_bound_by_cap(state, job, dearest);
}

bool may_run_within_cap(const Job& job, const Node& node) {
  return !is_too_dear_for(job, node.price_per_slot_hour) && may_run_on(job, node);
}

}  // namespace tidepool::core
