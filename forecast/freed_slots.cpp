#include "forecast/freed_slots.hpp"

#include <algorithm>

#include "core/decide/transition_planner.hpp"
#include "core/state/job_state.hpp"

namespace tidepool::forecast {
namespace {

// Null: it has left the state.
FreedBy::How how_it_gives(const core::Job* job, Instant now) {
  if (job == nullptr || core::is_final(job->state()) || core::is_ending(*job, now)) return FreedBy::How::kEnds;
  return job->membership.members.empty() ? FreedBy::How::kGivesUpAll : FreedBy::How::kGivesUpSome;
}

}  // namespace

const char* to_text(FreedBy::How how) {
  switch (how) {
    case FreedBy::How::kEnds: return "ends";
    case FreedBy::How::kGivesUpAll: return "gives_up_all";
    case FreedBy::How::kGivesUpSome: return "gives_up_some";
  }
  return "ends";
}

bool FreedSlots::is_given(const core::StartIntent& start, const Freed& freed) {
  return std::any_of(start.joining_workers.begin(), start.joining_workers.end(), [&](const auto& placed) {
    return placed.node == freed.node &&
           std::find_first_of(placed.slots.begin(), placed.slots.end(), freed.slots.begin(), freed.slots.end()) !=
               placed.slots.end();
  });
}

void FreedSlots::note(const core::ClusterState& state, WorkerId id, Instant now) {
  const core::Worker* worker = state.find_worker(id);
  if (worker == nullptr) return;
  if (at_ != now) freed_.clear();
  at_ = now;
  const FreedBy::How how = how_it_gives(state.find_job(worker->job), now);
  freed_.push_back({worker->node, worker->slots, {worker->job, how}});
}

std::optional<FreedBy> FreedSlots::taken_by(const core::StartIntent& start, Instant now) const {
  if (at_ != now) return std::nullopt;
  const auto found = std::find_if(freed_.begin(), freed_.end(), [&](const Freed& freed) {
    return freed.by.job != start.job && is_given(start, freed);
  });
  return found == freed_.end() ? std::nullopt : std::optional(found->by);
}

}  // namespace tidepool::forecast
