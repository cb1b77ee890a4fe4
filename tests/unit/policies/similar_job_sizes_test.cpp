// What jobs of one kind tell each other of the sizes at which they were measured.
#include "policies/engine/similar_job_sizes.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <string>

#include "core/state/ended_job.hpp"
#include "core/state/job_kind.hpp"
#include "core/state/measured/type_records.hpp"
#include "policies/engine/engine_rows.hpp"
#include "policies/engine/job_speed.hpp"
#include "tests/support/row_goodputs.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::cluster {
namespace {

core::SizeRecord record_of(double samples_per_second, double batch = 100) {
  return {.steps = 100, .step_seconds = batch / samples_per_second, .samples_per_second = samples_per_second};
}

core::Job job_of(std::uint64_t id, const std::string& program = "resnet") {
  core::Job job;
  job.id = JobId(id);
  job.spec.run = core::RunSpec{.command = {program}};
  job.spec.batch = {.global = 100, .per_worker_max = 100};
  job.spec.elastic.sizes = {1, 2, 4, 8};
  job.spec.elastic.max = 8;
  return job;
}

core::Job measured_job(std::uint64_t id, int size, double samples_per_second) {
  core::Job one = job_of(id);
  one.measurements.sizes[size] = record_of(samples_per_second);
  return one;
}

double goodput_on(const JobSpeed& speed, int size) {
  return speed.goodput({.nodes = 1, .size = size});
}

std::uint64_t kind_of_command(std::vector<std::string> command) {
  core::Job one = job_of(1);
  one.spec.run = core::RunSpec{.command = std::move(command)};
  return core::kind_of(one.spec);
}

}  // namespace

TEST_CASE("jobs are of one kind that run the same words, whatever their numbers, at the same batch") {
  const auto kind = kind_of_command({"python", "train.py", "--model", "resnet50", "--lr=0.1", "--seed", "3"});
  CHECK(kind_of_command({"python", "train.py", "--model", "resnet50", "--lr=1e-3", "--seed", "17"}) == kind);
  CHECK(kind_of_command({"python", "train.py", "--model", "vgg16", "--lr=0.1", "--seed", "3"}) != kind);
  CHECK(kind_of_command({"python", "eval.py", "--model", "resnet50", "--lr=0.1", "--seed", "3"}) != kind);
  CHECK(core::kind_of(core::JobSpec{}) == 0);
  core::Job larger = job_of(1);
  larger.spec.batch.global = 200;
  CHECK(core::kind_of(larger.spec) != core::kind_of(job_of(2).spec));
  core::Job trains = job_of(1);
  trains.spec.run = core::RunSpec{.trainer = "charlm", .args = {{"lr", {0.1}}, {"data", {std::string("a.txt")}}}};
  const auto before = core::kind_of(trains.spec);
  trains.spec.run = core::RunSpec{.trainer = "charlm", .args = {{"lr", {0.2}}, {"data", {std::string("a.txt")}}}};
  CHECK(core::kind_of(trains.spec) == before);
  trains.spec.run = core::RunSpec{.trainer = "charlm", .args = {{"lr", {0.2}}, {"data", {std::string("b.txt")}}}};
  CHECK(core::kind_of(trains.spec) != before);
}

TEST_CASE("a new job expects of each size what its kin were measured at in the mean, and nothing of other programs") {
  SimilarJobSizes kin;
  kin.tell(measured_job(1, 2, 100));
  kin.tell(measured_job(2, 2, 300));
  const auto sizes = kin.expected(job_of(3));
  REQUIRE(sizes.size() == 1);
  CHECK(sizes.at(2).step_seconds == Approx((1 + 1.0 / 3) / 2).epsilon(0.02));
  CHECK(kin.expected(job_of(4, "bert")).empty());
  kin.withdraw(JobId(2));
  CHECK(kin.take_moved() == std::vector<JobId>{JobId(3)});
  CHECK(kin.expected(job_of(3)).at(2).step_seconds == Approx(1).epsilon(0.02));
  // A job does not count as its own kin.
  CHECK(kin.expected(measured_job(1, 2, 100)).empty());
}

TEST_CASE("what kin did is scaled by how the job itself was last, and its own records win") {
  SimilarJobSizes kin;
  core::Job other = measured_job(1, 1, 100);
  other.measurements.sizes[4] = record_of(300);
  kin.tell(other);
  const core::Job fresh = job_of(2);
  CHECK(goodput_on(JobSpeed(fresh, JobSpeed::Kin{kin.expected(fresh)}), 4) == Approx(3).epsilon(0.03));
  core::Job slow = measured_job(3, 1, 50);
  kin.tell(slow);
  CHECK(goodput_on(JobSpeed(slow, JobSpeed::Kin{kin.expected(slow)}), 4) == Approx(1.5).epsilon(0.03));
  slow.measurements.sizes[4] = record_of(80);
  kin.tell(slow);
  const auto sizes = kin.expected(slow);
  const JobSpeed speed(slow, JobSpeed::Kin{sizes});
  CHECK(goodput_on(speed, 4) == Approx(0.8));
  CHECK(speed.largest_of_kin() == 4);
}

