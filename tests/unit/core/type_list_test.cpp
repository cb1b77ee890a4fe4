// A job that names several types of slot: where it starts, and what is said of it while it waits.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/state/measured/type_records.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

void join(Story& story, const std::string& type, int slots) {
  const std::string name = "n" + std::to_string(story.state().next_node);
  story.learn(core::NodeJoined{story.engine().node_id_for(name), name, slots, type, Money::micros(1'000'000), {}});
}

JobId ask(Story& story, JobSketch sketch, const std::vector<std::string>& types,
          const std::map<std::string, double>& speeds = {}) {
  core::JobSpec spec = job_spec(sketch);
  spec.slot_types = types;
  spec.type_speeds = speeds;
  const JobId id = story.engine().next_job_id();
  story.learn(core::JobSubmitted{id, std::move(spec)});
  return id;
}

// Where it is, and how many workers it has there.
std::pair<std::string, int> place(Story& story, JobId job) {
  story.settle(job);
  return {core::type_of_workers(story.state(), story.job(job).membership.members), story.job(job).size()};
}

using Place = std::pair<std::string, int>;

}  // namespace

TEST_CASE("a job starts on the type of its list on which its workers together are expected to do most") {
  const JobSketch wide{.min = 1, .max = 4, .preferred = 4};
  const auto starts = [&](const std::vector<std::string>& types, const std::map<std::string, double>& speeds) {
    Story story;
    join(story, "v100", 4);
    join(story, "h100", 2);
    join(story, "t4", 8);
    return place(story, ask(story, wide, types, speeds));
  };
  CHECK(starts({"h100", "v100"}, {}) == Place("v100", 4));  // nothing stated: the most workers
  CHECK(starts({"v100", "t4"}, {}) == Place("v100", 4));    // as many on both: the first of the list
  CHECK(starts({"t4", "v100"}, {}) == Place("t4", 4));
  CHECK(starts({"h100", "v100"}, {{"h100", 1}, {"v100", 0.4}}) == Place("h100", 2));
  CHECK(starts({"h100", "v100"}, {{"h100", 1}, {"v100", 0.6}}) == Place("v100", 4));
}

TEST_CASE("once a job was measured on all types of its list, its own speeds count") {
  core::Job job;
  job.spec.slot_types = {"a", "b"};
  job.spec.type_speeds = {{"a", 1}, {"b", 0.5}};
  core::measure_on(job.measurements, "a");
  job.measurements.sizes[1] = {.steps = 10, .step_seconds = 1, .samples_per_second = 30};
  CHECK(core::expected_speed(job, "a") == 1);
  CHECK(core::expected_speed(job, "b") == 0.5);
  core::measure_on(job.measurements, "b");
  job.measurements.sizes[2] = {.steps = 10, .step_seconds = 1, .samples_per_second = 90};
  CHECK(core::expected_speed(job, "a") == 30);
  CHECK(core::expected_speed(job, "b") == 45);
}

TEST_CASE("a job that waits is told which types it takes, what each brings, and which of its names no node has") {
  Story story;
  join(story, "h100", 1);
  join(story, "v100", 4);
  (void)story.running({.max = 1}, 1);
  const JobId job = ask(story, {.min = 2, .max = 2, .preferred = 2}, {"h100", "a100", "h10"},
                        {{"h100", 1}, {"a100", 0.4}, {"h10", 0.4}});
  story.decide();
  const auto evidence = core::explain(story.state(), job).evidence;
  const auto says = [&](const std::string& line) {
    return std::find(evidence.begin(), evidence.end(), line) != evidence.end();
  };
  INFO(evidence.size() << " " << (evidence.empty() ? "" : evidence.front()));
  CHECK(says("it takes slots of type h100, a100 or h10; v100 is not in its list"));
  CHECK(says("a worker on a100 is expected to do 40 % of what one on h100 does"));
  CHECK(says("no node has slots of type h10; did you mean h100?"));
}

}  // namespace tidepool::test
