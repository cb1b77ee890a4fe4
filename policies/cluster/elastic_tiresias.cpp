#include "policies/cluster/elastic_tiresias.hpp"

#include <algorithm>
#include <tuple>

#include "policies/cluster/size_grants.hpp"
#include "policies/cluster/tiresias.hpp"

namespace tidepool::policies::cluster {
namespace {

// The state of one decision.
class Expansion {
 public:
  explicit Expansion(const View& view)
      : view_(view), queues_(two_queues(view)), chosen_(view.jobs.size()), free_(view.slots()) {
    for (const JobRow& job : view.jobs) {
      speedup_.push_back(speedup_table(job, view.slots_per_node(), std::min(job.size_max, free_)));
    }
  }

  void serve_queues() {
    for (const std::size_t row : queues_.order) {
      const int wanted = view_.jobs[row].size_wanted;
      if (wanted <= free_) resize(row, wanted);
    }
  }

  void compact() {
    const auto waiting = std::count_if(chosen_.begin(), chosen_.end(), [](const auto& c) { return c.size == 0; });
    if (waiting <= ElasticTiresias::kWaitingMax) return;
    for (std::size_t row = 0; row < chosen_.size(); ++row) {
      if (chosen_[row].size > 0 && queues_.marks[row].level > 0) resize(row, smallest(row));
    }
  }

  void expand(core::StepBudget& budget) {
    while (free_ > 0 && budget.spend(static_cast<std::int64_t>(chosen_.size()))) {
      std::tuple<double, int> best{0, 0};  // gain, queue
      std::size_t best_row = chosen_.size();
      for (const std::size_t row : queues_.order) {
        const std::tuple offer{gain(row), -queues_.marks[row].level};
        if (std::get<0>(offer) <= 0 || offer <= best) continue;
        best = offer;
        best_row = row;
      }
      if (best_row == chosen_.size()) return;
      resize(best_row, next_size(best_row));
    }
  }

  [[nodiscard]] Allocation result() && {
    Allocation allocation = grant_sizes(view_, chosen_, by_speedup(speedup_));
    Line line = line_of_queues(queues_.marks);
    line.order = queues_.order;
    explain_line(view_, line, allocation, ExplainedRows::kWaiting);
    for (std::size_t row = 0; row < chosen_.size(); ++row) allocation.grants[row].mark = queues_.marks[row];
    return allocation;
  }

 private:
  [[nodiscard]] int smallest(std::size_t row) const { return view_.jobs[row].size_min; }
  [[nodiscard]] int next_size(std::size_t row) const {
    return chosen_[row].size == 0 ? smallest(row) : chosen_[row].size + 1;
  }

  // 0 where the next size is not allowed or does not fit.
  [[nodiscard]] double gain(std::size_t row) const {
    const auto size = static_cast<std::size_t>(chosen_[row].size);
    const auto next = static_cast<std::size_t>(next_size(row));
    if (next >= speedup_[row].size() || static_cast<int>(next - size) > free_) return 0;
    return (speedup_[row][next] - speedup_[row][size]) / double(next - size);
  }

  void resize(std::size_t row, int size) {
    free_ -= size - chosen_[row].size;
    chosen_[row].size = size;
  }

  const View& view_;
  TwoQueues queues_;
  std::vector<ChosenSize> chosen_;
  std::vector<std::vector<double>> speedup_;
  int free_;
};

}  // namespace

Allocation ElasticTiresias::allocate(const View& view, core::StepBudget& budget) const {
  Expansion expansion(view);
  expansion.serve_queues();
  expansion.compact();
  expansion.expand(budget);
  return std::move(expansion).result();
}

}  // namespace tidepool::policies::cluster
