// Interpolation of measurements: what is measured comes back, what lies between lies between, and nothing is invented.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "policies/models/learnt_work.hpp"
#include "studies/models/learnt_speed.hpp"
#include "studies/models/measured_profile.hpp"

namespace tidepool::policies {
namespace {

double plane(const DelaunayField::Point& at) {
  return 3 + 2 * at[0] - at[1] + 0.5 * at[2];
}

// A grid, the hard case: eight points on each sphere, ties everywhere.
std::vector<DelaunayField::Sample> grid() {
  std::vector<DelaunayField::Sample> samples;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      for (int z = 0; z < 4; ++z) {
        const DelaunayField::Point at{double(x), double(y), double(z)};
        samples.push_back({.at = at, .value = {plane(at), -plane(at)}});
      }
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("a field over a grid gives a linear function back, inside cells and on their faces") {
  const auto field = DelaunayField::over(grid());
  REQUIRE(field.ok());
  for (double x = 0; x <= 3; x += 0.25) {
    for (double y = 0; y <= 3; y += 0.5) {
      for (double z = 0; z <= 3; z += 0.3) {
        const auto value = field->at({x, y, z});
        REQUIRE(value);
        CHECK((*value)[0] == Approx(plane({x, y, z})).epsilon(1e-12));
        CHECK((*value)[1] == Approx(-plane({x, y, z})).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a field says nothing outside its points, and nothing about NaN") {
  const auto field = DelaunayField::over(grid());
  REQUIRE(field.ok());
  CHECK(!field->at({-0.1, 1, 1}));
  CHECK(!field->at({1, 1, 3.01}));
  CHECK(!field->at({std::numeric_limits<double>::quiet_NaN(), 1, 1}));
  // Inside the box, outside the hull.
  const auto corner = DelaunayField::over(
      {{{0, 0, 0}, {1, 1}}, {{4, 0, 0}, {1, 1}}, {{0, 4, 0}, {1, 1}}, {{0, 0, 4}, {1, 1}}, {{1, 1, 1}, {1, 1}}});
  REQUIRE(corner.ok());
  CHECK(corner->at({1, 1, 0.5}));
  CHECK(!corner->at({3, 3, 3}));
}

TEST_CASE("points that span no volume are refused in words") {
  std::vector<DelaunayField::Sample> flat;
  for (int i = 0; i < 9; ++i) flat.push_back({.at = {double(i % 3), double(i / 3), 1}, .value = {1, 1}});
  const auto field = DelaunayField::over(flat);
  REQUIRE(!field.ok());
  CHECK(field.error().message.find("cannot be triangulated") != std::string::npos);
  CHECK(!DelaunayField::over({}).ok());
}

TEST_CASE("a placement and its rotations are one; its mirror image is another") {
  CHECK(smallest_rotation({4, 4, 3}) == std::vector<int>{3, 4, 4});
  CHECK(smallest_rotation({2, 1, 3}) == std::vector<int>{1, 3, 2});
  CHECK(smallest_rotation({3, 1, 2}) == std::vector<int>{1, 2, 3});
}

TEST_CASE("a measured placement is interpolated along the local batch and not beyond it") {
  const auto profile = MeasuredProfile::from(
      {{.slots = {1, 2}, .local_batch = 8, .time = {1, 0.5}}, {.slots = {1, 2}, .local_batch = 16, .time = {2, 0.7}}},
      {});
  REQUIRE(profile.ok());
  const auto between = profile->step_time({2, 1}, 12);
  REQUIRE(between);
  CHECK(between->step_s == Approx(1.5));
  CHECK(between->sync_s == Approx(0.6));
  CHECK(profile->step_time({1, 2}, 16)->step_s == 2);
  CHECK(!profile->step_time({1, 2}, 7));
  CHECK(!profile->step_time({1, 2}, 17));
  CHECK(!profile->step_time({3}, 8));  // never measured, and no measurements by scale
}

TEST_CASE("a placement that was not measured lies between those with its nodes and workers") {
  std::vector<PlacementMeasurement> placements;
  std::vector<ScaleMeasurement> scales;
  const auto time = [](int nodes, int size, int batch) {
    return StepTime{.step_s = 1.0 + 0.1 * nodes + 0.01 * size + 0.001 * batch, .sync_s = 0.1};
  };
  for (const int batch : {8, 16}) {
    placements.push_back({.slots = {1}, .local_batch = batch, .time = time(1, 1, batch)});
    placements.push_back({.slots = {4}, .local_batch = batch, .time = time(1, 4, batch)});
    for (const int nodes : {4, 8}) {
      scales.push_back({.nodes = nodes, .size = nodes, .local_batch = batch, .time = time(nodes, nodes, batch)});
      scales.push_back(
          {.nodes = nodes, .size = nodes * 4, .local_batch = batch, .time = time(nodes, nodes * 4, batch)});
    }
  }
  const auto profile = MeasuredProfile::from(placements, scales);
  REQUIRE(profile.ok());
  const auto found = profile->step_time({4, 4, 3, 1, 1}, 10);
  REQUIRE(found);
  CHECK(found->step_s == Approx(time(5, 13, 10).step_s));
}

namespace {

// Steps of a job that obeys the model exactly.
StepMeasurement step_of(const StepTimeModel& truth, cluster::Shape shape, int local_batch) {
  const double step = truth.step_seconds(shape, local_batch);
  return {.shape = shape,
          .local_batch = local_batch,
          .time = {.step_s = step, .sync_s = step - truth.compute_seconds(local_batch)}};
}

const StepTimeModel kTruth{.compute_base = 0.05,
                           .compute_each = 0.002,
                           .node_base = 0.08,
                           .node_each = 0.004,
                           .local_base = 0.03,
                           .local_each = 0.002,
                           .overlap = 2};

}  // namespace

TEST_CASE("the fit finds a model that explains its measurements, and predicts shapes between them") {
  std::vector<StepMeasurement> seen;
  for (const int batch : {32, 64, 128}) {
    for (const cluster::Shape shape : {cluster::Shape{1, 1}, {1, 2}, {1, 4}, {2, 8}, {4, 16}}) {
      seen.push_back(step_of(kTruth, shape, batch));
    }
  }
  const StepTimeModel fit = fit_step_time(seen);
  for (const StepMeasurement& m : seen) {
    CHECK(fit.step_seconds(m.shape, m.local_batch) == Approx(m.time.step_s).epsilon(0.02));
  }
  CHECK(fit.step_seconds({3, 12}, 96) == Approx(kTruth.step_seconds({3, 12}, 96)).epsilon(0.03));
  CHECK(fit.step_seconds({1, 3}, 48) == Approx(kTruth.step_seconds({1, 3}, 48)).epsilon(0.03));
}

TEST_CASE("what was never measured is taken optimistically: sync is free until seen, then no freer across nodes") {
  const StepTimeModel alone = fit_step_time({step_of(kTruth, {1, 1}, 64)});
  CHECK(alone.step_seconds({1, 1}, 64) == Approx(kTruth.compute_seconds(64)).epsilon(0.01));
  CHECK(alone.step_seconds({1, 4}, 64) == Approx(alone.step_seconds({1, 1}, 64)).epsilon(0.001));
  const StepTimeModel node =
      fit_step_time({step_of(kTruth, {1, 1}, 64), step_of(kTruth, {1, 2}, 64), step_of(kTruth, {1, 4}, 64)});
  CHECK(node.sync_seconds({2, 8}) > node.sync_seconds({1, 4}));
}

TEST_CASE("a measured shape is predicted by its measurements even when the model cannot bend that far") {
  LearntSpeed learnt;
  CHECK(learnt.empty());
  for (const cluster::Shape shape : {cluster::Shape{1, 1}, {1, 2}, {1, 4}}) learnt.add(step_of(kTruth, shape, 64));
  StepMeasurement odd = step_of(kTruth, {1, 3}, 64);
  odd.time.step_s *= 1.5;  // three workers on this node are slow, for whatever reason
  learnt.add(odd);
  CHECK(learnt.step_seconds({1, 3}, {.local = 64}) == Approx(odd.time.step_s).epsilon(0.02));
  CHECK(learnt.largest_size() == 4);
  const auto version = learnt.version();
  learnt.add(odd);
  CHECK(learnt.version() == version);
}

TEST_CASE("a start that leads the fit astray is left, so that no size looks fast that was slow") {
  // The sync on one node is below what its noise hides. From the fit of the first seven, the eighth sends it to 1e13 s.
  LearntSpeed learnt;
  for (const auto& [nodes, size, batch, step, sync] :
       std::vector<std::tuple<int, int, int, double, double>>{{1, 1, 128, 0.180687136, 0},
                                                              {1, 2, 289, 0.39343377, 0},
                                                              {1, 4, 51, 0.088594432, 0},
                                                              {2, 8, 59, 0.108840404, 0.00619618086},
                                                              {4, 16, 46, 0.0907027638, 0.0171843648},
                                                              {8, 32, 32, 0.0954024504, 0.0263873779},
                                                              {8, 32, 49, 0.0937471988, 1.93137013e-05},
                                                              {8, 32, 52, 0.1085106, 0.0269040151}}) {
    learnt.add({.shape = {nodes, size}, .local_batch = batch, .time = {.step_s = step, .sync_s = sync}});
    CHECK(learnt.fit_error() < 0.05);
  }
  const BatchLimits limits{.initial = 128, .largest = 4'096, .local_min = 32, .local_max = 1'024};
  const auto goodput = [&](int size) {
    return best_batch(learnt, {.sqr = 1, .var = 20}, limits, cluster::packed(size, 4)).value().goodput;
  };
  CHECK(goodput(32) > 4 * goodput(4));
}

TEST_CASE("each accumulation takes the time to compute, and waits for no other worker") {
  LearntSpeed learnt;
  for (const int batch : {32, 64, 128}) learnt.add(step_of(kTruth, {1, 4}, batch));
  const double more = learnt.step_seconds({1, 4}, {.local = 64, .accumulate = 2}) -
                      learnt.step_seconds({1, 4}, {.local = 64, .accumulate = 0});
  CHECK(more == Approx(2 * kTruth.compute_seconds(64)).epsilon(0.03));
}

TEST_CASE("noisy gradients ask for large batches, clean ones for small ones") {
  LearntSpeed learnt;
  for (const int batch : {32, 64, 128}) learnt.add(step_of(kTruth, {1, 4}, batch));
  const BatchLimits limits{.initial = 128, .largest = 2'048, .local_min = 16, .local_max = 256};
  const auto noisy = best_batch(learnt, {.sqr = 1, .var = 100}, limits, {1, 4});
  const auto clean = best_batch(learnt, {.sqr = 1, .var = 0.01}, limits, {1, 4});
  REQUIRE((noisy && clean));
  CHECK(noisy->split.global(4) > 4 * clean->split.global(4));
  CHECK(clean->split.global(4) == 128);
  CHECK(!best_batch(learnt, {.sqr = 1, .var = 1}, limits, {64, 256}));  // 16 each would be more than 2,048
}

TEST_CASE("a batch is cut so that no worker exceeds its most, and one worker above the initial batch always cuts") {
  const BatchLimits limits{.initial = 128, .largest = 4'096, .local_min = 16, .local_max = 256};
  CHECK(split_batch(1'024, 4, limits) == BatchSplit{.local = 256, .accumulate = 0});
  CHECK(split_batch(1'028, 4, limits) == BatchSplit{.local = 129, .accumulate = 1});
  CHECK(split_batch(200, 1, limits) == BatchSplit{.local = 100, .accumulate = 1});
  CHECK(split_batch(128, 1, limits) == BatchSplit{.local = 128, .accumulate = 0});
  CHECK(split_batch(4'096, 48, limits).global(48) <= 4'096);
}

TEST_CASE("a job is expected to take as much as those before it that were not done by then") {
  LearntWork work;
  CHECK(!work.left(0));
  work.ended(100);
  CHECK(work.left(0) == 100.0);
  CHECK(work.left(60) == 40.0);
  work.ended(400);
  work.ended(200);
  CHECK(work.left(0) == Approx(700.0 / 3));
  CHECK(work.left(150) == 150.0);  // 200 and 400 are left over: 300 - 150
  CHECK(work.left(200) == 200.0);  // only 400 took longer
}

TEST_CASE("before a job has ended, the kind is taken for twice as long as the one that has come farthest") {
  LearntWork work;
  work.reached(300);
  work.reached(100);
  CHECK(work.left(300) == 300.0);
  CHECK(work.left(100) == 500.0);
  work.ended(400);
  CHECK(work.left(100) == 300.0);
}

TEST_CASE("a job that outlives all before it is expected to go on for as long as it has outlived them, or a little") {
  LearntWork work;
  work.ended(100);
  CHECK(work.left(100) == 10.0);
  CHECK(work.left(105) == 10.0);
  CHECK(work.left(150) == 50.0);
}

TEST_CASE("what is learnt of a kind at once is what is learnt job by job") {
  const LearntWork at_once({400, 100, 200}, 500);
  LearntWork one_by_one;
  for (const double total : {100.0, 200.0, 400.0}) one_by_one.ended(total);
  one_by_one.reached(500);
  for (const double done : {0.0, 100.0, 150.0, 250.0, 400.0, 900.0}) CHECK(at_once.left(done) == one_by_one.left(done));
}

TEST_CASE("paces that differ by a quarter are kin, paces that differ by more than half are not") {
  for (const double pace_s : {1e-6, 0.01, 0.3, 1.0, 7.0, 5'000.0}) {
    const SimilarJobWork::Class own = SimilarJobWork::class_of(pace_s);
    CHECK(std::abs(SimilarJobWork::class_of(pace_s * 1.249) - own) <= 1);
    CHECK(std::abs(SimilarJobWork::class_of(pace_s / 1.249) - own) <= 1);
    CHECK(SimilarJobWork::class_of(pace_s * 1.57) - own >= 2);
    CHECK(own - SimilarJobWork::class_of(pace_s / 1.57) >= 2);
  }
}

// Of a pace that is not asked about: nine that took the same, so that paces tell of work.
SimilarJobWork with_mates() {
  SimilarJobWork work;
  for (int i = 0; i < 9; ++i) work.ended(100, 77);
  return work;
}

TEST_CASE("without kinds, a job is expected to take as much as those that are about as fast, and only as those") {
  SimilarJobWork work = with_mates();
  CHECK(!work.left(1, 0));
  work.ended(1, 100);
  work.ended(2, 300);
  work.ended(8, 9'000);
  CHECK(work.left(1, 0) == 200.0);
  CHECK(work.left(1, 100) == 200.0);  // only the one that took 300 went on
  CHECK(work.left(3, 0) == 300.0);    // beside the class is kin, farther is not
  CHECK(work.left(7, 0) == 9'000.0);
  CHECK(!work.left(5, 0));
}

TEST_CASE(
    "a pace tells nothing before eight jobs took as much as the one before them, and only while half of them do") {
  SimilarJobWork work;
  for (int i = 0; i < 8; ++i) {
    work.ended(4, i % 2 == 0 ? 100 : 140);
    CHECK(!work.left(4, 0));
  }
  CHECK(!work.take_changes().all);
  work.ended(4, 100);  // the eighth pair
  CHECK(work.left(4, 0).has_value());
  CHECK(work.take_changes().all);
  // From the sixteenth on, every second pair counts: 8 of 16 are alike, then 8 of 18.
  for (int i = 0; i < 8; ++i) work.ended(4, i % 2 == 0 ? 1'000 : 100);
  CHECK(work.left(4, 0).has_value());
  work.ended(4, 1'000);
  work.ended(4, 100);
  CHECK(!work.left(4, 0));
  CHECK(work.take_changes().all);
}

TEST_CASE("before one of its kin has ended, a job is expected to go twice as far as any of them has come") {
  SimilarJobWork work = with_mates();
  work.reached(1, 4, 1'024);
  work.reached(2, 5, 300);
  CHECK(work.left(4, 1'024) == 1'024.0);
  CHECK(work.left(4, 24) == 2'024.0);
  CHECK(work.left(6, 0) == Approx(512));  // 300 counts as 256, the half doubling below
  work.reached(1, 40, 1'024);             // it was measured again, and is no kin of theirs
  CHECK(work.left(4, 0) == Approx(512));
  work.withdraw(2);
  CHECK(!work.left(4, 0));
  work.reached(2, 5, 300);
  work.ended(4, 100);
  CHECK(work.left(4, 0) == 100.0);
}

TEST_CASE("jobs whose expectation changes are told, and no others") {
  SimilarJobWork work = with_mates();
  (void)work.take_changes();
  work.reached(1, 4, 1'024);
  CHECK(work.take_changes().classes == std::set<SimilarJobWork::Class>{3, 4, 5});
  work.reached(2, 4, 800);    // not as far as the first
  work.reached(1, 4, 1'100);  // not half a doubling farther
  CHECK(work.take_changes().classes.empty());
  for (int i = 0; i < 16; ++i) {
    work.ended(4, 2'000);
    CHECK(work.take_changes().classes == std::set<SimilarJobWork::Class>{3, 4, 5});
  }
  work.reached(2, 4, 5'000);  // kin have ended: they count
  work.ended(4, 1'000);       // the 17th waits for the 18th
  CHECK(work.take_changes().classes.empty());
  CHECK(work.left(4, 0) == 2'000.0);
  work.ended(4, 1'000);
  CHECK(work.take_changes().classes.size() == 3);
  CHECK(work.left(4, 0) == Approx((16 * 2'000 + 2 * 1'000) / 18.0));
  CHECK(!work.take_changes().all);
}

TEST_CASE("a batch is chosen from a rising series within its limits, or from none") {
  const BatchLimits limits{.initial = 32, .largest = 1'024, .local_min = 16, .local_max = 128};
  const std::vector<BatchSplit> choices = batch_choices(4, limits);
  REQUIRE(!choices.empty());
  CHECK(choices.front().global(4) == 64);  // 16 each
  CHECK(choices.back().global(4) == 1'024);
  for (std::size_t i = 1; i < choices.size(); ++i) CHECK(choices[i].global(4) > choices[i - 1].global(4));
  CHECK(batch_choices(65, limits).empty());
}

}  // namespace tidepool::policies
