// Each reason code as a sentence. The numbers a code carries are listed in reason.hpp.
#include <cmath>

#include "base/overloaded.hpp"
#include "core/state/node_speed.hpp"
#include "core/state/straggler_diagnosis.hpp"
#include "core/words/measure.hpp"
#include "core/words/sentence.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

class Words {
 public:
  explicit Words(const Reason& reason) : reason_(reason) {}

  [[nodiscard]] double value(std::string_view name, double fallback = 0) const {
    return reason_.number(name, fallback);
  }
  [[nodiscard]] int whole(std::string_view name) const { return static_cast<int>(std::lround(value(name))); }
  [[nodiscard]] std::string number(std::string_view name) const { return grouped(value(name)); }
  [[nodiscard]] std::string share(std::string_view name) const { return percent(value(name)); }
  [[nodiscard]] std::string money(std::string_view name) const { return decimal(value(name)); }
  [[nodiscard]] std::string time(std::string_view name) const { return waiting_time(value(name)); }
  [[nodiscard]] std::string workers(std::string_view name) const { return counted(value(name), "worker"); }
  [[nodiscard]] std::string slots(std::string_view name) const { return counted(value(name), "slot"); }
  [[nodiscard]] std::string id(std::string_view name) const {
    return WorkerId(static_cast<std::uint64_t>(whole(name))).text();
  }
  // "none is free", "1 is free", "3 are free"
  [[nodiscard]] std::string free() const {
    const int slots = whole("free");
    return slots == 0 ? "none is free" : number("free") + (slots == 1 ? " is free" : " are free");
  }
  // The same where so many as the number called `name` are waited for.
  [[nodiscard]] std::string free_for(std::string_view name) const {
    const bool enough = value("free") > 0 && value("free") >= value(name);
    return free() + (enough ? ", but scattered or kept for other jobs" : "");
  }
  [[nodiscard]] Compared compare(std::string_view left, std::string_view right, NumberStyle style) const {
    return compared(value(left), value(right), style);
  }
  [[nodiscard]] bool is_less(std::string_view left, std::string_view right) const { return value(left) < value(right); }
  // "a third worker", "2 more workers": between the sizes called `from` and `to`.
  [[nodiscard]] std::string more_workers(std::string_view from, std::string_view to) const {
    const int more = whole(to) - whole(from);
    return more == 1 ? an_ordinal(whole(to)) + " worker" : counted(more, "more worker");
  }
  // " (26.4 k -> 25.1 k samples/s)", if both are known and differ.
  [[nodiscard]] std::string throughputs() const {
    const Compared both = compare("throughput", "next_throughput", NumberStyle::kThousands);
    if (both.alike || value("next_throughput") <= 0 || !is_less("next_throughput", "throughput")) return "";
    return " (" + both.left + " -> " + both.right + " samples/s)";
  }
  // By which measure its policy judges; empty if it names none.
  [[nodiscard]] std::string measure() const { return measure::clause(reason_); }
  [[nodiscard]] std::string from_to() const { return number("from") + " -> " + number("to"); }

 private:
  const Reason& reason_;
};

std::string lost_deadline(const Words& w) {
  const double late = w.value("late_s", -1);
  if (late < 0) return "whatever it is given, it cannot end by its deadline any more";
  if (late == 0) return "it could end by its deadline only if others missed theirs";
  if (w.value("alone_late_s") == 0) {
    return "beside what is promised to others it cannot end by its deadline, but " + w.time("late_s") + " later";
  }
  return "it cannot end by its deadline any more, but " + w.time("late_s") + " later";
}

std::string waits_for_slots(const Words& w) {
  if (w.value("typed") == 0) return "waits for " + w.slots("needed") + "; " + w.free_for("needed");
  std::string text = "waits for " + w.slots("needed") + " of a type that it asks for; " + w.free_for("needed");
  const int movers = w.whole("movers");
  if (movers > 0) {
    return text + "; " + counted(movers, "worker") + " that may be elsewhere " + (movers == 1 ? "holds" : "hold") +
           " such slots, and " + (movers == 1 ? "moves" : "move") +
           " when there is room elsewhere and waiting has cost as much as moving: " + w.money("cost_s") +
           " slot-seconds";
  }
  const int holder = w.whole("holder");
  if (holder > 0) text += "; " + JobId(static_cast<std::uint64_t>(holder)).text() + " holds most of the others";
  return text;
}

