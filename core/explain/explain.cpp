#include "core/explain/explain.hpp"

#include <algorithm>

#include "base/calendar.hpp"
#include "base/check.hpp"
#include "core/explain/current_reason.hpp"
#include "core/explain/free_slots_evidence.hpp"
#include "core/explain/notice_evidence.hpp"
#include "core/explain/pool_evidence.hpp"
#include "core/explain/saved_state_evidence.hpp"
#include "core/explain/suggestions.hpp"
#include "core/explain/tenant_evidence.hpp"
#include "core/explain/training_evidence.hpp"
#include "core/explain/type_evidence.hpp"
#include "core/explain/victim_evidence.hpp"
#include "core/explain/wait_bounds.hpp"
#include "core/state/job_state.hpp"
#include "core/state/reason_read.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/adjusted_reason.hpp"
#include "core/words/unblock.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

// Whether `other` comes first: by the order of the plan for the whole cluster, if there is one that includes both; else
// by priority, then by submission.
bool goes_first(const Job& other, const Job& job) {
  if (other.planned && job.planned) return other.planned->target.place < job.planned->target.place;
  if (other.spec.priority != job.spec.priority) return other.spec.priority > job.spec.priority;
  return other.id < job.id;
}

// According to its newest reason, more slots would help it.
bool waits_for_room(const Job& job) {
  return job.state() == JobState::kPending && traits_of(job.verdict.reason).blocks == Blocks::kForLackOfSlots;
}

// Waiting jobs that come first.
void add_ahead(const ClusterState& state, const Job& job, Explanation& out) {
  for (const auto& [id, other] : state.jobs) {
    if (id == job.id || !waits_for_room(*other)) continue;
    // Jobs of other tenants wait in lines of their own.
    if (!state.tenants->empty() && other->spec.tenant != job.spec.tenant) continue;
    if (goes_first(*other, job)) out.ahead.push_back(id);
  }
}

// The stored number is as old as the verdict.
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

// What the policy wants and the engine has not carried out, and its lead over the sizes that lost.
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

// Which job comes first, or none: then no job waits any more, and only the free slots matter.
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

// A policy file gives the job no slots, without a word of its own.
bool is_given_nothing(const ClusterState& state, const Job& job, const Reason& reason) {
  return job.state() == JobState::kPending && state.deployment.active && is_any_of<reason::FixedSize>(reason);
}

// The text for a job that a policy file gives no slots and that keeps its slots nevertheless.
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

// The job's reason is not what the active policy file wants: the file has failed.
void add_failed_rounds(const ClusterState& state, const Job& job, Explanation& out) {
  const PolicyDeployment& deployment = state.deployment;
  if (!deployment.active || deployment.failures == 0 || !job.planned || is_final(job.state())) return;
  const int failures = deployment.failures;
  out.evidence.push_back("policy " + short_name(*deployment.active) + " failed in its newest " +
                         (failures == 1 ? "round" : counted(failures, "round")) +
                         ", so the built-in default decided; its error: schedctl policy status");
}

// A deadline that has passed.
void add_deadline(const ClusterState& state, const Job& job, Explanation& out) {
  if (!job.spec.deadline || is_final(job.state())) return;
  const Instant due = job.submitted_at + *job.spec.deadline;
  if (state.now <= due) return;
  out.evidence.push_back("its deadline has passed: it was " + utc_text(utc_us(state, due) / 1'000'000) + ", " +
                         waiting_time((state.now - due).to_seconds()) + " ago");
}

// A completed change is shown as done: "grew 1 -> 2". A change whose workers were lost before it was done is shown as
// abandoned, until the next decision about the job.
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
           " was abandoned before it was done";
  }
  return text;
}

// Its summary states how its newest lost worker ended.
bool tells_error(const Job& job) {
  return job.state() == JobState::kFailed && !job.recovery.last_error.empty();
}

void add_evidence(const ClusterState& state, const Job& job, Explanation& out) {
  append_new(free_slots_evidence(state, job, out.reason, out.kept_by_guarantees), out.evidence);
  append_new(closed_slots_evidence(state, job, out.reason), out.evidence);
  add_choice(job, out);
  add_failed_rounds(state, job, out);
  add_deadline(state, job, out);
  add_training_evidence(state, job, out.evidence);
  // The loss caused by its own settings is in the summary, and is no loss of a worker that had begun.
  const bool by_settings = job.recovery.misconfigured && job.recovery.restarts == 1;
  if (job.recovery.restarts > 0 && !by_settings) {
    out.evidence.push_back("lost workers " + counted(job.recovery.restarts, "time") + " so far" +
                           (tells_error(job) ? "" : "; newest: " + job.recovery.last_error));
  }
  append_new(notice_evidence(state, job), out.evidence);
  add_saved_state_evidence(state, job, out.evidence);
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
  append_new(budget_evidence(state, job, out.reason), out.evidence);
  append_new(tenant_evidence(state, job, out.kept_by_guarantees), out.evidence);
  append_new(pool_evidence(state, job), out.evidence);
}

}  // namespace

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
    // The plan is as recent as its numbers; a verdict is stored again only when it differs.
    const Target& target = job.planned->target;
    out.chosen = Alternative{target.size, target.score, target.reason};
    out.lost = target.lost;
    if (same_kind(out.reason, target.reason)) {
      const bool is_same = says_the_same(job.verdict.reason, target.reason);
      const reason::Claimants claimants = is_same ? claimants_in(job.verdict.reason) : reason::Claimants{};
      out.reason = with_claimants(refreshed(state, job, target.reason), claimants);
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
