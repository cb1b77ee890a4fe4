#include "core/decide/queue_planner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/id_set.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/decide/type_moves.hpp"
#include "core/words/retelling.hpp"

namespace tidepool::core {
namespace {

// The policy's order, made whole: ids that do not wait or come twice are left out, forgotten ones follow.
std::vector<JobId> queue_of(DecisionDraft& draft, const IdSet<JobId>& pending) {
  IdSet<JobId> left;
  for (const JobId id : pending) {
    if (!is_ending(*draft.state().find_job(id), draft.now())) left.insert(id);
  }
  if (left.empty()) return {};
  std::vector<JobId> queue;
  const ClusterView view{draft.state(), draft.now(), &pending};
  for (const JobId id : draft.default_policy().order(view, draft.budget())) {
    if (left.erase(id) > 0) queue.push_back(id);
  }
  queue.insert(queue.end(), left.begin(), left.end());
  return queue;
}

SizeWish wish_of(DecisionDraft& draft, const Job& job) {
  if (job.pinned_size > 0) {
    return {job.id, job.pinned_size, reason::PinnedByUser{{.size = job.pinned_size}}, {}};
  }
  return draft.policy_of(job).size(draft.view(), job, draft.budget());
}

class Queue {
 public:
  explicit Queue(DecisionDraft& draft)
      : draft_(draft), strict_(draft.default_policy().strict_order()), no_nodes_(draft.state().slots_total() == 0) {}

  void consider(const Job& job) {
    const int slots = job.spec.gpus_per_worker;
    const int min = job.spec.elastic.sizes.front();
    if (no_nodes_) return draft_.find(job, reason::NoNodes{});
    const int needed = min * slots;
    const auto& types = job.spec.slot_types;
    if (draft_.capacity(job) < min) {
      const int cluster = draft_.capacity(job) * slots;
      const reason::NeverFits never{.needed = needed, .cluster = cluster, .typed = !types.empty()};
      return draft_.find(job, Finding{never, {BlockedOn::kClusterSize}});
    }
    const int free = draft_.free_slots().free_of(types);
    if (blocked()) {
      const reason::BehindOlderJob behind{.ahead = waiting_++, .needed = needed, .free = free};
      return draft_.find(job, Finding{behind, {BlockedOn::kQueue}});
    }
    if (too_dear(job)) return;
    const SizeWish wish = wish_of(draft_, job);
    // Whom the policy holds back lets the ones behind it pass, whether there is room or not.
    if (wish.size == 0) return draft_.find(job, wish.reason, weighed(wished(wish)));
    // Who waits for its state holds up nobody behind it: others may use room that does not help it.
    const bool held = waits_for_state(draft_, job).has_value();
    if (!held && start_waiting(draft_, job, wished(wish))) return;
    if (!held) ++waiting_;
    reason::WaitingForSlots lacks{.needed = needed, .free = free};
    if (!held && !types.empty() && !job.spec.scaling.price_cap) lacks.type = make_room(job);
    left_.emplace_back(&job, lacks);
  }

  // Once all slots are handed out: who did not start, and why. Only now it is known who has no room where its state is.
  void tell_left() {
    for (const auto& [job, reason] : left_) {
      const auto held = waits_for_state(draft_, *job);
      draft_.find(*job, held ? *held : Finding{reason, {BlockedOn::kSlots}});
    }
  }

  // So many jobs come next in line of whom nothing else would be said than what was said before: they wait.
  void pass_by(std::size_t jobs) { waiting_ += static_cast<int>(jobs); }

  // Nobody behind may start.
  [[nodiscard]] bool blocked() const { return strict_ && waiting_ > 0; }
  [[nodiscard]] bool waits() const { return !left_.empty() || waiting_ > 0; }

 private:
  // Others leave slots of its types if they may be elsewhere; who is behind it takes nothing of that room. Dearer slots
  // may be all there is, so nobody moves for a job with a cap on its price.
  reason::TypeWait make_room(const Job& job) {
    TypeRoom room = room_of_type(draft_, job, draft_.leavers());
    if (room.coming || !room.movers.empty()) {
      draft_.reserve(move_away(draft_, job, room));
      room = room_of_type(draft_, job, draft_.leavers());
      draft_.free_slots().close(job.spec.slot_types);
    }
    return told_of_room(room, job, draft_.now());
  }

  // A job that no slot is cheap enough for waits without holding up the ones behind it.
  bool too_dear(const Job& job) {
    const auto reason = draft_.above_cap(job, job.spec.elastic.sizes.front());
    if (reason) draft_.find(job, *reason);
    return reason.has_value();
  }

  DecisionDraft& draft_;
  bool strict_;
  bool no_nodes_;
  int waiting_ = 0;                                  // who hold up those behind them in a strict order
  std::vector<std::pair<const Job*, Reason>> left_;  // who could not start, with the reason if it is but for room
};

}  // namespace

void plan_queue(DecisionDraft& draft, const IdSet<JobId>& pending) {
  Queue queue(draft);
  for (const JobId id : queue_of(draft, pending)) queue.consider(*draft.state().find_job(id));
  queue.tell_left();
  draft.set_queue_waits(queue.waits());
}

void plan_queue(DecisionDraft& draft, const WaitingLine& line) {
  using Place = WaitingLine::Place;
  Queue queue(draft);
  const auto fits = [&](const WaitingLine::Need& need) {
    if (draft.usable() < need.workers * need.slots_per_worker) return false;
    return draft.free_slots().room_for(need.slots_per_worker) >= need.workers;
  };
  const auto next = [&](const std::optional<Place>& after) {
    if (queue.blocked()) return line.next_open(after);
    return draft.default_policy().strict_order() ? line.next(after) : line.next_helped(after, fits);
  };
  std::size_t seen = 0;  // in line up to here
  for (std::optional<Place> place = next({}); place; place = next(place)) {
    const std::size_t before = line.before(*place);
    queue.pass_by(before - std::exchange(seen, before + 1));
    const Job& job = *draft.state().find_job(place->second);
    if (!is_ending(job, draft.now())) queue.consider(job);
  }
  queue.pass_by(line.size() - seen);
  queue.tell_left();
  draft.set_queue_waits(queue.waits());
}

int room_to_start(DecisionDraft& draft, const Job& job) {
  const int room = std::min(draft.free_slots().room_for(job), draft.usable() / job.spec.gpus_per_worker);
  return room < job.spec.elastic.sizes.front() ? 0 : room;
}

bool start_waiting(DecisionDraft& draft, const Job& job, const Wished& wish) {
  const int smallest = job.spec.elastic.sizes.front();
  const int slots = job.spec.gpus_per_worker;
  const int room = room_to_start(draft, job);
  if (room == 0) return false;
  const auto batch = static_cast<int>(std::min<std::int64_t>(job.spec.batch.global, wish.size));
  for (int size = allowed_size(job, std::min(batch, room));; size = allowed_size(job, size - 1)) {
    auto gang =
        draft.place_within_cap(job, {size, slots, job.spec.pack_node, {}, {}, holder_of_state(draft.state(), job)});
    if (gang) {
      const Reason reason =
          reason_of_start(wish.reason, start_reason(draft.state(), job, *gang), static_cast<int>(gang->size()));
      draft.conclude(job, StartIntent{job.id, std::move(*gang)}, reason, weighed(wish));
      return true;
    }
    if (size == smallest) return false;
  }
}

int allowed_size(const Job& job, int wish) {
  const auto& sizes = job.spec.elastic.sizes;
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), wish);
  return above == sizes.begin() ? sizes.front() : *std::prev(above);
}

}  // namespace tidepool::core
