#include "studies/baselines/pollux_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "studies/baselines/best_sizes.hpp"

namespace tidepool::policies::cluster {
namespace {

using Rows = std::vector<std::size_t>;
using SlotCounts = std::vector<int>;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kBetter = 1e-9;  // a smaller gain is rounding

struct Manner {
  // Jobs that stay are placed before large ones; they may keep a large one from a whole node.
  bool staying_first = true;
  // The first job of a rebuild must change its size: sizes that are best by the sum may fit on no nodes together.
  bool other_size = false;
};

class Search {
 public:
  Search(const PolluxFitness& fitness, core::StepBudget& budget)
      : fitness_(fitness),
        budget_(budget),
        matrix_(fitness.held().jobs(), fitness.held().nodes()),
        owner_(matrix_.nodes(), kNone),
        slots_per_node_(fitness.view().slots_per_node()) {
    for (const NodeRow& node : fitness.view().nodes) free_.push_back(node.slots);
  }

  [[nodiscard]] const SlotMatrix& matrix() const { return matrix_; }

  // What jobs hold as far as it is lawful, waiting ones where there is room.
  void keep_held() {
    Rows rows(matrix_.jobs());
    std::iota(rows.begin(), rows.end(), 0);
    for (const std::size_t row : rows) {
      if (fits(row, fitness_.held().job(row))) put(row, fitness_.held().job(row));
    }
    for (const std::size_t row : rows) regrow(row, fitness_.most(row));
  }

  // False once the budget is spent; the jobs then hold nothing.
  bool rebuild(const Rows& rows, Manner manner) {
    const int size_before = shape_of(matrix_.job(rows.front())).size;
    for (const std::size_t row : rows) clear(row);
    const int room = std::accumulate(free_.begin(), free_.end(), 0);
    std::vector<std::vector<double>> worth;
    for (const std::size_t row : rows) worth.push_back(worth_by_size(row, std::min(room, fitness_.most(row))));
    if (manner.other_size && size_before > 0) {
      worth.front()[static_cast<std::size_t>(size_before)] = -std::numeric_limits<double>::infinity();
    }
    const auto sizes = best_sizes(worth, room, budget_);
    if (!sizes) return false;
    std::vector<std::tuple<bool, int, std::size_t>> queue;  // size below 0, so that large ones come first
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool stays = manner.staying_first && (*sizes)[i] == shape_of(fitness_.held().job(rows[i])).size;
      if ((*sizes)[i] > 0) queue.emplace_back(!stays, -(*sizes)[i], rows[i]);
    }
    std::sort(queue.begin(), queue.end());
    for (const auto& [moves, size, row] : queue) regrow(row, -size);
    for (const std::size_t row : rows) regrow(row, fitness_.most(row));
    return true;
  }

  // Keeps the outcome of a rebuild only if it is better. False once the budget is spent.
  bool try_rebuild(const Rows& rows, Manner manner) {
    const Search before = *this;
    const double burden = burden_of(rows);
    const bool done = rebuild(rows, manner);
    if (!done || burden_of(rows) > burden - kBetter) restore(before);
    return done;
  }

  // A random job, and those on up to three random nodes, each with a chance of a half to be left where it is.
  [[nodiscard]] Rows draw(Rng& rng) const {
    Rows rows{rng.below(matrix_.jobs())};
    std::vector<bool> emptied(matrix_.nodes(), false);
    for (auto nodes = rng.between(1, 3); nodes > 0; --nodes) emptied[rng.below(matrix_.nodes())] = true;
    const double leave = rng.chance(0.5) ? 0 : 0.5;
    for (std::size_t row = 0; row < matrix_.jobs(); ++row) {
      const auto slots = matrix_.job(row);
      bool there = false;
      for (std::size_t node = 0; node < slots.size(); ++node) there = there || (emptied[node] && slots[node] > 0);
      if (there && row != rows.front() && !rng.chance(leave)) rows.push_back(row);
    }
    return rows;
  }

 private:
  void restore(const Search& before) {
    matrix_ = before.matrix_;
    free_ = before.free_;
    owner_ = before.owner_;
  }

  [[nodiscard]] double burden_of(const Rows& rows) const {
    double sum = 0;
    for (const std::size_t row : rows) sum += fitness_.burden(row, matrix_.job(row));
    return sum;
  }

  [[nodiscard]] bool fits(std::size_t row, std::span<const int> slots) const {
    const Shape shape = shape_of(slots);
    if (shape.size == 0 || shape.size > fitness_.most(row)) return false;
    for (std::size_t node = 0; node < slots.size(); ++node) {
      if (slots[node] > free_[node]) return false;
      if (slots[node] > 0 && shape.nodes > 1 && owner_[node] != kNone) return false;
    }
    return true;
  }

  void put(std::size_t row, std::span<const int> slots) {
    const bool distributed = shape_of(slots).nodes > 1;
    for (std::size_t node = 0; node < slots.size(); ++node) {
      free_[node] -= slots[node];
      matrix_.job(row)[node] = slots[node];
      if (distributed && slots[node] > 0) owner_[node] = row;
    }
  }

