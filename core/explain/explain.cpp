#include "core/explain/explain.hpp"

#include <algorithm>

#include "base/calendar.hpp"
#include "base/check.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/rebalance_planner.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/explain/free_slots_evidence.hpp"
#include "core/explain/notice_evidence.hpp"
#include "core/explain/pool_evidence.hpp"
#include "core/explain/suggestions.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/explain/type_evidence.hpp"
#include "core/explain/victim_evidence.hpp"
#include "core/explain/wait_bounds.hpp"
#include "core/place/domain_wait.hpp"
#include "core/place/node_wait.hpp"
#include "core/place/placement.hpp"
#include "core/provision/node_room.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/reason_read.hpp"
#include "core/state/state_move.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/retelling.hpp"
#include "core/words/unblock.hpp"
#include "core/words/unused_state_words.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

// Where the means say that the one size is faster and the change between them said the other: what that has shown, by
// which policies judge. ", but 24,657 samples/s right after 32,670 samples/s with 1 worker"
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
// What it did on other types of slot is said with their names.
void add_measurements(const Job& job, Explanation& out) {
  const auto tell = [&](const std::map<int, SizeRecord>& sizes, const std::string& where) {
    for (const auto& [size, record] : sizes) {
      out.evidence.push_back(counted(size, "worker") + where + ": " + grouped(record.samples_per_second) +
                             " samples/s over " + counted(static_cast<double>(record.steps), "step") +
                             seen_at_change(sizes, record));
    }
  };
  tell(job.measurements.sizes, "");
  for (const auto& [type, records] : job.measurements.on_other_types) tell(records.sizes, " on " + type);
}

// The mean, how often, and what it was at sizes where that differs: "50 ms on average (3 times), to 4-7 workers 90 ms".
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

void add_transition_costs(const Job& job, Explanation& out) {
  const auto tell = [&](const char* what, const TransitionCost& cost) {
    if (cost.count == 0) return;
    const auto in_ms = [](double ms) { return grouped(ms) + " ms"; };
    out.evidence.push_back(std::string(what) + " has paused it for " +
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
  out.evidence.push_back("its workers have booted in " + cost_in_words(boot.mean_ms, boot.count, boot.by_size, in_s));
}

// Only its node knows whether a state has come from there into the job's checkpoint folder yet.
std::string place_of_state(const ClusterState& state, const Job& job, const SavedState& kept) {
  const Node* node = state.find_node(kept.node);
  const bool has_folder = !job.spec.checkpoint.dir.empty();
  if (node == nullptr) {
    return has_folder ? " was written on a node that is gone; it goes on from it if it is in its checkpoint folder"
                      : " was kept on a node that is gone";
  }
  if (!has_folder) return " is kept on node " + node->name;
  return " is kept in its checkpoint folder, or by node " + node->name + " until it is there";
}

// What a job that holds nothing would go on from.
void add_kept_state(const ClusterState& state, const Job& job, Explanation& out) {
  if (job.state() != JobState::kPending && job.state() != JobState::kSuspended) return;
  if (job.spec.resize == ResizeMode::kRestart) {
    if (job.started_at) out.evidence.push_back("its program goes on from its own newest checkpoint");
    return;
  }
  const std::size_t away = job.membership.on_lost_nodes.size();
  if (away > 0) {
    out.evidence.push_back(counted(static_cast<double>(away), "worker") +
                           " of it may still train on nodes that are away; it goes on with " +
                           (away == 1 ? "it" : "them") + " if the nodes are back before it starts elsewhere");
  }
  const SavedState* kept = newest_kept(job);
  if (kept == nullptr) {
    if (job.progress.step > 0 && away == 0) out.evidence.push_back("nothing of it is kept; it would begin anew");
    return;
  }
  out.evidence.push_back("its state of step " + grouped(static_cast<double>(kept->step)) +
                         place_of_state(state, job, *kept));
}

// The run began behind a state that had been saved: its workers found none that fits, or only an older one.
void add_unused_state(const Job& job, Explanation& out) {
  const Membership& now = job.membership;
  if (job.state() != JobState::kRunning || !now.switched || now.commit.from_size != 0 || now.switch_step < 1) return;
  const SavedState* kept = newest_kept(job);
  if (kept != nullptr && kept->at > now.commit.at) return;
  const std::string from = "it started from step " + grouped(static_cast<double>(now.switch_step - 1)) + ": ";
  const auto& found = now.unused_state;
  if (found && found->step >= now.switch_step && (kept == nullptr || found->step >= kept->step)) {
    out.evidence.push_back(from + sentence(*found));
    return;
  }
  if (kept == nullptr || kept->step < now.switch_step) return;
  out.evidence.push_back(from + "its workers did not find or could not use its saved state of step " +
                         grouped(static_cast<double>(kept->step)) +
                         ". Their logs say why; a state of another program or of other data does not fit: if these "
                         "have changed, put back what saved it, then suspend and resume the job to go on from it");
}

void add_failed_checkpoints(const Job& job, Explanation& out) {
  const auto& failure = job.recovery.checkpoint_failure;
  if (!failure || is_final(job.state())) return;
  const std::string row =
      failure->times == 1 ? "its newest checkpoint" : "its newest " + grouped(double(failure->times)) + " checkpoints";
  const auto& good = job.recovery.checkpoint;
  out.evidence.push_back(row + " could not be taken (" + failure->detail + "); " +
                         (good ? "the newest on disk is of step " + grouped(double(good->step)) : "none is on disk"));
}

// One line a slow worker, with what is held against it.
void add_stragglers(const ClusterState& state, const Job& job, Explanation& out) {
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->track.slow_steps == 0) continue;
    const StragglerTrack& track = worker->track;
    const Diagnosis diagnosis = diagnose(state, *worker);
    out.evidence.push_back(id.text() + " has computed at " + percent(track.score) + " of the others' speed for " +
                           counted(static_cast<double>(track.slow_steps), "step") + " (" + track.detector + ", bar " +
                           percent(track.bar) + "): " + decimal(track.waited_s) +
                           " slot-seconds of waiting; the cause lies in: " + std::string(to_text(diagnosis.follows)));
    if (job.size() < 2) continue;
    out.evidence.push_back("a smaller share for it would cost " + decimal(cost_of_rebalancing(job)) +
                           " slot-seconds, replacing it " + decimal(cost_of_replacing(job)) +
                           " slot-seconds, shrinking " + decimal(cost_of_shrinking(job)) + " slot-seconds");
  }
}

