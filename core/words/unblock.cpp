#include "core/words/unblock.hpp"

#include <algorithm>
#include <cmath>

#include "base/byte_size.hpp"
#include "base/calendar.hpp"
#include "core/state/maintenance.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/measure.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace reason {
namespace {

using Lines = std::vector<Advice>;

std::string wait_for(Duration left) {
  return "wait " + waiting_time(left.to_seconds());
}

Advice higher_priority() {
  Advice advice("a higher priority");
  advice.by_priority = true;
  return advice;
}

// The job that holds the slots that it would get first.
Lines of_rival(const Market& market) {
  if (!market.rival) return {};
  return {advice_of_end(*market.rival, ", which gains least among the jobs that hold slots")};
}

// If others come before a job, it needs their slots; the first in line gets slots that become free.
Lines of_price(const Market& market, double slots_short) {
  Lines lines;
  const bool outbid = market.worth < market.price;
  if (!outbid && slots_short > 0) lines.push_back(counted(slots_short, "more free slot"));
  const Lines rival = of_rival(market);
  lines.insert(lines.end(), rival.begin(), rival.end());
  return lines;
}

// A size that does not gain enough by a named measure; for a policy's own measure only the numbers are shown.
Lines of_merit(const Judgement& by) {
  const Measure measure = measure::measure_of(by);
  if (measure == Measure::kPromise) return {};
  if (measure == Measure::kOwn) return {"a larger gain by its policy's measure"};
  Lines lines;
  if (const auto* merit = std::get_if<ByMerit>(&by)) {
    const Compared both = measure::amounts(measure, merit->asked, merit->merit);
    if (merit->merit < merit->asked && !both.alike) {
      lines.push_back("a slot that brings it more than " + both.left + "; it is " + both.right);
    }
    if (merit->rival) lines.push_back(advice_of_end(*merit->rival, ", to which a slot brings least"));
  }
  if (const auto* turn = std::get_if<ByTurn>(&by); turn != nullptr && turn->rival) {
    lines.push_back(advice_of_end(*turn->rival, ", to which a slot brings least"));
  }
  return lines;
}

Lines lines_of(const SuspendedByUser& why, JobId job) {
  if (why.resumes) return {};
  return {"schedctl resume " + job.text()};
}
Lines lines_of(const PriceWait& why, JobId) {
  Lines lines = of_price(why.market, why.needed);
  lines.push_back(higher_priority());
  return lines;
}

// Counts the types that it requests, too.
Lines lines_of(const WaitingForSlots& why, JobId) {
  Lines lines = why.market ? of_rival(*why.market) : Lines{};
  if (!why.type) return lines;
  if (why.type->movers > 0) {
    lines.emplace_back("free slots of another type for jobs that may use it, so that they move there");
  } else if (why.type->holder) {
    lines.push_back(advice_of_end(why.type->holder));
  }
  lines.emplace_back("add another type to resources.gpu.type");
  return lines;
}

Lines lines_of(const PreemptsLater& why, JobId) {
  return {"wait until " + utc_clock_text(why.from_unix),
          advice_for_admin("a shorter preempt_after: schedctl tenants apply FILE")};
}
Lines lines_of(const PreemptionLimit& why, JobId) {
  return {"wait until " + utc_clock_text(why.again_unix),
          advice_for_admin(std::string("a larger churn.") + (why.job ? "per_job" : "pool") +
                           ": schedctl tenants apply FILE")};
}
Lines lines_of(const PreemptionRefused& why, JobId) {
  return {"wait until " + utc_clock_text(why.again_unix),
          advice_for_admin("a shorter notice_refusal: schedctl tenants apply FILE")};
}

// The requested labels, as schedctl accepts them: the first value of each key.
std::string first_labels(const std::string& word) {
  std::string text;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t end = std::min(word.find(" and ", at), word.size());
    const std::string one = word.substr(at, end - at);
    at = end == word.size() ? end : end + 5;
    if (one.starts_with("node=") || one.starts_with("slot_type=")) continue;
    text += " " + one.substr(0, std::min(one.find(" or "), one.find(", ")));
  }
  return text;
}
Lines of_selector(const std::string& word) {
  Lines lines;
  if (const std::string labels = first_labels(word); !labels.empty()) {
    lines.push_back(advice_for_admin("schedctl node label NODE" + labels));
  }
  lines.emplace_back("allow other nodes in placement.selector");
  return lines;
}
// Remedies for a job that requests nodes by labels, memory or both.
Lines of_nodes(const std::string& word, const std::optional<std::int64_t>& memory) {
  Lines lines = word.empty() ? Lines{} : of_selector(word);
  if (!memory) return lines;
  lines.push_back("a node that gives " + rounded_byte_size(*memory) + " of memory per slot");
  lines.emplace_back("less in resources.memory, or more slots for each worker in resources.gpus_per_worker");
  return lines;
}
Lines lines_of(const NoNodeMatches& why, JobId) {
  return of_nodes(why.word, why.memory);
}
Lines lines_of(const WaitingForNodes& why, JobId) {
  Lines lines;
  if (why.movers > 0) lines.emplace_back("free slots elsewhere, so that jobs that may be there move away");
  if (why.holder) lines.push_back(advice_of_end(why.holder));
  const Lines others = of_nodes(why.word, why.memory);
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

Lines of_rules(bool apart, bool exclusive, bool groups, const std::string& word) {
  Lines lines;
  if (groups) {
    lines.emplace_back("topology.key: a label with the same value on more nodes, so that a group finds room there");
  } else if (!word.empty()) {
    lines.push_back(apart ? "topology.strategy: spread, so that workers may be in one " + word.substr(0, word.find(' '))
                          : "topology.strategy: pack, so that workers may be apart");
  }
  if (exclusive) lines.emplace_back("placement.exclusive: false, so that they share nodes with other jobs");
  return lines;
}
Lines lines_of(const DomainsTooSmall& why, JobId) {
  if (why.with_pools.value_or(0) >= why.needed) return {};  // its nodes are coming
  return of_rules(why.apart, false, why.group.has_value(), why.word);
}
Lines lines_of(const WaitingForDomains& why, JobId) {
  Lines lines;
  if (why.holder) lines.push_back(advice_of_end(why.holder));
  const Lines others = of_rules(why.apart, why.exclusive, why.group.has_value(), why.word);
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}
Lines lines_of(const NoRoomByRules& why, JobId) {
  return of_rules(why.apart, why.exclusive, why.group.has_value(), why.word);
}

Lines lines_of(const BeyondGuarantee&, JobId job) {
  const std::string change = "schedctl change " + job.text() + " ";
  return {change + "preemptible=true (of a pinned size: schedctl resize " + job.text() +
              " 0; of a policy of its own: " + change + "scaling.policy=default)",
          "the end of a job of the tenant that is not preemptible, or has a size or a policy of its own",
          advice_for_admin("a larger guarantee: schedctl tenants apply FILE")};
}

Lines of_budget(const OfBudget& why, const char* then) {
  return {advice_for_admin("a larger budget of tenant " + why.word + ": schedctl tenants apply FILE"),
          then + utc_text(why.ends_unix)};
}
Lines lines_of(const BudgetSpent& why, JobId) {
  return of_budget(why, "wait until ");
}
Lines lines_of(const BudgetStopped& why, JobId) {
  return of_budget(why, "submit it again after ");
}
Lines lines_of(const BudgetShrunk& why, JobId) {
  return of_budget(why, "wait until ");
}

Lines lines_of(const MeritWait& why, JobId) {
  if (measure::measure_of(why.by) == Measure::kOwn) {
    const auto* merit = std::get_if<ByMerit>(&why.by);
    if (merit == nullptr || merit->merit >= merit->asked) return {};
  }
  return of_merit(why.by);
}

// Others come first in line.
Lines lines_of(const TurnWait& why, JobId) {
  const auto* turn = std::get_if<ByTurn>(&why.by);
  if (turn == nullptr) return {};
  Lines lines;
  if (turn->rival) lines.push_back(advice_of_end(*turn->rival, ", the last that is served before it"));
  if (turn->measure == Measure::kDeadline) lines.emplace_back("an earlier deadline");
  const bool unknown = turn->measure == Measure::kTimeLeft && turn->own.value_or(0) < 0;
  if (unknown) lines.emplace_back("declare its length: work.samples");
  return lines;
}

// What would let its policy promise the deadline.
Lines lines_of(const DeadlineLost& why, JobId) {
  const double late = why.late_s.value_or(-1);
  Lines lines;
  if (late > 0) lines.push_back("set work.deadline at least " + waiting_time(late) + " later");
  if (late < 0) lines.emplace_back("a later deadline");
  if (why.alone_late_s.value_or(-1) == 0) lines.emplace_back("the end of a job that has been promised its deadline");
  if (late != 0) lines.emplace_back("less work");
  return lines;
}

Lines lines_of(const PolicyFailed&, JobId) {
  return {advice_for_admin("see the event policy.error, and choose another policy: schedulerd --policy NAME")};
}
Lines lines_of(const AwaitsPolicy&, JobId) {
  return {advice_for_admin("see whether the policy answers: schedctl policy ls")};
}
Lines lines_of(const WaitsForState& why, JobId) {
  return {"free a slot on " + why.node.text(), wait_for(why.left) + ": it starts elsewhere then"};
}
Lines lines_of(const NoNodes& why, JobId) {
  if (why.coming) return {};
  return {advice_for_admin(
      "start an agent: agentd join --daemon HOST:PORT --token TOKEN, with a token of: schedctl node token create")};
}

Lines lines_of(const PriceHold& why, JobId) {
  return why.next == 0 ? Lines{} : of_price(why.market.value_or(Market{}), why.next - why.size);
}
Lines lines_of(const PriceShrink& why, JobId) {
  return of_price(why.market, 0);
}
Lines lines_of(const MeritHold& why, JobId) {
  return of_merit(why.by);
}
Lines lines_of(const MeritShrink& why, JobId) {
  return of_merit(why.by);
}
Lines lines_of(const NoRoomTogether& why, JobId) {
  return {"room for " + counted(why.next - why.size, "more worker") + " next to its present workers"};
}
Lines lines_of(const Unclaimed&, JobId) {
  return {higher_priority()};
}
Lines lines_of(const UtilitySettled&, JobId) {
  return {"slots that cost less, or a utility of which more is lost while it runs"};
}
Lines lines_of(const EfficiencySettled& why, JobId) {
  // Rounded down, so that a threshold below it permits the step.
  constexpr double kDigits = 1'000;
  constexpr double kSlack = 1e-6;  // rounding error of a double
  const double passes = std::floor((why.by.efficiency - why.by.margin.value_or(0)) * kDigits + kSlack) / kDigits;
  if (passes > 0 && passes <= why.by.threshold) {
    return {"lower scaling.efficiency_threshold below " + three_digits(passes)};
  }
  return {"raise batch.global: with more to compute in a step another worker may pay"};
}
Lines lines_of(const TransitionTooDear& why, JobId) {
  return {"more work left, or a change that pauses it for less than " + waiting_time(why.gain_s)};
}

Advice end_of_drain(NodeId node, std::optional<int> window) {
  if (!window) return advice_for_admin("schedctl undrain " + node.text());
  return advice_for_admin("schedctl maintenance remove " + window_name(static_cast<WindowNumber>(*window)));
}
Advice another_node(const std::string& with) {
  return advice_for_admin("add a node with " + with);
}
Lines lines_of(const DrainHold& why, JobId) {
  Lines lines = {another_node(counted(why.wanted, "free slot"))};
  if (!why.reclaimed) lines.push_back(end_of_drain(why.node, why.window));
  return lines;
}
Lines lines_of(const NodesDrain& why, JobId) {
  const Advice more = another_node(counted(why.needed - why.cluster, "slot"));
  return why.reclaimed ? Lines{more} : Lines{end_of_drain(why.node, why.window), more};
}
Lines lines_of(const NodesUnsteady& why, JobId) {
  return {why.node.text() + " stays without a fault for a while: schedctl nodes says until when",
          advice_for_admin("schedctl node clear-faults " + why.node.text()),
          another_node(counted(why.needed - why.cluster, "slot"))};
}
Lines lines_of(const NoSlotsToGrow& why, JobId) {
  return {
      another_node(counted(std::max(1, why.wanted), "free slot") + (why.word.empty() ? "" : " of type " + why.word))};
}
Lines lines_of(const StragglerNoSpare&, JobId) {
  return {another_node("room for a worker")};
}
Lines lines_of(const Cooldown& why, JobId) {
  return {wait_for(why.left) + " for the cooldown"};
}
Lines lines_of(const MinRuntime& why, JobId) {
  return {wait_for(why.left) + " for elastic.min_runtime"};
}
Lines lines_of(const PriceCap& why, JobId) {
  return {"raise scaling.price_cap to " + to_text(why.price)};
}
Lines lines_of(const NoMeasurements&, JobId job) {
  Advice choose("choose a size: schedctl resize " + job.text() + " SIZE");
  choose.pins = true;
  return {choose};
}
Lines lines_of(const AtMax&, JobId) {
  return {"raise elastic.max"};
}
Lines lines_of(const ShareHold& why, JobId) {
  const std::string what = why.type.empty() ? "a larger guarantee" : "a larger guarantee_by_type of " + why.type;
  return {advice_for_admin(what + " for tenant " + why.word + ": schedctl tenants apply FILE")};
}
Lines lines_of(const AtMin&, JobId) {
  return {"lower elastic.min"};
}
Lines lines_of(const PinnedByUser&, JobId job) {
  return {"schedctl resize " + job.text() + " 0"};
}
Lines lines_of(const BatchTooSmall&, JobId) {
  return {"raise batch.global"};
}
Lines lines_of(const Measuring& why, JobId) {
  const auto left = static_cast<double>(why.of.value_or(0) - why.steps.value_or(0));
  return left > 0 ? Lines{"wait for " + counted(left, "more step")} : Lines{};
}

// All others: nothing must change, or only the cluster can change.
template <ToldReason R>
Lines lines_of(const R&, JobId) {
  return {};
}

}  // namespace
}  // namespace reason

