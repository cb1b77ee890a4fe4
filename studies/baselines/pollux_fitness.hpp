// Pollux's objective over the matrices job x node (Qiao et al., "Pollux", OSDI 2021, section 4.2; artifact):
//   fitness = ( 1/J sum_j (c s_j r_j + 0.001)^-1 )^-1,   the power mean with p = -1
//   s_j = goodput of what the job would hold / goodput of its fair share, ceil(slots / J) workers as on one node
//   r_j = max(age - resizes x delay, 0) / (age + delay) if it would hold anything else than now, else 1
//   c   = nodes / slots, which scales a whole node at no loss to a speed-up of 1; 0.001 stands for a job that waits.
// `delay` is the job's own transition (30 s in the artifact). A job of age 0 counts as one second old: at 0 nothing
// would tell starting it from letting it wait.
#pragma once

#include <span>
#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

// Slots of each job on each node.
class SlotMatrix {
 public:
  SlotMatrix(std::size_t jobs, std::size_t nodes) : nodes_(nodes), slots_(jobs * nodes, 0) {}

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::size_t jobs() const { return nodes_ == 0 ? 0 : slots_.size() / nodes_; }
  [[nodiscard]] std::span<int> job(std::size_t row) { return {slots_.data() + row * nodes_, nodes_}; }
  [[nodiscard]] std::span<const int> job(std::size_t row) const { return {slots_.data() + row * nodes_, nodes_}; }
  bool operator==(const SlotMatrix&) const = default;

 private:
  std::size_t nodes_;
  std::vector<int> slots_;
};

[[nodiscard]] Shape shape_of(std::span<const int> slots);  // {0, 0} of a job that holds nothing

class PolluxFitness {
 public:
  // The view outlives it.
  explicit PolluxFitness(const View& view);

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] const SlotMatrix& held() const { return held_; }
  // At most twice the largest size at which the job was measured, and what its batch allows (section 4.1).
  [[nodiscard]] int most(std::size_t row) const { return jobs_[row].most; }

  // A job's addend of the sum: 1000 while it holds nothing, the less the faster it would be.
  [[nodiscard]] double burden(std::size_t row, std::span<const int> slots) const;
  [[nodiscard]] double burden(std::size_t row, Shape shape, bool changed) const;
  [[nodiscard]] double fitness(const SlotMatrix& matrix) const;
  // s_j. Requires: at most most() workers, or as many as the job holds, on no more nodes than workers.
  [[nodiscard]] double speedup(std::size_t row, Shape shape) const;

  // No node overfull, no job above its largest size, and at most one job of several nodes on each node (section 4.2.1,
  // "interference avoidance").
  [[nodiscard]] bool lawful(const SlotMatrix& matrix) const;

 private:
  struct Job {
    int most = 1;
    double base = 1;          // goodput of its fair share
    double factor = 1;        // r_j
    std::size_t columns = 0;  // sizes that it may be asked about
    // By nodes and size; below 0 = not asked yet. The same questions get the same answers with and without it.
    mutable std::vector<double> speedup;
  };

  const View& view_;
  SlotMatrix held_;
  std::vector<Job> jobs_;
  double scale_;
};

}  // namespace tidepool::policies::cluster
