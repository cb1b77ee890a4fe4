// Shockwave's program on examples that can be checked by hand, and how its plan becomes rounds.
#include <catch2/catch.hpp>

#include <cmath>

#include "studies/baselines/shockwave.hpp"
#include "tests/support/allocation_views.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::decide;
using test::sizes_of;
using test::StepTable;

const StepTable kEven({8, 4, 2, 1});  // 8 s a step on one slot

// One slot, two rounds of 100 s. A is done to 0.2, B to 0.6, both of 1,000 s.
WelfareProgram two_jobs() {
  return {.jobs = {{.slots = 1, .left_s = 800, .all_s = 1000}, {.slots = 1, .left_s = 400, .all_s = 1000}},
          .slots = 1,
          .rounds = 2,
          .round_s = 100,
          .limits = {}};
}

// The view after the policy's answer was carried out, some time later.
View later(View view, const Allocation& allocation, Duration time) {
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    view.jobs[row].mark = allocation.grants[row].mark;
    view.jobs[row].placement.clear();
    if (allocation.grants[row].size > 0) view.jobs[row].placement = {{.node = 0, .slots = allocation.grants[row].size}};
  }
  view.mark = allocation.mark;
  view.now = view.now + time;
  return view;
}

}  // namespace

TEST_CASE("shockwave: the logarithm of progress is exact at fifths, straight between them, and finite at nothing") {
  for (const double base : {0.2, 0.4, 0.6, 0.8, 1.0}) CHECK(log_of_progress(base) == Approx(std::log(base)));
  CHECK(log_of_progress(0) == Approx(std::log(1e-6)));
  CHECK(log_of_progress(0.5) == Approx((std::log(0.4) + std::log(0.6)) / 2));
}

TEST_CASE("shockwave: a round goes to the job whose logarithm of progress gains more") {
  // A round is a tenth of either job. It brings A log(0.4 / 0.2) / 2 = 0.347 and B log(0.8 / 0.6) / 2 = 0.144.
  const WelfareAnswer answer = solve(two_jobs());
  CHECK(answer.rounds == std::vector{2, 0});
  CHECK(answer.welfare == Approx((std::log(0.4) + std::log(0.6)) / 4));
  // Behind its fair end by so much that its logarithm counts three times, B gains 0.432.
  WelfareProgram urgent = two_jobs();
  urgent.jobs[1].weight = 3;
  CHECK(solve(urgent).rounds == std::vector{0, 2});
}

TEST_CASE("shockwave: the longest of all jobs counts, too, by the weight of the makespan") {
  // B is twice as long as A and as far, so a round is half the progress; but its end is the last.
  WelfareProgram program = two_jobs();
  program.jobs[1] = {.slots = 1, .left_s = 1600, .all_s = 2000};
  CHECK(solve(program).rounds == std::vector{2, 0});
  program.makespan_weight = 0.01;  // 100 s less to run are worth 1, the progress of A at most 0.347 / 4
  const WelfareAnswer answer = solve(program);
  CHECK(answer.rounds == std::vector{0, 2});
  CHECK(answer.welfare == Approx((std::log(0.2) + (std::log(0.2) + std::log(0.4)) / 2) / 4 - 14));
}

TEST_CASE("shockwave: a job that must run to end in time does, if all that must can") {
  WelfareProgram program = two_jobs();
  program.jobs[1].needed_s = 80;
  const WelfareAnswer kept = solve(program);
  CHECK(kept.in_time);
  CHECK(kept.rounds == std::vector{1, 1});
  program.jobs[0].needed_s = 150;  // two rounds of its own: three are needed, and there are two
  const WelfareAnswer broken = solve(program);
  CHECK_FALSE(broken.in_time);
  CHECK(broken.rounds == std::vector{2, 0});
}

TEST_CASE("shockwave: gangs pay with all their slots, and what is larger than the cluster gets no round") {
  WelfareProgram program = two_jobs();
  program.slots = 2;
  program.jobs[0].slots = 2;
  // Both rounds of A bring 0.693 for four slots; B can use two rounds of one slot at 0.288, and A has the other one.
  CHECK(solve(program).rounds == std::vector{2, 0});
  program.jobs[0].slots = 3;
  CHECK(solve(program).rounds == std::vector{0, 2});
}

