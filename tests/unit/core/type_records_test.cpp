// What was measured on one type of slot says nothing of another: records by type and size.
#include "core/state/measured/type_records.hpp"

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/state/measured/change_costs.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

NodeId node_of_type(Story& story, const std::string& type, int slots) {
  const std::string name = "n" + std::to_string(story.state().next_node);
  const NodeId id = story.engine().node_id_for(name);
  story.learn(core::NodeJoined{id, name, slots, type, Money::micros(1'000'000), {}});
  return id;
}

// Runs on "old", is suspended, and goes on on "new" when that is all there is.
struct Mover {
  Story story;
  NodeId old_node = node_of_type(story, "old", 2);
  JobId job = story.running({.min = 1, .max = 2, .cooldown = Duration()}, 2);

  void move() {
    story.steps(job, 10);
    story.learn(core::JobSuspendRequested{job});
    story.settle(job);
    REQUIRE(story.job(job).state() == core::JobState::kSuspended);
    story.learn(core::NodeCordonChanged{old_node, true});
    (void)node_of_type(story, "new", 2);
    story.learn(core::JobResumeRequested{job});
    story.pass(Duration::seconds(3'600));
    story.settle(job);
    REQUIRE(story.job(job).size() == 2);
  }
};

}  // namespace

TEST_CASE("a job that goes on on another type of slot is measured there anew, and what it did before is kept") {
  Mover scene;
  Story& story = scene.story;
  const core::Measurements& measured = story.job(scene.job).measurements;
  CHECK(measured.slot_type == "old");
  CHECK(measured.on_other_types.empty());
  scene.move();
  CHECK(measured.slot_type == "new");
  const core::Measurements& now = story.job(scene.job).measurements;
  CHECK(now.slot_type == "new");
  REQUIRE(now.on_other_types.contains("old"));
  const core::TypeRecords& before = now.on_other_types.at("old");
  CHECK(before.sizes.at(2).steps == 11);  // the first step after the switch pays for it
  CHECK(now.sizes.at(2).steps == 1);
  CHECK(before.boot_cost.count == 2);
  CHECK(now.boot_cost.count == 2);  // the boots on "new" are its own
  const core::Explanation told = core::explain(story.state(), scene.job);
  CHECK(std::count(told.evidence.begin(), told.evidence.end(), "2 workers on old: 640 samples/s over 11 steps") == 1);
}

TEST_CASE("records of a type are taken up again when the job is back on it") {
  core::Measurements measurements;
  core::measure_on(measurements, "a");
  measurements.sizes[2].steps = 7;
  core::measure_on(measurements, "b");
  CHECK(measurements.sizes.empty());
  measurements.sizes[1].steps = 3;
  core::measure_on(measurements, "a");
  CHECK(measurements.sizes.at(2).steps == 7);
  CHECK(measurements.on_other_types.at("b").sizes.at(1).steps == 3);
  CHECK_FALSE(measurements.on_other_types.contains("a"));
  core::measure_on(measurements, "c");  // nothing is measured there
  core::measure_on(measurements, "a");
  CHECK_FALSE(measurements.on_other_types.contains("c"));
}

TEST_CASE("before a change was measured on a type it is expected to cost what it has cost elsewhere") {
  core::Job job;
  core::measure_on(job.measurements, "a");
  job.measurements.shrink_cost = {.count = 2, .mean_stall_ms = 40};
  job.measurements.boot_cost = {.count = 1, .mean_ms = 3'000};
  const Duration resume = core::resume_cost(job);
  CHECK(resume == Duration::millis(3'040));
  core::measure_on(job.measurements, "b");
  CHECK(core::resume_cost(job) == resume);
  job.measurements.boot_cost = {.count = 1, .mean_ms = 5'000};
  CHECK(core::resume_cost(job) == Duration::millis(5'040));
}

TEST_CASE("a change that was not measured is expected to cost what others have cost, or the first switch of a start") {
  core::Job job;
  const auto grow = [&] { return core::change_stall(job, &core::TypeRecords::grow_cost, core::kAnySize); };
  CHECK(grow() == Duration::seconds(1));
  job.measurements.start_cost = {.count = 1, .mean_stall_ms = 30'000};
  CHECK(grow() == Duration::seconds(30));
  job.measurements.start_cost = {.count = 1, .mean_stall_ms = 10};  // a guess is never below a second
  CHECK(grow() == Duration::seconds(1));
  job.measurements.shrink_cost = {.count = 1, .mean_stall_ms = 40};
  job.measurements.replace_cost = {.count = 3, .mean_stall_ms = 60};
  CHECK(grow() == Duration::millis(60));
  job.measurements.grow_cost = {.count = 1, .mean_stall_ms = 80};
  CHECK(grow() == Duration::millis(80));
}

TEST_CASE("types of records are stored; those of an earlier version belong to the slots that the job holds") {
  Mover scene;
  scene.move();
  auto written = core::to_json(scene.story.state());
  const auto read = core::state_from_json(written);
  REQUIRE(read.ok());
  CHECK(read->find_job(scene.job)->measurements.on_other_types.at("old").sizes.at(2).steps == 11);
  CHECK(core::digest_of(*read) == core::digest_of(scene.story.state()));

  for (auto& job : written.at("jobs")) {
    REQUIRE(job.erase("slot_type") == 1);
    REQUIRE(job.erase("on_other_types") == 1);
  }
  const auto earlier = core::state_from_json(written);
  INFO((earlier.ok() ? std::string() : earlier.error().message));
  REQUIRE(earlier.ok());
  CHECK(earlier->find_job(scene.job)->measurements.slot_type == "new");
  CHECK(earlier->find_job(scene.job)->measurements.sizes.at(2).steps == 1);
}

TEST_CASE("records of a suspended job of an earlier version belong to the node that its state was written on") {
  Mover scene;
  Story& story = scene.story;
  story.steps(scene.job, 10);
  story.learn(core::JobSuspendRequested{scene.job});
  story.decide();
  const std::vector<WorkerId> workers = story.job(scene.job).membership.workers;
  story.learn(core::StateParked{scene.job, workers.front(), story.job(scene.job).membership.generation, 12, 768});
  story.settle(scene.job);
  auto written = core::to_json(story.state());
  for (auto& job : written.at("jobs")) job.erase("slot_type");
  const auto earlier = core::state_from_json(written);
  REQUIRE(earlier.ok());
  CHECK(earlier->find_job(scene.job)->measurements.slot_type == "old");
}

TEST_CASE("what changes and boots cost is kept by the size that the job comes to, and in the mean") {
  Story story;
  (void)story.node(8);
  const JobId job = story.running({.max = 8, .cooldown = {}}, 2);
  const auto grow = [&](int size, Duration boot, double stall_ms) {
    story.wish(job, size);
    story.steps(job, 1);
    CHECK(names_of(story.decide()) == "grow");
    story.pass(boot);
    for (const WorkerId id : story.job(job).phase.transition()->joining_workers) story.ready(id);
    CHECK(names_of(story.decide()) == "switch");
    story.switched(job, stall_ms);
  };
  grow(3, Duration::seconds(2), 40);
  grow(5, Duration::seconds(4), 100);
  grow(7, Duration::seconds(6), 300);
  const core::Measurements& measured = story.job(job).measurements;
  REQUIRE(measured.grow_cost.by_size.size() == 2);
  CHECK(measured.grow_cost.count == 3);
  CHECK(measured.grow_cost.by_size.at(2).mean_ms == Approx(40));
  CHECK(measured.grow_cost.by_size.at(4).count == 2);
  CHECK(measured.grow_cost.by_size.at(4).mean_ms == Approx(200));  // 5 and 7 workers
  CHECK(measured.boot_cost.by_size.at(2).count == 3);              // two of the start
  CHECK(measured.boot_cost.by_size.at(4).mean_ms == Approx(5'000));
  CHECK(measured.start_cost.by_size.at(2).count == 1);
  const core::Explanation told = core::explain(story.state(), job);
  const auto is_told = [&](const std::string& line) {
    return std::count(told.evidence.begin(), told.evidence.end(), line);
  };
  CHECK(is_told("growing has paused it for 147 ms on average (3 times), to 2-3 workers 40 ms, to 4-7 workers 200 ms") ==
        1);
}

TEST_CASE("a change to a size that was never come to is expected to cost what all of its kind have cost") {
  core::Job job;
  core::measure_on(job.measurements, "a");
  for (int i = 0; i < 3; ++i) core::note_cost(job.measurements.grow_cost, 2, 100);
  core::note_cost(job.measurements.grow_cost, 16, 29'700);
  core::note_cost(job.measurements.boot_cost, 2, 1'000);
  core::note_cost(job.measurements.boot_cost, 16, 5'000);
  const auto grow = [&](int workers) { return core::change_stall(job, &core::TypeRecords::grow_cost, workers); };
  const Duration mean = Duration::millis(7'500);
  CHECK(grow(2) == Duration::millis(100));
  CHECK(grow(3) == Duration::millis(100));
  CHECK(grow(16) == Duration::millis(29'700));
  CHECK(grow(31) == Duration::millis(29'700));
  for (const int never : {core::kAnySize, 1, 4, 15, 32}) CHECK(grow(never) == mean);
  CHECK(core::boot_time(job, 16) == Duration::seconds(5));
  CHECK(core::boot_time(job, 8) == Duration::seconds(3));
  CHECK(core::sizes_of_costs(job) == std::vector<int>{2, 16});
  CHECK(core::cost_of_replacing(job, 2) == Approx(1 + 2 * 0.1));
  CHECK(core::cost_of_replacing(job, 8) == Approx(3 + 8 * 7.5));
  // Shrinking was never measured: what growing to that size has cost stands for it.
  CHECK(core::change_stall(job, &core::TypeRecords::shrink_cost, 2) == Duration::millis(100));
  core::measure_on(job.measurements, "b");  // on another type, until it was measured there
  CHECK(grow(2) == Duration::millis(100));
  core::note_cost(job.measurements.grow_cost, 16, 50);
  CHECK(grow(2) == Duration::millis(50));
}

TEST_CASE("however many sizes a job comes to, few records of costs are kept") {
  core::TransitionCost cost;
  for (int size = 1; size <= 5'000; ++size) core::note_cost(cost, size, size);
  CHECK(cost.by_size.size() == 13);
  CHECK(cost.by_size.at(4096).count == 905);
  CHECK(cost.count == 5'000);
  core::note_cost(cost, core::kAnySize, 1);
  CHECK(cost.by_size.size() == 13);
}

TEST_CASE("costs by size are stored; states and jobs of an earlier version have none of any size") {
  Mover scene;
  scene.move();
  const core::Job& now = scene.story.job(scene.job);
  REQUIRE_FALSE(now.measurements.boot_cost.by_size.empty());
  REQUIRE_FALSE(now.measurements.on_other_types.at("old").boot_cost.by_size.empty());
  auto written = core::to_json(scene.story.state());
  const auto read = core::state_from_json(written);
  REQUIRE(read.ok());
  CHECK(read->find_job(scene.job)->measurements.boot_cost.by_size.at(2).count == 2);
  CHECK(core::digest_of(*read) == core::digest_of(scene.story.state()));

  const auto tell_none = [](nlohmann::json& records) {
    for (auto& [name, cost] : records.items()) {
      if (name.ends_with("_cost") && cost.is_object()) cost.erase("by_size");
    }
  };
  const auto is_earlier = [&](const core::Job& job) {
    CHECK(job.measurements.boot_cost.count == 2);
    CHECK(job.measurements.boot_cost.by_size.empty());
    CHECK(job.measurements.on_other_types.at("old").boot_cost.count == 2);
    CHECK(job.measurements.on_other_types.at("old").boot_cost.by_size.empty());
  };
  for (auto& job : written.at("jobs")) {
    tell_none(job);
    tell_none(job.at("on_other_types").at("old"));
  }
  const auto earlier = core::state_from_json(written);
  INFO((earlier.ok() ? std::string() : earlier.error().message));
  REQUIRE(earlier.ok());
  is_earlier(*earlier->find_job(scene.job));

  auto row = nlohmann::json::parse(core::job_text(now));
  tell_none(row);
  tell_none(row.at("on_other_types").at("old"));
  row.at("on_other_types").at("old").erase("start_cost");
  const auto left = core::job_from_text(row.dump());
  INFO((left.ok() ? std::string() : left.error().message));
  REQUIRE(left.ok());
  is_earlier(**left);
}

}  // namespace tidepool::test
