// Restartable workers: workers whose programs know nothing of generations. Their agents end and start them; no
// steps are reported.
#include <algorithm>

#include "base/check.hpp"
#include "sim/fleet.hpp"

namespace tidepool::sim {
namespace {

constexpr std::int64_t kStepsBetweenCheckpoints = 5;  // what a program that dies loses at most

// Each rank's address is its worker (node_agent.cpp).
std::vector<WorkerId> ranks_of(const std::vector<std::string>& addresses) {
  std::vector<WorkerId> ranks;
  for (const std::string& address : addresses) {
    const auto worker = WorkerId::parse(address);
    TP_CHECK(worker.has_value(), "a program is told where programs are");
    ranks.push_back(*worker);
  }
  return ranks;
}

}  // namespace

void Fleet::begin_program(WorkerId worker, const agent::RestartableWorker::StartProgram& what, Instant now) {
  Process& process = *find(worker);
  TrainingRun& run = runs_.at(process.job);
  for (const auto& [node, id] : processes_of_[run.job]) {
    const GenerationNumber other = find(id)->runs;
    if (other == 0 || other == what.generation || !at(node).reachable) continue;
    violations_.push_back("generation " + std::to_string(what.generation) + " of " + run.job.text() +
                          " was launched while " + id.text() + " ran generation " + std::to_string(other));
  }
  process.runs = what.generation;
  process.stopping = false;
  if (what.generation > run.generation) {
    run.generation = what.generation;
    run.members = ranks_of(what.addresses);
    run.finished = false;
  }
  if (what.generation != run.generation || !all_present(run.members) || !all_run(run)) return;
  setup_.later(now + run.truth.boot, StepsBegin{run.job, ++run.token});
}

void Fleet::on(const StepsBegin& event, Instant now) {
  TrainingRun& run = runs_.at(event.job);
  if (event.token != run.token || !all_present(run.members) || !all_run(run)) return;
  if (run.is_done()) {
    finish(run, now);
  } else {
    resume(run, now);
  }
}

// It stops stepping, saves its state and ends, unless it ignores this.
void Fleet::ask_program_to_end(WorkerId worker, Instant now) {
  Process& process = *find(worker);
  if (process.runs == 0 || process.stopping) return;
  process.stopping = true;
  TrainingRun& run = runs_.at(process.job);
  if (process.runs == run.generation) halt(run, now);
  if (!process.ignores_notice) setup_.later(now + run.truth.park, ProgramStops{worker, process.runs});
}

void Fleet::on(const ProgramStops& event, Instant now) {
  const Process* process = find(event.worker);
  if (process == nullptr || !process->stopping || process->runs != event.generation) return;
  program_ends(event.worker, 0, 0, now);
}

// Its peers hang, and what a program that is killed had not saved is lost; one of an older generation, which was out of
// reach when the next began, has no peers any more.
void Fleet::program_ends(WorkerId worker, int exit_code, int signal, Instant now) {
  Process& process = *find(worker);
  if (process.runs == 0) return;
  TrainingRun& run = runs_.at(process.job);
  const bool is_newest = process.runs == run.generation;
  if (is_newest) halt(run, now);
  if (is_newest && signal != 0) {
    run.step -= run.step % kStepsBetweenCheckpoints;
    run.reported = std::min(run.reported, run.step);
  }
  process.runs = 0;
  process.stopping = false;
  feed(where_.at(worker), agent::WorkerEnded{worker, exit_code, signal, "ended by itself"}, now);
}

bool Fleet::all_run(const TrainingRun& run) const {
  return !run.truth.restarts || std::all_of(run.members.begin(), run.members.end(), [&](WorkerId id) {
    const Process* process = find(id);
    return process != nullptr && process->runs == run.generation && !process->stopping;
  });
}

}  // namespace tidepool::sim
