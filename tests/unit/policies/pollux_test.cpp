// Pollux and Sia on tables whose numbers can be checked by hand, and Pollux's search against a genetic one.
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <numeric>

#include "policies/cluster/allocation_check.hpp"
#include "policies/place/regroup.hpp"
#include "studies/baselines/pollux.hpp"
#include "studies/baselines/pollux_search.hpp"
#include "studies/baselines/sia.hpp"
#include "tests/support/allocation_views.hpp"
#include "tests/support/genetic_search.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::GoodputTable;
using Sizes = std::vector<int>;

const GoodputTable kLinear({1, 2, 3, 4, 5, 6, 7, 8});
const GoodputTable kSquareRoot({1, 1.414, 1.732, 2, 2.236, 2.449, 2.646, 2.828});

SlotMatrix matrix_of(const std::vector<std::vector<int>>& rows) {
  SlotMatrix matrix(rows.size(), rows.front().size());
  for (std::size_t row = 0; row < rows.size(); ++row) std::ranges::copy(rows[row], matrix.job(row).begin());
  return matrix;
}

double best_fitness(const PolluxFitness& fitness) {
  core::StepBudget budget(100'000'000);
  const SlotMatrix found = search_pollux(fitness, Rng(1), budget);
  REQUIRE(fitness.lawful(found));
  return fitness.fitness(found);
}

}  // namespace

