#include "studies/baselines/shockwave.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr std::array kBases = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
constexpr double kLogOfNothing = -13.815510557964274;  // log 1e-6
constexpr double kNewest = 0.1;                        // what the newest estimate of a fair end counts for
constexpr int kPlanned = 1;                            // Mark::level
constexpr double kWindowS = Shockwave::kRounds * Shockwave::kRound.to_seconds();

double log_at_base(std::size_t base) {
  return base == 0 ? kLogOfNothing : std::log(kBases[base]);
}

double slope_above(std::size_t base) {
  return (log_at_base(base + 1) - log_at_base(base)) / (kBases[base + 1] - kBases[base]);
}

int rounds_for(double seconds, const WelfareProgram& program) {
  return static_cast<int>(std::ceil(seconds / program.round_s - 1e-9));
}

int rounds_most(const WelfareJob& job, const WelfareProgram& program) {
  return job.slots > program.slots ? 0 : std::min(program.rounds, rounds_for(job.left_s, program));
}

bool all_can_be_in_time(const WelfareProgram& program) {
  double needed = 0;
  for (const WelfareJob& job : program.jobs) {
    const int rounds = rounds_for(job.needed_s, program);
    if (rounds > rounds_most(job, program)) return false;
    needed += double(rounds) * job.slots;
  }
  return needed <= double(program.slots) * program.rounds;
}

using Column = LinearProgram::Column;
using Row = LinearProgram::Row;

// The program as the solver takes it: for each job its rounds and, for each piece of its logarithm that lies ahead, how
// much progress is made there. Slopes fall, so the pieces fill in order by themselves.
class Written {
 public:
  Written(const WelfareProgram& program, bool in_time) : program_(program) {
    longest_ = linear_.add(Column{.objective = -program.makespan_weight});
    Row room{.high = double(program.slots) * program.rounds};
    for (const WelfareJob& job : program.jobs) {
      const std::size_t rounds = linear_.add(Column{.high = double(rounds_most(job, program))});
      room.terms.push_back({.column = rounds, .factor = double(job.slots)});
      whole_.push_back(rounds);
      add_progress(job, rounds, in_time ? job.needed_s : 0);
    }
    linear_.add(std::move(room));
  }

  [[nodiscard]] const LinearProgram& linear() const { return linear_; }
  [[nodiscard]] const std::vector<std::size_t>& whole() const { return whole_; }

 private:
  void add_progress(const WelfareJob& job, std::size_t rounds, double needed_s) {
    const double done = 1 - job.left_s / job.all_s;
    const double share = job.weight / (double(program_.jobs.size()) * program_.rounds);
    Row run;  // seconds run, in no more than its rounds
    for (std::size_t base = 0; base + 1 < kBases.size(); ++base) {
      const double width = kBases[base + 1] - std::max(kBases[base], done);
      if (width <= 0) continue;
      const std::size_t piece = linear_.add(Column{.objective = share * slope_above(base), .high = width});
      run.terms.push_back({.column = piece, .factor = job.all_s});
    }
    Row left = run;
    left.terms.push_back({.column = longest_, .factor = 1});
    left.low = job.left_s;
    linear_.add(std::move(left));
    if (needed_s > 0) {
      Row needed = run;
      needed.low = needed_s;
      linear_.add(std::move(needed));
    }
    run.terms.push_back({.column = rounds, .factor = -program_.round_s});
    run.high = 0;
    linear_.add(std::move(run));
  }

  const WelfareProgram& program_;
  LinearProgram linear_;
  std::vector<std::size_t> whole_;  // of each job's rounds
  std::size_t longest_ = 0;         // seconds that some job still has to run after the window
};

// What a job's mark remembers. Times are seconds since its submission.
struct Entry {
  bool planned = false;
  std::uint64_t rounds = 0;  // bit r = it runs in the plan's round r
  double fair_area = 0;      // estimates of its fair end, times how long each stood
  double fair_newest = 0;
  double since_s = 0;  // when the newest was made
  double first_s = 0;  // and the first

