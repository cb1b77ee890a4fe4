// Seats: workers whose programs know nothing of generations. Their agents end and start them; nobody reports steps.
#include <algorithm>

#include "sim/fleet.hpp"

namespace tidepool::sim {
namespace {

constexpr Duration kGrace = Duration::seconds(3);     // of a program that ignores notice
constexpr std::int64_t kStepsBetweenCheckpoints = 5;  // what a program that dies loses at most

bool contains(const std::vector<WorkerId>& list, WorkerId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

// The programs get notice and save their state; a seat without one goes on at once.
void Fleet::end_programs(TrainingRun& run, const CommitGeneration& commit, Instant now) {
  if (commit.number <= run.newest_known) return;
  run.newest_known = commit.number;
  halt(run, now);
  run.next = commit;
  std::vector<WorkerId> seats;
  for (const auto& [node, id] : processes_of_[run.job]) {
    if (at(node).reachable && !find(id)->ending) seats.push_back(id);
  }
  for (const WorkerId seat : seats) {
    Process& process = *find(seat);
    process.ended.reset();
    if (process.runs == 0) {
      go_on_without_program(seat, now);
    } else if (!std::exchange(process.stopping, true)) {
      setup_.later(now + (process.ignores_notice ? kGrace : run.truth.park), ProgramStops{seat});
    }
  }
}

void Fleet::on(const ProgramStops& event, Instant now) {
  Process* process = find(event.worker);
  if (process == nullptr || !process->stopping) return;
  process->stopping = false;
  process->runs = 0;
  if (!process->ending) go_on_without_program(event.worker, now);
}

void Fleet::go_on_without_program(WorkerId seat, Instant now) {
  Process& process = *find(seat);
  const CommitGeneration& next = *runs_.at(process.job).next;
  if (!contains(next.members, seat)) return on(ProcessEnds{seat}, now);
  process.waits_for = next.number;
  report(where_.at(seat), core::WorkerJoining{seat, next.number}, now);
}

void Fleet::take(const LaunchPrograms& launch, Instant now) {
  const auto found = runs_.find(launch.job);
  if (found == runs_.end()) return;
  TrainingRun& run = found->second;
  if (!run.next || run.next->number != launch.number) return;
  for (const auto& [node, id] : processes_of_[launch.job]) {
    const Process& process = *find(id);
    const bool older = process.runs != 0 && process.runs != launch.number;
    if (!older || !at(node).reachable) continue;
    violations_.push_back("generation " + std::to_string(launch.number) + " of " + launch.job.text() +
                          " was launched while " + id.text() + " ran generation " + std::to_string(process.runs));
  }
  for (const WorkerId seat : run.next->members) {
    Process* process = find(seat);
    const bool starts = process != nullptr && at(where_.at(seat)).reachable && process->waits_for == launch.number &&
                        process->runs == 0 && !process->ended && !process->ending;
    if (!starts) continue;
    process->runs = launch.number;
    report(where_.at(seat), core::ProgramStarted{seat, launch.number}, now);
  }
  run.members = run.next->members;
  run.generation = launch.number;
  if (!all_present(run.members) || !all_run(run)) return;
  run.next.reset();
  run.finished = false;
  setup_.later(now + run.truth.boot, StepsBegin{run.job, ++run.token});
}

void Fleet::on(const StepsBegin& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !all_present(run.members) || !all_run(run)) return;
  if (run.step >= run.total_steps()) {
    finish(run, now);
  } else {
    resume(run, now);
  }
}

// By itself, or by a fault: what it had not saved is lost, and its peers hang.
void Fleet::program_ends(WorkerId seat, int exit_code, int signal, Instant now) {
  Process& process = *find(seat);
  if (process.runs == 0) return;
  TrainingRun& run = runs_.at(process.job);
  halt(run, now);
  if (signal != 0) {
    run.step -= run.step % kStepsBetweenCheckpoints;
    run.reported = std::min(run.reported, run.step);
  }
  if (process.stopping) return on(ProgramStops{seat}, now);
  process.ended = core::ProgramEnded{seat, process.runs, exit_code, signal, "ended by itself"};
  process.runs = 0;
  report(where_.at(seat), *process.ended, now);
}

void Fleet::say_where_it_stands(WorkerId seat, Instant now) {
  const Process& process = *find(seat);
  const int node = where_.at(seat);
  if (process.waits_for == 0) return report(node, core::WorkerReady{seat}, now);
  report(node, core::WorkerJoining{seat, process.waits_for}, now);
  if (process.runs != 0 && !process.stopping) report(node, core::ProgramStarted{seat, process.runs}, now);
  if (!process.ended) return;
  report(node, core::ProgramStarted{seat, process.ended->generation}, now);
  report(node, *process.ended, now);
}

bool Fleet::all_run(const TrainingRun& run) const {
  return !run.truth.restarts || std::all_of(run.members.begin(), run.members.end(), [&](WorkerId id) {
    const Process* process = find(id);
    return process != nullptr && process->runs == run.generation && !process->stopping;
  });
}

}  // namespace tidepool::sim
