#include "studies/baselines/gavel_rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/rng.hpp"
#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

std::vector<double> part(const std::vector<double>& numbers, std::size_t from, std::size_t count) {
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// The type on which it ran in the last round; none = it did not run.
std::optional<std::size_t> type_held(const View& view, const JobRow& job) {
  if (job.placement.empty()) return std::nullopt;
  return static_cast<std::size_t>(view.nodes[static_cast<std::size_t>(job.placement.front().node)].type);
}

// What the last round has brought each job.
std::vector<Ledger> ledgers_now(const View& view, std::size_t types) {
  std::vector<Ledger> ledgers;
  for (const JobRow& job : view.jobs) {
    Ledger ledger = Ledger::from(job.mark, types);
    const double held_s = job.held.to_seconds();
    if (const auto type = type_held(view, job); type && *type < types) {
      ledger.run_s[*type] += held_s - ledger.held_s;
    }
    ledger.held_s = held_s;
    ledgers.push_back(std::move(ledger));
  }
  return ledgers;
}

bool plan_is_due(const View& view, const std::vector<Ledger>& ledgers) {
  const auto planned =
      std::count_if(ledgers.begin(), ledgers.end(), [](const Ledger& ledger) { return ledger.planned; });
  const bool changed = planned != static_cast<std::int64_t>(ledgers.size()) || planned != view.mark.level;
  const bool waited = view.now - view.mark.since >= GavelPolicy::kPlanEvery || view.mark.since == Instant();
  return changed && (waited || planned == 0);
}

void take_over(const TypeTable& shares, Duration since_last, std::vector<Ledger>& ledgers) {
  for (std::size_t row = 0; row < ledgers.size(); ++row) {
    Ledger& ledger = ledgers[row];
    for (std::size_t type = 0; type < shares.types(); ++type) {
      if (ledger.planned) ledger.owed_s[type] += ledger.share[type] * since_last.to_seconds() - ledger.run_s[type];
      ledger.run_s[type] = 0;
      ledger.share[type] = shares.at(row, type);
    }
    ledger.planned = true;
  }
}

// Rows in the order in which they are offered the slots of one type.
std::vector<std::size_t> queue_for(std::size_t type, const TypeTable& speeds, const std::vector<Ledger>& ledgers) {
  const double half_round = GavelPolicy::kRound.to_seconds() / 2;
  std::vector<std::tuple<double, double, double, std::size_t>> ranked;
  for (std::size_t row = 0; row < ledgers.size(); ++row) {
    const Ledger& ledger = ledgers[row];
    if (!(speeds.at(row, type) > 0)) continue;
    ranked.emplace_back(-ledger.share[type] / (half_round + ledger.run_s[type]), -ledger.owed_s[type],
                        -ledger.share[type], row);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> queue;
  queue.reserve(ranked.size());
  for (const auto& entry : ranked) queue.push_back(std::get<3>(entry));
  return queue;
}

std::vector<std::size_t> order_of_types(std::size_t types, const View& view, bool knows_types) {
  std::vector<std::size_t> order(types);
  std::iota(order.begin(), order.end(), 0);
  if (!knows_types) {
    Rng rng(static_cast<std::uint64_t>(view.now.count_us()));
    rng.shuffle(order);
  }
  return order;
}

// How far behind its share a job is on a type: above 1 it has had less than half a round of it.
double priority_of(const Ledger& ledger, std::size_t type) {
  return ledger.share[type] / (0.5 + ledger.run_s[type] / GavelPolicy::kRound.to_seconds());
}

// The line of all jobs by what they are furthest behind with, and what each is to have and has had. `free`: slots that
// no job was offered.
void explain(const View& view, const std::vector<Ledger>& ledgers, int free, Allocation& allocation) {
  Line line{.measure = core::measure::kTimeShare};
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t row = 0; row < ledgers.size(); ++row) {
    double most = 0;
    for (std::size_t type = 0; type < ledgers[row].share.size(); ++type) {
      most = std::max(most, priority_of(ledgers[row], type));
    }
    line.own.push_back(most);
    ranked.emplace_back(-most, row);
  }
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [priority, row] : ranked) line.order.push_back(row);
  const double elapsed_s = std::max(GavelPolicy::kRound.to_seconds(), (view.now - allocation.mark.since).to_seconds());
  const auto sum = [](const std::vector<double>& by_type) {
    return std::accumulate(by_type.begin(), by_type.end(), 0.0);
  };
  for (const Ledger& ledger : ledgers) {
    line.shares.push_back({.target = sum(ledger.share), .received = sum(ledger.run_s) / elapsed_s});
  }
  for (const JobRow& job : view.jobs) line.waits.push_back({.needed = job.size_wanted, .free = free});
  explain_line(view, line, allocation);
}

}  // namespace

Ledger Ledger::from(const Mark& mark, std::size_t types) {
  const std::size_t fixed = 3 * types + 1;
  if (mark.numbers.size() < fixed) {
    const std::vector<double> none(types, 0);
    return {.share = none, .run_s = none, .owed_s = none, .own = {}};
  }
  return {.planned = mark.level == 1,
          .share = part(mark.numbers, 0, types),
          .run_s = part(mark.numbers, types, types),
          .owed_s = part(mark.numbers, 2 * types, types),
          .held_s = mark.numbers[3 * types],
          .own = part(mark.numbers, fixed, mark.numbers.size() - fixed)};
}

Mark Ledger::mark(Instant now) const {
  Mark mark{.level = planned ? 1 : 0, .since = now, .numbers = share};
  mark.numbers.insert(mark.numbers.end(), run_s.begin(), run_s.end());
  mark.numbers.insert(mark.numbers.end(), owed_s.begin(), owed_s.end());
  mark.numbers.push_back(held_s);
  mark.numbers.insert(mark.numbers.end(), own.begin(), own.end());
  return mark;
}

Allocation GavelPolicy::allocate(const View& view, core::StepBudget& budget) const {
  const TypeTable speeds = wanted_speeds(view);
  std::vector<double> free = slots_by_type(view);
  std::vector<Ledger> ledgers = ledgers_now(view, speeds.types());
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}, .placements = {}};
  allocation.mark = view.mark;
  budget.spend(static_cast<std::int64_t>(view.jobs.size() * speeds.types()));
  if (plan_is_due(view, ledgers)) {
    const TypeTable shares = plan(view, speeds, ledgers);
    take_over(shares, view.now - view.mark.since, ledgers);
    allocation.mark = {.level = static_cast<int>(view.jobs.size()), .since = view.now, .numbers = {}};
  }
  std::vector<bool> served(view.jobs.size(), false);
  for (const std::size_t type : order_of_types(speeds.types(), view, knows_types())) {
    for (const std::size_t row : queue_for(type, speeds, ledgers)) {
      const int size = view.jobs[row].size_wanted;
      if (served[row] || size > free[type]) continue;
      served[row] = true;
      free[type] -= size;
      allocation.order.push_back(row);
      if (ledgers[row].planned) allocation.grants[row].size = size;
      if (!view.types.empty()) allocation.grants[row].type = static_cast<int>(type);
    }
  }
  const int left = std::accumulate(free.begin(), free.end(), 0);
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    Grant& grant = allocation.grants[row];
    if (!served[row]) allocation.order.push_back(row);
    if (!view.types.empty() && grant.type < 0) grant.type = 0;
    grant.mark = ledgers[row].mark(view.now);
    grant.reason = core::reason::TurnWait{.needed = view.jobs[row].size_wanted, .free = left};
  }
  if (view.explained) explain(view, ledgers, left, allocation);
  return allocation;
}

}  // namespace tidepool::policies::cluster
