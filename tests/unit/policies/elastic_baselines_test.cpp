// The elastic baselines, rule by rule, on tables whose numbers can be checked by hand.
#include <catch2/catch.hpp>

#include <cmath>

#include "policies/cluster/cluster_autoscaling.hpp"
#include "policies/cluster/elastic_tiresias.hpp"
#include "policies/cluster/size_grants.hpp"
#include "studies/baselines/afs.hpp"
#include "studies/baselines/best_sizes.hpp"
#include "studies/baselines/ffdl.hpp"
#include "studies/baselines/gittins.hpp"
#include "studies/baselines/themis.hpp"
#include "tests/support/allocation_views.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::StepTable;
using Sizes = std::vector<int>;

// Speed-ups over one worker: 1, 2, 3, 4 and then hardly more; 1, 1.25, 1.4, 1.5.
const StepTable kSteep({12, 6, 4, 3, 2.9, 2.8, 2.7, 2.6});
const StepTable kFlatteningOut({12, 9.6, 12 / 1.4, 8});

}  // namespace

TEST_CASE("the best sizes are those with the largest sum that fits, whatever greed would take") {
  core::StepBudget budget(1'000);
  // Greedy by worth per slot would give the first its 1 (5 a slot) and the second its 2 (4 a slot): 13 with 3 of 4
  // slots.
  CHECK(best_sizes({{0, 5, 6}, {0, 1, 8, 9, 12}, {0, 0, 7}}, 4, budget) == Sizes{0, 2, 2});  // 15
  CHECK(best_sizes({{0, 5, 6}, {0, 1, 8, 9, 12}, {0, 0, 7}}, 5, budget) == Sizes{1, 2, 2});  // 20
  const double never = -std::numeric_limits<double>::infinity();
  CHECK(best_sizes({{never, 1, 9}, {never, 1, 2}}, 3, budget) == Sizes{2, 1});
  core::StepBudget spent(3);
  CHECK_FALSE(best_sizes({{0, 5}, {0, 1}}, 4, spent).has_value());
}

TEST_CASE("elastic tiresias: slots left over go where the speed-up gains most") {
  View view = test::view_of(2, 4, 2, kSteep);
  view.jobs[1].speed = &kFlatteningOut;
  // Both start at 1. Gains: first 1, 1, 1, then 12 / 2.9 - 4 = 0.14; second 0.25, 0.15, 0.1: 8 = 5 + 3.
  CHECK(test::sizes_of(test::decide(ElasticTiresias(), view)) == Sizes{5, 3});
  view.jobs[0].size_wanted = 3;
  view.nodes.pop_back();  // 3 and 1 as wished, nothing left over
  CHECK(test::sizes_of(test::decide(ElasticTiresias(), view)) == Sizes{3, 1});
  view.jobs[0].speed = &kFlatteningOut;
  view.jobs[1].size_wanted = 2;  // does not fit, but one slot is left: s(1) / 1 = 1 against 1.5 - 1.4
  CHECK(test::sizes_of(test::decide(ElasticTiresias(), view)) == Sizes{3, 1});
}

TEST_CASE("elastic tiresias: a waiting job counts by what each slot of its smallest size brings") {
  View view = test::view_of(1, 3, 2, kSteep);
  view.jobs[1].speed = &kFlatteningOut;
  view.jobs[1].size_min = 2;
  view.jobs[1].size_wanted = 4;  // does not fit
  // Two slots are left over: 1 for a second worker of the first, 1.25 / 2 a slot for the other's first two.
  CHECK(test::sizes_of(test::decide(ElasticTiresias(), view)) == Sizes{3, 0});
  view.jobs[0].speed = &kFlatteningOut;  // 0.25
  CHECK(test::sizes_of(test::decide(ElasticTiresias(), view)) == Sizes{1, 2});
}

TEST_CASE("elastic tiresias: more than ten waiting jobs make the second queue shrink") {
  const auto sizes = [](int waiting) {
    View view = test::view_of(1, 4, 1 + waiting, kSteep);
    for (JobRow& job : view.jobs) job.size_wanted = 4;
    view.jobs[0].mark = {.level = 1, .since = Instant::from_micros(5)};
    // The others want more than there is, so they wait; a first slot gains each of them 1, a second one 0.25.
    for (std::size_t row = 1; row < view.jobs.size(); ++row) {
      view.jobs[row].size_wanted = 5;
      view.jobs[row].speed = &kFlatteningOut;
    }
    return test::sizes_of(test::decide(ElasticTiresias(), view));
  };
  CHECK(sizes(10)[0] == 4);
  const Sizes after = sizes(11);
  CHECK(after[0] == 1);
  CHECK(Sizes(after.begin() + 1, after.begin() + 5) == Sizes{1, 1, 1, 0});
}

TEST_CASE("the gittins index is the chance to finish within the quantum over the service that this takes") {
  const EndedServices services({300, 100, 1'000, 200});
  // At 0 with 200: two of four finish; min(S, 200) is 100 + 200 + 200 + 200.
  CHECK(services.index(0, 200) == Approx(2.0 / 700));
  // At 200: 300 and 1,000 are left, one within 200; 100 + 200.
  CHECK(services.index(200, 200) == Approx(1.0 / 300));
  CHECK(services.index(200, std::numeric_limits<double>::infinity()) == Approx(2.0 / 900));
  CHECK(services.index(1'000, 200) == 0);
  CHECK(EndedServices({}).index(0, 200) == 0);
}

TEST_CASE("gittins: within a queue the job that is likelier to end soon goes first; without history the older one") {
  View view = test::view_of(1, 4, 2, kSteep);
  view.jobs[0].size_wanted = view.jobs[1].size_wanted = 4;
  // Jobs end after 7,000 or after 50,000 slot-seconds. A new one needs 28,500 on average; past 7,200 it is 42,800.
  view.jobs[0].slot_seconds = 7'300;
  std::vector<double> ended(9, 7'000);
  view.ended_slot_seconds = ended;
  CHECK(test::sizes_of(test::decide(Gittins(), view)) == Sizes{4, 0});  // nine are no distribution yet
  ended.insert(ended.end(), 9, 50'000);
  view.ended_slot_seconds = ended;
  CHECK(test::sizes_of(test::decide(Gittins(), view)) == Sizes{0, 4});
  view.jobs[1].mark = {.level = 1, .since = Instant::from_micros(1)};  // the queue goes before the index
  CHECK(test::sizes_of(test::decide(Gittins(), view)) == Sizes{4, 0});
}

TEST_CASE("gittins: service is rounded down, so that running does not change a job's place every second") {
  View view = test::view_of(1, 4, 2, kSteep);
  view.jobs[0].size_wanted = view.jobs[1].size_wanted = 4;
  std::vector<double> ended;
  for (int i = 1; i <= 10; ++i) ended.push_back(10'000 * i);
  view.ended_slot_seconds = ended;
  view.jobs[0].slot_seconds = 3'599;
  CHECK(test::sizes_of(test::decide(Gittins(), view)) == Sizes{4, 0});  // equal indices: the older one
  view.jobs[1].slot_seconds = 9'999;  // 7,200: nearer to the ends at 10,000 and beyond
  CHECK(test::sizes_of(test::decide(Gittins(), view)) == Sizes{0, 4});
}

TEST_CASE("ffdl: the sum of speed-ups decides, and every job that fits gets its smallest size") {
  View view = test::view_of(1, 4, 2, kSteep);
  view.jobs[1].speed = &kFlatteningOut;
  CHECK(test::sizes_of(test::decide(Ffdl(), view)) == Sizes{3, 1});  // 3 + 1; 2 + 2 would be 2 + 1.25
  view = test::view_of(1, 4, 6, kFlatteningOut);
  CHECK(test::sizes_of(test::decide(Ffdl(), view)) == Sizes{1, 1, 1, 1, 0, 0});
}

TEST_CASE("a job that is too large for one worker speeds up from the smallest size at which it runs") {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const StepTable large({kNever, 6, 4, 3});
  View view = test::view_of(1, 4, 2, kFlatteningOut);
  view.jobs[1].speed = &large;
  view.jobs[1].size_min = 2;
  CHECK(speedup_table(view.jobs[1], 4, 4) == std::vector<double>{0, 0, 2, 3, 4});
  CHECK(test::sizes_of(test::decide(Ffdl(), view)) == Sizes{1, 3});  // 1 + 3; 2 + 2 would be 1.25 + 2
  view.jobs[1].steps_left = 50;
  CHECK(test::sizes_of(test::decide(Afs(), view)) == Sizes{1, 3});  // 600 s left on one worker are the shorter
}

TEST_CASE("afs: a slot shortens the longer job by a larger share than it speeds the shorter one up") {
  View view = test::view_of(1, 4, 2, kSteep);
  view.jobs[1].speed = &kFlatteningOut;
  view.jobs[1].steps_left = 1'000;
  // To the shorter one; to it again, since 1 / 1 against 1 / 1 is no more; to the longer, 1 against 1 / 2; to the
  // shorter, 0.25 / 1.25 against 1 / 2.
  CHECK(test::sizes_of(test::decide(Afs(), view)) == Sizes{3, 1});
  view.jobs[0].speed = &kFlatteningOut;
  view.jobs[1].speed = &kSteep;
  // To the shorter one; then the longer one's 1, 1 / 2 and 1 / 3 all beat 0.25.
  CHECK(test::sizes_of(test::decide(Afs(), view)) == Sizes{1, 3});
  const StepTable weak({12, 12 / 1.22});
  view.jobs[0].speed = &weak;
  view.jobs[1].speed = &kFlatteningOut;
  view.nodes[0].slots = 3;
  // The third: 0.25 / 1.25 against 0.22, which 0.25 / 1 would beat.
  CHECK(test::sizes_of(test::decide(Afs(), view)) == Sizes{2, 1});
  view.jobs[0].steps_left.reset();  // unknown work ends last
  view.nodes[0].slots = 1;
  CHECK(test::sizes_of(test::decide(Afs(), view)) == Sizes{0, 1});
}

TEST_CASE("cluster autoscaling: the next worker goes to the job with the best scaling efficiency above the threshold") {
  View view = test::view_of(1, 8, 2, kSteep);
  view.jobs[1].speed = &kFlatteningOut;
  // s of the first: 1, 1, 1, then (4.138 - 4) / 4 x 4 = 0.138, 0.119, ...; of the second: 0.25, 0.24, 0.214, none.
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{4, 4});
  view.nodes[0].slots = 7;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{4, 3});
  const ClusterAutoscaling strict({.efficiency_threshold = 0.3});
  CHECK(test::sizes_of(test::decide(strict, view)) == Sizes{4, 1});
}

TEST_CASE("cluster autoscaling: a job climbs one rung beyond what was measured, and waits its turn at the bottom") {
  View view = test::view_of(1, 8, 1, kSteep);
  view.jobs[0].largest_seen = 0;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{1});
  view.jobs[0].largest_seen = 1;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{2});
  view.jobs[0].largest_seen = 4;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{5});
  view.jobs[0].largest_seen = 8;
  view.jobs[0].speed = &kFlatteningOut;  // nothing is known beyond 4
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{4});
  view = test::view_of(1, 8, 3, kSteep);
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling({.spawn_size = 4}), view)) == Sizes{4, 4, 0});
  view.jobs[0].size_max = 3;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling({.spawn_size = 4}), view)) == Sizes{3, 4, 0});
}

