#include "core/explain/victim_evidence.hpp"

#include <algorithm>
#include <tuple>

#include "base/calendar.hpp"
#include "base/word_list.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/state/account.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/reason_read.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/adjusted_reason.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kNamesMost = 3;
constexpr std::size_t kBoundMost = 6;  // most jobs that are listed one by one

// "job-1", "job-1, job-2 and job-3", "7 jobs".
std::string named_victims(const std::vector<std::string>& names) {
  return names.size() > kNamesMost ? counted(static_cast<double>(names.size()), "job") : word_series(names);
}

// Slots that the victim releases for the job, according to its newest reason, and has not left yet: all slots of a job
// preempted for it; some slots of a job that continues with fewer workers, unless it also releases slots for others.
int slots_given(const ClusterState& state, const Job& victim, const Job& job) {
  const Reason& why = victim.verdict.reason;
  const auto* preempted = reason_as<reason::Preempted>(why);
  if (preempted != nullptr && preempted->for_job == job.id) return slots_in_use(state, victim);
  const reason::Claimants claimants = claimants_in(why);
  if (claimants.for_job != job.id || claimants.for_others) return 0;
  std::size_t slots = 0;
  for (const WorkerId id : victim.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (is_on_its_way_out(victim, worker)) slots += worker.slots.size();
  }
  return static_cast<int>(slots);
}

// The victim's workers that leave and have not ended.
void count_leaving(const ClusterState& state, const Job& victim, const Job& job, GivenUp& given) {
  for (const WorkerId id : victim.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (!is_on_its_way_out(victim, worker)) continue;
    const Node& node = *state.find_node(worker.node);
    if (node.takes_workers() && may_run_on(job, node)) given.slots += static_cast<int>(worker.slots.size());
    if (worker.notice) given.by = given.by ? std::max(*given.by, worker.notice->by) : worker.notice->by;
  }
}

// A job of a lower priority that keeps its slots for as long as its minimum run time and its cooldown last.
struct BoundJob {
  Instant until;
  bool cools = false;  // its cooldown ends after the minimum run time
  JobId job;
  int slots = 0;  // where the other job may run
};

// Puts the job that may be preempted first in front.
std::vector<BoundJob> bound_jobs(const ClusterState& state, const Job& job) {
  std::vector<BoundJob> bound;
  for (const auto& [id, other] : state.jobs) {
    const JobSpec& spec = other->spec;
    const bool has_own_size = spec.scaling.names_policy() || other->requests.pinned_size > 0;
    if (spec.priority >= job.spec.priority || !spec.preemptible || has_own_size || winds_down(*other)) continue;
    // Between tenants shares decide, not priorities.
    if (!state.tenants->empty() && spec.tenant != job.spec.tenant) continue;
    if (!is_active(other->state()) || !other->last_start_at) continue;
    const Instant until = *resizable_at(*other);
    const bool cools = until > *other->last_start_at + spec.elastic.min_runtime;
    const int slots = slots_held_for(state, *other, job);
    if (until > state.now && slots > 0) bound.push_back({.until = until, .cools = cools, .job = id, .slots = slots});
  }
  std::sort(bound.begin(), bound.end(), [](const BoundJob& a, const BoundJob& b) {
    return std::tuple(a.until, a.job) < std::tuple(b.until, b.job);
  });
  return bound;
}

}  // namespace

int slots_held_for(const ClusterState& state, const Job& holder, const Job& job) {
  std::size_t slots = 0;
  for (const WorkerId id : holder.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    const Node& node = *state.find_node(worker.node);
    if (!worker.is_gone() && node.takes_workers() && may_run_on(job, node)) slots += worker.slots.size();
  }
  return static_cast<int>(slots);
}

std::vector<std::string> bound_job_evidence(const ClusterState& state, const Job& job) {
  const bool lacks_slots = traits_of(job.verdict.reason).blocks == Blocks::kForLackOfSlots ||
                           is_any_of<reason::PriceWait>(job.verdict.reason);
  if (job.state() != JobState::kPending || !lacks_slots) return {};
  const std::vector<BoundJob> bound = bound_jobs(state, job);
  const std::size_t told = bound.size() > kBoundMost + 1 ? kBoundMost : bound.size();
  std::vector<std::string> lines;
  lines.reserve(told);
  for (std::size_t i = 0; i < told; ++i) {
    lines.push_back(bound[i].job.text() + ", of a lower priority, keeps " + counted(bound[i].slots, "slot") +
                    " until " + utc_clock_text(utc_second_from(state, bound[i].until)) +
                    (bound[i].cools ? ", when its cooldown ends" : ", when its minimum run time ends"));
  }
  if (told == bound.size()) return lines;
  int slots = 0;
  for (std::size_t i = told; i < bound.size(); ++i) slots += bound[i].slots;
  lines.push_back(counted(static_cast<double>(bound.size() - told), "more job") + " of lower priorities keep " +
                  counted(slots, "slot") + " likewise, the last until " +
                  utc_clock_text(utc_second_from(state, bound.back().until)));
  return lines;
}

std::optional<GivenUp> given_up_for(const ClusterState& state, const Job& job) {
  if (job.state() != JobState::kPending) return std::nullopt;
  GivenUp given;
  std::vector<std::string> names;
  int slots = 0;
  for (const auto& [id, other] : state.jobs) {
    const int given_up = slots_given(state, *other, job);
    if (given_up == 0) continue;
    slots += given_up;
    names.push_back(id.text());
    count_leaving(state, *other, job, given);
  }
  if (names.empty()) return std::nullopt;
  given.words =
      named_victims(names) + (names.size() == 1 ? " releases " : " release ") + counted(slots, "slot") + " for it";
  return given;
}

std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job) {
  const auto given = given_up_for(state, job);
  return given ? std::vector{given->words} : std::vector<std::string>();
}

}  // namespace tidepool::core