TEST_CASE("a program that chooses its batch learns what a step and what a sample costs its kin") {
  SimilarJobSizes kin;
  core::Job other = job_of(1);
  other.spec.batch.on_resize = core::OnResize::kCallback;
  other.measurements.sizes[1] = record_of(100);  // 10 ms a sample
  other.measurements.sizes[4] = {
      .steps = 100, .step_seconds = 1.25, .samples_per_second = 240};  // 0.75 s beside 1 s of exchange
  kin.tell(other);
  core::Job one = job_of(2);
  one.spec.batch.on_resize = core::OnResize::kCallback;
  one.progress.noise_scale = 50'000;
  // cbrt(50,000 x (1 s x 4 / 10 ms)^2) = 2,000 samples: 5 s beside 1 s
  CHECK(goodput_on(JobSpeed(one, JobSpeed::Kin{kin.expected(one)}), 4) ==
        Approx(2'000 / std::hypot(5.0, 1.0) * 50'100 / 52'000 / 100).epsilon(0.03));
  one.progress.noise_scale.reset();  // as noisy as its batch is large
  const double batch = std::cbrt(100.0 * 400 * 400);
  CHECK(goodput_on(JobSpeed(one, JobSpeed::Kin{kin.expected(one)}), 4) ==
        Approx(batch / std::hypot(batch * 0.01 / 4, 1.0) * 200 / (100 + batch) / 100).epsilon(0.03));
}

TEST_CASE("a job whose kin were measured may begin at twice their largest size") {
  core::ClusterState state = test::one_node_state(16);
  EngineRows rows(RowStyle::kExperiments);
  rows.follow_nodes(state);
  const auto sizes = [&] {
    state.jobs[JobId(2)] = std::make_shared<const core::Job>(job_of(2));
    (void)rows.follow(state, JobId(2));
    return rows.row({state, state.now}, *state.find_job(JobId(2)), {.room = 16}).sizes;
  };
  CHECK(sizes() == std::vector<int>{1});
  state.jobs[JobId(1)] = std::make_shared<const core::Job>(measured_job(1, 2, 100));
  (void)rows.follow(state, JobId(1));
  CHECK(sizes() == std::vector<int>{1, 2, 4});
}

TEST_CASE("over any history, rows that were kept expect of kin what rows made a moment ago expect") {
  int expecting = 0;
  test::for_each_seed("speeds by kin", 60, [&](std::uint64_t, Rng& rng) {
    core::ClusterState state = test::one_node_state(8);
    EngineRows kept;
    state.next_job = 20;
    for (int i = 0; i < 80; ++i) {
      const JobId id(1 + rng.below(12));
      const bool is_new = state.find_job(id) == nullptr;
      core::Job changed = is_new ? job_of(id.number(), id.number() % 3 == 0 ? "bert" : "resnet") : *state.find_job(id);
      core::measure_on(changed.measurements, rng.chance(0.8) ? "a" : "b");
      if (rng.chance(0.6)) changed.measurements.sizes[1 << rng.below(3)] = record_of(1 + double(rng.below(1'000)));
      state.jobs[id] = std::make_shared<const core::Job>(changed);
      if (rng.chance(0.15)) {
        core::Job& ends = state.mutable_job(id);
        ends.phase = core::phase::Ended{core::JobState::kSucceeded, Instant::from_micros(i)};
        IdSet<JobId> forgotten;
        (void)core::take_out(state, id, forgotten);
      } else if (rng.chance(0.1)) {
        state.jobs.erase(id);
        if (state.find_ended(id) != nullptr) state.ended.erase(id);
      }
      (void)kept.follow(state, id);
      if (i % 8 != 0) continue;
      EngineRows anew;
      for (const auto& [known, row] : state.jobs) (void)anew.follow(state, known);
      for (const auto& [known, row] : state.ended) {
        if (state.find_job(known) == nullptr) (void)anew.follow(state, known);
      }
      CHECK(test::goodputs(state, kept, 2) == test::goodputs(state, anew, 2));
      for (const auto& [known, row] : state.jobs) expecting += row->measurements.sizes.contains(2) ? 0 : 1;
    }
  });
  CHECK(expecting > 500);
}

}  // namespace tidepool::policies::cluster