TEST_CASE("pollux: the fitness is the harmonic mean of scaled speed-ups over the fair share") {
  View view = test::view_of(2, 4, 2, kSquareRoot);
  const PolluxFitness fitness(view);
  // Two nodes of eight slots: c = 1/4. The fair share is four slots, worth 2. No job holds anything, so age counts:
  // r = 600 / 600 without a delay.
  CHECK(fitness.burden(0, std::vector<int>{4, 0}) == Approx(1 / (0.25 + 0.001)));
  CHECK(fitness.burden(0, std::vector<int>{0, 1}) == Approx(1 / (0.25 * 0.5 + 0.001)));
  CHECK(fitness.burden(0, std::vector<int>{0, 0}) == Approx(1'000));
  CHECK(fitness.fitness(matrix_of({{4, 0}, {0, 1}})) == Approx(2 / (1 / 0.251 + 1 / 0.126)));
}

TEST_CASE("pollux: a change costs what past changes and this one cost of the job's age") {
  View view = test::view_of(1, 4, 1, kLinear);
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[0].transition = Duration::seconds(30);
  view.jobs[0].resizes = 2;
  const PolluxFitness fitness(view);
  // c = 1/4, fair share four slots. Unchanged 2 / 4; else times (600 - 60) / 630.
  CHECK(fitness.burden(0, std::vector<int>{2}) == Approx(1 / (0.25 * 0.5 + 0.001)));
  CHECK(fitness.burden(0, std::vector<int>{3}) == Approx(1 / (0.25 * 0.75 * 540 / 630 + 0.001)));
  CHECK(test::sizes_of(test::decide(Pollux(), view)) == Sizes{4});
  view.jobs[0].resizes = 19;  // (600 - 570) / 630: nothing is worth another change
  CHECK(test::sizes_of(test::decide(Pollux(), view)) == Sizes{2});
}

TEST_CASE("pollux: a job at most doubles what it was measured at") {
  View view = test::view_of(1, 8, 1, kLinear);
  view.jobs[0].largest_seen = 0;
  CHECK(test::sizes_of(test::decide(Pollux(), view)) == Sizes{1});
  view.jobs[0].largest_seen = 3;
  CHECK(test::sizes_of(test::decide(Pollux(), view)) == Sizes{6});
  view.jobs[0].size_max = 5;
  CHECK(test::sizes_of(test::decide(Pollux(), view)) == Sizes{5});
}

TEST_CASE("pollux: laws of a matrix") {
  View view = test::view_of(3, 4, 2, kLinear);
  const PolluxFitness fitness(view);
  CHECK(fitness.lawful(matrix_of({{4, 0, 1}, {0, 4, 0}})));
  CHECK(fitness.lawful(matrix_of({{2, 2, 0}, {2, 0, 0}})));        // one of several nodes, one alone
  CHECK_FALSE(fitness.lawful(matrix_of({{2, 2, 0}, {2, 0, 1}})));  // two of several nodes on the first
  CHECK_FALSE(fitness.lawful(matrix_of({{3, 0, 0}, {2, 0, 0}})));  // five slots of four
  CHECK_FALSE(fitness.lawful(matrix_of({{4, 4, 1}, {0, 0, 0}})));  // above its largest size
}

TEST_CASE("pollux: a job that is slower across nodes makes others move") {
  const GoodputTable local({1, 2, 3, 4}, 0.2);
  View view = test::view_of(2, 2, 3, local);
  view.jobs[0].size_max = view.jobs[1].size_max = 1;
  view.jobs[2].size_max = 2;
  view.jobs[0].placement = {{.node = 0, .slots = 1}};
  view.jobs[1].placement = {{.node = 1, .slots = 1}};
  // The third, which grew first, wants two slots, which only moving one of the others gives it.
  view.jobs[2].placement = {{.node = 0, .slots = 1}, {.node = 1, .slots = 1}};
  const Allocation allocation = test::decide(Pollux(), view);
  CHECK(test::sizes_of(allocation) == Sizes{1, 1, 2});
  CHECK(check_placements(view, allocation, allocation.placements).ok());
  CHECK(allocation.placements[2].size() == 1);
}

TEST_CASE("pollux: what jobs hold against the laws is not kept, however dear a change") {
  View view = test::view_of(2, 4, 2, kLinear);
  for (JobRow& job : view.jobs) {
    job.placement = {{.node = 0, .slots = 2}, {.node = 1, .slots = 2}};  // both on both nodes
    job.transition = Duration::seconds(30);
    job.resizes = 19;
  }
  const PolluxFitness fitness(view);
  CHECK_FALSE(fitness.lawful(fitness.held()));
  CHECK(best_fitness(fitness) > 0);
  const Allocation allocation = test::decide(Pollux(), view);
  CHECK((allocation.placements[0] == view.jobs[0].placement) != (allocation.placements[1] == view.jobs[1].placement));
}

TEST_CASE("pollux: the search finds the best of all matrices of a small cluster") {
  const GoodputTable across({1, 1.8, 2.4, 2.8, 3, 3.1, 3.1, 3.1}, 0.8);
  View view = test::view_of(2, 3, 3, across);
  view.jobs[1].speed = &kLinear;
  view.jobs[2].speed = &kSquareRoot;
  const PolluxFitness fitness(view);
  double best = 0;
  for (int code = 0; code < 4'096; ++code) {  // each of six cells holds 0 to 3
    SlotMatrix matrix(3, 2);
    for (int cell = 0; cell < 6; ++cell) {
      matrix.job(static_cast<std::size_t>(cell / 2))[static_cast<std::size_t>(cell % 2)] = (code >> (2 * cell)) & 3;
    }
    if (fitness.lawful(matrix)) best = std::max(best, fitness.fitness(matrix));
  }
  CHECK(best_fitness(fitness) == Approx(best));
}

TEST_CASE("pollux: the search is at least as good as the genetic one, from nothing and from where jobs are") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Rng rng(seed);
    View view = test::view_of(6, 4, 10, kLinear);
    std::vector<std::unique_ptr<GoodputTable>> tables;
    for (JobRow& job : view.jobs) {
      std::vector<double> goodputs;
      const double power = 0.3 + 0.6 * rng.uniform();
      for (int size = 1; size <= 24; ++size) goodputs.push_back(std::pow(size, power));
      tables.push_back(std::make_unique<GoodputTable>(goodputs, 0.7 + 0.3 * rng.uniform()));
      job.speed = tables.back().get();
      job.size_max = job.largest_seen = 24;
      job.transition = Duration::seconds(30);
      job.resizes = static_cast<int>(rng.below(8));
    }
    for (std::size_t row = 0; row < 6; ++row) {
      view.jobs[row].placement = {{.node = static_cast<int>(row), .slots = static_cast<int>(rng.between(1, 4))}};
    }
    const PolluxFitness fitness(view);
    const SlotMatrix genetic = test::GeneticSearch(fitness, Rng(seed)).run();
    REQUIRE(fitness.lawful(genetic));
    CHECK(best_fitness(fitness) >= fitness.fitness(genetic) - 1e-9);
  }
}

