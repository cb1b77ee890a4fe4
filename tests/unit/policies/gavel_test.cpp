// Gavel's policies on examples small enough to reckon by hand, and the solver behind them.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"
#include "studies/baselines/gavel_ftf.hpp"
#include "studies/baselines/gavel_las.hpp"
#include "studies/baselines/gavel_totals.hpp"
#include "studies/models/embedded_program.hpp"
#include "tests/support/allocation_views.hpp"

namespace tidepool::policies::cluster {
namespace {

// Steps a second by type, whatever the size.
class ByType final : public SpeedModel {
 public:
  explicit ByType(std::vector<double> speeds) : speeds_(std::move(speeds)) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    const double speed = speeds_[static_cast<std::size_t>(shape.type)];
    return speed > 0 ? 1 / speed : std::numeric_limits<double>::infinity();
  }

 private:
  std::vector<double> speeds_;
};

// Two types, "fast" and "slow", on nodes of one slot.
struct GavelWorld {
  View view;
  std::vector<std::unique_ptr<ByType>> speeds;

  GavelWorld(int fast, int slow) {
    view.now = Instant::from_micros(1'000'000);
    view.types = {{.name = "fast", .price_per_hour = 4}, {.name = "slow", .price_per_hour = 1}};
    for (int node = 0; node < fast + slow; ++node) {
      view.nodes.push_back({.id = NodeId(view.nodes.size() + 1), .slots = 1, .type = node < fast ? 0 : 1});
    }
  }
  JobRow& job(double fast, double slow, int size = 1) {
    speeds.push_back(std::make_unique<ByType>(std::vector<double>{fast, slow}));
    JobRow& row = view.jobs.emplace_back();
    row.id = JobId(view.jobs.size());
    row.size_wanted = row.size_max = size;
    row.steps_left = 1'000;
    row.speed = speeds.back().get();
    return row;
  }
  Allocation ask(const AllocationPolicy& policy) const { return test::decide(policy, view); }
  // What the policy answered, as if a round had passed in which all jobs ran as told.
  void pass(const Allocation& allocation, Duration round) {
    const auto placements = MostFree().place(view, allocation);
    REQUIRE(check_placements(view, allocation, placements).ok());
    for (std::size_t row = 0; row < view.jobs.size(); ++row) {
      view.jobs[row].placement = placements[row];
      view.jobs[row].mark = allocation.grants[row].mark;
      if (!placements[row].empty()) view.jobs[row].held += round;
    }
    view.mark = allocation.mark;
    view.now = view.now + round;
  }
  [[nodiscard]] double share(const Allocation& allocation, std::size_t row, std::size_t type) const {
    return Ledger::from(allocation.grants[row].mark, 2).share[type];
  }
};

}  // namespace

TEST_CASE("a linear program of two columns has the corner that is reckoned by hand") {
  LinearProgram program;
  const std::size_t x = program.add(LinearProgram::Column{.objective = 3});
  const std::size_t y = program.add(LinearProgram::Column{.objective = 2});
  program.add(LinearProgram::Row{.terms = {{x, 1}, {y, 1}}, .high = 4});
  program.add(LinearProgram::Row{.terms = {{x, 1}, {y, 3}}, .high = 6});
  program.add(LinearProgram::Row{.terms = {{x, 1}}, .high = 3});
  const LinearAnswer answer = maximize(program, Optimum::kCorner);
  REQUIRE(answer.solved == Solved::kOptimal);
  CHECK(answer.values[x] == Approx(3));
  CHECK(answer.values[y] == Approx(1));
  CHECK(answer.objective == Approx(11));
}

TEST_CASE("a program without an answer says so, and one without a limit too") {
  LinearProgram impossible;
  const std::size_t x = impossible.add(LinearProgram::Column{.objective = 1, .high = 1});
  impossible.add(LinearProgram::Row{.terms = {{x, 1}}, .low = 2});
  CHECK(maximize(impossible, Optimum::kCorner).solved == Solved::kInfeasible);
  CHECK(maximize(impossible, Optimum::kCorner).values.empty());
  LinearProgram endless;
  const std::size_t y = endless.add(LinearProgram::Column{.objective = 1});
  endless.add(LinearProgram::Row{.terms = {{y, 1}}, .low = 0});
  CHECK(maximize(endless, Optimum::kCorner).solved == Solved::kUnbounded);
}

