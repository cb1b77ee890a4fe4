#include "studies/baselines/afs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

struct Rival {
  std::size_t row = 0;
  double work = std::numeric_limits<double>::infinity();  // seconds left on one worker
  std::vector<double> speedup;
  int size = 0;
  int size_min = 1;

  [[nodiscard]] int next() const { return size == 0 ? size_min : size + 1; }
  [[nodiscard]] double speed(int at) const { return speedup[static_cast<std::size_t>(at)]; }
  [[nodiscard]] double seconds() const {
    return size == 0 || speed(size) <= 0 ? std::numeric_limits<double>::infinity() : work / speed(size);
  }
  [[nodiscard]] double gain() const { return speed(next()) - speed(size); }
  [[nodiscard]] bool can_grow(int free) const {
    return next() < static_cast<int>(speedup.size()) && next() - size <= free && gain() > 0;
  }
};

// Whether `later` goes before `sooner`.
bool overtakes(const Rival& later, const Rival& sooner) {
  const double share = later.gain() / later.speed(later.next());
  const double speeds_up =
      sooner.size == 0 ? std::numeric_limits<double>::infinity() : sooner.gain() / sooner.speed(sooner.size);
  return share > speeds_up;
}

const Rival& winner(const Rival& first, const Rival& second) {
  if (first.size == 0 && second.size == 0) return second.work < first.work ? second : first;
  const bool in_order = first.seconds() <= second.seconds();
  const Rival& sooner = in_order ? first : second;
  const Rival& later = in_order ? second : first;
  return overtakes(later, sooner) ? later : sooner;
}

Rival rival_of(const View& view, std::size_t row) {
  const JobRow& job = view.jobs[row];
  Rival rival{.row = row, .size_min = job.size_min};
  rival.speedup = speedup_table(job, view.slots_per_node(), std::min(job.size_max, view.slots()));
  const auto runs = std::find_if(rival.speedup.begin(), rival.speedup.end(), [](double speed) { return speed > 0; });
  if (!job.steps_left || runs == rival.speedup.end()) return rival;
  const int smallest = static_cast<int>(runs - rival.speedup.begin());
  rival.work = *job.steps_left * job.speed->step_seconds(packed(smallest, view.slots_per_node())) * *runs;
  return rival;
}

// What of the time that its smallest size would take a larger one saves.
Weighing by_shortening(const std::vector<Rival>& rivals) {
  return {.measure = core::measure::kShortening, .worth = [&rivals](std::size_t row, int size) {
            const Rival& rival = rivals[row];
            const bool runs = size >= rival.size_min && size < static_cast<int>(rival.speedup.size()) &&
                              rival.speed(size) > 0 && rival.speed(rival.size_min) > 0;
            return runs ? 1 - rival.speed(rival.size_min) / rival.speed(size)
                        : -std::numeric_limits<double>::infinity();
          }};
}

// The line of those that hold nothing: the least work first.
Line by_work(const std::vector<Rival>& rivals) {
  Line line{.measure = core::measure::kTimeLeft};
  std::vector<std::pair<double, std::size_t>> ranked;
  for (const Rival& rival : rivals) {
    line.own.push_back(std::isfinite(rival.work) ? rival.work : -1);
    ranked.emplace_back(rival.work, rival.row);
  }
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [work, row] : ranked) line.order.push_back(row);
  return line;
}

}  // namespace

Allocation Afs::allocate(const View& view, core::StepBudget& budget) const {
  std::vector<Rival> rivals;
  rivals.reserve(view.jobs.size());
  for (std::size_t row = 0; row < view.jobs.size(); ++row) rivals.push_back(rival_of(view, row));
  std::vector<ChosenSize> chosen(view.jobs.size());
  int free = view.slots();
  while (free > 0 && budget.spend(static_cast<std::int64_t>(rivals.size()))) {
    const Rival* best = nullptr;
    for (const Rival& rival : rivals) {
      if (rival.can_grow(free)) best = best == nullptr ? &rival : &winner(*best, rival);
    }
    if (best == nullptr) break;
    Rival& grown = rivals[best->row];
    chosen[grown.row].size = grown.next();
    free -= grown.next() - grown.size;
    grown.size = grown.next();
  }
  Allocation allocation = grant_sizes(view, chosen, by_shortening(rivals));
  explain_line(view, by_work(rivals), allocation, ExplainedRows::kWaiting);
  return allocation;
}

}  // namespace tidepool::policies::cluster
