#include "policies/cluster/cluster_autoscaling.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_grants.hpp"
#include "policies/size/utility.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr double kHourSeconds = 3'600;

// The mean over all slots; 0 where it is not known.
double slot_price_per_hour(const View& view) {
  double sum = 0;
  for (const NodeRow& node : view.nodes) {
    if (!view.types.empty()) sum += node.slots * view.types[static_cast<std::size_t>(node.type)].price_per_hour;
  }
  return view.slots() > 0 ? sum / view.slots() : 0;
}

struct Condition {
  double score = 0;
  double bar = 0;
  [[nodiscard]] bool passes() const { return score > bar; }
};

// One job's ladder and where it stands on it.
class Climber {
 public:
  Climber(const View& view, const JobRow& job, const ClusterAutoscaling::Settings& settings)
      : view_(view), job_(job), threshold_(settings.efficiency_threshold) {
    int workers = settings.spawn_size;
    if (job.scaling != nullptr) {
      workers = std::max(1, job.scaling->spawn_size);
      threshold_ = job.scaling->efficiency_threshold;
    }
    spawn_ = workers * job.slots_per_worker;
  }

  [[nodiscard]] int size() const { return size_; }
  // The allowed size that is N workers on or, where there is none, the next one beyond; at the top the largest. The
  // lowest rung is the smallest size, or N if that is larger.
  [[nodiscard]] int next() const {
    const int size = smallest_size(job_, size_ + spawn_);
    return size > 0 ? size : std::max(size_, largest_size(job_, job_.size_max));
  }
  void climb() { size_ = next(); }
  [[nodiscard]] bool by_utility() const { return job_.scaling != nullptr && has_utility(*job_.scaling); }

  // Of the next rung; nothing at the top, and one rung above what was measured.
  [[nodiscard]] std::optional<Condition> condition() {
    if (next() == size_ || size_ > std::max(job_.largest_seen, 0)) return std::nullopt;
    if (next() > job_.largest_seen) return last_;
    const double now = step_seconds(size_);
    const double then = step_seconds(next());
    if (!std::isfinite(now) || !std::isfinite(then)) return std::nullopt;
    last_ = by_utility() ? worth(now, then) : Condition{efficiency(now, then), threshold_};
    return last_;
  }

 private:
  [[nodiscard]] double step_seconds(int size) const {
    return job_.speed->step_seconds(packed(size, view_.slots_per_node()));
  }
  [[nodiscard]] double efficiency(double now, double then) const {
    return ((1 / then - 1 / now) / (next() - size_)) / (1 / now / size_);
  }

  [[nodiscard]] Condition worth(double now, double then) const {
    const double steps = job_.steps_left.value_or(kHourSeconds / now);
    const double waited = (view_.now - job_.submitted).to_seconds();
    const double gain =
        utility_at(*job_.scaling, waited + steps * then) - utility_at(*job_.scaling, waited + steps * now);
    const double price = slot_price_per_hour(view_) / kHourSeconds * steps;
    const double spent = size_ * price * now;
    const double more = next() * price * then - spent;
    // Where slots cost nothing, a unit of currency stands for what is spent.
    return {.score = (gain - more) / (spent > 0 ? spent : 1), .bar = 0};
  }

  const View& view_;
  const JobRow& job_;
  int spawn_ = 1;  // N, in slots
  double threshold_;
  int size_ = 0;
  Condition last_{.score = 1, .bar = 0};
};

struct Bid {
  double score = 0;
  std::size_t row = 0;
  bool operator<(const Bid& other) const {
    return score != other.score ? score < other.score : row > other.row;  // the top: best score, then first row
  }
};

using Conditions = std::vector<std::optional<Condition>>;

// Speed-ups of the sizes that were measured, in the words of one job's engine where that says more.
Allocation explained(const View& view, const std::vector<Climber>& climbers, const Conditions& conditions) {
  std::vector<ChosenSize> chosen(climbers.size());
  std::vector<std::vector<double>> tables(climbers.size());
  int free = view.slots();
  for (std::size_t row = 0; row < climbers.size(); ++row) {
    const JobRow& job = view.jobs[row];
    chosen[row].size = climbers[row].size();
    free -= chosen[row].size;
    if (view.explained)
      tables[row] = speedup_table(job, view.slots_per_node(), std::min(job.largest_seen, job.size_max));
  }
  for (std::size_t row = 0; row < climbers.size(); ++row) {
    const int size = chosen[row].size;
    const int next = climbers[row].next();
    if (!conditions[row] || next == size) continue;
    if (conditions[row]->passes()) {
      chosen[row].held_for = core::reason::NoSlotsToGrow{.wanted = next - size, .free = free};
    } else if (!climbers[row].by_utility()) {
      chosen[row].held_for = core::reason::EfficiencySettled{
          {.size = size, .next = next}, {.efficiency = conditions[row]->score, .threshold = conditions[row]->bar}};
    }
  }
  Allocation allocation = grant_sizes(view, chosen, by_speedup(tables));
  explain_line(view, by_arrival(view), allocation, ExplainedRows::kWaiting);
  return allocation;
}

}  // namespace

Allocation ClusterAutoscaling::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<Climber> climbers;
  Conditions conditions(view.jobs.size());  // of the rung above what a job has
  std::priority_queue<Bid> bids;
  int free = view.slots();
  const auto bid = [&](std::size_t row) {
    const auto condition = climbers[row].condition();
    if (!condition) return;
    conditions[row] = *condition;
    if (condition->passes()) bids.push({.score = condition->score, .row = row});
  };
  for (const JobRow& job : view.jobs) climbers.emplace_back(view, job, settings_);
  for (std::size_t row = 0; row < climbers.size(); ++row) {
    if (climbers[row].next() > free) continue;
    free -= climbers[row].next();
    climbers[row].climb();
    bid(row);
  }
  while (!bids.empty() && budget.spend()) {
    const Bid best = bids.top();
    bids.pop();
    Climber& climber = climbers[best.row];
    const int more = climber.next() - climber.size();
    if (more > free) continue;
    free -= more;
    climber.climb();
    conditions[best.row].reset();
    bid(best.row);
  }
  return explained(view, climbers, conditions);
}

}  // namespace tidepool::policies::cluster
