#include "core/decide/reconcile/node_clearing.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/open_slots.hpp"
#include "core/decide/reconcile/cleared_gang.hpp"
#include "core/decide/reconcile/eviction_choice.hpp"
#include "core/decide/reconcile/place_clearing.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

// One, or one for each type of slots and for each domain where all of its workers have to be on one or in one.
std::vector<ClearedPlace> places_for(DecisionDraft& draft, const Job& waiting) {
  const bool by_type = !waiting.spec.mixed_types && draft.free_slots().has_several_types();
  const bool by_domain = is_in_wide_domain(waiting.spec);
  std::map<std::pair<std::string, std::string>, ClearedPlace> places;
  for (const auto& [id, node] : draft.state().nodes) {
    if (!may_hold(draft, node, waiting)) continue;
    const std::string domain = by_domain ? domain_of(node, waiting.spec.placement.key) : std::string();
    ClearedPlace& place = places[{by_type ? node.slot_type : std::string(), domain}];
    if (by_domain) place.domain = domain;
    place.nodes.push_back(id);
  }
  std::vector<ClearedPlace> in_order;
  for (auto& [key, place] : places) {
    place.type = static_cast<int>(in_order.size());
    in_order.push_back(std::move(place));
  }
  return in_order;
}

// Null: no place can be cleared.
const PlaceClearing* clear_first(std::vector<PlaceClearing>& places) {
  for (;;) {
    PlaceClearing* best = nullptr;
    for (PlaceClearing& each : places) {
      if (each.makes_room() && (best == nullptr || each.rank() < best->rank())) best = &each;
    }
    if (best == nullptr || best->clear()) return best;
  }
}

// What is found of a job for which others leave nodes.
Finding waits_for_cleared(const Job& job, const std::optional<std::string>& domain) {
  const GangSize size = *cleared_size(job.spec);
  return {reason::NodesBeingCleared{.workers = size.workers,
                                    .slots_each = size.slots_each,
                                    .group = sharing_a_node(job.spec),
                                    .word = domain_told(job, domain)},
          {.on = BlockedOn::kNodesCleared, .domain = domain}};
}

}  // namespace

bool is_cleared_for(const Job& job) {
  return job.state() == JobState::kPending && job.verdict.blocked.on == BlockedOn::kNodesCleared;
}

std::optional<Finding> clear_nodes_for(DecisionDraft& draft, const Job& waiting, SlotReservations& reservations,
                                       PreemptionLimits& limits) {
  if (!cleared_size(waiting.spec) || draft.reserved() > 0) return std::nullopt;
  EvictionChoice ways(draft, waiting, limits);
  std::vector<PlaceClearing> places;
  for (ClearedPlace& place : places_for(draft, waiting)) {
    PlaceClearing clearing(draft, ways, {reservations, limits}, std::move(place));
    if (!clearing.has_slots_enough()) continue;
    draft.set_unsettled();
    clearing.look();
    places.push_back(std::move(clearing));
  }
  const PlaceClearing* cleared = clear_first(places);
  return cleared == nullptr ? std::nullopt : std::optional(waits_for_cleared(waiting, cleared->domain()));
}

}  // namespace tidepool::core