TEST_CASE("sia: the program of a view") {
  View view = test::view_of(2, 4, 2, kLinear);
  view.jobs[0].largest_seen = 0;
  view.jobs[1].placement = {{.node = 0, .slots = 2}};
  view.jobs[1].transition = Duration::seconds(60);
  view.jobs[1].resizes = 1;
  const ChoiceProgram program = Sia::program_of(view);
  const auto sizes = [&](std::size_t job) {
    Sizes found;
    for (const auto& option : program.jobs[job]) found.push_back(option.slots);
    return found;
  };
  CHECK(program.capacity == Sizes{8});
  CHECK(sizes(0) == Sizes{1});
  CHECK(sizes(1) == Sizes{1, 2, 4, 8});
  CHECK(program.jobs[0][0].cost == Approx(1 - 1.1));
  // (600 - 60) / 660 unless it stays at 2.
  CHECK(program.jobs[1][0].cost == Approx(1 / std::sqrt(540.0 / 660) - 1.1));
  CHECK(program.jobs[1][1].cost == Approx(1 / std::sqrt(2.0) - 1.1));
  CHECK(program.jobs[1][3].cost == Approx(1 / std::sqrt(8 * 540.0 / 660) - 1.1));
  view.jobs[1].transition = Duration::seconds(601);  // younger than one change takes
  CHECK(Sia::program_of(view).jobs[1][0].cost == Approx(1 - 1.1));
  view.jobs[1].resize_blocked = true;
  CHECK(Sia::program_of(view).jobs[1].size() == 1);
}

TEST_CASE("sia: a job that needs several slots counts by as many, and has a size whatever it may have") {
  View view = test::view_of(2, 4, 1, kLinear);
  view.jobs[0].size_min = 2;
  CHECK(Sia::program_of(view).jobs[0][0].cost == Approx(1 / std::sqrt(2.0) - 1.1));
  view.jobs[0].size_min = view.jobs[0].size_max = 3;  // no power of two, no whole node
  CHECK(test::sizes_of(test::decide(Sia(), view)) == Sizes{3});
  view.jobs[0].sizes = {3, 6};
  view.jobs[0].size_max = 6;
  view.jobs[0].placement = {{.node = 0, .slots = 4}, {.node = 1, .slots = 2}};
  view.jobs[0].resize_blocked = true;
  CHECK(test::sizes_of(test::decide(Sia(), view)) == Sizes{6});
}

TEST_CASE("sia: the type of slot on which a job gains most, while there are such") {
  // Three times as fast on the first type; the second job hardly cares.
  class Typed final : public SpeedModel {
   public:
    explicit Typed(double faster) : faster_(faster) {}
    [[nodiscard]] double step_seconds(Shape shape) const override { return 1 / goodput(shape); }
    [[nodiscard]] double goodput(Shape shape) const override { return shape.type == 0 ? faster_ : 1; }

   private:
    double faster_;
  };
  const Typed eager(3);
  const Typed mild(1.2);
  View view = test::view_of(2, 1, 2, mild);
  view.types = {{.name = "fast"}, {.name = "slow"}};
  view.nodes[1].type = 1;
  view.jobs[1].speed = &eager;
  const Allocation allocation = test::decide(Sia(), view);
  CHECK(test::sizes_of(allocation) == Sizes{1, 1});
  CHECK(allocation.grants[0].type == 1);
  CHECK(allocation.grants[1].type == 0);
  CHECK(allocation.placements[1] == Placement{{.node = 0, .slots = 1}});
  CHECK(check_allocation(view, allocation).ok());
  CHECK(check_placements(view, allocation, allocation.placements).ok());
}

TEST_CASE("sia: worked examples of how much each job gets") {
  View view = test::view_of(1, 4, 2, kLinear);
  // Costs by size 1, 2, 4: -0.1, -0.393, -0.6. 2 + 2 is -0.786, 4 alone -0.6.
  CHECK(test::sizes_of(test::decide(Sia(), view)) == Sizes{2, 2});
  view = test::view_of(1, 4, 3, kLinear);  // 2 + 1 + 1 is -0.593, 2 + 2 and a job that waits -0.786
  const Sizes three = test::sizes_of(test::decide(Sia(), view));
  CHECK(std::accumulate(three.begin(), three.end(), 0) == 4);
  CHECK(std::ranges::count(three, 2) == 2);
  view = test::view_of(1, 4, 2, kSquareRoot);  // -0.1, -0.259, -0.393: 2 + 2 before 4
  CHECK(test::sizes_of(test::decide(Sia(), view)) == Sizes{2, 2});
}