  void clear(std::size_t row) {
    const auto slots = matrix_.job(row);
    for (std::size_t node = 0; node < slots.size(); ++node) {
      free_[node] += std::exchange(slots[node], 0);
      if (owner_[node] == row) owner_[node] = kNone;
    }
  }

  // Gives a job the best that is free up to a size, if that is better than what it has.
  void regrow(std::size_t row, int up_to) {
    const SlotCounts before(matrix_.job(row).begin(), matrix_.job(row).end());
    const double burden = fitness_.burden(row, before);
    clear(row);
    SlotCounts best = best_free(row, up_to);
    if (fitness_.burden(row, best) > burden - kBetter) best = before;
    put(row, best);
  }

  // What the job holds or, of the sizes up to `up_to`, the best, on as few nodes as the free slots allow.
  [[nodiscard]] SlotCounts best_free(std::size_t row, int up_to) const {
    std::vector<std::pair<int, std::size_t>> nodes;  // most free first
    for (std::size_t node = 0; node < free_.size(); ++node) {
      if (free_[node] > 0 && owner_[node] == kNone) nodes.emplace_back(-free_[node], node);
    }
    std::sort(nodes.begin(), nodes.end());
    const int single = *std::max_element(free_.begin(), free_.end());
    double burden = std::numeric_limits<double>::infinity();
    int best = 0;
    int room = 0;  // of the first `count` nodes
    std::size_t count = 0;
    for (int size = 1; size <= up_to; ++size) {
      while (count < nodes.size() && room < size) room -= nodes[count++].first;
      if (size > single && room < size) break;
      const int spread = size <= single ? 1 : static_cast<int>(count);
      const double value = fitness_.burden(row, {.nodes = spread, .size = size}, true);
      if (value < burden - kBetter) std::tie(burden, best) = std::pair(value, size);
    }
    const auto held = fitness_.held().job(row);
    if (shape_of(held).size <= up_to && fits(row, held) && fitness_.burden(row, held) <= burden) {
      return {held.begin(), held.end()};
    }
    return laid_out(best, single, nodes);
  }

  // On the fullest node with room, or on the emptiest ones and the fullest one with room for the rest.
  [[nodiscard]] SlotCounts laid_out(int size, int single, const std::vector<std::pair<int, std::size_t>>& nodes) const {
    SlotCounts slots(free_.size(), 0);
    if (size <= single) {
      if (size > 0) slots[fullest_with(size, slots, false)] = size;
      return slots;
    }
    for (std::size_t next = 0; size > 0; ++next) {
      const int most = -nodes[next].first;
      const std::size_t node = size <= most ? fullest_with(size, slots, true) : nodes[next].second;
      slots[node] = std::min(size, free_[node]);
      size -= slots[node];
    }
    return slots;
  }

  // Of the nodes not yet taken. `unshared`: only those without a job of several nodes.
  [[nodiscard]] std::size_t fullest_with(int size, const SlotCounts& taken, bool unshared) const {
    std::size_t best = kNone;
    for (std::size_t node = 0; node < free_.size(); ++node) {
      if (free_[node] < size || taken[node] > 0 || (unshared && owner_[node] != kNone)) continue;
      if (best == kNone || free_[node] < free_[best]) best = node;
    }
    return best;
  }

  // By size, were the job on as few nodes as possible, or where it is.
  [[nodiscard]] std::vector<double> worth_by_size(std::size_t row, int most) const {
    const auto held = fitness_.held().job(row);
    const int holds = shape_of(held).size;
    std::vector<double> worth{-fitness_.burden(row, {.nodes = 0, .size = 0}, false)};
    for (int size = 1; size <= most; ++size) {
      const double moved = -fitness_.burden(row, packed(size, slots_per_node_), true);
      worth.push_back(size == holds ? std::max(moved, -fitness_.burden(row, held)) : moved);
    }
    return worth;
  }

  const PolluxFitness& fitness_;
  core::StepBudget& budget_;
  SlotMatrix matrix_;
  std::vector<int> free_;           // by node
  std::vector<std::size_t> owner_;  // by node: the job of several nodes that is there
  int slots_per_node_;
};

}  // namespace

SlotMatrix search_pollux(const PolluxFitness& fitness, Rng rng, core::StepBudget& budget) {
  Search kept(fitness, budget);
  if (kept.matrix().jobs() == 0 || kept.matrix().nodes() == 0) return kept.matrix();
  kept.keep_held();
  Rows all(kept.matrix().jobs());
  std::iota(all.begin(), all.end(), 0);
  bool budget_left = kept.try_rebuild(all, {.staying_first = true}) && kept.try_rebuild(all, {.staying_first = false});
  for (int i = 0; i < kPolluxRebuilds && budget_left; ++i) {
    const Rows rows = kept.draw(rng);
    const bool staying_first = rng.chance(0.5);
    budget_left = kept.try_rebuild(rows, {.staying_first = staying_first, .other_size = rng.chance(0.5)});
  }
  return kept.matrix();
}

}  // namespace tidepool::policies::cluster