TEST_CASE("of equally good answers the centre shares evenly what a corner gives to one") {
  LinearProgram program;
  const std::size_t x = program.add(LinearProgram::Column{.objective = 1});
  const std::size_t y = program.add(LinearProgram::Column{.objective = 1});
  program.add(LinearProgram::Row{.terms = {{x, 1}, {y, 1}}, .high = 1});
  const LinearAnswer corner = maximize(program, Optimum::kCorner);
  const LinearAnswer centre = maximize(program, Optimum::kCentre);
  CHECK(std::max(corner.values[x], corner.values[y]) == Approx(1));
  CHECK(centre.values[x] == Approx(0.5).margin(1e-3));
  CHECK(centre.values[y] == Approx(0.5).margin(1e-3));
}

TEST_CASE("the end of the path is as good as a corner and within all rows, on programs of shares drawn at random") {
  Rng rng(7);
  for (int round = 0; round < 60; ++round) {
    LinearProgram program;
    const std::size_t columns = 2 + rng.below(8);
    for (std::size_t column = 0; column < columns; ++column) {
      program.add(LinearProgram::Column{.objective = rng.uniform() - 0.3, .low = 0, .high = 1 + rng.uniform()});
    }
    for (std::size_t row = 0; row < 2 + rng.below(6); ++row) {
      LinearProgram::Row sum{.terms = {}, .low = row % 3 == 2 ? 0.05 : -kNoBound, .high = 1 + rng.uniform()};
      for (std::size_t column = 0; column < columns; ++column) {
        sum.terms.push_back({.column = column, .factor = 0.1 + rng.uniform()});
      }
      program.add(std::move(sum));
    }
    const LinearAnswer corner = maximize(program, Optimum::kCorner);
    const auto end = maximize_by_embedding(program);
    INFO("program " << round);
    REQUIRE((corner.solved == Solved::kOptimal && end));
    double worth = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      const LinearProgram::Column& limits = program.columns()[column];
      CHECK((*end)[column] >= limits.low - 1e-6);
      CHECK((*end)[column] <= limits.high + 1e-6);
      worth += limits.objective * (*end)[column];
    }
    CHECK(worth == Approx(corner.objective).margin(1e-6));
    for (const LinearProgram::Row& row : program.rows()) {
      double sum = 0;
      for (const LinearProgram::Term& term : row.terms) sum += term.factor * (*end)[term.column];
      CHECK(sum <= row.high + 1e-6);
      CHECK(sum >= row.low - 1e-6);
    }
  }
}

TEST_CASE("the end of the path treats equal columns equally and reaches what is reckoned by hand") {
  // Two jobs, of one and of four slots, types of 3 and of 1 slots: both can have one slot of time all the time.
  LinearProgram program;
  for (int column = 0; column < 4; ++column) program.add(LinearProgram::Column{});
  const std::size_t least = program.add(LinearProgram::Column{.objective = 1, .low = -kNoBound});
  program.add(LinearProgram::Row{.terms = {{0, 1}, {2, 4}}, .high = 3});
  program.add(LinearProgram::Row{.terms = {{1, 1}, {3, 4}}, .high = 1});
  program.add(LinearProgram::Row{.terms = {{0, 1}, {1, 1}}, .high = 1});
  program.add(LinearProgram::Row{.terms = {{2, 1}, {3, 1}}, .high = 1});
  program.add(LinearProgram::Row{.terms = {{0, 1}, {1, 1}, {least, -1}}, .low = 0});
  program.add(LinearProgram::Row{.terms = {{2, 4}, {3, 4}, {least, -1}}, .low = 0});
  const LinearAnswer end = maximize_at_path_end(program);
  REQUIRE(end.solved == Solved::kOptimal);
  CHECK(end.values[least] == Approx(1).margin(1e-6));
  LinearProgram even;
  for (int column = 0; column < 3; ++column) even.add(LinearProgram::Column{.objective = 1});
  even.add(LinearProgram::Row{.terms = {{0, 1}, {1, 1}, {2, 1}}, .high = 1});
  const LinearAnswer third = maximize_at_path_end(even);
  for (const double value : third.values) CHECK(value == Approx(1.0 / 3).margin(1e-6));
}