  static Entry from(const Mark& mark) {
    if (mark.level != kPlanned || mark.numbers.size() != 5) return {};
    return {.planned = true,
            .rounds = static_cast<std::uint64_t>(mark.numbers[0]),
            .fair_area = mark.numbers[1],
            .fair_newest = mark.numbers[2],
            .since_s = mark.numbers[3],
            .first_s = mark.numbers[4]};
  }
  [[nodiscard]] Mark mark(Instant since) const {
    return {.level = kPlanned, .since = since, .numbers = {double(rounds), fair_area, fair_newest, since_s, first_s}};
  }

  void estimate(double at_s, double fair_s) {
    if (!planned) first_s = at_s;
    if (planned) fair_area += fair_newest * (at_s - since_s);
    fair_newest = fair_s;
    since_s = at_s;
    planned = true;
  }
  [[nodiscard]] double fair_s() const {
    const double mean = since_s > first_s ? fair_area / (since_s - first_s) : fair_newest;
    return (1 - kNewest) * mean + kNewest * fair_newest;
  }
};

// Seconds at the size that its user wants; none where it cannot run there.
struct Length {
  double left_s = 0;
  double all_s = 0;
};
std::optional<Length> length_of(const View& view, const JobRow& job) {
  if (job.size_wanted > view.slots()) return std::nullopt;
  const double step_s = job.speed->step_seconds(packed(job.size_wanted, view.slots_per_node()));
  if (!std::isfinite(step_s) || step_s <= 0) return std::nullopt;
  const double left = std::max(job.steps_left.value_or(std::max(job.steps_done, 1.0)), 1e-6);
  return Length{.left_s = left * step_s, .all_s = (left + job.steps_done) * step_s};
}

class Window {
 public:
  explicit Window(const View& view) : view_(view) {
    for (const JobRow& job : view.jobs) {
      lengths_.push_back(length_of(view, job));
      entries_.push_back(Entry::from(job.mark));
    }
  }