TEST_CASE("shockwave: a solver that may not branch leaves an answer or none, and never a wrong one") {
  WelfareProgram program = two_jobs();
  program.jobs.assign(40, {.slots = 3, .left_s = 777, .all_s = 1000});
  program.slots = 7;
  program.rounds = 5;
  program.limits = {.gap = 0, .nodes_max = 0, .passes_max = 0};
  const WelfareAnswer answer = solve(program);
  int slots = 0;
  for (const int rounds : answer.rounds) slots += 3 * rounds;
  CHECK(slots <= 35);
  CHECK((answer.rounds.empty() || answer.rounds.size() == 40));
}

TEST_CASE("shockwave: its plan is followed until the window is over, round by round") {
  View view = test::view_of(1, 1, 2, kEven);  // 800 s each: seven rounds of 120 s
  Allocation now = decide(Shockwave(), view);
  CHECK(sizes_of(now) == std::vector{1, 0});
  CHECK(now.wake == view.now + Shockwave::kRound);
  const View sixth = later(view, now, Duration::seconds(6 * 120 + 119));
  CHECK(sizes_of(decide(Shockwave(), sixth)) == std::vector{1, 0});
  const View seventh = later(view, now, Duration::seconds(7 * 120));
  const Allocation then = decide(Shockwave(), seventh);
  CHECK(sizes_of(then) == std::vector{0, 1});
  CHECK(then.mark.since == view.now);
  // Rounds that the plan leaves free are not wasted.
  const View after = later(view, now, Duration::seconds(15 * 120));
  CHECK(sizes_of(decide(Shockwave(), after)) == std::vector{1, 0});
}

TEST_CASE("shockwave: a new job and an end make a new plan, and so does the end of the window") {
  View view = test::view_of(1, 1, 2, kEven);
  const Allocation now = decide(Shockwave(), view);
  View more = later(view, now, Duration::seconds(60));
  more.jobs.push_back(more.jobs.front());
  more.jobs.back().id = JobId(3);
  more.jobs.back().mark = {};
  CHECK(decide(Shockwave(), more).mark.since == more.now);
  View fewer = later(view, now, Duration::seconds(60));
  fewer.jobs.erase(fewer.jobs.begin());
  const Allocation left = decide(Shockwave(), fewer);
  CHECK(left.mark.since == fewer.now);
  CHECK(sizes_of(left) == std::vector{1});
  const View over = later(view, now, Duration::seconds(20 * 120));
  CHECK(decide(Shockwave(), over).mark.since == over.now);
}

TEST_CASE("shockwave: the job furthest behind its fair end runs first") {
  View view = test::view_of(1, 1, 2, kEven);
  view.jobs[1].steps_left = 10;  // 80 s: after 600 s of waiting it is behind a fair end of 160 s, the other is not
  const Allocation allocation = decide(Shockwave(), view);
  CHECK(sizes_of(allocation) == std::vector{0, 1});
  CHECK(test::says<core::reason::TurnWait>(allocation.grants[0].reason));
}

TEST_CASE("shockwave: a job of unknown length counts as being half done, one that never fits is told so") {
  View view = test::view_of(1, 2, 2, kEven);
  view.jobs[0].steps_left.reset();
  view.jobs[0].steps_done = 50;
  view.jobs[1].size_wanted = 4;
  const Allocation allocation = decide(Shockwave(), view);
  CHECK(sizes_of(allocation) == std::vector{1, 0});
  CHECK(test::says<core::reason::NeverFits>(allocation.grants[1].reason));
}

TEST_CASE("a program over whole numbers is solved exactly, or said to have no answer") {
  LinearProgram program;  // a knapsack: 5 a + 4 b + 3 c, 2 a + 3 b + c <= 5, all of 0 or 1: a and b
  std::vector<std::size_t> whole;
  for (const double worth : {5.0, 4.0, 3.0}) {
    whole.push_back(program.add(LinearProgram::Column{.objective = worth, .high = 1}));
  }
  program.add(LinearProgram::Row{.terms = {{0, 2}, {1, 3}, {2, 1}}, .high = 5});
  const LinearAnswer answer = maximize_whole(program, whole, {.gap = 0});
  CHECK(answer.solved == Solved::kOptimal);
  CHECK(answer.values == std::vector<double>{1, 1, 0});
  CHECK(answer.objective == Approx(9));
  program.add(LinearProgram::Row{.terms = {{0, 1}, {1, 1}, {2, 1}}, .low = 4});
  CHECK(maximize_whole(program, whole, {}).solved == Solved::kInfeasible);
  LinearProgram endless;
  (void)endless.add(LinearProgram::Column{.objective = 1});
  CHECK(maximize_whole(endless, {0}, {}).solved == Solved::kUnbounded);
}

}  // namespace tidepool::policies::cluster