TEST_CASE("a program without an answer has no path's end, and the reason is that of the other solvers") {
  LinearProgram impossible;
  const std::size_t x = impossible.add(LinearProgram::Column{.objective = 1, .high = 1});
  impossible.add(LinearProgram::Row{.terms = {{x, 1}}, .low = 2});
  CHECK_FALSE(maximize_by_embedding(impossible));
  CHECK(maximize_at_path_end(impossible).solved == Solved::kInfeasible);
  LinearProgram endless;
  const std::size_t y = endless.add(LinearProgram::Column{.objective = 1});
  endless.add(LinearProgram::Row{.terms = {{y, 1}}, .low = 0});
  CHECK_FALSE(maximize_by_embedding(endless));
  CHECK(maximize_at_path_end(endless).solved == Solved::kUnbounded);
  CHECK(maximize_by_embedding(LinearProgram())->empty());
}

TEST_CASE("gavel_las_perf gives the fast slot to the job that gains most from it") {
  GavelWorld world(1, 1);
  world.job(4, 1);  // four times as fast there
  world.job(2, 1);
  const Allocation allocation = world.ask(GavelLasPerf());
  // Both as well off as can be: x on the fast slot for the first, 1 - x for the second, normalized by the mean speed:
  // (4x + (1 - x)) / 2.5 = (2(1 - x) + x) / 1.5, so x = 7 / 14.
  CHECK(world.share(allocation, 0, 0) == Approx(14.0 / 28).margin(0.02));
  CHECK(world.share(allocation, 1, 0) == Approx(14.0 / 28).margin(0.02));
  CHECK(world.share(allocation, 0, 0) + world.share(allocation, 0, 1) == Approx(1).margin(1e-3));
}

TEST_CASE("gavel_max_sum gives the fast slot to the job for which it is faster, whichever waits") {
  GavelWorld world(1, 0);
  world.job(3, 0);
  world.job(5, 0);
  const Allocation allocation = world.ask(GavelMaxSum());
  CHECK(world.share(allocation, 1, 0) == Approx(1));
  CHECK(world.share(allocation, 0, 0) == Approx(0).margin(1e-9));
  CHECK(allocation.grants[1].size == 1);
  CHECK(allocation.grants[0].size == 0);
}

TEST_CASE("gavel_cost leaves a slot that costs four times as much and is twice as fast") {
  GavelWorld world(1, 1);
  world.job(2, 1);
  const Allocation allocation = world.ask(GavelCost());
  CHECK(world.share(allocation, 0, 1) == Approx(1));
  CHECK(world.share(allocation, 0, 0) == Approx(0).margin(1e-9));
}

TEST_CASE("gavel_makespan divides one slot by the work that is left") {
  GavelWorld world(1, 0);
  world.job(1, 0).steps_left = 3'000;
  world.job(1, 0).steps_left = 1'000;
  const Allocation allocation = world.ask(GavelMakespan());
  CHECK(world.share(allocation, 0, 0) == Approx(0.75).margin(1e-3));
  CHECK(world.share(allocation, 1, 0) == Approx(0.25).margin(1e-3));
}