// One line a worker with less than a full share, with what its slowness still costs.
void add_eased(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [id, rebalanced] : job.shares.rebalanced) {
    const auto speed = eased_speed(state, job, id);
    out.evidence.push_back(id.text() + " has " + percent(static_cast<double>(rebalanced.weight) / kFullShare) +
                           " of a full share" +
                           (speed ? " and computes at " + percent(*speed) + " of the others' speed" : "") +
                           "; its slowness has cost " + decimal(rebalanced.lost_s) +
                           " slot-seconds, a replacement costs " + decimal(cost_of_replacing(job)) + " slot-seconds");
  }
}

// Whether `other` goes first: in the order of the plan for the whole cluster, if there is one that counts with both;
// else by priority, then by submission.
bool goes_first(const Job& other, const Job& job) {
  if (other.planned && job.planned) return other.planned->target.place < job.planned->target.place;
  if (other.spec.priority != job.spec.priority) return other.spec.priority > job.spec.priority;
  return other.id < job.id;
}

// Slots would help it, by what was said of it last.
bool waits_for_room(const Job& job) {
  return job.state() == JobState::kPending && traits_of(job.verdict.reason).blocks == Blocks::kForLackOfSlots;
}

// Jobs that wait and go first.
void add_ahead(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [id, other] : state.jobs) {
    if (id == job.id || !waits_for_room(*other)) continue;
    // Jobs of other tenants stand in lines of their own.
    if (!state.tenants->empty() && other->spec.tenant != job.spec.tenant) continue;
    if (goes_first(*other, job)) out.ahead.push_back(id);
  }
}

// The number that was told is as old as the verdict.
void count_ahead(const Job& job, Explanation& out) {
  const bool is_counted = is_any_of<reason::BehindOlderJob>(out.reason) && !job.planned;
  if (!is_counted || out.ahead.empty()) return;
  visit_reason(
      [&]<class R>(R& why) {
        if constexpr (std::is_same_v<R, reason::BehindOlderJob>) why.ahead = static_cast<int>(out.ahead.size());
      },
      out.reason);
  out.summary = sentence(out.reason);
}

// What the policy wants and the engine has not carried out, and by how much it is ahead of what lost.
void add_choice(const Job& job, Explanation& out) {
  if (!out.chosen || is_final(job.state())) return;
  const Alternative& chosen = *out.chosen;
  const ReasonCategory category = traits_of(out.reason).category;
  const bool held_back = category == ReasonCategory::kWaiting || category == ReasonCategory::kPolicy ||
                         category == ReasonCategory::kHolding;
  if (held_back && chosen.size != job.size() && chosen.size > 0 && !same_kind(chosen.reason, out.reason)) {
    out.evidence.push_back("its policy wants " + counted(chosen.size, "worker") + " for it");
  }
  if (const std::string scores = scores_of(chosen, out.lost); !scores.empty()) out.evidence.push_back(scores);
}