TEST_CASE("cluster autoscaling: rungs are sizes that the job may have, N workers of several slots apart") {
  View view = test::view_of(1, 8, 1, kSteep);
  view.jobs[0].sizes = {1, 2, 4, 8};
  view.jobs[0].largest_seen = 2;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) ==
        Sizes{4});  // not 3, which would be cut to 2 for ever
  const StepTable linear({8, 4, 8.0 / 3, 2, 1.6, 8.0 / 6, 8.0 / 7, 1});
  view.jobs[0] = test::view_of(1, 8, 1, linear).jobs[0];
  view.jobs[0].slots_per_worker = view.jobs[0].size_min = 2;
  view.nodes[0].slots = 7;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{6});
  view.nodes[0].slots = 8;
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling({.spawn_size = 3}), view)) == Sizes{8});  // 6, then the top
}

TEST_CASE("cluster autoscaling: a job with a utility grows while that gains more than the slots cost") {
  View view = test::view_of(1, 8, 1, kSteep);
  view.types = {{.name = "gpu", .price_per_hour = 3'600}};  // 1 a second
  core::ScalingSpec scaling;
  scaling.linear_utility = core::LinearUtility{.value = 12'000, .zero_at = Duration::seconds(12'000)};  // -1 a second
  view.jobs[0].scaling = &scaling;
  // Time left 1,200, 600, 400, 300, 290 s; cost 1,200 each, then 1,450: 10 s are not worth 250.
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{4});
  scaling.linear_utility->value = 600'000;  // -50 a second: 500 for 290, then for 1,680 - 1,450
  CHECK(test::sizes_of(test::decide(ClusterAutoscaling(), view)) == Sizes{8});
}

