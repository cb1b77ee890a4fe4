#include "core/words/unblock.hpp"

#include <algorithm>
#include <cmath>

#include "core/words/measure.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

using Lines = std::vector<std::string>;

std::string job_called(const Reason& reason, std::string_view name) {
  return JobId(static_cast<std::uint64_t>(std::llround(reason.number(name)))).text();
}

// Who holds the slots that it would get first.
Lines of_rival(const Reason& why) {
  if (why.number("rival") == 0) return {};
  return {"the end of " + job_called(why, "rival") + ", which gains least of the jobs that hold slots"};
}

// A job that others come before gets their slots; one that is first in line gets slots that come free.
Lines of_price(const Reason& why, double slots_short) {
  Lines lines;
  const bool outbid = why.number("worth") < why.number("price");
  if (!outbid && slots_short > 0) lines.push_back(counted(slots_short, "more free slot"));
  const Lines rival = of_rival(why);
  lines.insert(lines.end(), rival.begin(), rival.end());
  return lines;
}

// A size that does not bring enough by a measure that is named; by one of the policy's own only the numbers are told.
Lines of_merit(const Reason& why) {
  const double merit = why.number("merit");
  const double asked = why.number("asked");
  if (why.word == measure::kPromise) return {};
  if (why.word.empty()) return {"a larger gain by its policy's measure"};
  Lines lines;
  if (const Compared both = measure::amounts(why.word, asked, merit); merit < asked && !both.alike) {
    lines.push_back("a slot that brings it more than " + both.left + "; it is " + both.right);
  }
  if (why.number("rival") != 0)
    lines.push_back("the end of " + job_called(why, "rival") + ", to which a slot brings least");
  return lines;
}

// Others come first in line.
Lines of_turn(const Reason& why) {
  Lines lines;
  if (why.number("rival") != 0) {
    lines.push_back("the end of " + job_called(why, "rival") + ", the last that is served before it");
  }
  if (why.word == measure::kDeadline) lines.emplace_back("an earlier deadline");
  if (why.word == measure::kTimeLeft && why.number("own") < 0) lines.emplace_back("say how long it is: work.samples");
  return lines;
}

// What would let its policy promise the deadline.
Lines of_lost_deadline(const Reason& why) {
  const double late = why.number("late_s", -1);
  Lines lines;
  if (late > 0) lines.push_back("set work.deadline at least " + waiting_time(late) + " later");
  if (late < 0) lines.emplace_back("a later deadline");
  if (why.number("alone_late_s", -1) == 0) lines.emplace_back("the end of a job that has been promised its deadline");
  if (late != 0) lines.emplace_back("less work");
  return lines;
}

// Slots of a type that the job asks for.
Lines of_type(const Reason& why) {
  Lines lines = of_rival(why);
  if (why.number("movers") > 0) {
    lines.emplace_back("free slots of another type, so that those who may be there move");
  } else if (why.number("holder") > 0) {
    lines.push_back("the end of " + job_called(why, "holder"));
  }
  lines.emplace_back("name another type, too, in resources.gpu.type");
  return lines;
}

Lines of_waiting(const Reason& why) {
  switch (why.code) {
    case ReasonCode::kPriceWait: {
      Lines lines = of_price(why, why.number("needed"));
      lines.emplace_back("a higher priority");
      return lines;
    }
    case ReasonCode::kWaitingForSlots: return why.number("typed") > 0 ? of_type(why) : of_rival(why);
    case ReasonCode::kMeritWait:
      if (why.word.empty() && why.number("merit") >= why.number("asked")) return {};
      return of_merit(why);
    case ReasonCode::kTurnWait: return of_turn(why);
    case ReasonCode::kDeadlineLost: return of_lost_deadline(why);
    case ReasonCode::kPolicyFailed:
      return {"see the event policy.error, and choose another policy: schedulerd --policy NAME"};
    case ReasonCode::kAwaitsPolicy: return {"see whether the policy answers: schedctl policy ls"};
    case ReasonCode::kWaitsForState:
      return {"free a slot on " + NodeId(static_cast<std::uint64_t>(why.number("node"))).text(),
              "wait " + waiting_time(why.number("seconds_left")) + ": it starts elsewhere then"};
    case ReasonCode::kNoNodes: return {"start an agent: agentd --daemon ADDRESS --token TOKEN"};
    default: return {};
  }
}

