// The genetic search of Pollux's artifact (Qiao et al., OSDI 2021), to measure the product's own search against: 100
// matrices, 100 generations, crossover between jobs at one point, its three mutations and its repair. In place of its
// selection by two objectives, of which only the fitness counts in the end: tournaments of two, and the best survive.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "studies/baselines/pollux_fitness.hpp"

namespace tidepool::test {

class GeneticSearch {
 public:
  using Matrix = policies::cluster::SlotMatrix;

  GeneticSearch(const policies::cluster::PolluxFitness& fitness, Rng rng)
      : fitness_(fitness), rng_(rng), jobs_(fitness.held().jobs()), nodes_(fitness.held().nodes()) {}

  Matrix run() {
    std::vector<Member> population;
    for (int i = 0; i < kPopulation; ++i) {
      Matrix matrix = fitness_.held();
      if (i > 0) mutate(matrix);
      add(population, std::move(matrix));
    }
    for (int generation = 0; generation < kGenerations; ++generation) {
      for (int i = 0; i < kPopulation; i += 2) mate(population);
      std::sort(population.begin(), population.end(),
                [](const Member& a, const Member& b) { return a.first > b.first; });
      population.erase(population.begin() + kPopulation, population.end());
    }
    return population.front().second;
  }

 private:
  static constexpr int kPopulation = 100;
  static constexpr int kGenerations = 100;
  using Member = std::pair<double, Matrix>;

  void add(std::vector<Member>& population, Matrix matrix) {
    repair(matrix);
    const double fitness = fitness_.fitness(matrix);
    population.emplace_back(fitness, std::move(matrix));
  }

  const Matrix& parent(const std::vector<Member>& population) {
    const Member& one = population[rng_.below(kPopulation)];
    const Member& other = population[rng_.below(kPopulation)];
    return (one.first > other.first ? one : other).second;
  }

  void mate(std::vector<Member>& population) {
    Matrix one = parent(population);
    Matrix other = parent(population);
    const std::size_t point = rng_.below(jobs_);
    for (std::size_t row = 0; row < point; ++row) {
      std::swap_ranges(one.job(row).begin(), one.job(row).end(), other.job(row).begin());
    }
    mutate(one);
    mutate(other);
    add(population, std::move(one));
    add(population, std::move(other));
  }

  void mutate(Matrix& matrix) {
    for (std::size_t row = 0; row < jobs_; ++row) {
      const auto held = fitness_.held().job(row);
      if (rng_.chance(0.1)) std::copy(held.begin(), held.end(), matrix.job(row).begin());
      if (!rng_.chance(0.1)) continue;
      for (int& slots : matrix.job(row)) slots = rng_.chance(0.1) ? 0 : slots;
    }
    for (std::size_t node = 0; node < nodes_; ++node) grow_on(matrix, node);
  }

  void grow_on(Matrix& matrix, std::size_t node) {
    int used = 0;
    int there = 0;
    for (std::size_t row = 0; row < jobs_; ++row) {
      used += matrix.job(row)[node];
      there += matrix.job(row)[node] > 0 ? 1 : 0;
    }
    const int all = fitness_.view().nodes[node].slots;
    if (used >= all) return;
    for (std::size_t row = 0; row < jobs_; ++row) {
      int& slots = matrix.job(row)[node];
      const double any = 1.0 / double(jobs_);
      const double present = slots > 0 ? 1.0 / there : 0;
      if (rng_.chance(any + present - any * present)) slots = static_cast<int>(rng_.between(slots, all));
    }
  }

  void repair(Matrix& matrix) {
    std::vector<bool> taken(nodes_, false);
    for (std::size_t row = 0; row < jobs_; ++row) {
      const auto slots = matrix.job(row);
      const bool distributed = policies::cluster::shape_of(slots).nodes > 1;
      for (std::size_t node = 0; node < nodes_ && distributed; ++node) {
        if (slots[node] == 0) continue;
        if (taken[node]) slots[node] = 0;
        taken[node] = true;
      }
      cut(slots, fitness_.most(row));
    }
    for (std::size_t node = 0; node < nodes_; ++node) {
      int free = fitness_.view().nodes[node].slots;
      for (std::size_t row = 0; row < jobs_; ++row) {
        int& slots = matrix.job(row)[node];
        slots = std::min(slots, free);
        free -= slots;
      }
    }
  }

  // To at most so many slots, on nodes in random order.
  void cut(std::span<int> slots, int most) {
    std::vector<std::size_t> order(nodes_);
    std::iota(order.begin(), order.end(), 0);
    rng_.shuffle(order);
    for (const std::size_t node : order) {
      slots[node] = std::min(slots[node], most);
      most -= slots[node];
    }
  }

  const policies::cluster::PolluxFitness& fitness_;
  Rng rng_;
  std::size_t jobs_;
  std::size_t nodes_;
};

}  // namespace tidepool::test
