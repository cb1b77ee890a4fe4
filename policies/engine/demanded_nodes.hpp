// The nodes that are up, as job rows index them, and which of them jobs with particular node requests may use: by
// labels and types, or because a price cap excludes others (price_cap.hpp).
//
// Jobs with equal requests share one answer, by a number that is valid until nodes join or leave; a price cap counts as
// the highest price within it. Everything here follows from the state that was followed last.
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
    bool prices = false;  // the nodes within a price cap may have changed
    bool nodes = false;   // nodes have joined or left: earlier numbers are invalid
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
  // A number for its node request; equal for jobs with equal requests.
  [[nodiscard]] std::size_t demand_of(const core::ClusterState& state, const core::Job& job);
  struct Asker {
    const core::Job& job;
    std::size_t demand;  // as returned by demand_of()
  };

  // What jobs with equal requests may use.
  struct Asked {
    std::vector<int> nodes;                           // by index, ascending
    std::map<std::string, std::vector<int>> of_type;  // likewise
    std::map<std::string, int> slots;                 // of those that take jobs, by type
    core::RoomsByPrice::OfTypes at_prices;            // likewise
    // Of that type; all of them if none is named, or there are none of it.
    [[nodiscard]] const std::vector<int>& of(const std::optional<std::string>& type) const;
  };
  // Valid until nodes are followed again.
  [[nodiscard]] const Asked& asked(const core::ClusterState& state, const Asker& asker);
  // Slots that the job could have without any other job: of the nodes that it requests, and of one type unless it mixes
  // types.
  [[nodiscard]] int reach_of(const core::ClusterState& state, const Asker& asker);

  struct SizePrices {
    Money held;  // price of what it holds, an hour
    int held_slots = 0;
    core::RoomsByPrice rooms;  // for slots beside these
    // The least cost of an hour of this number of slots, with all further slots as expensive as the most expensive of
    // them; none: the nodes that it requests have fewer. Requires: slots > held_slots.
    [[nodiscard]] std::optional<Money> of(int slots) const;
  };
  // `held`: its present placement.
  [[nodiscard]] SizePrices prices_of(const core::ClusterState& state, const Asker& asker, const Placement& held);

 private:
  void count_types(const core::ClusterState& state);
  // True: the prices have changed.
  bool look_at_prices(const core::ClusterState& state);
  // Equal for jobs with equal requests; a price cap counts as the highest price within it.
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
