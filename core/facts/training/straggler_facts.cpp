#include "core/facts/training/straggler_facts.hpp"

#include <algorithm>

#include "base/id_set.hpp"
#include "core/facts/shares.hpp"
#include "core/state/ledger.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"

namespace tidepool::core {
namespace {

// Slot-seconds that the other ranks wait for this one in a step of this length.
double waited_for(double own_us, const RankStep& step) {
  double sum_us = 0;
  for (std::size_t other = 0; other < step.compute_us.size(); ++other) {
    if (other != step.rank) sum_us += std::max(0.0, own_us - static_cast<double>(step.compute_us[other]));
  }
  return sum_us * 1e-6 * step.slots_per_worker;
}

// Inputs of the diagnosis of other workers on the node have changed.
bool changed_its_look(const StragglerTrack& track, const StragglerTrack& before) {
  const bool known = track.steps >= kStepsToKnow;
  return known != (before.steps >= kStepsToKnow) || (track.slow_steps > 0) != (before.slow_steps > 0);
}

// The planner examines jobs with workers on this node again.
void touch_neighbours(StateChange& change, const Worker& worker) {
  std::vector<WorkerId> others;
  if (const Node* node = change.state().find_node(worker.node)) others = node->owners;
  for (const WorkerId id : others) {
    if (id && id != worker.id) (void)change.job(change.worker(id).job);
  }
}

constexpr std::int64_t kBusyMemory = 20;  // steps that count in the mean of a worker's compute time
constexpr std::int64_t kBusyWild = 4;     // after this many steps a single one cannot move the mean far

// The part of a step's time that may count for other steps: a single wild step says little about them.
double tamed(const StragglerTrack& track, double time_us) {
  return track.busy_steps < kBusyWild ? time_us : std::clamp(time_us, track.busy_us / 2, track.busy_us * 2);
}

void take_in_time(StragglerTrack& track, const StragglerFinding& found, double time_us) {
  const bool turns = found.slow != (track.slow_steps > 0);
  if (turns) track.busy_steps = 0;
  const double time = tamed(track, time_us);
  ++track.busy_steps;
  if (track.busy_steps == 1) track.busy_us = 0;
  track.busy_us += (time - track.busy_us) / static_cast<double>(std::min(track.busy_steps, kBusyMemory));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// One step of a rebalanced worker: its remaining cost to the others, and how long it waits for them.
void take_in_eased(BatchRebalance& rebalanced, const RankStep& step, const std::vector<std::int64_t>& samples) {
  const auto& [compute_us, rank, slots_per_worker] = step;
  std::vector<double> times;
  std::vector<double> times_per_sample;
  std::int64_t batch = 0;
  for (std::size_t other = 0; other < compute_us.size(); ++other) {
    batch += samples[other];
    if (other == rank) continue;
    times.push_back(static_cast<double>(compute_us[other]));
    if (samples[other] > 0) times_per_sample.push_back(times.back() / static_cast<double>(samples[other]));
  }
  if (times_per_sample.empty()) return;
  const double even = static_cast<double>(batch) / static_cast<double>(samples.size());
  const double taken_over = std::max(0.0, even - static_cast<double>(samples[rank]));
  const double slot_seconds = slots_per_worker * 1e-6;
  rebalanced.lost_s += waited_for(step.own_us(), step);
  rebalanced.lost_s += taken_over * median(std::move(times_per_sample)) * slot_seconds;
  const double others = median(std::move(times));
  const double idle = others * (1 - kIdleAllowed) - step.own_us();
  rebalanced.idle_s = std::max(0.0, rebalanced.idle_s + idle * slot_seconds);
}

// Slot-seconds that a straggler's step adds to its account; the step that names it also counts for those before it.
double newly_waited(const StragglerTrack& track, const StragglerFinding& found, const RankStep& step) {
  if (track.slow_steps > 0) return waited_for(step.own_us(), step);
  return waited_for(tamed(track, step.own_us()), step) * static_cast<double>(found.steps);
}

// One step of all ranks.
struct JudgedStep {
  const std::vector<std::int64_t>& compute_us;
  const std::vector<std::int64_t>& samples;
  const std::vector<StragglerFinding>& findings;
};

// Returns how long the others waited for the slowest straggler, in slot-seconds.
double take_in_step(Job& job, const std::vector<StragglerTrack*>& tracks, const JudgedStep& step) {
  double longest_s = 0;
  for (std::size_t rank = 0; rank < tracks.size(); ++rank) {
    StragglerTrack& track = *tracks[rank];
    const RankStep own{.compute_us = step.compute_us, .rank = rank, .slots_per_worker = job.spec.gpus_per_worker};
    const double before_s = track.slow_steps > 0 ? track.waited_s : 0;
    take_in(track, step.findings[rank], own);
    longest_s = std::max(longest_s, track.waited_s - before_s);
    const auto rebalanced = job.shares.rebalanced.find(job.membership.members[rank]);
    if (rebalanced != job.shares.rebalanced.end()) take_in_eased(rebalanced->second, own, step.samples);
  }
  return longest_s;
}

}  // namespace

void take_in(StragglerTrack& track, const StragglerFinding& found, const RankStep& step) {
  // The waiting time needs a pass over all ranks, so it is computed for slow workers only.
  const double waited_s = found.slow ? newly_waited(track, found, step) : 0;
  take_in_time(track, found, step.own_us());
  track.score = found.score;
  track.bar = found.bar;
  ++track.steps;
  if (!found.slow) {
    track.slow_steps = 0;
    track.waited_s = 0;
    track.told = false;
    track.probed = false;
    return;
  }
  track.waited_s += waited_s;
  track.slow_steps = std::max(found.steps, track.slow_steps + 1);
}

void judge_members(StateChange& change, Job& job, const StepsMeasured& report, std::int64_t counted,
                   const StragglerDetector& detector) {
  const std::size_t ranks = job.membership.members.size();
  const auto steps = static_cast<std::size_t>(report.steps);
  if (report.compute_us.empty() || report.compute_us.size() / steps != ranks) return;
  std::vector<StragglerTrack*> tracks;
  std::vector<std::vector<double>*> memories;
  for (const WorkerId id : job.membership.members) {
    if (change.state().find_worker(id) == nullptr) return;  // a member has left: the ranks have changed
    tracks.push_back(&change.worker(id).track);
    memories.push_back(&job.measurements.detector_state[id]);
  }
  const IdSet<WorkerId> members(job.membership.members.begin(), job.membership.members.end());
  std::erase_if(job.measurements.detector_state, [&](const auto& pace) { return !members.contains(pace.first); });
  std::vector<StragglerTrack> before;
  before.reserve(ranks);
  for (const StragglerTrack* track : tracks) before.push_back({.steps = track->steps, .slow_steps = track->slow_steps});
  const std::vector<std::int64_t> samples =
      shares_of(report.samples / report.steps, weights_of(job.shares.used, ranks));
  double waited_s = 0;  // slot-seconds
  for (std::size_t step = steps - static_cast<std::size_t>(counted); step < steps; ++step) {
    const auto begin = report.compute_us.begin() + static_cast<std::ptrdiff_t>(step * ranks);
    const std::vector<std::int64_t> compute_us(begin, begin + static_cast<std::ptrdiff_t>(ranks));
    const auto findings = detector.judge(compute_us, samples, memories);
    waited_s += take_in_step(job, tracks, {compute_us, samples, findings});
  }
  const double each_s = waited_s / static_cast<double>(ranks) / job.spec.gpus_per_worker;
  book_wait(change.state(), job, Duration::micros(static_cast<std::int64_t>(each_s * 1e6)), Overhead::kStragglers);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    tracks[rank]->detector = detector.name();
    if (changed_its_look(*tracks[rank], before[rank]))
      touch_neighbours(change, change.worker(job.membership.members[rank]));
  }
}

Status apply(StateChange& change, const DetectorConfigured& fact, const StragglerDetectors& detectors) {
  if (!detectors.knows(fact.name)) {
    return invalid_argument("there is no straggler detector called " + fact.name + "; start a version that has it");
  }
  change.state().straggler_detector = fact.name;
  return ok_status();
}

}  // namespace tidepool::core
