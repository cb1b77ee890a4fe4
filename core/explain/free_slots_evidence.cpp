#include "core/explain/free_slots_evidence.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "base/word_list.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/place/placement.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

// Its sentence counts free slots, but does not state why the job gets none of them.
bool counts_free_slots(const Reason& why) {
  return is_any_of<reason::WaitingForSlots, reason::PreemptsLater, reason::PreemptionLimit, reason::PreemptionRefused,
                   reason::WaitingForNodes, reason::TurnWait>(why);
}

// Of `free` slots, those that the tenant may not have but would have if all guarantees were lent.
int kept_of(const ClusterState& state, const std::string& tenant, int free, int kept_by_guarantees) {
  const auto share = binding_share(state, tenant);
  if (!share) return 0;
  const int left_of_share = std::max(0, *share - slots_of_tenant(state, tenant));
  return std::clamp(free - left_of_share, 0, kept_by_guarantees);
}

// Free slots where a job may run.
struct FreeRoom {
  int slots = 0;
  int closed = 0;                                 // of these, on nodes that are exclusive to other jobs
  std::vector<std::string> closed_by = {};        // "job-2 on node-1" for each of these nodes
  int workers = 0;                                // workers of the job that fit on the other nodes
  std::vector<std::pair<const Node*, int>> open;  // the other nodes with free slots, and how many
};

// "job-2 on node-1", for a node with workers of an exclusive job.
std::string job_alone_on(const ClusterState& state, const Node& node) {
  for (const WorkerId owner : node.owners) {
    const Job* job = owner ? state.find_job(state.find_worker(owner)->job) : nullptr;
    if (job != nullptr && job->spec.placement.exclusive) return job->id.text() + " on " + node.name;
  }
  return node.name;
}

// For the type with most free slots, unless the job mixes types: the slots that slots_free_for() counts.
FreeRoom free_room(const ClusterState& state, const Job& job) {
  const FreeSlots free(state);
  std::map<std::string, FreeRoom> rooms;
  for (const auto& [id, node] : state.nodes) {
    const int slots = node.slots_free();
    if (!node.takes_workers() || slots == 0 || !may_run_on(job, node)) continue;
    FreeRoom& room = rooms[job.spec.mixed_types ? "" : node.slot_type];
    room.slots += slots;
    if (free.is_kept(id)) {
      room.closed += slots;
      room.closed_by.push_back(job_alone_on(state, node));
      continue;
    }
    room.workers += slots / job.spec.gpus_per_worker;
    room.open.emplace_back(&node, slots);
  }
  const auto most = std::max_element(rooms.begin(), rooms.end(),
                                     [](const auto& a, const auto& b) { return a.second.slots < b.second.slots; });
  return most == rooms.end() ? FreeRoom() : std::move(most->second);
}

int free_for(const FreeRoom& room, const Job& job) {
  int slots = 0;
  for (const auto& [node, free] : room.open) slots += may_run_on(job, *node) ? free : 0;
  return slots;
}

// Free slots of the room that the plan gives to other jobs which do not have them yet and could take them: to any job
// if the plan gives this job none, else to the jobs before it in the plan's order.
struct PlannedForOthers {
  int slots = 0;
  std::vector<std::string> jobs = {};  // the first of them in the plan's order, for as many slots as are free
};

PlannedForOthers planned_for_others(const ClusterState& state, const Job& job, const FreeRoom& room) {
  PlannedForOthers planned;
  if (!job.planned) return planned;
  const Target& own = job.planned->target;
  std::vector<std::tuple<std::int64_t, JobId, int>> others;  // place in the order, slots
  for (const auto& [id, other] : state.jobs) {
    if (id == job.id || !other->planned || !counts(*other, state.now) || resize_is_blocked(*other, state.now)) continue;
    const Target& target = other->planned->target;
    const bool goes_first = own.size == 0 || std::pair(target.place, id) < std::pair(own.place, job.id);
    const int lacks = (target.size - other->size()) * other->spec.gpus_per_worker;
    const int slots = goes_first && lacks > 0 ? std::min(lacks, free_for(room, *other)) : 0;
    if (slots > 0) others.emplace_back(target.place, id, slots);
  }
  std::sort(others.begin(), others.end());
  for (const auto& [place, id, slots] : others) {
    if (planned.slots >= room.slots - room.closed) break;
    planned.slots += slots;
    planned.jobs.push_back(id.text());
  }
  return planned;
}

