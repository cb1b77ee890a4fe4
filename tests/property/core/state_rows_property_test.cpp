// The state in rows: what is written of the rows that changed leads back to the whole, after any history.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "core/codec/state_rows.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// A table of rows, brought up to date by what differs from the state that it held before.
class Rows {
 public:
  void follow(const core::ClusterState& now) {
    for (const core::RowKey key : core::rows_between(before_, now)) {
      std::string text = core::row_text(now, key);
      if (text.empty()) {
        rows_.erase(key);
      } else {
        rows_[key] = std::move(text);
      }
    }
    before_ = now;
  }

  [[nodiscard]] Result<core::ClusterState> whole() const {
    core::StateFromRows state;
    for (const auto& [key, text] : rows_) TP_TRY(state.put(key, text));
    return std::move(state).finish(core::head_text(before_));
  }

 private:
  core::ClusterState before_;
  std::map<core::RowKey, std::string> rows_;
};

}  // namespace

TEST_CASE("rows that follow a state lead back to it") {
  std::size_t left = 0;
  for_each_seed("state rows", 20, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 4000, true);
    Rows rows;
    for (int i = 0; i < 150; ++i) {
      world.tick();
      if (rng.chance(0.7)) decide_and_check(world);
      if (!rng.chance(0.2)) continue;
      rows.follow(world.state());
      const auto read = rows.whole();
      INFO((read.ok() ? std::string() : read.error().message));
      REQUIRE(read.ok());
      REQUIRE(core::digest_of(*read) == core::digest_of(world.state()));
    }
    left += world.state().next_job - 1 - world.state().jobs.size();
  });
  if (all_seeds_run()) CHECK(left > 20);  // jobs that ended and left on the way
}

TEST_CASE("a fact as a row is that fact again, and so is one that was written whole") {
  std::size_t shorter = 0;
  for_each_seed("fact rows", 6, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 5000, true);
    for (int i = 0; i < 150; ++i) {
      world.tick();
      decide_and_check(world);
    }
    for (const auto& [at, fact] : world.facts()) {
      const std::string whole = canonical_json(core::to_json(fact));
      const std::string row = core::fact_text(fact);
      for (const std::string& text : {row, whole}) {
        const auto read = core::fact_from_text(text);
        REQUIRE(read.ok());
        REQUIRE(canonical_json(core::to_json(*read)) == whole);
      }
      shorter += row.size() < whole.size() ? 1 : 0;
    }
  });
  CHECK(shorter > 50);
  CHECK_FALSE(core::fact_from_text(R"({"fact":"job_submitted","job":"job-1","spec":{"nmae":"x"}})").ok());
  CHECK_FALSE(core::fact_from_text(R"({"fact":"job_submitted","job":"job-1"})").ok());
  CHECK_FALSE(core::fact_from_text("[]").ok());
}

TEST_CASE("a job as text is that job again") {
  SimulatedWorld world(4711, true);
  std::size_t told = 0;
  for (int i = 0; i < 200; ++i) {
    world.tick();
    decide_and_check(world);
    for (const auto& [id, job] : world.state().jobs) {
      const std::string text = core::job_text(*job);
      const auto read = core::job_from_text(text);
      REQUIRE(read.ok());
      REQUIRE(core::job_text(**read) == text);
      ++told;
    }
  }
  CHECK(told > 100);
  core::Job job;
  job.id = JobId(1);
  job.progress.last_loss = -0.0;  // equal to a blank one's, and written otherwise
  const auto read = core::job_from_text(core::job_text(job));
  REQUIRE(read.ok());
  CHECK(std::signbit((*read)->progress.last_loss));
  CHECK_FALSE(core::job_from_text(R"({"no_such_field":1})").ok());
  CHECK_FALSE(core::job_from_text(R"({"generation":"one"})").ok());
}

TEST_CASE("what changes little has few rows to write, however many jobs there are") {
  core::ClusterState state;
  for (std::uint64_t number = 1; number <= 5'000; ++number) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(number);
    state.jobs.emplace(JobId(number), std::move(job));
  }
  const core::ClusterState before = state;
  CHECK(core::rows_between(before, state).empty());
  state.mutable_job(JobId(77)).progress.step = 5;
  state.jobs.erase(JobId(4'000));
  CHECK(core::rows_between(before, state) ==
        std::vector<core::RowKey>{{core::RowKind::kJob, 77}, {core::RowKind::kJob, 4'000}});
  CHECK(before.find_job(JobId(77))->progress.step == 0);
}

}  // namespace tidepool::test
