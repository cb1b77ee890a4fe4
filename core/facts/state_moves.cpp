#include "core/facts/state_moves.hpp"

#include <algorithm>

#include "core/facts/job_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"

namespace tidepool::core {
namespace {

// Null: that transfer is over, or never existed.
const StateMove* move_of(const Job& job, const auto& fact) {
  const auto& moving = job.recovery.moving;
  return moving && moving->to == fact.node && moving->step == fact.step ? &*moving : nullptr;
}

// The workers that have waited are started now: their boot time counts only from here.
void let_workers_start(StateChange& change, Job& job) {
  const StateMove move = *job.recovery.moving;
  job.recovery.moving.reset();
  for (const WorkerId id : job.membership.workers) {
    if (awaits(move, *change.state().find_worker(id))) change.worker(id).started_at = change.at();
  }
}

void note_place(SavedState& kept, const StateBrought& fact) {
  kept.origin = kept.node;
  kept.node = fact.node;
  if (fact.bytes > 0) kept.bytes = fact.bytes;
}

}  // namespace

Status apply(StateChange& change, const StateBrought& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  const StateMove* found = move_of(**known, fact);
  if (found == nullptr) return ok_status();
  const StateMove move = *found;
  Job& job = change.job(fact.job);
  for (auto* kept : {&job.recovery.suspended, &job.recovery.checkpoint}) {
    if (*kept && (*kept)->step == move.step && (*kept)->node == move.from) note_place(**kept, fact);
  }
  let_workers_start(change, job);
  change.emit("job.state_brought", job,
              {{"step", fact.step},
               {"bytes", fact.bytes},
               {"from", move.from.text()},
               {"to", move.to.text()},
               {"seconds", fact.took.to_seconds()}});
  return ok_status();
}

Status apply(StateChange& change, const StateLeft& fact) {
  const auto known = known_job(change.state(), fact.job);
  if (!known) return known.error();
  if (move_of(**known, fact) != nullptr) give_up_move(change, change.job(fact.job), fact.why);
  return ok_status();
}

void give_up_move(StateChange& change, Job& job, const std::string& why) {
  if (!job.recovery.moving) return;
  const StateMove move = *job.recovery.moving;
  let_workers_start(change, job);
  change.emit("job.state_left", job,
              {{"step", move.step}, {"from", move.from.text()}, {"to", move.to.text()}, {"why", why}});
}

void give_up_unseen_move(StateChange& change, Job& job, WorkerId started) {
  for (const WorkerId id : job.membership.workers) {
    if (awaits(*job.recovery.moving, *change.state().find_worker(id))) change.worker(id).boot_unseen = true;
  }
  give_up_move(change, job, started.text() + " has started, and its node has not said that the state came");
}

void end_move_if_pointless(StateChange& change, Job& job) {
  if (!job.recovery.moving) return;
  const StateMove& move = *job.recovery.moving;
  const auto& workers = job.membership.workers;
  const auto waits = [&](WorkerId id) { return awaits(move, *change.state().find_worker(id)); };
  const bool awaited = job.state() == JobState::kStarting && std::any_of(workers.begin(), workers.end(), waits);
  if (!awaited) give_up_move(change, job, "the workers that waited for it are gone");
}

}  // namespace tidepool::core
