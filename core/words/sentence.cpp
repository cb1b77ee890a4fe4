// Each reason as a sentence: one function a struct, found by its type.
#include <cmath>
#include <string_view>

#include "base/calendar.hpp"
#include "base/overloaded.hpp"
#include "core/state/measured/node_speed.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/drain_words.hpp"
#include "core/words/ending_words.hpp"
#include "core/words/measure.hpp"
#include "core/words/placement_words.hpp"
#include "core/words/provision_words.hpp"
#include "core/words/sentence.hpp"
#include "core/words/straggler_words.hpp"
#include "core/words/wording.hpp"
#include "core/words/worker_words.hpp"

namespace tidepool::core {
namespace reason {
namespace {

using measure::Step;

std::string workers(int count) {
  return counted(count, "worker");
}
std::string slots(int count) {
  return counted(count, "slot");
}
std::string time(Duration duration) {
  return waiting_time(duration.to_seconds());
}
std::string whole(std::int64_t number) {
  return grouped(static_cast<double>(number));
}
std::string from_to(const Change& change) {
  return grouped(change.from) + " -> " + grouped(change.to);
}
std::string growing(const Change& change) {
  return "growing " + from_to(change);
}
std::string shrinking(const Change& change) {
  return "shrinking " + from_to(change);
}

// "none is free", "1 is free", "3 are free"
std::string are_free(int free) {
  return free == 0 ? "none is free" : grouped(free) + (free == 1 ? " is free" : " are free");
}
// "none of type alpha is free", "1 of type alpha is free"
std::string none_or_few(int free, const std::string& of_type) {
  return (free == 0 ? "none" : grouped(free)) + (of_type.empty() ? " that it may have" : of_type) +
         (free < 2 ? " is free" : " are free");
}
// The same if that many are waited for.
std::string are_free_for(int free, int wanted) {
  return are_free(free) + (free > 0 && free >= wanted ? ", but scattered or kept for others" : "");
}

// "a third worker", "2 more workers"
std::string more_workers(int from, int to) {
  const int more = to - from;
  return more == 1 ? an_ordinal(to) + " worker" : counted(more, "more worker");
}

// " (26.4 k -> 25.1 k samples/s)", if both are known and differ.
std::string throughputs(const Efficiency& by) {
  const double throughput = by.throughput.value_or(0);
  const double next = by.next_throughput.value_or(0);
  const Compared both = compared(throughput, next, NumberStyle::kThousands);
  if (both.alike || next <= 0 || next >= throughput) return "";
  return " (" + both.left + " -> " + both.right + " samples/s)";
}

// --- why a job waits ----------------------------------------------------------------------------

std::string text_of(const WaitingForSlots& why) {
  const std::string waits = "waits for " + slots(why.needed);
  if (!why.type) return waits + "; " + are_free_for(why.free, why.needed);
  std::string text = waits + " of a type that it asks for; " + are_free_for(why.free, why.needed);
  const int movers = why.type->movers;
  if (movers > 0) {
    return text + "; " + workers(movers) + " that may be elsewhere " + (movers == 1 ? "holds" : "hold") +
           " such slots, and " + (movers == 1 ? "moves" : "move") +
           " when there is room elsewhere and waiting has cost as much as moving: " + decimal(why.type->cost_s) +
           " slot-seconds";
  }
  return why.type->holder ? text + "; " + why.type->holder.text() + " holds most of the others" : text;
}

std::string text_of(const PreemptsLater& why) {
  return "waits for " + slots(why.needed) + "; " + are_free_for(why.free, why.needed) + "; it has waited since " +
         utc_clock_text(why.since_unix) + ", and other jobs may be preempted for it from " +
         utc_clock_text(why.from_unix) + " on";
}

// "job-4 was preempted 3 times within the last 1 h, which is the limit"
std::string often_text(const std::string& subject, int limit, Duration window) {
  return subject + " preempted " + counted(limit, "time") + " within the last " + time(window) + ", which is the limit";
}
std::string text_of(const PreemptionLimit& why) {
  const std::string waits = "waits for " + slots(why.needed) + "; " + are_free_for(why.free, why.needed) + "; ";
  if (why.job) {
    return waits + often_text(why.job.text() + " was", why.limit, why.window) + "; it may be preempted again at " +
           utc_clock_text(why.again_unix);
  }
  return waits + often_text("jobs were", why.limit, why.window) + "; one may be preempted for it at " +
         utc_clock_text(why.again_unix);
}

std::string text_of(const PreemptionRefused& why) {
  return "waits for " + slots(why.needed) + "; " + are_free_for(why.free, why.needed) + "; " + why.job.text() +
         " refuses to leave; it may be asked again at " + utc_clock_text(why.again_unix);
}
std::string text_of(const NodesBeingCleared& why) {
  const std::string leave = "; workers of other jobs are moving off nodes for it";
  if (!why.word.empty()) return "waits for " + slots(why.workers * why.slots_each) + " " + in_domain(why.word) + leave;
  const std::string each = slots(why.slots_each) + " on one node";
  const std::string those = why.group ? grouped(why.workers) + " groups" : workers(why.workers);
  return "waits for " + each + (why.workers == 1 ? "" : " for each of its " + those) + leave;
}
// What there would be if pools created all nodes that they still may.
std::string with_pools(const NeverFits& why) {
  return why.with_pools ? ", and for " + grouped(*why.with_pools) + " with all nodes that its pools may have" : "";
}
std::string text_of(const NeverFits& why) {
  if (why.with_pools.value_or(0) >= why.needed) {
    return "waits for nodes: it needs " + slots(why.needed) + ", and those that are there have room for " +
           grouped(why.cluster) + "; with all that its pools may have there is room for " + grouped(*why.with_pools);
  }
  if (why.each && why.largest) {
    const std::string of_type = why.typed ? " of a type that it asks for" : "";
    return std::string("cannot start: ") + (why.needed > *why.each ? "each of its workers" : "its worker") + " needs " +
           slots(*why.each) + " on one node, and the largest node" + of_type + " has " + grouped(*why.largest);
  }
  const std::string needs = "cannot start: it needs " + slots(why.needed);
  if (why.typed) {
    return needs + " of a type that it asks for, and the whole cluster has " + grouped(why.cluster) + " of these" +
           with_pools(why);
  }
  if (!why.word.empty()) {
    return needs + " of one type, and the cluster has room for " + grouped(why.cluster) + " of type " + why.word +
           " at most" + with_pools(why);
  }
  return needs + ", and the whole cluster has room for " + grouped(why.cluster) + with_pools(why);
}

std::string text_of(const BeyondGuarantee& why) {
  return "waits: it would keep " + slots(why.needed) + " permanently, and other jobs already keep " +
         grouped(why.held) + " of the " + grouped(why.guarantee) + " that tenant " + why.word + " is guaranteed";
}

std::string text_of(const BudgetSpent& why) {
  return "waits: " + spent_text(why);
}
std::string text_of(const BudgetStopped& why) {
  return "stopped: " + spent_text(why);
}
std::string text_of(const BudgetShrunk& why) {
  return "has its smallest size: " + spent_text(why);
}

std::string text_of(const BehindOlderJob& why) {
  return "waits behind " + counted(why.ahead, "job") + " in the queue; it needs " + slots(why.needed) + ", " +
         are_free(why.free);
}
std::string text_of(const SuspendedByUser& why) {
  return why.resumes
             ? "is still releasing its slots after a suspend and was resumed since: it continues once they are released"
             : "suspended on request";
}
std::string text_of(const NoNodes& why) {
  if (!why.coming) return "waits: no node has joined, or all are lost";
  const int coming = *why.coming;
  if (coming == 0) return "waits for a node of pool " + why.word + ", which has failed to make one";
  return "waits for " + (coming == 1 ? "a node" : counted(coming, "node")) + " of pool " + why.word +
         (coming == 1 ? ", which is" : ", which are") + " on the way";
}
std::string text_of(const PolicyFailed&) {
  return "waits: its policy failed before it gave the job a size";
}
std::string text_of(const WaitsForState& why) {
  return "waits for room on " + why.node.text() + ", where its state of step " + whole(why.step) + " is, for at most " +
         time(why.left) + "; without it " + time(why.redo) + " of training would be done again";
}

// Of the jobs whose slots it would need, the one that gains least from them; none unless that job gains more.
JobId rival_in(const Market& market) {
  return market.rival_worth.value_or(0) > market.worth ? market.rival.value_or(JobId()) : JobId();
}

std::string text_of(const PriceWait& why) {
  const std::string waits = "waits for " + slots(why.needed) + ": ";
  const JobId rival = rival_in(why.market);
  if (!rival) return waits + "other jobs come first";
  return waits + "the jobs that hold slots gain more from them, " + rival.text() + " the least";
}

// A measure of the policy's own: only whether it was enough is shown.
bool is_too_little(const Judgement& by) {
  const auto* merit = std::get_if<ByMerit>(&by);
  return merit != nullptr && merit->merit < merit->asked;
}

std::string text_of(const MeritWait& why) {
  const std::string by =
      measure::clause(why.by, {.step = Step::kWaits, .next = why.needed, .free = why.free.value_or(0)});
  if (!by.empty()) return "waits" + by;
  return is_too_little(why.by) ? "waits: by its policy's measure starting it brings too little"
                               : "waits: too few slots are free for it";
}

std::string lost_deadline(const DeadlineLost& why) {
  const double late = why.late_s.value_or(-1);
  if (late < 0) return "it can no longer end by its deadline, with any number of slots";
  if (late == 0) return "it could end by its deadline only if others missed theirs";
  if (why.alone_late_s.value_or(0) == 0) {
    return "with the slots promised to other jobs it cannot end by its deadline, but " + waiting_time(late) + " later";
  }
  return "it can no longer end by its deadline, but " + waiting_time(late) + " later";
}
std::string text_of(const DeadlineLost& why) {
  return "waits: " + lost_deadline(why) + "; without a promise it starts when there is room";
}

std::string text_of(const TurnWait& why) {
  return "waits for " + slots(why.needed) + "; " + are_free_for(why.free, why.needed) +
         measure::clause(why.by, {.step = Step::kWaits, .ahead = why.ahead.value_or(0)});
}

// --- what a policy file says --------------------------------------------------------------------

std::string text_of(const AwaitsPolicy& why) {
  return (why.size > 0 ? "keeps " + workers(why.size) : std::string("waits")) +
         ": the policy has not said yet what it should have";
}

std::string text_of(const PolicyWord& why) {
  const std::string says = ": its policy says " + policy_words(why.word, why.numbers);
  if (why.from == 0) return (why.to == 0 ? std::string("waits") : "started with " + workers(why.to)) + says;
  if (why.from == why.to) return "keeps " + workers(why.to) + says;
  return (why.to > why.from ? "growing " : "shrinking ") + grouped(why.from) + " -> " + grouped(why.to) +
         for_claimants({.for_job = why.for_job, .for_others = why.for_others, .rule = why.rule}) + says;
}

// --- why a size is held -------------------------------------------------------------------------

std::string text_of(const Measuring& why) {
  return "measuring this size: " + whole(why.steps.value_or(0)) + " of " + whole(why.of.value_or(0)) + " steps seen";
}
std::string text_of(const Cooldown& why) {
  return "keeps its size for now: the cooldown ends in " + time(why.left);
}
std::string text_of(const MinRuntime& why) {
  return "keeps its size for now: its minimum run time ends in " + time(why.left);
}
std::string text_of(const EndsSoon& why) {
  return "keeps its slots: it ends in about " + time(why.left) + ", sooner than it could be started again";
}
std::string text_of(const PreemptedOften& why) {
  return "keeps its slots: " + often_text(why.pool ? "jobs were" : "it was", why.limit, why.window) +
         "; it may be preempted " + (why.pool ? "" : "again ") + "at " + utc_clock_text(why.again_unix);
}
std::string text_of(const AskedToLeave& why) {
  return "is asked to leave for " + why.for_job.text() + "; it may refuse until " + utc_clock_text(why.until_unix);
}
std::string text_of(const RefusesToLeave& why) {
  return "keeps its slots: its program refuses to leave; it may be asked again at " + utc_clock_text(why.again_unix);
}
std::string text_of(const TransitionInProgress& why) {
  return "is changing its size, " + from_to(why);
}
std::string text_of(const FixedSize& why) {
  if (why.size == 0) return "waits: its policy gives it no slots";
  return "keeps " + workers(why.size) + ": its policy gives it this size";
}
std::string text_of(const PinnedByUser& why) {
  return "keeps " + workers(why.size) + ", as requested";
}
std::string text_of(const AtMax& why) {
  return "keeps " + workers(why.size) + ": it may not have more";
}

std::string text_of(const ShareHold& why) {
  return "keeps " + workers(why.size) + ": tenant " + why.word + " may have " + slots(why.share) +
         (why.type.empty() ? "" : " of type " + why.type) + " now";
}
std::string text_of(const AtMin& why) {
  return "keeps " + workers(why.size) + ": it may not have fewer";
}
std::string text_of(const Unclaimed& why) {
  return "keeps " + workers(why.size) + ": its policy gives it none, but no other job takes its slots now";
}
std::string text_of(const NoMeasurements& why) {
  return "keeps " + workers(why.size) + ": its program reports no steps, so there is nothing to judge sizes by";
}

std::string text_of(const EfficiencySettled& why) {
  const std::string keeps = "keeps " + workers(why.size) + ": " + more_workers(why.size, why.next);
  const double efficiency = why.by.efficiency;
  const double threshold = why.by.threshold;
  if (efficiency < 0) return keeps + " would lower throughput" + throughputs(why.by);
  const Compared both = compared(efficiency, threshold, NumberStyle::kPercent);
  if (both.alike) return keeps + " would add " + both.left + " of a worker's throughput, no more than the threshold";
  if (efficiency > threshold + why.by.margin.value_or(0)) return keeps + " would not pay, by its policy's measure";
  if (efficiency > threshold) {
    return keeps + " would add " + both.left + " of a worker's throughput: more than the " + both.right +
           " asked for, but within the margin for measurement noise, " + percent(why.by.margin.value_or(0));
  }
  return keeps + " would add " + both.left + " of a worker's throughput, less than the " + both.right + " asked for";
}

std::string text_of(const UtilitySettled& why) {
  const std::string keeps = "keeps " + workers(why.size) + ": going to " + grouped(why.next);
  const Compared both = compared(why.by.utility_gain, why.by.cost_gain, NumberStyle::kDecimal);
  if (both.alike) return keeps + " would gain no more in utility than it costs, " + both.left;
  if (why.by.utility_gain >= why.by.cost_gain) return keeps + " would gain too little in utility";
  return keeps + " would gain " + both.left + " in utility and cost " + both.right + " more";
}

std::string text_of(const NoSlotsToGrow& why) {
  const std::string would = "would take " + slots(why.wanted) + " more";
  const std::string of_type = why.word.empty() ? "" : " of type " + why.word;
  if (why.all) return would + ", and there are " + grouped(*why.all) + of_type + " in all that it may have";
  if (why.for_job)
    return would + "; it released slots for " + why.for_job->text() + ", which has not received them yet";
  const int others = why.of_others.value_or(0);
  if (others > 0 && why.free < why.wanted) {
    return would + "; " + none_or_few(why.free, of_type) + ", and " + grouped(others) + " of other types " +
           (others == 1 ? "is" : "are");
  }
  if (!why.queue) return would + "; " + are_free_for(why.free, why.wanted);
  return would + ", but " + (why.first ? why.first->text() + " in the queue comes" : "jobs in the queue come") +
         " first";
}

std::string text_of(const PriceCap& why) {
  const Compared both = compared(why.price.to_units(), why.cap.to_units(), NumberStyle::kDecimal);
  if (why.slots && !both.alike && why.cap < why.price) {
    return "waits: " + slots(*why.slots) + " of the cheapest type that it takes " +
           (*why.slots == 1 ? "costs " : "cost ") + both.left + " an hour, above its price cap of " + both.right;
  }
  if (both.alike || why.price < why.cap) return "its price cap leaves no room for the next size";
  return "its next size would cost " + both.left + " an hour, above its price cap of " + both.right;
}

std::string text_of(const BatchTooSmall& why) {
  return "stays as it is: with " + workers(why.size) + " a global batch of " + whole(why.global) +
         " leaves some without a sample";
}

std::string text_of(const TransitionTooDear& why) {
  const std::string going = "stays as it is: going " + from_to(why);
  const Compared both = compared(why.gain_s, why.stall_s, NumberStyle::kTime);
  if (both.alike) return going + " would save no more time than it pauses the job for, " + both.left;
  if (!(why.gain_s < why.stall_s)) return going + " would save too little time";
  return going + " would save " + both.left + " and pause it for " + both.right;
}

std::string text_of(const PriceHold& why) {
  const std::string keeps = "keeps " + workers(why.size) + ": ";
  const Market market = why.market.value_or(Market{});
  if (why.next == 0) return keeps + "its size may not change yet";
  const std::string more = more_workers(why.size, why.next);
  if (!(market.worth < market.price)) return keeps + more + " would help, and too few slots are free";
  if (market.worth <= 0) return keeps + more + " would not pay for the change";
  const JobId rival = rival_in(market);
  if (!rival) return keeps + "other jobs come first for " + more;
  return keeps + "other jobs gain more from their slots than it would from " + more + ", " + rival.text() +
         " the least";
}

std::string text_of(const MeritHold& why) {
  const std::string keeps = "keeps " + workers(why.size);
  const std::string by = measure::clause(
      why.by, {.step = Step::kHolds, .size = why.size, .next = why.next.value_or(0), .free = why.free.value_or(0)});
  if (!by.empty()) return keeps + by;
  return keeps + (is_too_little(why.by) ? ": by its policy's measure the next size brings too little"
                                        : ": too few slots are free for the next size");
}

std::string text_of(const NoRoomTogether& why) {
  return "keeps " + workers(why.size) + ": its target is " + grouped(why.next) +
         ", and no nodes have room for them together";
}
std::string text_of(const TurnHold& why) {
  return "keeps " + workers(why.size) + measure::clause(why.by, {.step = Step::kHolds});
}

// --- why a job starts, grows or shrinks ---------------------------------------------------------

std::string text_of(const Started& why) {
  return "started with " + workers(why.size) + measure::clause(why.by, {.step = Step::kStarts});
}
std::string text_of(const Resumed& why) {
  return "started again with " + workers(why.size);
}
std::string text_of(const ResumedElsewhere& why) {
  return "started again with " + workers(why.size) + " away from " + why.node.text() +
         ", which has its state of step " + whole(why.step) + ": these steps are done again";
}
std::string text_of(const ResumedByTransfer& why) {
  return "started again with " + workers(why.size) + ": its state of step " + whole(why.step) +
         " is transferred from " + why.node.text() + " to " + why.to_node.text();
}
std::string text_of(const ExploreUp& why) {
  return growing(why) + ": only one size has been measured so far";
}
std::string text_of(const ExploreDown& why) {
  return shrinking(why) + ": to see whether fewer workers are almost as fast";
}

std::string text_of(const EfficientUp& why) {
  const Compared both = compared(why.by.efficiency, why.by.threshold, NumberStyle::kPercent);
  if (both.alike || !(why.by.threshold < why.by.efficiency)) {
    return growing(why) + ": its policy prefers the larger size";
  }
  return growing(why) + ": the last worker added " + both.left + " of a worker's throughput, more than the " +
         both.right + " asked for";
}
std::string text_of(const InefficientDown& why) {
  const std::string falls = shrinking(why) + ": ";
  if (why.by.efficiency < 0) return falls + "the last worker lowered throughput" + throughputs(why.by);
  const Compared both = compared(why.by.efficiency, why.by.threshold, NumberStyle::kPercent);
  if (both.alike || !(why.by.efficiency < why.by.threshold)) return falls + "its policy prefers the smaller size";
  return falls + "the last worker added only " + both.left + " of a worker's throughput, less than the " + both.right +
         " asked for";
}

// "3 in utility for 2 in cost"
std::string trade(const Utility& by) {
  const Compared both = compared(by.utility_gain, by.cost_gain, NumberStyle::kDecimal);
  return both.alike ? "about as much in utility as it costs" : both.left + " in utility for " + both.right + " in cost";
}
std::string text_of(const UtilityUp& why) {
  const bool gains = why.by.cost_gain < why.by.utility_gain;
  return growing(why) + ": " + (gains ? "it gains " + trade(why.by) : "it gains in utility");
}
std::string text_of(const UtilityDown& why) {
  const bool loses = why.by.utility_gain < why.by.cost_gain;
  return shrinking(why) + ": " +
         (loses ? "the larger size gained only " + trade(why.by) : "the larger size gained too little in utility");
}

std::string text_of(const GatherEvidence& why) {
  return "going " + from_to(why) + ": too little has been measured there (" +
         counted(static_cast<double>(why.steps.value_or(0)), "step") + ")";
}
std::string text_of(const PriceGrow& why) {
  if (!(why.market.price < why.market.worth)) return growing(why) + ": its share of the slots has grown";
  // Even if the price is 0: the slots that the plan gives it may not be free yet.
  return growing(why) + ": no other job would gain more from the slots";
}
std::string text_of(const PriceShrink& why) {
  const std::string change = shrinking(why) + for_claimants(why);
  if (!(why.market.worth < why.market.price)) return change + ": its share of the slots has become smaller";
  return change + (why.market.worth > 0 ? ": other jobs gain more from the slots"  // else even free ones
                                        : ": the larger size does not pay");
}
std::string text_of(const MeritGrow& why) {
  const std::string by = measure::clause(why.by, {.step = Step::kGrows});
  return growing(why) + (by.empty() ? ": by its policy's measure that brings enough" : by);
}
std::string text_of(const MeritShrink& why) {
  const std::string by = measure::clause(why.by, {.step = Step::kShrinks});
  return shrinking(why) + for_claimants(why) +
         (by.empty() ? ": by its policy's measure the larger size brought too little" : by);
}
std::string text_of(const ResizedByUser& why) {
  return "going " + from_to(why) + ", as requested";
}
std::string text_of(const BackToSize& why) {
  return "going " + from_to(why) + for_claimants(why) + ": to the size that its policy gives it";
}

std::string text_of_any(const Reason& why) {
  return visit_reason([](const auto& told) { return text_of(told); }, why);
}

}  // namespace
}  // namespace reason

std::string sentence(const Reason& reason) {
  return reason::text_of_any(reason);
}

std::string sentence(const PlannedNode& planned) {
  return node_name_of(planned.intent) + ": " + sentence(planned.reason);
}

std::string sentence(const PlannedIntent& planned, const ClusterState& state) {
  const JobId id = job_of(planned.intent);
  const Job* job = state.find_job(id);
  const std::string name = job == nullptr || job->spec.name.empty() ? id.text() : job->spec.name;
  std::string why = sentence(planned.reason);
  const auto gives_up = [&] {
    constexpr std::string_view kWaits = "waits: ";  // why it waits from then on
    if (why.starts_with(kWaits)) return "releases its slots: " + why.substr(kWaits.size());
    return why.starts_with("waits ") ? "releases its slots and " + why : why;
  };
  const auto places = [](const std::vector<WorkerPlacement>& joining_workers) {
    std::string text;
    for (const auto& placement : joining_workers) {
      text += (text.empty() ? "" : ", ") + placement.worker.text() + " on " + placement.node.text();
    }
    return text;
  };
  return name + ": " +
         std::visit(
             Overloaded{
                 [&](const StartIntent& start) { return why + " (" + places(start.joining_workers) + ")"; },
                 [&](const GrowIntent& grow) { return why + " (" + places(grow.joining_workers) + ")"; },
                 [&](const ShrinkIntent&) { return why; },
                 [&](const ReplaceIntent& replace) { return why + " (" + places({replace.joining_worker}) + ")"; },
                 [&](const MoveIntent& move) { return why + " (" + places(move.joining_workers) + ")"; },
                 [&](const RebalanceIntent&) { return why; },
                 [&](const SwitchIntent& next) {
                   const std::string step = "generation " + std::to_string(next.number) + " with " +
                                            counted(static_cast<double>(next.members.size()), "worker");
                   return next.after_failure ? why + "; " + step : step;
                 },
                 [&](const LaunchIntent& launch) {
                   return "starting the programs of generation " + std::to_string(launch.number);
                 },
                 [&](const PreemptIntent&) { return gives_up(); },
                 [&](const AskIntent&) { return why; },
                 [&](const StopWorkerIntent& stop) { return "stopping " + stop.worker.text() + ": " + why; },
                 [&](const ProbeIntent& probe) { return "measuring " + probe.node.text() + " again: " + why; },
                 [&](const EndJobIntent&) { return why; },
             },
             planned.intent);
}

}  // namespace tidepool::core
