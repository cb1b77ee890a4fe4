#include "core/decide/waiting_line.hpp"

#include "core/state/budget_hold.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

using Place = WaitingLine::Place;

std::optional<Place> first_behind(const std::set<Place>& places, const std::optional<Place>& after) {
  const auto found = after ? places.upper_bound(*after) : places.begin();
  return found == places.end() ? std::nullopt : std::optional(*found);
}

// Nothing but slots decides when it starts: it has no state on any node, takes any node at any price and is not about
// to end.
bool needs_room_alone(const Job& job) {
  const bool has_run = job.started_at || job.last_start_at || !job.membership.workers.empty();
  return !has_run && !job.spec.scaling.price_cap && !is_choosy(job.spec) && !job.requests.cancel &&
         !job.recovery.misconfigured && job.recovery.restarts == 0;
}

}  // namespace

void WaitingLine::leave(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  const auto& [place, need] = found->second;
  line_.erase(place);
  if (open_.erase(place) == 0) {
    const auto kind = settled_.find(need);
    kind->second.erase(place);
    if (kind->second.empty()) settled_.erase(kind);
  }
  entries_.erase(found);
}

void WaitingLine::follow(const Job& job, QueueRank rank, bool seen) {
  leave(job.id);
  if (job.state() != JobState::kPending || is_withheld(job)) return;
  const BlockedOn blocked_on = job.verdict.blocked.on;
  const bool relied_on = seen && job.verdict.job && needs_room_alone(job);
  if (relied_on && blocked_on == BlockedOn::kClusterSize) return;
  const Entry entry{.place = {rank, job.id},
                    .need = {.slots_per_worker = job.spec.gpus_per_worker, .workers = job.spec.elastic.sizes.front()}};
  const BlockedOn without_room = strict_ ? BlockedOn::kQueue : BlockedOn::kSlots;
  entries_.emplace(job.id, entry);
  line_.insert(entry.place);
  if (relied_on && blocked_on == without_room) {
    settled_[entry.need].insert(entry.place);
  } else {
    open_.insert(entry.place);
  }
}

std::optional<Place> WaitingLine::next(const std::optional<Place>& after) const {
  const auto found = after ? line_.upper_bound(*after) : line_.begin();
  return found == line_.end() ? std::nullopt : std::optional(*found);
}

std::optional<Place> WaitingLine::next_open(const std::optional<Place>& after) const {
  return first_behind(open_, after);
}

std::optional<Place> WaitingLine::next_helped(const std::optional<Place>& after,
                                              const std::function<bool(const Need&)>& fits) const {
  std::optional<Place> first = next_open(after);
  for (const auto& [need, places] : settled_) {
    if (!fits(need)) continue;
    const auto place = first_behind(places, after);
    if (place && (!first || *place < *first)) first = place;
  }
  return first;
}

}  // namespace tidepool::core
