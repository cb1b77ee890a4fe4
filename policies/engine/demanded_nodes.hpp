// The nodes that are up, as the rows of jobs count them, and which of them jobs may be on that ask for particular ones:
// by labels and types, or because a price cap keeps them from others (price_cap.hpp).
//
// Jobs that ask for the same share one answer, by a number that stands until nodes come or go; a price cap counts as
// the highest price that is within it. Everything here follows from the state that was followed last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/money.hpp"
#include "core/place/least_price.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/node_constraints.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

class DemandedNodes {
 public:
  struct Change {
    bool prices = false;  // which nodes a price cap leaves may be others
    bool nodes = false;   // have come or gone: numbers of before mean nothing any more
  };
  Change follow(const core::ClusterState& state);

  // The nodes that are up, by id. A Share's `node` is an index into them.
  [[nodiscard]] const std::vector<NodeId>& up() const { return nodes_; }
  // The node's index in up().
  [[nodiscard]] std::optional<int> place_of(NodeId node) const;
  // The nodes that take jobs have slots of more than one type.
  [[nodiscard]] bool has_several_types() const { return open_.size() > 1; }
  // The mean price of a slot of nodes that take jobs, per hour, in units of money; 0 without any.
  [[nodiscard]] double slot_price() const { return slot_price_; }

  // The job may be on some nodes only (core::asks_for_nodes, at the dearest slot that was followed).
  [[nodiscard]] bool asks_for_nodes(const core::ClusterState& state, const core::Job& job) const;
  // A number for what it asks of nodes; the same for jobs that ask for the same.
  [[nodiscard]] std::size_t demand_of(const core::ClusterState& state, const core::Job& job);
  struct Asker {
    const core::Job& job;
    std::size_t demand;  // as demand_of() has said
  };

  // What jobs may be on that ask for the same.
  struct Asked {
    std::vector<int> nodes;                           // by index, ascending
    std::map<std::string, std::vector<int>> of_type;  // likewise
    std::map<std::string, int> slots;                 // of those that take jobs, by type
    core::RoomsByPrice::OfTypes at_prices;            // likewise
    // Of that type; all of them if none is said, or there are none of it.
    [[nodiscard]] const std::vector<int>& of(const std::optional<std::string>& type) const;
  };
  // Valid until nodes are followed again.
  [[nodiscard]] const Asked& asked(const core::ClusterState& state, const Asker& asker);
  // Slots that it could have if there were no other job: of the nodes that it asks for, and of one type at a time
  // unless it mixes them.
  [[nodiscard]] int reach_of(const core::ClusterState& state, const Asker& asker);

  struct SizePrices {
    Money held;  // of what it holds, an hour
    int held_slots = 0;
    core::RoomsByPrice rooms;  // for slots beside these
    // What an hour of so many slots costs it at least, all further ones as dear as the dearest of them; none: it asks
    // for nodes that have fewer. Requires: slots > held_slots.
    [[nodiscard]] std::optional<Money> of(int slots) const;
  };
  // `held`: where it is.
  [[nodiscard]] SizePrices prices_of(const core::ClusterState& state, const Asker& asker, const Placement& held);

 private:
  void count_types(const core::ClusterState& state);
  // True: they are others.
  bool look_at_prices(const core::ClusterState& state);
  // Of jobs that ask for the same the same; a price cap counts as the highest price that is within it.
  [[nodiscard]] core::NodeDemand demand_made(const core::ClusterState& state, const core::Job& job) const;

  std::vector<NodeId> nodes_;        // that are up, by id
  IdTable<NodeId, int> index_;       // into nodes_
  std::map<std::string, int> open_;  // slots of nodes that take jobs, by type
  double slot_price_ = 0;            // as slot_price() says
  Money dearest_;                    // price of a slot of nodes that take jobs, per hour
  std::vector<Money> prices_;        // of slots of nodes_, ascending
  std::map<core::NodeDemand, std::size_t> demands_;
  std::deque<std::optional<Asked>> asked_;  // by demand, as far as asked; pointers into it last while it grows
};

}  // namespace tidepool::policies::cluster
