// For jobs with topology rules (gang_rules.hpp) that find no room: the place at which they wait, and their pending
// reason.
//
// Rule: a job that must be in one domain, or on slots of one type, waits for one place at a time, like a job that
// requests only this place (bound_to()): slots released there are reserved for it, and other jobs move away from there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/place/placement.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Where a job waits for room: on slots of one type, unless it may mix types, and in one domain.
struct WaitPlace {
  std::optional<std::string> type = {};    // none = any type that it accepts
  std::optional<std::string> domain = {};  // none = any domain

  auto operator<=>(const WaitPlace&) const = default;
};
// Among the places that would hold the job at its smallest size if they were empty: the best of each type; first a
// place where the other slots are held by preemptible jobs, then the one with most free room, then by name. Empty if
// all are closed; one unconstrained place if the job needs no single type or domain. Slots taken elsewhere do not
// change the answer, nor do workers started at `now`, so a decision says the same before and after it is accepted.
[[nodiscard]] std::vector<WaitPlace> places_to_wait_for(const ClusterState& state, const FreeSlots& free,
                                                        const Job& job, Instant now);
// The job, constrained to exactly this place.
[[nodiscard]] Job bound_to(const ClusterState& state, const Job& job, const WaitPlace& place);

// Why it waits, with the present free slots. `names`: for users, with the domain that has most room; otherwise equal
// situations give equal reasons.
[[nodiscard]] reason::WaitingForDomains waits_by_rules(const ClusterState& state, const FreeSlots& free, const Job& job,
                                                       bool names = false);
// Why it would not start on an empty cluster. Requires: a strict strategy.
[[nodiscard]] reason::DomainsTooSmall domains_too_small(const ClusterState& state, const Job& job, bool names = false);
// Why it does not grow to its next size.
[[nodiscard]] reason::NoRoomByRules no_room_by_rules(const Job& job, int next);

}  // namespace tidepool::core
