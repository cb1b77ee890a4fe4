// jobs_max: how many jobs of a tenant wait, run or are suspended at once.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "core/codec/codec.hpp"
#include "core/explain/submit_preview.hpp"
#include "core/facts/job_facts.hpp"
#include "core/state/tenant_jobs.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

std::vector<core::Tenant> lab_with_at_most(int jobs) {
  return {{.name = "lab", .jobs_max = jobs},
          {.name = "vision", .parent = "lab"},
          {.name = "speech", .parent = "lab"},
          {.name = "guests"}};
}

// Why one job more of the tenant is refused.
std::string why_no_more(SharedPool& pool, const char* tenant) {
  return pool.story.refuses(core::JobSubmitted{pool.story.engine().next_job_id(), SharedPool::spec(tenant, 1)});
}

int jobs_of(const SharedPool& pool, const char* tenant) {
  return core::jobs_of(pool.story.state().tenant_jobs, tenant);
}

}  // namespace

TEST_CASE("a tenant and those below it have at most jobs_max jobs, and one that ends makes room at once") {
  SharedPool pool(lab_with_at_most(3));
  const JobId runs = pool.running("vision", 2);
  const JobId waits = pool.submit(SharedPool::spec("speech", 2));
  const JobId suspended = pool.submit(SharedPool::spec("vision", 2));
  pool.story.learn(core::JobSuspendRequested{suspended});
  REQUIRE(pool.story.job(suspended).state() == core::JobState::kSuspended);
  const std::string why =
      "job \"charlm\": jobs_max 3 of tenant \"lab\" is reached: it has 3 jobs waiting, running or suspended; "
      "submit it again once some of them have ended, or cancel some";
  CHECK(why_no_more(pool, "speech") == why);
  CHECK(why_no_more(pool, "vision") == why);
  CHECK(jobs_of(pool, "lab") == 3);
  CHECK(jobs_of(pool, "vision") == 2);
  (void)pool.submit(SharedPool::spec("guests", 1));  // the limit is not theirs

  // What is no submit needs no room.
  pool.story.learn(core::JobResumeRequested{suspended});
  core::JobSpec urgent = SharedPool::spec("speech", 2);
  urgent.priority = 1;
  pool.story.learn(core::JobChanged{waits, urgent});

  pool.story.learn(core::JobCancelRequested{waits});
  CHECK(why_no_more(pool, "speech") == why);  // it has not ended yet
  pool.story.decide();
  REQUIRE(pool.story.job(waits).state() == core::JobState::kCancelled);
  CHECK(jobs_of(pool, "speech") == 0);
  (void)pool.submit(SharedPool::spec("speech", 1));
  CHECK(why_no_more(pool, "speech") == why);
  pool.end(runs);
  (void)pool.submit(SharedPool::spec("vision", 1));
  CHECK(why_no_more(pool, "vision") == why);
}

TEST_CASE("a lower jobs_max ends no job and takes none before fewer are left") {
  SharedPool pool(lab_with_at_most(4));
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(pool.submit(SharedPool::spec("vision", 8)));
  pool.configure(lab_with_at_most(2));
  pool.story.decide();
  CHECK(jobs_of(pool, "lab") == 4);
  for (const std::size_t i : {3U, 2U}) {
    CHECK_THAT(why_no_more(pool, "vision"),
               Catch::Contains("jobs_max 2 of tenant \"lab\" is reached: it has " + std::to_string(i + 1) + " jobs"));
    pool.end(jobs[i]);
  }
  CHECK_THAT(why_no_more(pool, "vision"), Catch::Contains("it has 2 jobs"));
  pool.end(jobs[1]);
  (void)pool.submit(SharedPool::spec("vision", 1));
  pool.configure({{.name = "lab"}, {.name = "vision", .parent = "lab"}});
  for (int i = 0; i < 5; ++i) (void)pool.submit(SharedPool::spec("vision", 1));
  CHECK_THAT(pool.story.refuses(core::TenantsConfigured{{.tenants = {{.name = "vision", .jobs_max = 0}}}}),
             Catch::Contains("jobs_max is from 1 to 10000000"));
}