  [[nodiscard]] bool stands() const {
    const auto planned =
        std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.planned; });
    const bool same_jobs = planned == std::ssize(entries_) && planned == view_.mark.level;
    return same_jobs && view_.now >= view_.mark.since && (view_.now - view_.mark.since).to_seconds() < kWindowS;
  }

  void make(core::StepBudget& budget) {
    WelfareProgram program{.jobs = {},
                           .slots = view_.slots(),
                           .rounds = Shockwave::kRounds,
                           .round_s = Shockwave::kRound.to_seconds(),
                           .makespan_weight = Shockwave::kMakespan,
                           .limits = {}};
    std::vector<std::size_t> rows;
    std::vector<double> behind(view_.jobs.size(), 0);
    const double share = std::min(1.0, double(view_.slots()) / double(view_.jobs.size()));
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      const double at_s = (view_.now - view_.jobs[row].submitted).to_seconds();
      entries_[row].estimate(at_s, lengths_[row] ? lengths_[row]->all_s / share : 0);
      entries_[row].rounds = 0;
      if (!lengths_[row]) continue;
      rows.push_back(row);
      program.jobs.push_back(side_of(row, share));
      behind[row] = (at_s + lengths_[row]->left_s / share) / entries_[row].fair_s();
    }
    budget.spend(static_cast<std::int64_t>(program.jobs.size()) * program.rounds);
    WelfareAnswer answer = solve(program);
    // Without an answer every job asks for all it could use, and those behind come first.
    for (std::size_t i = 0; i < rows.size() && answer.rounds.size() < rows.size(); ++i) {
      answer.rounds.push_back(rounds_most(program.jobs[i], program));
    }
    fill(rows, answer.rounds, behind);
  }

  [[nodiscard]] Allocation grants(Instant made, core::StepBudget& budget) const {
    budget.spend(static_cast<std::int64_t>(view_.jobs.size()));
    const auto round = static_cast<int>((view_.now - made).to_seconds() / Shockwave::kRound.to_seconds());
    std::vector<std::tuple<bool, double, std::size_t>> order;
    Line line{.measure = core::measure::kRounds, .own = {}};
    for (std::size_t row = 0; row < entries_.size(); ++row) {
      const bool waits = ((entries_[row].rounds >> round) & 1U) == 0;
      order.emplace_back(waits, waits && lengths_[row] ? -lengths_[row]->left_s : 0, row);
      line.own.push_back(std::popcount(entries_[row].rounds >> round));
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> queue;
    queue.reserve(order.size());
    for (const auto& [waits, left, row] : order) queue.push_back(row);
    Allocation allocation = grant_in_order(view_, std::move(queue), Overtaking::kAllowed, line);
    for (std::size_t row = 0; row < entries_.size(); ++row) allocation.grants[row].mark = entries_[row].mark(made);
    allocation.mark = {.level = static_cast<int>(entries_.size()), .since = made, .numbers = {}};
    allocation.wake = made + Shockwave::kRound * (round + 1);
    return allocation;
  }

 private:
  [[nodiscard]] WelfareJob side_of(std::size_t row, double share) const {
    const JobRow& job = view_.jobs[row];
    const Length& length = *lengths_[row];
    const double fair_s = Shockwave::kFairnessMost * entries_[row].fair_s();
    const double at_s = (view_.now - job.submitted).to_seconds();
    const double after_s = std::max(0.0, fair_s - at_s - kWindowS) * share;  // that it can run after the window
    const double rho = (at_s + length.left_s / share) / entries_[row].fair_s();
    const double weight = rho > Shockwave::kFairnessMost ? std::pow(rho, Shockwave::kUrgency) : 1;
    return {.slots = job.size_wanted,
            .left_s = length.left_s,
            .all_s = length.all_s,
            .weight = std::min(weight, Shockwave::kWeightMost),
            .needed_s = std::max(0.0, length.left_s - after_s)};
  }

  // Each job as early as there is room, those furthest behind first, then the larger ones.
  void fill(const std::vector<std::size_t>& rows, const std::vector<int>& rounds, const std::vector<double>& behind) {
    std::vector<std::tuple<double, int, std::size_t, int>> order;
    order.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      order.emplace_back(-behind[rows[i]], -view_.jobs[rows[i]].size_wanted, rows[i], rounds[i]);
    }
    std::sort(order.begin(), order.end());
    std::array<int, Shockwave::kRounds> free{};
    free.fill(view_.slots());
    for (auto [rho, size, row, left] : order) {
      for (std::size_t round = 0; round < free.size() && left > 0; ++round) {
        if (free[round] < -size) continue;
        free[round] += size;
        entries_[row].rounds |= std::uint64_t{1} << round;
        --left;
      }
    }
  }

  const View& view_;
  std::vector<std::optional<Length>> lengths_;  // by row
  std::vector<Entry> entries_;
};

}  // namespace

double log_of_progress(double progress) {
  const double at = std::clamp(progress, 0.0, 1.0);
  std::size_t base = 0;
  while (base + 2 < kBases.size() && at > kBases[base + 1]) ++base;
  return log_at_base(base) + slope_above(base) * (at - kBases[base]);
}

WelfareAnswer solve(const WelfareProgram& program) {
  WelfareAnswer answer{.rounds = {}, .in_time = all_can_be_in_time(program)};
  const Written written(program, answer.in_time);
  const LinearAnswer solved = maximize_whole(written.linear(), written.whole(), program.limits);
  if (solved.values.empty()) return answer;
  for (const std::size_t column : written.whole()) answer.rounds.push_back(static_cast<int>(solved.values[column]));
  answer.welfare = solved.objective;
  for (const WelfareJob& job : program.jobs) {
    const double counts = job.weight / (double(program.jobs.size()) * program.rounds);
    answer.welfare += counts * log_of_progress(1 - job.left_s / job.all_s);
  }
  return answer;
}

Allocation Shockwave::allocate(const View& view, core::StepBudget& budget) const {
  Window plan(view);
  if (plan.stands()) return plan.grants(view.mark.since, budget);
  plan.make(budget);
  return plan.grants(view.now, budget);
}

}  // namespace tidepool::policies::cluster