namespace {

Measure measure_of(const Reason& reason) {
  return visit_reason(
      [](const auto& told) {
        if constexpr (requires { measure::measure_of(told.by); }) return measure::measure_of(told.by);
        return Measure::kOwn;
      },
      reason);
}

}  // namespace

Advice advice_for_admin(std::string text) {
  Advice advice(std::move(text));
  advice.for_admin = true;
  return advice;
}

Advice advice_to_cancel(JobId job, const std::string& more) {
  Advice advice("cancel " + job.text() + more);
  advice.cancels = job;
  return advice;
}

Advice advice_of_end(JobId job, const std::string& more) {
  Advice advice("the end of " + job.text() + more);
  advice.ends = job;
  return advice;
}

std::vector<std::string> texts_of(const std::vector<Advice>& advice) {
  std::vector<std::string> texts;
  texts.reserve(advice.size());
  for (const Advice& each : advice) texts.push_back(each.text);
  return texts;
}

std::vector<Advice> advice_of(const Reason& reason, JobId job) {
  return visit_reason([&](const auto& told) { return reason::lines_of(told, job); }, reason);
}

std::vector<std::string> unblocks_of(const Reason& reason, JobId job) {
  return texts_of(advice_of(reason, job));
}

std::string scores_of(const Alternative& chosen, const std::vector<Alternative>& lost) {
  if (lost.empty()) return "";
  const auto size = [](int workers) { return workers == 0 ? "holding nothing" : counted(workers, "worker"); };
  Measure judged_by = measure_of(chosen.reason);
  if (judged_by == Measure::kOwn) judged_by = measure_of(lost.front().reason);
  // Without a measure, a score of 0 means that the policy gives the chosen size none.
  if (chosen.score == 0 && (judged_by == Measure::kOwn || lost.front().score == 0)) return "";
  const std::string unit = measure::unit(judged_by);
  if (unit.empty()) return "";  // the policy's own measure has no unit for people
  const Compared both = compared(chosen.score, lost.front().score, NumberStyle::kThreeDigits);
  const std::string other = size(lost.front().size);
  if (both.alike) return "score in " + unit + ": " + both.left + " for " + size(chosen.size) + " as for " + other;
  return "score in " + unit + ": " + size(chosen.size) + " " + both.left + ", " + other + " " + both.right;
}

}  // namespace tidepool::core