// Which job comes first, or none: then no job waits any more, and only the free slots tell.
void name_first(const ClusterState& state, const Job& job, Reason& reason) {
  visit_reason(
      [&]<class R>(R& why) {
        if constexpr (std::is_same_v<R, reason::NoSlotsToGrow>) {
          if (!why.queue) return;
          const Job* first = nullptr;
          for (const auto& [id, other] : state.jobs) {
            if (id == job.id || !waits_for_room(*other)) continue;
            if (first == nullptr || goes_first(*other, *first)) first = &*other;
          }
          why.queue = first != nullptr;
          if (first != nullptr) why.first = first->id;
        }
      },
      reason);
}

// A policy file that gives a job nothing without a word of its own.
bool is_given_nothing(const ClusterState& state, const Job& job, const Reason& reason) {
  return job.state() == JobState::kPending && state.deployment.active && is_any_of<reason::FixedSize>(reason);
}

// What a policy file says of a job that it gives nothing and that keeps its slots all the same.
const reason::PolicyWord* word_on_unclaimed(const Job& job, const Reason& reason) {
  const bool keeps = is_any_of<reason::Unclaimed>(reason) && job.planned && job.planned->target.size == 0;
  return keeps ? reason_as<reason::PolicyWord>(job.planned->target.reason) : nullptr;
}

void add_policy_file(const ClusterState& state, const Job& job, Explanation& out) {
  if (!state.deployment.active) return;
  std::erase_if(out.advice, [](const Advice& each) { return each.by_priority; });
  const auto* word = word_on_unclaimed(job, out.reason);
  if (word == nullptr && !is_given_nothing(state, job, out.reason)) return;
  const std::string file = short_name(*state.deployment.active);
  out.summary = word == nullptr
                    ? "waits: policy " + file + ", which decides, gives it no slots"
                    : "keeps " + counted(job.size(), "worker") + ": policy " + file + " gives it none and says " +
                          policy_words(word->word, word->numbers) + ", but no other job takes its slots now";
  out.advice = {advice_for_admin("change what the policy answers for it: schedctl policy activate PATH"),
                advice_for_admin("have the policy before it decide again: schedctl policy rollback")};
}

// A deadline that has passed.
void add_deadline(const ClusterState& state, const Job& job, Explanation& out) {
  if (!job.spec.deadline || is_final(job.state())) return;
  const Instant due = job.submitted_at + *job.spec.deadline;
  if (state.now <= due) return;
  out.evidence.push_back("its deadline has passed: it was " + utc_text(utc_us(state, due) / 1'000'000) + ", " +
                         waiting_time((state.now - due).to_seconds()) + " ago");
}

// What has been carried out reads as done: "grew 1 -> 2". A change whose workers were lost before it was done reads as
// given up, until the job is decided about again.
std::string told(const Job& job, const Reason& reason) {
  std::string text = sentence(reason);
  const auto to = visit_reason(
      [](const auto& any) -> std::optional<int> {
        if constexpr (requires { any.to; }) return any.to;
        return std::nullopt;
      },
      reason);
  if (!to || job.state() != JobState::kRunning || job.phase.transition()) return text;
  for (const auto& [now, then] :
       {std::pair("growing ", "grew "), std::pair("shrinking ", "shrank "), std::pair("going ", "went ")}) {
    if (!text.starts_with(now)) continue;
    if (*to == job.size()) return then + text.substr(std::string_view(now).size());
    return "keeps " + counted(job.size(), "worker") + ": its change to " + counted(*to, "worker") +
           " was given up before it was done";
  }
  return text;
}

// The fields that change with every step or second, as they are now.
class Refresh {
 public:
  Refresh(const ClusterState& state, const Job& job) : state_(state), job_(job) {}

