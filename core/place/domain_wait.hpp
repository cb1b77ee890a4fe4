// Jobs whose workers have rules together (gang_rules.hpp) and find no room: at which place they wait, and the reason
// that is told.
//
// Rule: a job that has to be in one domain, or on slots of one type, waits for one place at a time, like a job that
// asks for this place only (bound_to()): what comes free there is kept for it, and other jobs move away from there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/place/placement.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Where a job waits for room: on slots of one type, as a job that may not mix types has to, and in one domain.
struct WaitPlace {
  std::optional<std::string> type = {};    // none = its slots may be of any type that it asks for
  std::optional<std::string> domain = {};  // none = its nodes may be in any

  auto operator<=>(const WaitPlace&) const = default;
};
// Of the places that would hold the job at its smallest size if they were empty: the best of each type, that one first
// where jobs that may be preempted hold the rest, and of these the one with most free room, then by name. Empty where
// all are closed; one that names nothing where the job is bound to no type and to no domain. What jobs take elsewhere
// does not change the answer, nor do workers that were started at `now`: so a decision says the same before and after
// it was accepted.
[[nodiscard]] std::vector<WaitPlace> places_to_wait_for(const ClusterState& state, const FreeSlots& free,
                                                        const Job& job, Instant now);
// The job as it would be if it asked for just this place.
[[nodiscard]] Job bound_to(const ClusterState& state, const Job& job, const WaitPlace& place);

// Why it waits, by what is free now. `names`: it is told to people, with the domain that has most room; else the same
// lack is always told alike.
[[nodiscard]] reason::WaitingForDomains waits_by_rules(const ClusterState& state, const FreeSlots& free, const Job& job,
                                                       bool names = false);
// Why it would not start on an empty cluster. Requires: a strict strategy.
[[nodiscard]] reason::DomainsTooSmall domains_too_small(const ClusterState& state, const Job& job, bool names = false);
// Why it does not grow to its next size.
[[nodiscard]] reason::NoRoomByRules no_room_by_rules(const Job& job, int next);

}  // namespace tidepool::core