TEST_CASE("gavel_ftf gives more time to the job that has waited longer for the same work") {
  GavelWorld world(1, 0);
  world.view.now = Instant::from_micros(4'000'000'000);
  world.job(1, 0).submitted = Instant::from_micros(0);
  world.job(1, 0).submitted = Instant::from_micros(3'999'000'000);
  const Allocation allocation = world.ask(GavelFtf());
  CHECK(world.share(allocation, 0, 0) > world.share(allocation, 1, 0) + 0.1);
  CHECK(world.share(allocation, 0, 0) + world.share(allocation, 1, 0) == Approx(1).margin(1e-3));
}

TEST_CASE("with one slot and equal shares two jobs take turns") {
  GavelWorld world(1, 0);
  world.job(1, 0);
  world.job(1, 0);
  std::vector<int> runs(2, 0);
  for (int round = 0; round < 6; ++round) {
    const Allocation allocation = world.ask(GavelLasPerf());
    for (std::size_t row = 0; row < 2; ++row) runs[row] += allocation.grants[row].size;
    world.pass(allocation, GavelPolicy::kRound);
  }
  CHECK(runs == std::vector<int>{3, 3});
}

TEST_CASE("a job that arrives between two plans waits for the next one, and is owed nothing for it") {
  GavelWorld world(2, 0);
  world.job(1, 0);
  Allocation allocation = world.ask(GavelLasPerf());
  const Instant planned = world.view.now;
  world.pass(allocation, GavelPolicy::kRound);
  world.job(1, 0);
  allocation = world.ask(GavelLasPerf());
  CHECK(allocation.grants[0].size == 1);
  CHECK(allocation.grants[1].size == 0);
  CHECK(allocation.mark.since == planned);
  while (world.view.now - planned < GavelPolicy::kPlanEvery) {
    world.pass(allocation, GavelPolicy::kRound);
    allocation = world.ask(GavelLasPerf());
  }
  CHECK(allocation.grants[1].size == 1);
  CHECK(allocation.mark.since == world.view.now);
  CHECK(Ledger::from(allocation.grants[1].mark, 2).owed_s[0] == Approx(0).margin(1e-6));
}

TEST_CASE("grants must all name a slot type or none, one that exists, and no more slots of it than there are") {
  GavelWorld world(1, 2);
  world.job(1, 1);
  world.job(1, 1);
  Allocation allocation{.grants = std::vector<Grant>(2), .order = {0, 1}, .placements = {}};
  allocation.grants[0] = {.size = 1, .type = 1};
  allocation.grants[1] = {.size = 1, .type = 1};
  CHECK(check_allocation(world.view, allocation).ok());
  allocation.grants[1].type = -1;
  CHECK_FALSE(check_allocation(world.view, allocation).ok());
  allocation.grants[1].type = 2;
  CHECK_FALSE(check_allocation(world.view, allocation).ok());
  allocation.grants[0].type = allocation.grants[1].type = 0;
  CHECK_FALSE(check_allocation(world.view, allocation).ok());
}

TEST_CASE("a job that is granted another slot type moves, and lands on that type alone") {
  GavelWorld world(2, 2);
  world.job(1, 1, 2).placement = {{.node = 0, .slots = 1}, {.node = 1, .slots = 1}};
  Allocation allocation{.grants = {{.size = 2, .type = 1}}, .order = {0}, .placements = {}};
  const auto placements = MostFree().place(world.view, allocation);
  CHECK(placements[0] == Placement{{.node = 2, .slots = 1}, {.node = 3, .slots = 1}});
  CHECK(check_placements(world.view, allocation, placements).ok());
  CHECK_FALSE(check_placements(world.view, allocation, {world.view.jobs[0].placement}).ok());
  allocation.grants[0].type = 0;
  CHECK(MostFree().place(world.view, allocation)[0] == world.view.jobs[0].placement);
}

TEST_CASE("pack: a job goes to nodes of the slot type that it is granted, however full those are") {
  GavelWorld world(2, 2);
  world.job(1, 1, 2);
  const Allocation allocation{.grants = {{.size = 2, .type = 1}}, .order = {0}, .placements = {}};
  const auto placements = Pack().place(world.view, allocation);
  CHECK(placements[0] == Placement{{.node = 2, .slots = 1}, {.node = 3, .slots = 1}});
  CHECK(check_placements(world.view, allocation, placements).ok());
}

}  // namespace tidepool::policies::cluster