TEST_CASE("jobs count for the tenants that are above theirs in the newest tree") {
  SharedPool pool(lab_with_at_most(9));
  for (int i = 0; i < 2; ++i) (void)pool.submit(SharedPool::spec("vision", 8));
  pool.configure({{.name = "lab", .jobs_max = 1}, {.name = "sea", .jobs_max = 2}, {.name = "vision", .parent = "sea"}});
  CHECK(jobs_of(pool, "lab") == 0);
  CHECK(jobs_of(pool, "sea") == 2);
  CHECK_THAT(why_no_more(pool, "vision"), Catch::Contains("jobs_max 2 of tenant \"sea\""));
  (void)pool.submit(SharedPool::spec("lab", 1));
  pool.configure({});
  CHECK(pool.story.state().tenant_jobs.empty());
  (void)pool.submit(SharedPool::spec("vision", 1));
  pool.configure({{.name = "lab"}, {.name = "vision", .jobs_max = 3}});
  CHECK(jobs_of(pool, "vision") == 3);
  CHECK_THAT(why_no_more(pool, "vision"), Catch::Contains("jobs_max 3 of tenant \"vision\""));
}

TEST_CASE("of jobs that are submitted together each counts for those after it, and too many at once never fit") {
  SharedPool pool(lab_with_at_most(3));
  (void)pool.submit(SharedPool::spec("vision", 8));
  core::SubmitCheck check(pool.story.state());
  CHECK(check.add(SharedPool::spec("speech", 1)).ok());
  CHECK(check.add(SharedPool::spec("vision", 1)).ok());
  CHECK(check.add(SharedPool::spec("nowhere", 1)).error().code == ErrorCode::kInvalidArgument);
  const Status third = check.add(SharedPool::spec("speech", 1));
  REQUIRE_FALSE(third.ok());
  CHECK(third.error().code == ErrorCode::kLimitExceeded);
  CHECK_THAT(third.error().message, Catch::Contains("it has 1 job waiting, running or suspended, and 2 before this one "
                                                    "in the batch; submit it again once some of them have ended"));
  const Status fourth = check.add(SharedPool::spec("vision", 1));
  REQUIRE_FALSE(fourth.ok());
  CHECK(fourth.error().code == ErrorCode::kInvalidArgument);
  CHECK_THAT(fourth.error().message, Catch::Contains("and 3 before this one in the batch; submit at most 3 at once"));
  CHECK(check.add(SharedPool::spec("guests", 1)).ok());
}

TEST_CASE("a batch is told the limit that it can never keep before one that passes") {
  SharedPool pool({{.name = "lab", .jobs_max = 2}, {.name = "vision", .parent = "lab", .jobs_max = 1}});
  (void)pool.submit(SharedPool::spec("vision", 8));
  core::SubmitCheck check(pool.story.state());
  CHECK(check.add(SharedPool::spec("vision", 1)).error().code == ErrorCode::kLimitExceeded);
  const Status second = check.add(SharedPool::spec("vision", 1));
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kInvalidArgument);
  CHECK_THAT(second.error().message, Catch::Contains("jobs_max 1 of tenant \"vision\" is reached") &&
                                         Catch::EndsWith("; submit at most 1 at once"));
}

TEST_CASE("a state that is read back counts jobs as before, and a dry run is refused as the submit") {
  SharedPool pool(lab_with_at_most(2));
  (void)pool.running("vision", 2);
  (void)pool.submit(SharedPool::spec("speech", 8));
  const core::Tried tried = SharedPool::spec("speech", 1);
  const auto preview = core::preview_submit(parts_of("tidal"), pool.story.state(), tried, pool.story.now());
  REQUIRE_FALSE(preview.ok());
  CHECK(preview.error().code == ErrorCode::kLimitExceeded);
  const auto read = core::state_from_json(core::to_json(pool.story.state()));
  REQUIRE(read.ok());
  CHECK(read->tenant_jobs == pool.story.state().tenant_jobs);
  core::Engine engine(parts_of("tidal"), *read);
  const auto refused =
      engine.step({pool.story.now(), core::JobSubmitted{engine.next_job_id(), SharedPool::spec("vision", 1)}});
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Catch::Contains("jobs_max 2 of tenant \"lab\" is reached: it has 2 jobs"));
}

}  // namespace tidepool::test
