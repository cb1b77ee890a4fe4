// Clears one place for a waiting gang: nodes of one slot type, of one domain, or all nodes on which it may be. It
// searches for the workers whose leaving costs least and which all have room elsewhere. node_clearing.hpp has the
// rules; core/place/clearing.hpp chooses which workers leave which nodes.
//
// Cost. Each worker there is examined once. If a chosen worker cannot leave after all, because it has no room elsewhere
// or no further preemption is allowed, its job stays and others are chosen, at most eight times. Nothing is taken from
// the draft before all that leave have found room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/reconcile/eviction_choice.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/place/clearing.hpp"
#include "core/place/placement.hpp"
#include "core/tenants/preemption_limits.hpp"

namespace tidepool::core {

// Nodes on which the gang may be placed, ordered by id.
struct ClearedPlace {
  int type = 0;                            // the lower one is tried first, unless a domain is given
  std::optional<std::string> domain = {};  // none = several domains are allowed
  std::vector<NodeId> nodes = {};
};

class PlaceClearing {
 public:
  // What a clearing uses in addition to the slots of the draft.
  struct Uses {
    SlotReservations& reservations;
    PreemptionLimits& limits;
  };
  // `ways` outlives it.
  PlaceClearing(DecisionDraft& draft, EvictionChoice& ways, Uses uses, ClearedPlace place);

  [[nodiscard]] const std::optional<std::string>& domain() const { return place_.domain; }
  [[nodiscard]] bool has_slots_enough() const;

  // Chooses the workers that must leave, if that makes room.
  void look();
  [[nodiscard]] bool makes_room() const { return leave_.has_value(); }

  // The lower rank is cleared first: a place that is being cleared already, else the cheapest.
  using Rank = std::tuple<bool, int, double>;
  [[nodiscard]] Rank rank() const;

  // Makes the chosen workers leave. False: one of them stays, and others are chosen, if there are any. Requires:
  // makes_room().
  [[nodiscard]] bool clear();

 private:
  // Workers of a job that leave together, as in LeavingWorkers.
  struct Departure {
    const Job* job = nullptr;
    std::vector<WorkerId> workers;
    EvictionKind way = EvictionKind::kStays;
  };
  using Departures = std::map<JobId, Departure>;

  [[nodiscard]] bool is_being_cleared() const;
  void look_at(const Node& node);
  [[nodiscard]] Departures departures_on(const Node& node);
  void add(Departure leaving);
  void choose() { leave_ = who_leaves(open_, leaving_workers_, gang_); }

  [[nodiscard]] Departures chosen() const;
  [[nodiscard]] WorkersOn nodes_kept(const std::vector<std::size_t>& leave) const;
  [[nodiscard]] const Job* beyond_limit(const Departures& leaving) const;
  [[nodiscard]] const Job* without_room_elsewhere(const Departures& leaving, const WorkersOn& kept) const;
  void keep_where_it_is(const Job& job);
  [[nodiscard]] GangRequest request_of(const Departure& leaving) const;
  void carry_out(const Departures& leaving, const WorkersOn& kept);
  void move(const Departure& leaving);

  DecisionDraft& draft_;
  EvictionChoice& ways_;
  const Job& waiting_;
  SlotReservations& reservations_;
  PreemptionLimits& limits_;
  GangSize gang_;
  ClearedPlace place_;
  SlotsOn open_;        // free, or being released for the gang
  SlotsOn free_;        // the free ones of these
  IdSet<JobId> whole_;  // jobs that release either all slots or none
  std::vector<LeavingWorkers> leaving_workers_;
  std::vector<Departure> departures_;              // in the order of leaving_workers_
  std::optional<std::vector<std::size_t>> leave_;  // indices of these; none: they do not make room
  int tries_ = 0;
};

}  // namespace tidepool::core
