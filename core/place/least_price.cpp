#include "core/place/least_price.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace tidepool::core {
namespace {

using WorkersByPrice = std::map<Money, std::int64_t>;  // by the price of a slot

// All slots as dear as the dearest that it takes. None: they are too few.
std::optional<Money> price_of(std::int64_t workers, int slots_per_worker, const WorkersByPrice& rooms) {
  std::int64_t lacks = workers;
  for (const auto& [price, room] : rooms) {
    lacks -= room;
    if (lacks <= 0) return Money::micros(price.count_micros() * workers * slots_per_worker);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Money> least_price(const ClusterState& state, const Job& job) {
  const int each = job.spec.gpus_per_worker;
  std::map<std::string, WorkersByPrice> of_type;  // or all of them
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    const std::string type = job.spec.mixed_types ? std::string() : node.slot_type;
    of_type[type][node.price_per_slot_hour] += static_cast<std::int64_t>(node.owners.size()) / each;
  }
  std::optional<Money> least;
  for (const auto& [type, rooms] : of_type) {
    const auto price = price_of(job.spec.elastic.sizes.front(), each, rooms);
    if (price && (!least || *price < *least)) least = price;
  }
  return least;
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
