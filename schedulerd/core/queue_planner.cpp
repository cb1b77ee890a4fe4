#include "schedulerd/core/queue_planner.hpp"

#include <algorithm>

#include "schedulerd/core/parking_facts.hpp"
#include "schedulerd/core/transition_planner.hpp"

namespace tidepool::core {
namespace {

// The policy's order, made whole: ids that do not wait or come twice are left out, forgotten ones follow.
std::vector<JobId> queue_of(DecisionDraft& draft, const std::set<JobId>& pending) {
  std::set<JobId> left;
  for (const JobId id : pending) {
    if (!is_ending(*draft.state().find_job(id), draft.now())) left.insert(id);
  }
  if (left.empty()) return {};
  std::vector<JobId> queue;
  for (const JobId id : draft.default_policy().order(draft.view(), draft.budget())) {
    if (left.erase(id) > 0) queue.push_back(id);
  }
  queue.insert(queue.end(), left.begin(), left.end());
  return queue;
}

// Where a start finds what the job had kept; none if every node does, or none.
NodeId holder_of_state(const ClusterState& state, const Job& job) {
  if (job.spec.shared_checkpoints) return {};
  if (job.spec.resize == ResizeMode::kRestart) {
    return state.find_node(job.incarnation.home) != nullptr ? job.incarnation.home : NodeId();
  }
  const KeptState* newest = newest_kept(job);
  return newest != nullptr && state.find_node(newest->node) != nullptr ? newest->node : NodeId();
}

SizeWish wish_of(DecisionDraft& draft, const Job& job) {
  if (job.pinned_size > 0) return {job.id, job.pinned_size, {}, {}};
  return draft.policy_of(job).size(draft.view(), job, draft.budget());
}

class Queue {
 public:
  explicit Queue(DecisionDraft& draft)
      : draft_(draft), strict_(draft.default_policy().strict_order()), no_nodes_(draft.state().slots_total() == 0) {}

  void consider(const Job& job) {
    const int slots = job.spec.gpus_per_worker;
    const int min = job.spec.elastic.sizes.front();
    if (no_nodes_) return draft_.find(job, {ReasonCode::kNoNodes, {}});
    const auto needed = static_cast<double>(min) * slots;
    if (draft_.capacity(slots) < min) {
      const auto cluster = static_cast<double>(draft_.capacity(slots)) * slots;
      return draft_.find(job, {ReasonCode::kNeverFits, {{"needed", needed}, {"cluster", cluster}}});
    }
    const auto free = static_cast<double>(draft_.free_slots().free());
    if (strict_ && waiting_ > 0) {
      const Reason reason{ReasonCode::kBehindOlderJob,
                          {{"ahead", static_cast<double>(waiting_++)}, {"needed", needed}, {"free", free}}};
      return draft_.find(job, reason);
    }
    if (too_dear(job)) return;
    const SizeWish wish = wish_of(draft_, job);
    // Whom the policy holds back lets the ones behind it pass, whether there is room or not.
    if (wish.size == 0) return draft_.find(job, wish.reason, wish.lost);
    if (start(job, wish)) return;
    ++waiting_;
    draft_.find(job, {ReasonCode::kWaitingForSlots, {{"needed", needed}, {"free", free}}});
  }

  [[nodiscard]] bool waits() const { return waiting_ > 0; }

 private:
  // A job that no slot is cheap enough for waits without holding up the ones behind it.
  bool too_dear(const Job& job) {
    const auto reason = draft_.above_cap(job, job.spec.elastic.sizes.front());
    if (reason) draft_.find(job, *reason);
    return reason.has_value();
  }

  // At the largest allowed size up to the wish that there is room for and that the price cap allows.
  bool start(const Job& job, const SizeWish& wish) {
    const int smallest = job.spec.elastic.sizes.front();
    const int room = draft_.free_slots().room_for(job.spec.gpus_per_worker);
    if (room < smallest) return false;
    const auto batch = static_cast<int>(std::min<std::int64_t>(job.spec.batch.global, wish.size));
    for (int size = allowed_size(job, std::min(batch, room));; size = allowed_size(job, size - 1)) {
      auto gang = draft_.place_within_cap(
          job, {size, job.spec.gpus_per_worker, job.spec.pack_node, {}, {}, holder_of_state(draft_.state(), job)});
      if (gang) {
        const ReasonCode code = job.last_start_at ? ReasonCode::kResumed : ReasonCode::kStarted;
        const Reason reason{code, {{"size", static_cast<double>(size)}}};
        draft_.conclude(job, StartIntent{job.id, std::move(*gang)}, reason, wish.lost);
        return true;
      }
      if (size == smallest) return false;
    }
  }

  DecisionDraft& draft_;
  bool strict_;
  bool no_nodes_;
  int waiting_ = 0;
};

}  // namespace

void plan_queue(DecisionDraft& draft, const std::set<JobId>& pending) {
  Queue queue(draft);
  for (const JobId id : queue_of(draft, pending)) queue.consider(*draft.state().find_job(id));
  draft.set_queue_waits(queue.waits());
}

int allowed_size(const Job& job, int wish) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), wish);
  return above == sizes.begin() ? sizes.front() : *std::prev(above);
}

}  // namespace tidepool::core