// Of the jobs whose slots it would need, the one that gains least from them; none unless that is more than it would.
JobId rival_in_market(const Words& w) {
  const bool gains_more = w.value("rival_worth") > w.value("worth");
  return gains_more ? JobId(static_cast<std::uint64_t>(w.whole("rival"))) : JobId();
}

std::string waits_in_market(const Words& w) {
  const std::string waits = "waits for " + w.slots("needed") + ": ";
  const JobId rival = rival_in_market(w);
  if (!rival) return waits + "other jobs come first";
  return waits + "the jobs that hold slots gain more from them, " + rival.text() + " the least";
}

std::string waiting_sentence(ReasonCode code, const Words& w) {
  switch (code) {
    case ReasonCode::kWaitingForSlots: return waits_for_slots(w);
    case ReasonCode::kNeverFits:
      if (w.value("typed") > 0) {
        return "cannot start: it needs " + w.slots("needed") +
               " of a type that it asks for, and the whole cluster has " + w.number("cluster") + " of these";
      }
      return "cannot start: it needs " + w.slots("needed") + ", and the whole cluster has room for " +
             w.number("cluster");
    case ReasonCode::kBehindOlderJob:
      return "waits behind " + counted(w.value("ahead"), "job") + " in the queue; it needs " + w.slots("needed") +
             ", " + w.free();
    case ReasonCode::kSuspendedByUser: return "suspended by its user";
    case ReasonCode::kPriceWait: return waits_in_market(w);
    case ReasonCode::kPolicyFailed: return "waits: its policy failed before it gave the job a size";
    case ReasonCode::kTurnWait: return "waits for " + w.slots("needed") + "; " + w.free_for("needed") + w.measure();
    case ReasonCode::kMeritWait:
      if (const std::string by = w.measure(); !by.empty()) return "waits" + by;
      return w.is_less("merit", "asked") ? "waits: by its policy's measure starting it brings too little"
                                         : "waits: too few slots are free for it";
    case ReasonCode::kDeadlineLost:
      return "waits: " + lost_deadline(w) + "; without a promise it starts when there is room";
    case ReasonCode::kWaitsForState:
      return "waits for room on " + NodeId(static_cast<std::uint64_t>(w.whole("node"))).text() +
             ", where its state of step " + w.number("step") + " lies, for at most " + w.time("seconds_left") +
             "; without it " + w.time("redo_s") + " of training would be done again";
    default: return "waits: no node has joined, or all are lost";
  }
}

// "Capped (most 4, over 2)"
std::string said(const Reason& reason) {
  std::string numbers;
  for (const auto& [name, value] : reason.numbers) {
    if (name != "from" && name != "to") numbers += (numbers.empty() ? "" : ", ") + name + " " + three_digits(value);
  }
  return reason.word + (numbers.empty() ? "" : " (" + numbers + ")");
}

std::string policy_sentence(const Reason& reason, const Words& w) {
  const int from = w.whole("from");
  const int to = w.whole("to");
  if (reason.code == ReasonCode::kAwaitsPolicy) {
    return (w.whole("size") > 0 ? "keeps " + w.workers("size") : std::string("waits")) +
           ": the policy has not said yet what it should have";
  }
  const std::string says = ": its policy says " + said(reason);
  if (from == 0) return (to == 0 ? std::string("waits") : "started with " + w.workers("to")) + says;
  if (from == to) return "keeps " + w.workers("to") + says;
  return (to > from ? "growing " : "shrinking ") + w.from_to() + says;
}

std::string settled_by_efficiency(const Words& w) {
  const std::string keeps = "keeps " + w.workers("size") + ": " + w.more_workers("size", "next");
  if (w.value("efficiency") < 0) return keeps + " would lower throughput" + w.throughputs();
  const Compared both = w.compare("efficiency", "threshold", NumberStyle::kPercent);
  if (both.alike) return keeps + " would add " + both.left + " of a worker's throughput, no more than is asked for";
  if (!w.is_less("efficiency", "threshold")) return keeps + " did not pay when it was tried";
  return keeps + " would add " + both.left + " of a worker's throughput, less than the " + both.right + " asked for";
}

