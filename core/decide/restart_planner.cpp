#include "core/decide/restart_planner.hpp"

#include <algorithm>

#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

constexpr Duration kFirstPause = Duration::seconds(1);
constexpr Duration kPauseMax = Duration::seconds(60);
constexpr int kPauseDoublingsMax = 6;  // 64 s, beyond the largest pause

bool awaits_launch(const Job& job) {
  return job.spec.resize == ResizeMode::kRestart && !job.membership.members.empty() &&
         !job.membership.restart_state.failed && job.membership.restart_state.launched < job.membership.generation;
}

}  // namespace

bool restart_failed(DecisionDraft& draft, const Job& job) {
  if (!job.membership.restart_state.failed || !all_members_stay(draft.state(), job)) return false;
  const reason::ProgramFailed reason{
      {.worker = job.membership.restart_state.failed}, job.size(), job.recovery.restarts, job.spec.max_restarts};
  draft.conclude(job, SwitchIntent{job.id, job.membership.generation + 1, job.membership.members, true}, reason);
  return true;
}

void launch_if_stopped(DecisionDraft& draft, const Job& job) {
  if (!awaits_launch(job) || draft.now() < job.membership.commit.at + pause_before_launch(job)) return;
  if (still_running(draft.state(), job)) return;
  draft.carry_out(LaunchIntent{job.id, job.membership.generation}, job.membership.commit.reason);
}

bool awaits_relaunch(const Job& job) {
  const bool runs_on = job.state() == JobState::kRunning && !job.phase.transition();
  return runs_on && awaits_launch(job) && job.membership.commit.after_failure && job.membership.stepping_generation > 0;
}

bool may_leave_before_launch(const Job& job, Instant now) {
  return awaits_relaunch(job) && now > job.membership.commit.at;
}

Duration pause_before_launch(const Job& job) {
  if (!job.membership.commit.after_failure) return {};
  const int doublings = std::clamp(job.recovery.restarts - 1, 0, kPauseDoublingsMax);
  return std::min(kFirstPause * (std::int64_t{1} << doublings), kPauseMax);
}

std::optional<Instant> next_launch(const Job& job) {
  if (!awaits_launch(job)) return std::nullopt;
  return job.membership.commit.at + pause_before_launch(job);
}

bool is_finishing(const ClusterState& state, const Job& job) {
  return std::any_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && worker->program_ended;
  });
}

}  // namespace tidepool::core
