// What the members of jobs do in a simulated world: boot, switch, step, save, finish, leave.
//
// Safe rule. Only processes that live on a node whose agent is connected do anything, and a job gets further only with
// all of its members.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "tests/support/random_wishes.hpp"
#include "tests/support/saved_states.hpp"
#include "tests/support/world_machines.hpp"

namespace tidepool::test {

class WorldTraining : public WorldMachines {
 public:
  using WorldMachines::WorldMachines;

  // Everything that can go on goes on a bit. False if every job has ended.
  bool work_a_round() {
    pass(Duration::millis(500));
    for (const auto& [id, job] : IdTable(state().jobs)) {
      if (!core::is_final(job->state())) advance(id);
    }
    for (const auto& [id, process] : std::map(processes_)) live_on(id);
    return std::any_of(state().jobs.begin(), state().jobs.end(),
                       [](const auto& entry) { return !core::is_final(entry.second->state()); });
  }

 protected:
  void work() {
    for (int i = 0; i < (strained_ ? 4 : 1); ++i) {
      if (submitted() > 0 && rng_.chance(0.5)) advance(pick_job());
      if (!processes_.empty()) live_on(pick(processes_));
    }
  }

  [[nodiscard]] bool is_slow(WorkerId id) const { return strained_ && Digest().mix(id.number()).value() % 6 == 0; }

  bool all_reachable(const core::Job& job) const {
    return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
      const auto found = processes_.find(id);
      return found != processes_.end() && !found->second.hangs && agents_.at(found->second.node).connected;
    });
  }

  // The members of a job do what they do: switch, step, finish.
  void advance(JobId id) {
    if (state().has_ended(id)) return;
    const core::Job& job = *state().find_job(id);
    if (job.membership.members.empty() || !all_reachable(job) || core::is_final(job.state()) || job.progress.finished)
      return;
    for (const WorkerId member : std::vector<WorkerId>(job.membership.members)) {
      const bool silent = state().find_worker(member)->joining < job.membership.generation;
      if (silent && rng_.chance(0.7)) learn(core::WorkerJoining{member, job.membership.generation});
    }
    if (job.spec.resize == core::ResizeMode::kRestart) return run_programs(job);
    const bool first = !job.membership.switched && job.membership.commit.from_size == 0;
    if (first && rng_.chance(0.5)) learn(restored(job, rng_));
    if (job.membership.switched && rng_.chance(0.1)) learn(checkpoint_report(job, rng_));
    if (!job.membership.switched && rng_.chance(0.9)) {
      const core::UnusedState unused{job.progress.step + 9, UnusedWhy::kDamaged};
      learn(core::GenerationSwitched{id, job.membership.generation, job.progress.step + 1, rng_.uniform() * 100, 5, 0,
                                     0, 10, first ? std::optional(unused) : std::nullopt});
      return;
    }
    const std::int64_t steps = rng_.between(1, strained_ ? 12 : 6);
    std::vector<std::int64_t> compute_us;
    for (std::int64_t i = 0; i < steps * job.size(); ++i) {
      const WorkerId member = job.membership.members[static_cast<std::size_t>(i) % job.membership.members.size()];
      compute_us.push_back(rng_.between(10'000, 40'000) * (is_slow(member) ? 40 : 1));
    }
    core::StepsMeasured report{id,
                               job.membership.generation,
                               job.progress.step + steps,
                               steps,
                               Duration::millis(100 * steps),
                               64 * steps,
                               rng_.uniform(),
                               1,
                               std::move(compute_us)};
    // The report of a change of shares may be late or lost.
    const bool changed = job.shares.ordered.number > job.shares.used.number && rng_.chance(0.7);
    report.shares = changed ? job.shares.ordered.number : job.shares.used.number;
    if (changed && rng_.chance(0.7)) {
      learn(core::SharesChanged{id, job.membership.generation, report.shares, job.progress.step + 1, rng_.uniform()});
    }
    learn(std::move(report));
    const core::Job& after = *state().find_job(id);
    if (after.progress.step >= 60) learn(core::TrainingFinished{id, after.progress.step, 0.5});
  }

  // The programs of a generation start, all or some of them, and end: well in the end, badly now and then.
  void run_programs(const core::Job& job) {
    const JobId id = job.id;
    const GenerationNumber generation = job.membership.generation;
    if (job.membership.restart_state.launched != generation) return;
    for (const WorkerId member : std::vector<WorkerId>(job.membership.members)) {
      const core::Worker* seen = state().find_worker(member);
      if (seen == nullptr) continue;
      if (seen->launched < generation) {
        if (rng_.chance(0.8)) learn(core::ProgramStarted{member, generation});
      } else if (state().find_job(id)->membership.switched && rng_.chance(0.2)) {
        learn(core::ProgramEnded{member, generation, faults_ && rng_.chance(0.2) ? 1 : 0, 0, "ended"});
      }
    }
  }

  // A process boots, leaves when it was told to, or goes on.
  void live_on(WorkerId id) {
    if (!processes_.contains(id)) return;
    const Process process = processes_.at(id);
    const core::Worker* seen = state().find_worker(id);
    if (seen == nullptr || !agents_.at(process.node).connected) return;
    const core::Job& job = *state().find_job(process.job);
    if (process.held) {
      if (rng_.chance(0.1)) die(id, 1);
      return;
    }
    if (process.hangs && !(process.told_to_stop && seen->kill_at && now_ >= *seen->kill_at)) return;
    const bool restarts = job.spec.resize == core::ResizeMode::kRestart;
    const bool parks = job.membership.parking && seen->stop_due && !restarts && rng_.chance(0.8);
    if (parks) learn(core::StateParked{job.id, id, job.membership.generation, job.progress.step, 1000, 2});
    const bool left_out =
        seen->phase == core::WorkerPhase::kLeaving && (seen->stop_due || job.progress.finished || restarts);
    if (process.told_to_stop || (left_out && rng_.chance(0.7))) return die(id, 0);
    const auto& moving = job.recovery.moving;
    if (moving && core::awaits(*moving, *seen) && !rng_.chance(0.02)) return wait_for_state(job.id, *moving);
    if (seen->phase == core::WorkerPhase::kStarting) learn(random_ready(id, rng_));
  }

  // It comes, or it does not; what was said before is said again. Without faults it comes in the end.
  void wait_for_state(JobId job, const core::StateMove& move) {
    if (rng_.chance(0.3)) learn(core::StateBrought{job, move.to, move.step, 1000, Duration::millis(20)});
    if (faults_ && rng_.chance(0.1)) learn(core::StateLeft{job, move.to, move.step, "no byte came"});
  }
};

}  // namespace tidepool::test
