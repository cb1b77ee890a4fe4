// The lowest price of a job, compared with its price cap. A job for which no slot type is cheap enough waits outside of
// all plans, because slots that a plan reserved for it would stay idle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// Rooms by price, separately for each type, so that many sizes are priced with one scan of the nodes.
class RoomsByPrice {
 public:
  using OfTypes = std::map<std::string, std::map<Money, std::int64_t>>;  // all >= 0
  explicit RoomsByPrice(const OfTypes& rooms);
  // The lowest price of each of `count` slots of one type, which is that of the most expensive of them; none: no type
  // has that many. Requires: count > 0.
  [[nodiscard]] std::optional<Money> each_of(std::int64_t count) const;

 private:
  using Sums = std::vector<std::pair<std::int64_t, Money>>;  // number of rooms up to that price
  std::vector<Sums> types_;
};

// The lowest price cap with which the job could start at its smallest size without other jobs: its slots, on the
// cheapest allowed nodes, at the price of the most expensive of these (price_cap.hpp); of one type unless it mixes
// them. Topology rules are ignored. None: there is no room for it.
[[nodiscard]] std::optional<Money> least_price(const ClusterState& state, const Job& job);

// The reason if its price cap is below that; none: it is not, or it has no cap.
[[nodiscard]] std::optional<reason::PriceCap> never_within_cap(const ClusterState& state, const Job& job);

// The same for many jobs while the nodes stay the same: jobs with equal requests are priced once.
class LeastPrices {
 public:
  [[nodiscard]] bool allow(const ClusterState& state, const Job& job) { return !above_cap(state, job); }
  [[nodiscard]] std::optional<reason::PriceCap> above_cap(const ClusterState& state, const Job& job);
  void clear() { known_.clear(); }

 private:
  using Asked = std::tuple<int, int, bool, NodeDemand>;  // workers, slots of each, mixes types, nodes
  std::map<Asked, std::optional<Money>> known_;
};

}  // namespace tidepool::core
