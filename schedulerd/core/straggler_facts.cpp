#include "schedulerd/core/straggler_facts.hpp"

#include <algorithm>

#include "schedulerd/core/membership.hpp"
#include "schedulerd/core/straggler_diagnosis.hpp"

namespace tidepool::core {
namespace {

// Slot-seconds that the other ranks wait for this one in a step.
double waited_for(const std::vector<std::int64_t>& compute_us, std::size_t rank, int slots_per_worker) {
  std::int64_t sum_us = 0;
  for (const std::int64_t other : compute_us) sum_us += std::max<std::int64_t>(0, compute_us[rank] - other);
  return static_cast<double>(sum_us) * 1e-6 * slots_per_worker;
}

// What the diagnosis of others on the node rests on has changed.
bool changed_its_look(const StragglerTrack& track, const StragglerTrack& before) {
  const bool known = track.steps >= kStepsToKnow;
  return known != (before.steps >= kStepsToKnow) || (track.slow_steps > 0) != (before.slow_steps > 0);
}

// Jobs with workers on this node are looked at again.
void touch_neighbours(StateChange& change, const Worker& worker) {
  std::vector<WorkerId> others;
  if (const Node* node = change.state().find_node(worker.node)) others = node->owners;
  for (const WorkerId id : others) {
    if (id && id != worker.id) (void)change.job(change.worker(id).job);
  }
}

void take_in(StragglerTrack& track, const StragglerFinding& found, double waited_s) {
  track.score = found.score;
  track.bar = found.bar;
  ++track.steps;
  if (!found.slow) {
    track.slow_steps = 0;
    track.waited_s = 0;
    track.told = false;
    return;
  }
  track.waited_s += track.slow_steps == 0 ? waited_s * static_cast<double>(found.steps) : waited_s;
  track.slow_steps = std::max(found.steps, track.slow_steps + 1);
}

}  // namespace

std::vector<std::int64_t> shares_of(std::int64_t samples, std::size_t ranks) {
  const auto size = static_cast<std::int64_t>(ranks);
  std::vector<std::int64_t> shares;
  shares.reserve(ranks);
  for (std::int64_t rank = 0; rank < size; ++rank)
    shares.push_back(samples * (rank + 1) / size - samples * rank / size);
  return shares;
}

void judge_members(StateChange& change, Job& job, const StepsMeasured& report, std::int64_t counted,
                   const StragglerDetector& detector) {
  const std::size_t ranks = job.members.size();
  const auto steps = static_cast<std::size_t>(report.steps);
  if (report.compute_us.empty() || report.compute_us.size() != ranks * steps) return;
  std::vector<StragglerTrack*> tracks;
  std::vector<std::vector<double>*> memories;
  for (const WorkerId id : job.members) {
    if (change.state().find_worker(id) == nullptr) return;  // a member is gone: the ranks are no longer these
    tracks.push_back(&change.worker(id).track);
    memories.push_back(&job.paces[id]);
  }
  std::erase_if(job.paces, [&](const auto& pace) { return !contains(job.members, pace.first); });
  std::vector<StragglerTrack> before;
  before.reserve(ranks);
  for (const StragglerTrack* track : tracks) before.push_back({.steps = track->steps, .slow_steps = track->slow_steps});
  const std::vector<std::int64_t> samples = shares_of(report.samples / report.steps, ranks);
  for (std::size_t step = steps - static_cast<std::size_t>(counted); step < steps; ++step) {
    const auto begin = report.compute_us.begin() + static_cast<std::ptrdiff_t>(step * ranks);
    const std::vector<std::int64_t> compute_us(begin, begin + static_cast<std::ptrdiff_t>(ranks));
    const auto findings = detector.judge(compute_us, samples, memories);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      take_in(*tracks[rank], findings[rank], waited_for(compute_us, rank, job.spec.gpus_per_worker));
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    tracks[rank]->detector = detector.name();
    if (changed_its_look(*tracks[rank], before[rank])) touch_neighbours(change, change.worker(job.members[rank]));
  }
}

}  // namespace tidepool::core