Lines of_policy_size(const Reason& why) {
  switch (why.code) {
    case ReasonCode::kPriceHold:
      if (why.number("next") == 0) return {};
      return of_price(why, why.number("next") - why.number("size"));
    case ReasonCode::kPriceShrink: return of_price(why, 0);
    case ReasonCode::kMeritHold:
    case ReasonCode::kMeritShrink: return of_merit(why);
    case ReasonCode::kNoRoomTogether:
      return {counted(why.number("next") - why.number("size"), "more free slot") + " beside those that it has"};
    case ReasonCode::kUnclaimed: return {"a higher priority"};
    case ReasonCode::kUtilitySettled: return {"slots that cost less, or a utility of which more is lost while it runs"};
    case ReasonCode::kEfficiencySettled:
      if (why.number("efficiency") > 0) {
        const double efficiency = why.number("efficiency");
        return {"lower scaling.efficiency_threshold below " +
                compared(efficiency, why.number("threshold"), NumberStyle::kDecimal).left};
      }
      return {"raise batch.global: with more to compute in a step another worker may pay"};
    case ReasonCode::kTransitionTooDear:
      return {"more work left, or a change that pauses it for less than " + waiting_time(why.number("gain_s"))};
    default: return {};
  }
}

Lines of_holding(const Reason& why, JobId job) {
  switch (why.code) {
    case ReasonCode::kNoSlotsToGrow:
    case ReasonCode::kStragglerNoSpare:
      return {"add a node with " + counted(std::max(1.0, why.number("wanted", 1)), "free slot")};
    case ReasonCode::kCooldown: return {"wait " + waiting_time(why.number("seconds_left")) + " for the cooldown"};
    case ReasonCode::kMinRuntime:
      return {"wait " + waiting_time(why.number("seconds_left")) + " for elastic.min_runtime"};
    case ReasonCode::kPriceCap: return {"raise scaling.price_cap to " + decimal(why.number("price"))};
    case ReasonCode::kNoMeasurements: return {"choose a size: schedctl resize " + job.text() + " SIZE"};
    case ReasonCode::kAtMax: return {"raise elastic.max"};
    case ReasonCode::kAtMin: return {"lower elastic.min"};
    case ReasonCode::kPinnedByUser: return {"schedctl resize " + job.text() + " 0"};
    case ReasonCode::kBatchTooSmall: return {"raise batch.global"};
    case ReasonCode::kMeasuring: {
      const double left = why.number("of") - why.number("steps");
      return left > 0 ? Lines{"wait for " + counted(left, "more step")} : Lines{};
    }
    default: return of_policy_size(why);
  }
}

}  // namespace

std::vector<std::string> unblocks_of(const Reason& reason, JobId job) {
  if (reason.code == ReasonCode::kSuspendedByUser) return {"schedctl resume " + job.text()};
  const ReasonCategory category = category_of(reason.code);
  const bool waits = category == ReasonCategory::kWaiting || category == ReasonCategory::kPolicy;
  return waits ? of_waiting(reason) : of_holding(reason, job);
}

std::string scores_of(const Alternative& chosen, const std::vector<Alternative>& lost) {
  if (lost.empty()) return "";
  const auto size = [](int workers) { return workers == 0 ? "holding nothing" : counted(workers, "worker"); };
  const std::string& word = chosen.reason.word.empty() ? lost.front().reason.word : chosen.reason.word;
  // Without a measure a score of 0 is that of a policy that gives the chosen size none.
  if (chosen.score == 0 && (word.empty() || lost.front().score == 0)) return "";
  const std::string unit = measure::unit(word);
  if (unit.empty()) return "";  // in the policy's own measure, which says nothing to people
  const Compared both = compared(chosen.score, lost.front().score, NumberStyle::kThreeDigits);
  const std::string other = size(lost.front().size);
  if (both.alike) return "score in " + unit + ": " + both.left + " for " + size(chosen.size) + " as for " + other;
  return "score in " + unit + ": " + size(chosen.size) + " " + both.left + ", " + other + " " + both.right;
}

}  // namespace tidepool::core