TEST_CASE("themis: the job that fares worst against an equal share gets the slots, for a lease") {
  View view = test::view_of(1, 4, 2, kSteep);
  view.jobs[0].size_wanted = view.jobs[1].size_wanted = 4;
  view.jobs[1].submitted = Instant::from_micros(500'000'000);
  // Waiting a lease, rho is (600 + 1,200 + 300) / 600 against (100 + 1,200 + 300) / 600.
  const Allocation allocation = test::decide(Themis(), view);
  CHECK(test::sizes_of(allocation) == Sizes{4, 0});
  CHECK(allocation.grants[0].mark == Mark{.level = 4, .since = view.now});
  // Even if the other now fares worse, the lease holds to its end.
  view.jobs[0].placement = {{.node = 0, .slots = 4}};
  view.jobs[0].mark = {.level = 4, .since = view.now};
  view.jobs[1].submitted = Instant::from_micros(-5'000'000'000);
  view.now = view.now + Themis::kLease - Duration::seconds(1);
  CHECK(test::sizes_of(test::decide(Themis(), view)) == Sizes{4, 0});
  view.now = view.now + Duration::seconds(1);
  CHECK(test::sizes_of(test::decide(Themis(), view)) == Sizes{0, 4});
}

TEST_CASE("themis: a fifth of the jobs bids, left-overs go to the next") {
  View view = test::view_of(1, 4, 5, kSteep);
  for (JobRow& job : view.jobs) job.size_wanted = 3;
  view.jobs[3].submitted = Instant::from_micros(-9'000'000'000);
  CHECK(test::sizes_of(test::decide(Themis(), view)) == Sizes{1, 0, 0, 3, 0});
}

}  // namespace tidepool::policies::cluster
