// What jobs of a pace took is known by type of slot, and carried to another type only where that has none of its own.
#include "policies/engine/similar_jobs.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "core/state/measured/type_records.hpp"

namespace tidepool::policies::cluster {
namespace {

// Measured on slots of this type alone.
core::Job job_on(std::uint64_t id, const std::string& slot_type, double samples_per_second, std::int64_t samples) {
  core::Job job;
  job.id = JobId(id);
  job.spec.batch.global = 100;
  job.spec.elastic.sizes = {1, 2, 4};
  core::measure_on(job.measurements, slot_type);
  core::SizeRecord& record = job.measurements.sizes[1];
  record.steps = 100;
  record.step_seconds = 100 / samples_per_second;
  record.samples_per_second = samples_per_second;
  job.progress.samples = samples;
  return job;
}

// Jobs that come one after the other, and what one that asks is expected to have left.
class ToldJobs {
 public:
  void pass(int jobs, const std::string& slot_type, double samples_per_second, std::int64_t samples) {
    for (int i = 0; i < jobs; ++i) {
      core::Job job = job_on(++last_, slot_type, samples_per_second, samples);
      job.phase = core::phase::Ended{core::JobState::kSucceeded, Instant::from_micros(std::int64_t(last_))};
      kin_.tell(SimilarJobs::progress_of(job), JobSpeed(job));
    }
  }
  // It has run on "a", and is so many times as fast on "b".
  void runs_on_both(double faster) {
    core::Job job = job_on(++last_, "a", 10, 100);
    core::measure_on(job.measurements, "b");
    job.measurements.sizes[1] = job.measurements.on_other_types.at("a").sizes.at(1);
    job.measurements.sizes[1].samples_per_second *= faster;
    job.measurements.sizes[1].step_seconds /= faster;
    ratios_.tell(job);
  }
  // Of a job that has done 1,000.
  std::optional<double> left(const std::string& slot_type, double samples_per_second) {
    const core::Job job = job_on(kAsking, slot_type, samples_per_second, 1'000);
    return kin_.expect(job, JobSpeed(job), ratios_);
  }
  bool is_moved() { return kin_.take_moved(ratios_) == std::vector{JobId(kAsking)}; }

 private:
  static constexpr std::uint64_t kAsking = 1'000;
  SimilarJobs kin_;
  TypeRatios ratios_;
  std::uint64_t last_ = 0;
};

}  // namespace

TEST_CASE("jobs that are as fast on two types of slot are kin on each of them alone") {
  ToldJobs told;
  told.pass(9, "a", 100, 40'000);
  told.pass(9, "b", 100, 4'000);
  CHECK(told.left("a", 100) == 39'000.0);
  CHECK(told.left("b", 100) == 3'000.0);
}

TEST_CASE("on a type on which no kin have ended a job has those of another, by how fast it would be there") {
  ToldJobs told;
  told.pass(9, "a", 100, 40'000);
  SECTION("as fast, where no job has run on both") {
    CHECK(told.left("b", 100) == 39'000.0);
    CHECK_FALSE(told.left("b", 400));
  }
  SECTION("as much slower as those are that have") {
    told.runs_on_both(4);
    CHECK(told.left("b", 400) == 39'000.0);
    CHECK_FALSE(told.left("b", 100));
  }
  SECTION("it is moved when that is known, and when it turns by more than a class of paces, not by less") {
    (void)told.is_moved();
    CHECK(told.left("b", 100) == 39'000.0);
    told.runs_on_both(4);
    CHECK(told.is_moved());
    CHECK(told.left("b", 425) == 39'000.0);
    told.runs_on_both(4.001);
    CHECK_FALSE(told.is_moved());
  }
  SECTION("until jobs of its pace have ended on its own type") {
    CHECK(told.left("b", 100) == 39'000.0);
    told.pass(9, "b", 100, 4'000);
    CHECK(told.is_moved());
    CHECK(told.left("b", 100) == 3'000.0);
  }
}

TEST_CASE("of several other types the one counts on which most of its kin have ended, of equals the first by name") {
  ToldJobs told;
  told.pass(9, "c", 100, 20'000);
  told.pass(9, "b", 100, 40'000);
  CHECK(told.left("a", 100) == 39'000.0);
  told.pass(1, "c", 100, 20'000);
  CHECK(told.left("a", 100) == 19'000.0);
}

}  // namespace tidepool::policies::cluster