std::string settled_by_utility(const Words& w) {
  const std::string keeps = "keeps " + w.workers("size") + ": going to " + w.number("next");
  const Compared both = w.compare("utility_gain", "cost_gain", NumberStyle::kDecimal);
  if (both.alike) return keeps + " would gain no more in utility than it costs, " + both.left;
  if (!w.is_less("utility_gain", "cost_gain")) return keeps + " would gain too little in utility";
  return keeps + " would gain " + both.left + " in utility and cost " + both.right + " more";
}

std::string held_in_market(const Words& w) {
  const std::string keeps = "keeps " + w.workers("size") + ": ";
  if (w.value("next") == 0) return keeps + "its size may not change yet";
  const std::string more = w.more_workers("size", "next");
  if (!w.is_less("worth", "price")) return keeps + more + " would help, and too few slots are free";
  if (w.value("worth") <= 0) return keeps + more + " would not pay for the change";
  const JobId rival = rival_in_market(w);
  if (!rival) return keeps + "other jobs come first for " + more;
  return keeps + "other jobs gain more from their slots than it would from " + more + ", " + rival.text() +
         " the least";
}

std::string held_by_merit(const Words& w) {
  const std::string keeps = "keeps " + w.workers("size");
  if (const std::string by = w.measure(); !by.empty()) return keeps + by;
  return keeps + (w.is_less("merit", "asked") ? ": by its policy's measure the next size brings too little"
                                              : ": too few slots are free for the next size");
}

std::string above_cap(const Words& w) {
  const Compared both = w.compare("price", "cap", NumberStyle::kDecimal);
  if (both.alike || w.is_less("price", "cap")) return "stays as it is: its price cap leaves no room for the next size";
  return "stays as it is: the next size would cost " + both.left + " an hour, above its cap of " + both.right;
}

std::string too_dear_to_change(const Words& w) {
  const std::string going = "stays as it is: going " + w.from_to();
  const Compared both = w.compare("gain_s", "stall_s", NumberStyle::kTime);
  if (both.alike) return going + " would save no more time than it pauses the job for, " + both.left;
  if (!w.is_less("gain_s", "stall_s")) return going + " would save too little time";
  return going + " would save " + both.left + " and pause it for " + both.right;
}

std::string holding_sentence(ReasonCode code, const Words& w) {
  switch (code) {
    case ReasonCode::kMeasuring:
      return "measuring this size: " + w.number("steps") + " of " + w.number("of") + " steps seen";
    case ReasonCode::kCooldown: return "keeps its size for now: the cooldown ends in " + w.time("seconds_left");
    case ReasonCode::kMinRuntime:
      return "keeps its size for now: its minimum run time ends in " + w.time("seconds_left");
    case ReasonCode::kEndsSoon:
      return "keeps its slots: it ends in about " + w.time("seconds_left") + ", sooner than it could be started again";
    case ReasonCode::kTransitionInProgress: return "is changing its size, " + w.from_to();
    case ReasonCode::kFixedSize: return "keeps " + w.workers("size") + ": its size is fixed";
    case ReasonCode::kPinnedByUser: return "keeps " + w.workers("size") + ", as its user asked";
    case ReasonCode::kEfficiencySettled: return settled_by_efficiency(w);
    case ReasonCode::kUtilitySettled: return settled_by_utility(w);
    case ReasonCode::kPriceHold: return held_in_market(w);
    case ReasonCode::kUnclaimed:
      return "keeps " + w.workers("size") + ": others come first, but nobody needs its slots now";
    case ReasonCode::kTurnHold: return "keeps " + w.workers("size") + w.measure();
    case ReasonCode::kMeritHold: return held_by_merit(w);
    case ReasonCode::kNoRoomTogether:
      return "keeps " + w.workers("size") + ": it is to have " + w.number("next") +
             ", and no nodes have room for them together";
    case ReasonCode::kAtMax: return "keeps " + w.workers("size") + ": it may not have more";
    case ReasonCode::kAtMin: return "keeps " + w.workers("size") + ": it may not have fewer";
    case ReasonCode::kNoSlotsToGrow:
      if (w.value("queue") > 0) {
        return "would take " + w.slots("wanted") + " more, but jobs in the queue come first";
      }
      return "would take " + w.slots("wanted") + " more; " + w.free_for("wanted");
    case ReasonCode::kPriceCap: return above_cap(w);
    case ReasonCode::kNoMeasurements:
      return "keeps " + w.workers("size") + ": its program reports no steps, so there is nothing to judge sizes by";
    case ReasonCode::kTransitionTooDear: return too_dear_to_change(w);
    default:
      return "stays as it is: with " + w.workers("size") + " a global batch of " + w.number("global") +
             " leaves some without a sample";
  }
}

