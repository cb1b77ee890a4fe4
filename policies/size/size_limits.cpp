#include "policies/size/size_limits.hpp"

#include <algorithm>
#include <cstdint>

#include "core/state/budget_hold.hpp"
#include "core/state/largest_batch.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::policies {

namespace {

// A job that holds nothing may find room there; on dearer nodes it starts smaller, or not.
Money cheapest_slot(const core::ClusterState& state, const core::Job& job) {
  std::optional<Money> least;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != core::NodeState::kUp || !core::may_run_on(job, node)) continue;
    least = least ? std::min(*least, node.price_per_slot_hour) : node.price_per_slot_hour;
  }
  return least.value_or(Money());
}

}  // namespace

bool AllowedSizes::has(int size) const {
  return std::binary_search(sizes.begin(), sizes.end(), size);
}

std::optional<int> AllowedSizes::up(int from, int by) const {
  if (sizes.empty() || sizes.back() <= from) return std::nullopt;
  const auto next = std::lower_bound(sizes.begin(), sizes.end(), from + by);
  return next == sizes.end() ? sizes.back() : *next;
}

std::optional<int> AllowedSizes::down(int from, int by) const {
  if (sizes.empty() || sizes.front() >= from) return std::nullopt;
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), from - by);
  return above == sizes.begin() ? sizes.front() : *(above - 1);
}

int AllowedSizes::start_size(int preferred) const {
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), preferred);
  return above == sizes.begin() ? sizes.front() : *(above - 1);
}

Money price_per_slot_hour(const core::ClusterState& state, const core::Job& job) {
  std::int64_t micros = 0;
  std::int64_t slots = 0;
  const auto count = [&](const core::Node& node, std::size_t held) {
    micros += node.price_per_slot_hour.count_micros() * static_cast<std::int64_t>(held);
    slots += static_cast<std::int64_t>(held);
  };
  for (const WorkerId id : job.membership.workers) {
    const core::Worker* worker = state.find_worker(id);
    const core::Node* node = worker == nullptr ? nullptr : state.find_node(worker->node);
    if (node != nullptr) count(*node, worker->slots.size());
  }
  if (slots == 0) {
    for (const auto& [id, node] : state.nodes) {
      if (node.state == core::NodeState::kUp) count(node, node.owners.size());
    }
  }
  return Money::micros(slots == 0 ? 0 : micros / slots);
}

AllowedSizes ladder_of(const core::ClusterState& state, const core::Job& job) {
  const core::JobSpec& spec = job.spec;
  std::span<const int> allowed = spec.elastic.sizes;
  AllowedSizes ladder{.sizes = allowed, .cut = {}};
  if (core::is_shrunk(job)) {
    allowed = allowed.first(1);
    ladder = {.sizes = allowed, .cut_short = true, .cut = core::why_shrunk(job)};
  }
  const bool capped = spec.scaling.price_cap.has_value();
  const bool holds_none = job.membership.workers.empty();
  const Money price_now = !capped ? Money() : holds_none ? cheapest_slot(state, job) : price_per_slot_hour(state, job);
  const std::int64_t slot_price = price_now.count_micros();
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const int size = allowed[i];
    const Money price = Money::micros(slot_price * size * spec.gpus_per_worker);
    if (std::int64_t{size} > core::largest_batch(spec.batch)) {
      ladder.cut = core::reason::BatchTooSmall{.size = size, .global = core::largest_batch(spec.batch)};
    } else if (capped && price > *spec.scaling.price_cap) {
      ladder.cut = core::reason::PriceCap{.cap = *spec.scaling.price_cap, .price = price};
    } else {
      continue;
    }
    ladder.sizes = allowed.first(i);
    ladder.cut_short = true;
    break;  // both limits forbid every larger size too
  }
  return ladder;
}

}  // namespace tidepool::policies