  void operator()(reason::Cooldown& why) const {
    if (!job_.last_resize_at) return;
    const auto held = job_.recovery.shrunk_for_straggler ? next_replacement(job_) : std::nullopt;
    why.left = until(*job_.last_resize_at + job_.spec.elastic.cooldown);
    if (held) why.left = std::max(why.left, until(*held));
  }
  void operator()(reason::WaitsForState& why) const {
    if (const auto ends = state_wait_ends(job_)) why.left = until(*ends);
  }
  void operator()(reason::MinRuntime& why) const {
    if (job_.last_start_at) why.left = until(*job_.last_start_at + job_.spec.elastic.min_runtime);
  }
  void operator()(reason::EndsSoon& why) const {
    if (const auto end = expected_end(job_)) why.left = until(*end);
  }
  void operator()(reason::Measuring& why) const {
    if (!why.steps) return;
    const auto record = job_.measurements.sizes.find(job_.size());
    const std::int64_t seen = record == job_.measurements.sizes.end() ? 0 : record->second.steps;
    why.steps = std::min(std::max(seen, *why.steps), why.of.value_or(seen));
  }
  void operator()(reason::WaitingForNodes& why) const { tell_nodes(nodes_asked_for(state_, job_), why); }
  void operator()(reason::WaitingForDomains& why) const { why = waits_by_rules(state_, FreeSlots(state_), job_, true); }
  void operator()(reason::DomainsTooSmall& why) const { why = domains_too_small(state_, job_, true); }
  void operator()(reason::StragglerEased& why) const {
    if (!slow_now(why)) return;
    why.share = static_cast<double>(share_of(job_, why.worker)) / static_cast<double>(kFullShare);
  }
  void operator()(reason::StragglerRebalanced&) const {}
  void operator()(reason::SuspendedByUser& why) const {
    why.resumes = job_.state() == JobState::kSuspending && !job_.requests.suspend;
  }
  void operator()(reason::NoSlotsToGrow& why) const { tell_free(state_, job_, why); }
  void operator()(reason::BeyondGuarantee& why) const {
    if (const Tenant* tenant = state_.tenants->find(why.word)) why.guarantee = tenant->guarantee;
  }
  template <class R>
  void operator()(R& why) const {
    if constexpr (std::is_base_of_v<reason::SlowWorker, R>) (void)slow_now(why);
    if constexpr (std::is_base_of_v<reason::OfDrain, R>) drain_now(why);
    if constexpr (requires { drain_now(why.drain); }) drain_now(why.drain);
    if constexpr (requires { why.needed, why.free = 0; }) why.free = free();
  }

 private:
  [[nodiscard]] Duration until(Instant when) const { return std::max(Duration(), when - state_.now); }
  // Of a drain that has been cancelled what was told stays.
  void drain_now(reason::OfDrain& why) const {
    const Node* node = state_.find_node(why.node);
    if (node != nullptr && node->drain) why.left = until(node->drain->deadline);
  }
  // False if the worker is slow no more; then what was told stays.
  bool slow_now(reason::SlowWorker& why) const {
    const Worker* worker = state_.find_worker(why.worker);
    if (worker == nullptr || (worker->track.slow_steps == 0 && !job_.shares.rebalanced.contains(why.worker)))
      return false;
    why = slow_worker(state_, *worker, why.cost_s);
    return true;
  }
  [[nodiscard]] int free() const { return slots_free_for(state_, job_); }

  const ClusterState& state_;
  const Job& job_;
};

// Names the share of the job's tenant, if that and not the job's own maximum is what binds.
Reason bound_by_share(const ClusterState& state, const Job& job, Reason reason) {
  if (!is_any_of<reason::AtMax, reason::NoSlotsToGrow>(reason) || job.size() >= job.spec.elastic.sizes.back())
    return reason;
  if (is_any_of<reason::NoSlotsToGrow>(reason) && !has_used_share(state, job.spec.tenant)) return reason;
  const auto share = binding_share(state, job.spec.tenant);
  if (!share) return reason;
  return reason::ShareHold{.size = job.size(), .share = *share, .word = job.spec.tenant};
}

// What the pool has too little of, as it is now. Where it has enough again, the next decision says so.
Reason sized_now(const ClusterState& state, const Job& job, Reason reason) {
  const bool is_of_pool = is_any_of<reason::NeverFits, reason::NoNodeMatches, reason::NodesDrain>(reason);
  if (!is_of_pool || job.state() != JobState::kPending) return reason;
  const int workers = empty_cluster_capacity(state, job);
  if (workers >= job.spec.elastic.sizes.front()) return reason;
  return never_fits(state, job, workers * job.spec.gpus_per_worker, !job.spec.slot_types.empty());
}

Reason refreshed(const ClusterState& state, const Job& job, Reason reason) {
  const Refresh refresh(state, job);
  visit_reason(refresh, reason);
  reason = sized_now(state, job, std::move(reason));
  return bound_by_share(state, job, told_of_wait(state, job, std::move(reason)));
}