std::string paid_by_efficiency(const Words& w) {
  const Compared both = w.compare("efficiency", "threshold", NumberStyle::kPercent);
  if (both.alike || !w.is_less("threshold", "efficiency")) return "its policy prefers the larger size";
  return "the last worker added " + both.left + " of a worker's throughput, more than the " + both.right + " asked for";
}

std::string did_not_pay(const Words& w) {
  if (w.value("efficiency") < 0) return "the last worker lowered throughput" + w.throughputs();
  const Compared both = w.compare("efficiency", "threshold", NumberStyle::kPercent);
  if (both.alike || !w.is_less("efficiency", "threshold")) return "its policy prefers the smaller size";
  return "the last worker added only " + both.left + " of a worker's throughput, less than the " + both.right +
         " asked for";
}

// "3 in utility for 2 in cost"
std::string trade(const Words& w) {
  const Compared both = w.compare("utility_gain", "cost_gain", NumberStyle::kDecimal);
  return both.alike ? "about as much in utility as it costs" : both.left + " in utility for " + both.right + " in cost";
}

std::string changing_sentence(ReasonCode code, const Words& w) {
  const std::string growing = "growing " + w.from_to() + ": ";
  const std::string shrinking = "shrinking " + w.from_to() + ": ";
  switch (code) {
    case ReasonCode::kStarted: return "started with " + w.workers("size") + w.measure();
    case ReasonCode::kResumed: return "started again with " + w.workers("size");
    case ReasonCode::kResumedElsewhere:
      return "started again with " + w.workers("size") + " away from " +
             NodeId(static_cast<std::uint64_t>(w.whole("node"))).text() +
             ", which had no room: what was done up to step " + w.number("step") + " is done again";
    case ReasonCode::kExploreUp: return growing + "only one size has been measured so far";
    case ReasonCode::kExploreDown: return shrinking + "to see whether fewer workers do almost as well";
    case ReasonCode::kEfficientUp: return growing + paid_by_efficiency(w);
    case ReasonCode::kInefficientDown: return shrinking + did_not_pay(w);
    case ReasonCode::kUtilityUp:
      return growing + (w.is_less("cost_gain", "utility_gain") ? "it gains " + trade(w) : "it gains in utility");
    case ReasonCode::kUtilityDown:
      return shrinking + (w.is_less("utility_gain", "cost_gain") ? "the larger size gained only " + trade(w)
                                                                 : "the larger size gained too little in utility");
    case ReasonCode::kGatherEvidence:
      return "going " + w.from_to() + ": too little has been measured there (" + counted(w.value("steps"), "step") +
             ")";
    case ReasonCode::kPriceGrow:
      if (!w.is_less("price", "worth")) return growing + "its share of the slots has grown";
      return growing + (w.value("price") > 0 ? "no other job would gain more from the slots" : "slots are free");
    case ReasonCode::kPriceShrink:
      return shrinking + (w.is_less("worth", "price") ? "other jobs gain more from the slots"
                                                      : "its share of the slots has become smaller");
    case ReasonCode::kMeritGrow:
      if (const std::string by = w.measure(); !by.empty()) return "growing " + w.from_to() + by;
      return growing + "by its policy's measure that brings enough";
    case ReasonCode::kMeritShrink:
      if (const std::string by = w.measure(); !by.empty()) return "shrinking " + w.from_to() + by;
      return shrinking + "by its policy's measure the larger size brought too little";
    case ReasonCode::kBackToSize: return "going " + w.from_to() + ": to the size that its policy gives it";
    default: return "going " + w.from_to() + ", as its user asked";
  }
}

// "none of the 3 other workers on its node is slow", "2 of the 3 other workers on its node are slow"
std::string neighbours(const Words& w) {
  const int slow = w.whole("node_slow");
  if (w.whole("node_peers") == 1)
    return slow == 0 ? "the other worker on its node is not slow" : "so is the other worker";
  const std::string all = " of the " + w.number("node_peers") + " other workers on its node ";
  return slow == 0 ? "none" + all + "is slow" : w.number("node_slow") + all + (slow == 1 ? "is slow" : "are slow");
}

