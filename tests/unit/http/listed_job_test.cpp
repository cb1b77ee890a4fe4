// The line of an ended job that is kept is, put together, what the whole job renders to.
#include "schedulerd/live/http/lists/listed_job.hpp"

#include <catch2/catch.hpp>

#include "base/json.hpp"
#include "core/codec/reason_numbers.hpp"
#include "schedulerd/live/http/render.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

core::Job ended_job() {
  core::Job job;
  job.id = JobId(7);
  job.spec.name = "a \"name\"\nof two lines";
  job.spec.tenant = "red";
  job.spec.labels = {{"team", "vision\nand more"}};
  job.spec.run = core::RunSpec{.args = {{"steps", {core::Argument::Plain(std::int64_t{100})}}}};
  job.spec.elastic.min = 2;
  job.spec.elastic.max = 4;
  job.phase = core::phase::Ended{core::JobState::kFailed, Instant::from_micros(9'000'000)};
  job.submitted_at = Instant::from_micros(1'000'000);
  job.started_at = Instant::from_micros(2'500'000);
  job.membership.generation = 3;
  job.progress.step = 50;
  job.progress.last_loss = 0.25;
  job.progress.first_loss = 2.5;
  job.progress.samples = 12'800;
  job.account.cost = Money::micros(1'230'000);
  job.account.slot_time = Duration::seconds(12);
  job.recovery.last_error = "reason job-3 \n is text";
  job.measurements.sizes[2] = {};
  return job;
}

EndedRow row_of(const core::Job& job) {
  return {job.id,           job.spec.tenant,       job.spec.name,     std::string(core::to_text(job.state())),
          job.submitted_at, *job.phase.ended_at(), listed_fields(job)};
}

std::string rendered(const core::Job& job, const WallClock& clock) {
  test::NoHistory past;
  Published seen;
  seen.clock = clock;
  const Caller admin;
  return canonical_json(render_job({seen, admin, past}, job, "EUR"));
}

}  // namespace

TEST_CASE("what is kept of an ended job gives the text of the whole one, on any time line and in any currency") {
  core::Job job = ended_job();
  for (const std::int64_t zero : {0L, 1'790'000'000'000'000L}) {
    const WallClock clock{zero};
    CHECK(listed_text(row_of(job), clock, "EUR") == rendered(job, clock));
  }
  job.started_at.reset();
  job.recovery.last_error.clear();
  job.account.cost = Money();
  CHECK(listed_text(row_of(job), {}, "EUR") == rendered(job, {}));
}

TEST_CASE("nothing is made up of a row that keeps nothing, or of fields that are not known") {
  EndedRow row = row_of(ended_job());
  row.listed += "zebra 1\n";
  CHECK_FALSE(listed_text(row, {}, "USD").has_value());
  row.listed.clear();
  CHECK_FALSE(listed_text(row, {}, "USD").has_value());
}

TEST_CASE("only a reason that may name a job has to be looked at for a tenant") {
  EndedRow row = row_of(ended_job());
  CHECK_FALSE(reason_may_name_jobs(row));
  row.listed = "max 4\nreason {\"code\":\"A\",\"numbers\":{},\"text\":\"was replaced by job-9\"}\n";
  CHECK(reason_may_name_jobs(row));
  row.listed = "reason {\"code\":\"A\",\"numbers\":{\"rival\":9},\"text\":\"gave way\"}\nsizes []\n";
  CHECK(reason_may_name_jobs(row));
}

}  // namespace tidepool::live::http
