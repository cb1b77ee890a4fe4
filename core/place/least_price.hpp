// The least that a job can cost, compared with its price cap. A job for which no type of slot is cheap enough waits
// outside of all plans: slots that a plan kept for it would stand idle.
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

// Rooms at their prices, each type by itself, so that many sizes are priced by one look at the nodes.
class RoomsByPrice {
 public:
  using OfTypes = std::map<std::string, std::map<Money, std::int64_t>>;  // none of them below 0
  explicit RoomsByPrice(const OfTypes& rooms);
  // What each of so many costs at least, as much as the dearest that they take of one type; none: no type has as many.
  // Requires: count > 0.
  [[nodiscard]] std::optional<Money> each_of(std::int64_t count) const;

 private:
  using Sums = std::vector<std::pair<std::int64_t, Money>>;  // of all rooms up to that price
  std::vector<Sums> types_;
};

// The least price cap with which the job could start at its smallest size, were there no other job: its slots, on the
// cheapest nodes that it may run on, at the price of the dearest of these (price_cap.hpp); of one type unless it mixes
// them. Rules about how its workers lie among nodes are left out. None: there is no room for it.
[[nodiscard]] std::optional<Money> least_price(const ClusterState& state, const Job& job);

// Its price cap is below that; none: it is not, or it has none.
[[nodiscard]] std::optional<reason::PriceCap> never_within_cap(const ClusterState& state, const Job& job);

// The same question of many jobs while the nodes stay as they are: what asks for the same is priced once.
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