std::string measured(const Words& w) {
  return "its node does " + w.share("node_speed") + " of what may be expected of it";
}

std::string node_evidence(const Words& w) {
  if (w.value("node_speed") > 0 && w.value("node_speed") < kSlowNode) {
    return measured(w) + "; schedctl cordon " + NodeId(static_cast<std::uint64_t>(w.whole("node"))).text() +
           " keeps new workers away";
  }
  return w.whole("node_slow") > 0 ? neighbours(w) : "the worker before it there was slow, too";
}

// What a worker's slowness goes with, as a clause; empty if that cannot be told.
std::string cause(const Words& w) {
  switch (static_cast<Follows>(w.whole("follows"))) {
    case Follows::kWorker:
      return "; the cause is its own: " + (w.whole("node_peers") > 0 ? neighbours(w) : measured(w));
    case Follows::kNode: return "; the cause is its node: " + node_evidence(w);
    case Follows::kData: return "; it replaced a slow worker of another node: the slowness stays with the data";
    case Follows::kUnknown: break;
  }
  return "";
}

std::string straggler_sentence(ReasonCode code, const Words& w) {
  const Compared speed = w.compare("score", "threshold", NumberStyle::kPercent);
  const bool below = !speed.alike && w.is_less("score", "threshold");
  const std::string slow =
      " computes at " + speed.left + " of the others' speed" + (below ? ", below " + speed.right : "");
  const std::string waited = "; waiting for it has cost " + w.money("waited_s") + " slot-seconds";
  const Compared cost = w.compare("waited_s", "cost_s", NumberStyle::kDecimal);
  const std::string against =
      cost.alike ? "; waiting for it has cost as much as an action, " + cost.left + " slot-seconds"
                 : "; waiting for it has cost " + cost.left + " slot-seconds, an action costs " + cost.right;
  switch (code) {
    case ReasonCode::kStragglerRebalanced:
      return "giving " + w.id("worker") + " " + w.share("share") + " of a full share: it" + slow + against + cause(w);
    case ReasonCode::kStragglerEased:
      return w.id("worker") + " computes at " + w.share("score") + " of the others' speed and has " + w.share("share") +
             " of a full share; " +
             (cost.alike ? "its slowness has cost as much as a replacement, " + cost.left + " slot-seconds"
                         : "its slowness has cost " + cost.left + " slot-seconds, a replacement costs " + cost.right);
    case ReasonCode::kSharesRegained: {
      const Compared shares = w.compare("share", "was", NumberStyle::kPercent);
      return "giving " + w.id("worker") + " " + shares.left + " of a full share" +
             (shares.alike || w.is_less("share", "was") ? "" : " instead of " + shares.right) +
             ": it waits for the others";
    }
    case ReasonCode::kStragglerReplaced: return "replacing " + w.id("worker") + ": it" + slow + against + cause(w);
    case ReasonCode::kStragglerShrunk:
      return "giving up " + w.id("worker") + ": it" + slow + against + cause(w) +
             "; no slot is free, and the others are faster without it";
    case ReasonCode::kStragglerNoSpare:
      return w.id("worker") + slow + waited + cause(w) + "; no slot is free for a replacement";
    case ReasonCode::kStragglerInData: return w.id("worker") + slow + waited + cause(w) + ", and no other worker helps";
    default: return w.id("worker") + slow + "; it is left alone so far" + against + cause(w);
  }
}