TEST_CASE("the binary program is solved to the optimum that dynamic programming finds") {
  Rng rng(5);
  for (int round = 0; round < 20; ++round) {
    ChoiceProgram program{.jobs = {}, .capacity = {static_cast<int>(rng.between(4, 40))}, .gap = 0};
    const auto room = static_cast<std::size_t>(program.capacity[0]);
    std::vector<double> least(room + 1, 0);
    for (int job = 0; job < 12; ++job) {
      auto& options = program.jobs.emplace_back();
      for (const int slots : {1, 2, 4, 8, 12}) options.push_back({.cost = -rng.uniform() * slots, .slots = slots});
      std::vector<double> next = least;
      for (std::size_t slots = 0; slots <= room; ++slots) {
        for (const auto& option : options) {
          const auto needed = static_cast<std::size_t>(option.slots);
          if (needed <= slots) next[slots] = std::min(next[slots], least[slots - needed] + option.cost);
        }
      }
      least = next;
    }
    const ChoiceAnswer answer = solve(program);
    CHECK(answer.cost == Approx(least[room]));
    CHECK(answer.bound <= answer.cost + 1e-6);
    double cost = 0;
    int slots = 0;
    for (std::size_t job = 0; job < program.jobs.size(); ++job) {
      if (!answer.chosen[job]) continue;
      cost += program.jobs[job][*answer.chosen[job]].cost;
      slots += program.jobs[job][*answer.chosen[job]].slots;
    }
    CHECK(cost == Approx(answer.cost));
    CHECK(slots <= program.capacity[0]);
  }
}

TEST_CASE("the binary program keeps each kind's capacity apart, and chooses nothing where all options cost") {
  using Option = ChoiceProgram::Option;
  const std::vector<Option> either{Option{.cost = -3, .slots = 2, .kind = 0},
                                   Option{.cost = -1, .slots = 2, .kind = 1}};
  const ChoiceAnswer answer = solve({.jobs = {either, either, either}, .capacity = {2, 2}});
  CHECK(answer.cost == Approx(-4));
  CHECK(solve({.jobs = {{Option{.cost = 2, .slots = 1}}}, .capacity = {9}}).chosen[0] == std::nullopt);
  CHECK(solve({.jobs = {{}, {}}, .capacity = {9}}).chosen.size() == 2);
}

TEST_CASE("regroup: smaller jobs make room, the rest stay") {
  View view = test::view_of(3, 4, 5, kLinear);
  view.jobs[0].placement = {{.node = 0, .slots = 1}};
  view.jobs[1].placement = {{.node = 1, .slots = 2}};
  view.jobs[2].placement = {{.node = 2, .slots = 2}};
  Allocation allocation{.grants = std::vector<Grant>(5), .order = {0, 1, 2, 3, 4}};
  const int sizes[] = {1, 2, 2, 4, 2};
  for (std::size_t row = 0; row < 5; ++row) allocation.grants[row].size = sizes[row];
  const auto placements = Regroup().place(view, allocation);
  CHECK(check_placements(view, allocation, placements).ok());
  for (const Placement& placement : placements) CHECK(placement.size() == 1);
  CHECK(placements[3] == Placement{{.node = 0, .slots = 4}});  // the emptiest: its one job moves
  CHECK(placements[1] == view.jobs[1].placement);
  CHECK(placements[2] == view.jobs[2].placement);
}

TEST_CASE("regroup: a job does not make room for its equal, it lies on what is free") {
  View view = test::view_of(2, 3, 3, kLinear);
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[1].placement = {{.node = 1, .slots = 2}};
  Allocation allocation{.grants = std::vector<Grant>(3), .order = {0, 1, 2}};
  for (Grant& grant : allocation.grants) grant.size = 2;
  const auto placements = Regroup().place(view, allocation);
  CHECK(placements[0] == view.jobs[0].placement);
  CHECK(placements[1] == view.jobs[1].placement);
  CHECK(placements[2] == Placement{{.node = 0, .slots = 1}, {.node = 1, .slots = 1}});
}

}  // namespace tidepool::policies::cluster
