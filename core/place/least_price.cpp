#include "core/place/least_price.hpp"

#include <algorithm>

namespace tidepool::core {

RoomsByPrice::RoomsByPrice(const OfTypes& rooms) {
  types_.reserve(rooms.size());
  for (const auto& [type, by_price] : rooms) {
    Sums& sums = types_.emplace_back();
    sums.reserve(by_price.size());
    std::int64_t all = 0;
    for (const auto& [price, there] : by_price) {
      all += there;
      sums.emplace_back(all, price);
    }
  }
}

std::optional<Money> RoomsByPrice::each_of(std::int64_t count) const {
  std::optional<Money> least;
  for (const Sums& sums : types_) {
    const auto enough =
        std::partition_point(sums.begin(), sums.end(), [&](const auto& up) { return up.first < count; });
    if (enough != sums.end()) least = least ? std::min(*least, enough->second) : enough->second;
  }
  return least;
}

std::optional<Money> least_price(const ClusterState& state, const Job& job) {
  const int each = job.spec.gpus_per_worker;
  RoomsByPrice::OfTypes rooms;  // for workers; those that mix types see one
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    const std::string type = job.spec.mixed_types ? std::string() : node.slot_type;
    rooms[type][node.price_per_slot_hour] += static_cast<std::int64_t>(node.owners.size()) / each;
  }
  const std::int64_t workers = job.spec.elastic.sizes.front();
  const auto price = RoomsByPrice(rooms).each_of(workers);
  if (!price) return std::nullopt;
  return Money::micros(price->count_micros() * workers * each);
}

std::optional<reason::PriceCap> never_within_cap(const ClusterState& state, const Job& job) {
  return LeastPrices().above_cap(state, job);
}

std::optional<reason::PriceCap> LeastPrices::above_cap(const ClusterState& state, const Job& job) {
  const JobSpec& spec = job.spec;
  const auto& cap = spec.scaling.price_cap;
  if (!cap) return std::nullopt;
  const Asked asked{spec.elastic.sizes.front(), spec.gpus_per_worker, spec.mixed_types, node_demand(spec)};
  const auto [known, is_new] = known_.try_emplace(asked);
  if (is_new) known->second = least_price(state, job);
  const auto& price = known->second;
  if (!price || *price <= *cap) return std::nullopt;
  return reason::PriceCap{.cap = *cap, .price = *price, .slots = spec.smallest_slots()};
}

}  // namespace tidepool::core