std::string losing_sentence(ReasonCode code, const Words& w) {
  switch (code) {
    case ReasonCode::kWorkerLost:
      return w.id("worker") + " was lost; " + w.workers("survivors") +
             (w.whole("survivors") == 1 ? " goes on" : " go on");
    case ReasonCode::kProgramFailed:
      return "the program of " + w.id("worker") + " failed; all " + w.workers("size") + " start anew (" +
             w.number("restarts") + " of " + w.number("limit") + " restarts used)";
    case ReasonCode::kBelowMinimum:
      return "goes back to the queue: " + w.workers("survivors") + " left, and it needs " + w.number("min");
    case ReasonCode::kStartTimeout: return w.id("worker") + " was not ready within " + w.time("seconds");
    case ReasonCode::kLeftBehind: return w.id("worker") + " no longer belongs to the job and has not left by itself";
    case ReasonCode::kWorkerStuck:
      return w.id("worker") + " has made no progress at step " + w.number("step") + " for " + w.time("seconds") +
             " and is ended";
    case ReasonCode::kSwitchTimeout:
      return w.id("worker") + " holds up generation " + w.number("generation") + " for " + w.time("seconds") +
             " and is ended";
    case ReasonCode::kParkTimeout:
      return w.id("worker") + " did not park within " + w.time("seconds") + " and is ended; " +
             (w.whole("steps") == 0 ? "no step is lost"
                                    : counted(w.value("steps"), "step") + " since the last kept state are lost");
    case ReasonCode::kPreempted:
      if (w.whole("for_job") == 0) return "preempted by its policy";
      return "preempted for " + JobId(static_cast<std::uint64_t>(w.whole("for_job"))).text();
    case ReasonCode::kMovedForType:
      return "moving " + w.id("worker") + " to slots of another type for " +
             JobId(static_cast<std::uint64_t>(w.whole("for_job"))).text() + ", which has waited " + w.time("waited_s") +
             "; the moves cost " + w.money("cost_s") + " slot-seconds";
    case ReasonCode::kFinished:
      if (w.whole("steps") == 0) return "finished: its program has ended well";
      return "finished after " + counted(w.value("steps"), "step");
    case ReasonCode::kCancelledByUser: return "cancelled by its user";
    case ReasonCode::kMaxDuration: return "ended: it ran longer than " + w.time("limit_s");
    default:
      if (w.value("restarts") <= w.value("limit")) return "failed: its own settings are wrong";
      return "failed: it lost workers " + counted(w.value("restarts"), "time") + ", and " + w.number("limit") +
             " are allowed";
  }
}

}  // namespace

std::string sentence(const Reason& reason) {
  const ReasonCode code = reason.code;
  const Words words(reason);
  if (speaks_of_straggler(code) || code == ReasonCode::kSharesRegained) return straggler_sentence(code, words);
  switch (category_of(code)) {
    case ReasonCategory::kWaiting: return waiting_sentence(code, words);
    case ReasonCategory::kPolicy: return policy_sentence(reason, words);
    case ReasonCategory::kHolding: return holding_sentence(code, words);
    case ReasonCategory::kChanging: return changing_sentence(code, words);
    case ReasonCategory::kWorker:
    case ReasonCategory::kEnding: break;
  }
  return losing_sentence(code, words);
}

std::string sentence(const PlannedIntent& planned, const ClusterState& state) {
  const JobId id = job_of(planned.intent);
  const Job* job = state.find_job(id);
  const std::string name = job == nullptr || job->spec.name.empty() ? id.text() : job->spec.name;
  std::string why = sentence(planned.reason);
  const auto places = [](const std::vector<WorkerPlacement>& newcomers) {
    std::string text;
    for (const auto& placement : newcomers) {
      text += (text.empty() ? "" : ", ") + placement.worker.text() + " on " + placement.node.text();
    }
    return text;
  };
  return name + ": " +
         std::visit(Overloaded{
                        [&](const StartIntent& start) { return why + " (" + places(start.newcomers) + ")"; },
                        [&](const GrowIntent& grow) { return why + " (" + places(grow.newcomers) + ")"; },
                        [&](const ShrinkIntent&) { return why; },
                        [&](const ReplaceIntent& replace) { return why + " (" + places({replace.newcomer}) + ")"; },
                        [&](const RebalanceIntent&) { return why; },
                        [&](const SwitchIntent& next) {
                          const std::string step = "generation " + std::to_string(next.number) + " with " +
                                                   counted(static_cast<double>(next.members.size()), "worker");
                          return next.after_failure ? why + "; " + step : step;
                        },
                        [&](const LaunchIntent& launch) {
                          return "starting the programs of generation " + std::to_string(launch.number);
                        },
                        [&](const PreemptIntent&) { return why; },
                        [&](const StopWorkerIntent& stop) { return "stopping " + stop.worker.text() + ": " + why; },
                        [&](const ProbeIntent& probe) { return "measuring " + probe.node.text() + " again: " + why; },
                        [&](const EndJobIntent&) { return why; },
                    },
                    planned.intent);
}

}  // namespace tidepool::core