constexpr std::size_t kOthersNamed = 3;

// "job-2 and job-3 (before it in line)", "7 jobs before it in line"
std::string jobs_before(const std::vector<std::string>& jobs) {
  if (jobs.size() <= kOthersNamed) return word_series(jobs) + " (before it in line)";
  return counted(static_cast<double>(jobs.size()), "job") + " before it in line";
}

// Free slots left over once each open node holds as many of the job's workers as fit, if too few fit.
int scattered(const FreeRoom& room, const Job& job) {
  if (room.workers >= job.spec.elastic.sizes.front()) return 0;
  return room.slots - room.closed - room.workers * job.spec.gpus_per_worker;
}

constexpr std::size_t kClosedNamed = 3;

std::string other_ones(std::size_t count) {
  return counted(static_cast<double>(count), "other");
}

std::string why_closed(const Node& node) {
  if (node.cordoned) return "cordoned";
  return node.drain ? "being drained" : "unsteady";
}

struct WhyNotTaken {
  int slots = 0;
  std::string words;
};

std::string text_of_causes(int free, const std::vector<WhyNotTaken>& causes) {
  if (causes.size() == 1 && causes.front().slots == free) {
    return (free == 1 ? "the free slot is " : "the " + counted(free, "free slot") + " are ") + causes.front().words;
  }
  std::string text = "of the " + counted(free, "free slot");
  const char* separator = " ";
  for (const WhyNotTaken& cause : causes) {
    text += std::exchange(separator, ", ") + grouped(cause.slots) + (cause.slots == 1 ? " is " : " are ") + cause.words;
  }
  return text;
}

}  // namespace

std::vector<std::string> free_slots_evidence(const ClusterState& state, const Job& job, const Reason& why,
                                             int kept_by_guarantees) {
  const bool waits = counts_free_slots(why) || (kept_by_guarantees > 0 && is_any_of<reason::PriceWait>(why));
  if (!waits || job.state() != JobState::kPending) return {};
  const FreeRoom room = free_room(state, job);
  const int free = room.slots;
  if (free < job.spec.smallest_slots()) return {};
  int left = free;
  std::vector<WhyNotTaken> causes;
  const auto add = [&](int slots, std::string words) {
    slots = std::min(slots, left);
    left -= slots;
    if (slots > 0) causes.push_back({slots, std::move(words)});
  };
  add(room.closed, "on nodes that other jobs have to themselves (placement.exclusive: " +
                       first_words(room.closed_by, kClosedNamed, other_ones) + ")");
  add(kept_of(state, job.spec.tenant, left, kept_by_guarantees), "kept for guarantees that are not lent (rule: lend)");
  const PlannedForOthers planned = planned_for_others(state, job, room);
  add(planned.slots, "kept for " + jobs_before(planned.jobs));
  add(scattered(room, job), "scattered (a worker needs " + counted(job.spec.gpus_per_worker, "slot") + " on one node)");
  if (causes.empty()) return {};
  return {text_of_causes(free, causes)};
}

std::vector<std::string> closed_slots_evidence(const ClusterState& state, const Job& job, const Reason& why) {
  const bool waits = counts_free_slots(why) || is_any_of<reason::PriceWait, reason::MeritWait>(why);
  if (!waits || job.state() != JobState::kPending || has_used_share(state, job.spec.tenant)) return {};
  int slots = 0;
  std::vector<std::string> names;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp || !node.is_closed() || !may_run_on(job, node)) continue;
    const int free = node.slots_free();
    if (free < job.spec.gpus_per_worker) continue;
    slots += free;
    names.push_back(node.name + " (" + why_closed(node) + ")");
  }
  if (names.empty()) return {};
  return {counted(slots, "free slot") + (slots == 1 ? " is on " : " are on ") +
          (names.size() == 1 ? "a node that takes" : "nodes that take") +
          " no new workers: " + first_words(names, kClosedNamed, other_ones)};
}

}  // namespace tidepool::core