// Its summary says how its newest lost worker ended.
bool tells_error(const Job& job) {
  return job.state() == JobState::kFailed && !job.recovery.last_error.empty();
}

void add_evidence(const ClusterState& state, const Job& job, Explanation& out) {
  append_new(free_slots_evidence(state, job, out.reason, out.kept_by_guarantees), out.evidence);
  append_new(closed_slots_evidence(state, job, out.reason), out.evidence);
  add_choice(job, out);
  add_deadline(state, job, out);
  add_measurements(job, out);
  add_transition_costs(job, out);
  add_stragglers(state, job, out);
  add_eased(state, job, out);
  // The one that its own settings ended is the summary's, and no loss of a worker that had begun.
  const bool by_settings = job.recovery.misconfigured && job.recovery.restarts == 1;
  if (job.recovery.restarts > 0 && !by_settings) {
    out.evidence.push_back("lost workers " + counted(job.recovery.restarts, "time") + " so far" +
                           (tells_error(job) ? "" : "; newest: " + job.recovery.last_error));
  }
  append_new(notice_evidence(state, job), out.evidence);
  add_kept_state(state, job, out);
  add_unused_state(job, out);
  add_failed_checkpoints(job, out);
  if (!is_final(job.state())) {
    append_new(evidence_of_rules(state, job), out.evidence);
    append_new(evidence_of_price_cap(state, job), out.evidence);
  }
  if (job.state() == JobState::kPending) {
    const std::vector<std::string> types = evidence_of_types(state, job);
    out.evidence.insert(out.evidence.end(), types.begin(), types.end());
    append_new(evidence_of_one_type(state, job), out.evidence);
    add_ahead(state, job, out);
    count_ahead(job, out);
  }
  append_new(victim_evidence(state, job), out.evidence);
  append_new(bound_job_evidence(state, job), out.evidence);
  append_new(tenant_evidence(state, job, out.kept_by_guarantees), out.evidence);
  append_new(pool_evidence(state, job), out.evidence);
}

}  // namespace

Reason current_reason(const ClusterState& state, const Job& job) {
  return refreshed(state, job, job.verdict.reason);
}

bool cannot_start(const Job& job, const Reason& why) {
  if (job.state() != JobState::kPending) return false;
  const auto* never = reason_as<reason::NeverFits>(why);
  if (never != nullptr) return never->with_pools.value_or(0) < never->needed;
  const auto* small = reason_as<reason::DomainsTooSmall>(why);
  if (small != nullptr) return small->with_pools.value_or(0) < small->needed;
  return is_any_of<reason::NoNodeMatches>(why);
}

Explanation explain(const ClusterState& state, JobId id) {
  const Job* job = state.find_job(id);
  TP_CHECK(job != nullptr, "a job that is explained exists");
  return explain(state, *job);
}

Explanation explain(const ClusterState& state, const Job& job) {
  Explanation out;
  out.reason = current_reason(state, job);
  out.lost = job.verdict.lost;
  out.chosen = job.verdict.chosen;
  if (job.planned && !job.planned->target.lost.empty()) {
    // The plan is as new as the numbers in it; a verdict is stored anew only when it says something else.
    const Target& target = job.planned->target;
    out.chosen = Alternative{target.size, target.score, target.reason};
    out.lost = target.lost;
    if (same_kind(out.reason, target.reason)) {
      const bool is_same = says_the_same(job.verdict.reason, target.reason);
      const reason::Claimants claimants = is_same ? claimants_in(job.verdict.reason) : reason::Claimants{};
      out.reason = told_for(refreshed(state, job, target.reason), claimants);
    }
  }
  if (out.chosen) out.chosen->reason = refreshed(state, job, out.chosen->reason);
  name_first(state, job, out.reason);
  const bool judged = static_cast<bool>(job.verdict.job);
  out.summary = judged ? told(job, out.reason) : "submitted; the next decision will place it";
  if (judged && is_any_of<reason::WaitingForSlots>(out.reason)) out.summary += share_waited_for(state, job);
  if (tells_error(job)) out.summary += ": " + job.recovery.last_error;
  if (tells_error(job) && job.recovery.misconfigured) {
    out.summary += "; its output, if there is any: schedctl logs " + job.id.text();
  }
  out.kept_by_guarantees = slots_kept_by_guarantees(state, job);
  add_evidence(state, job, out);
  if (judged && !is_final(job.state())) add_unblocks(state, job, out);
  if (judged) add_policy_file(state, job, out);
  return out;
}

}  // namespace tidepool::core
