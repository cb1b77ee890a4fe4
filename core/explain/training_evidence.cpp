#include "core/explain/training_evidence.hpp"

#include <algorithm>
#include <map>

#include "core/decide/rebalance_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

// If the means say that one size is faster and the change between the sizes showed the opposite: the result of the
// change, by which policies judge. ", but 24,657 samples/s right after 32,670 samples/s with 1 worker"
std::string seen_at_change(const std::map<int, SizeRecord>& sizes, const SizeRecord& record) {
  const SizeChange& change = record.entered;
  const auto other = sizes.find(change.from);
  if (other == sizes.end() || change.from_rate <= 0 || change.rate <= 0) return "";
  const bool faster_by_means = record.samples_per_second > other->second.samples_per_second;
  if (faster_by_means == (change.rate > change.from_rate)) return "";
  return ", but " + grouped(change.rate) + " samples/s right after " + grouped(change.from_rate) + " samples/s with " +
         counted(change.from, "worker");
}

// One line a measured size, smallest first: "2 workers: 9,121 samples/s over 60 steps".
// Measurements on other slot types are shown with the type's name.
void add_measurements(const Job& job, std::vector<std::string>& out) {
  const auto tell = [&](const std::map<int, SizeRecord>& sizes, const std::string& where) {
    for (const auto& [size, record] : sizes) {
      out.push_back(counted(size, "worker") + where + ": " + grouped(record.samples_per_second) + " samples/s over " +
                    counted(static_cast<double>(record.steps), "step") + seen_at_change(sizes, record));
    }
  };
  tell(job.measurements.sizes, "");
  for (const auto& [type, records] : job.measurements.on_other_types) tell(records.sizes, " on " + type);
}

// The mean, the count, and the mean at sizes where it differs: "50 ms on average (3 times), to 4-7 workers 90 ms".
template <class InWords>
std::string cost_in_words(double mean_ms, std::int64_t count, const std::map<int, SizeCost>& by_size,
                          InWords in_words) {
  const std::string mean = in_words(mean_ms);
  std::string text = mean + " on average (" + counted(static_cast<double>(count), "time") + ")";
  for (const auto& [size, cost] : by_size) {
    const std::string here = in_words(cost.mean_ms);
    if (here == mean) continue;
    text += ", to " + std::to_string(size);
    text += (size > 1 ? "-" + std::to_string(2 * size - 1) + " workers " : " worker ") + here;
  }
  return text;
}

void add_transition_costs(const Job& job, std::vector<std::string>& out) {
  const auto tell = [&](const char* what, const TransitionCost& cost) {
    if (cost.count == 0) return;
    const auto in_ms = [](double ms) { return grouped(ms) + " ms"; };
    out.push_back(std::string(what) + " has paused it for " +
                  cost_in_words(cost.mean_stall_ms, cost.count, cost.by_size, in_ms));
  };
  tell("growing", job.measurements.grow_cost);
  tell("replacing a worker", job.measurements.replace_cost);
  tell("changing its shares", job.measurements.rebalance_cost);
  tell("shrinking", job.measurements.shrink_cost);
  tell("losing a worker", job.measurements.failure_cost);
  tell("restarting it at another size", job.measurements.restart_cost);
  const BootCost& boot = job.measurements.boot_cost;
  if (boot.count == 0) return;
  const auto in_s = [](double ms) { return decimal(ms * 1e-3) + " s"; };
  out.push_back("its workers have booted in " + cost_in_words(boot.mean_ms, boot.count, boot.by_size, in_s));
}

// One line per slow worker, with its evidence.
void add_stragglers(const ClusterState& state, const Job& job, std::vector<std::string>& out) {
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->track.slow_steps == 0) continue;
    const StragglerTrack& track = worker->track;
    const Diagnosis diagnosis = diagnose(state, *worker);
    out.push_back(id.text() + " has computed at " + percent(track.score) + " of the others' speed for " +
                  counted(static_cast<double>(track.slow_steps), "step") + " (" + track.detector + ", bar " +
                  percent(track.bar) + "): " + decimal(track.waited_s) +
                  " slot-seconds of waiting; the cause is: " + std::string(to_text(diagnosis.follows)));
    if (job.size() < 2) continue;
    out.push_back("a smaller share for it would cost " + decimal(cost_of_rebalancing(job)) +
                  " slot-seconds, replacing it " + decimal(cost_of_replacing(job)) + " slot-seconds, shrinking " +
                  decimal(cost_of_shrinking(job)) + " slot-seconds");
  }
}

// One line per worker with less than a full share, with the remaining cost of its slowness.
void add_eased(const ClusterState& state, const Job& job, std::vector<std::string>& out) {
  for (const auto& [id, rebalanced] : job.shares.rebalanced) {
    const auto speed = eased_speed(state, job, id);
    out.push_back(id.text() + " has " + percent(static_cast<double>(rebalanced.weight) / kFullShare) +
                  " of a full share" + (speed ? " and computes at " + percent(*speed) + " of the others' speed" : "") +
                  "; its slowness has cost " + decimal(rebalanced.lost_s) + " slot-seconds, a replacement costs " +
                  decimal(cost_of_replacing(job)) + " slot-seconds");
  }
}

// What keeps a slow worker in place although its slowness has cost enough.
void add_replacement_wait(const ClusterState& state, const Job& job, std::vector<std::string>& out) {
  const auto next = next_replacement(job);
  if (!next || *next <= state.now) return;
  const auto is_slow = [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && worker->track.slow_steps > 0;
  };
  const auto& members = job.membership.members;
  if (job.shares.rebalanced.empty() && std::none_of(members.begin(), members.end(), is_slow)) return;
  out.push_back("a slow worker was replaced or removed " +
                waiting_time((state.now - *job.recovery.last_replacement_at).to_seconds()) +
                " ago; the next one waits for " + waiting_time((*next - state.now).to_seconds()) + " more");
}

}  // namespace

void add_training_evidence(const ClusterState& state, const Job& job, std::vector<std::string>& evidence) {
  add_measurements(job, evidence);
  add_transition_costs(job, evidence);
  add_stragglers(state, job, evidence);
  add_eased(state, job, evidence);
  add_replacement_wait(state, job, evidence);
}

}  // namespace tidepool::core
