// What keeps no slots from a guarantee: a word of a program, ranks that have ended before the others, a program that is
// started anew each time it fails, a drain that is not over yet. And what size is advised by it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/explain/explain.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

core::JobSpec restarted_spec(const std::string& tenant, int size) {
  core::JobSpec spec = SharedPool::spec(tenant, size);
  spec.resize = core::ResizeMode::kRestart;
  spec.elastic.cooldown = Duration();
  return spec;
}

// The job's workers wait for its newest generation, which is launched if it may be, and its programs start.
void launch(Story& story, JobId job) {
  story.decide();
  const std::vector<WorkerId> workers = story.job(job).membership.workers;
  for (const WorkerId id : workers) {
    if (story.worker(id).phase == core::WorkerPhase::kStarting) story.ready(id);
  }
  story.decide();
  const GenerationNumber newest = story.job(job).membership.generation;
  for (const WorkerId id : workers) story.learn(core::WorkerJoining{id, newest});
  story.decide();
  if (story.job(job).membership.restart_state.launched < newest) return;
  for (const WorkerId id : workers) story.learn(core::ProgramStarted{id, newest});
  story.decide();
}

void fail_program(Story& story, JobId job) {
  const core::Membership& now = story.job(job).membership;
  story.learn(core::ProgramEnded{now.members.front(), now.generation, 1, 0, "failed"});
}

std::optional<JobId> victim_of(const core::Decision& decision) {
  for (const auto& planned : decision.plan) {
    if (const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent)) return preempt->job;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a job of which one program has ended and the others go on gives way to a guarantee") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech"}}, 2);
  const JobId half_done = pool.submit(restarted_spec("speech", 2));
  launch(pool.story, half_done);
  const WorkerId first = pool.story.job(half_done).membership.members.front();
  pool.story.learn(core::ProgramEnded{first, pool.story.job(half_done).membership.generation, 0, 0, "ended"});
  pool.story.decide();
  const JobId claims = pool.submit(SharedPool::spec("vision", 2));
  CHECK(victim_of(pool.story.decide()) == half_done);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
}

TEST_CASE("a job whose program has failed gives way to a guarantee while it waits to start it anew") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech"}}, 2);
  const JobId fails = pool.submit(restarted_spec("speech", 2));
  launch(pool.story, fails);
  REQUIRE(pool.story.job(fails).membership.switched);
  fail_program(pool.story, fails);
  launch(pool.story, fails);
  REQUIRE_FALSE(pool.story.job(fails).membership.switched);
  pool.story.pass(Duration::millis(500));
  const JobId claims = pool.submit(SharedPool::spec("vision", 2));
  CHECK(victim_of(pool.story.decide()) == fails);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
}

TEST_CASE("a job whose program fails whenever it could give way does so in the moment after, and not at once") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech"}}, 2);
  const JobId fails = pool.submit(restarted_spec("speech", 2));
  launch(pool.story, fails);
  const JobId claims = pool.submit(SharedPool::spec("vision", 2));
  fail_program(pool.story, fails);
  CHECK(names_of(pool.story.decide()) == "switch");
  CHECK(names_of(pool.story.decide()).empty());
  CHECK(pool.story.engine().next_due() == pool.story.now() + Duration::micros(1));
  pool.story.pass(Duration::micros(1));
  CHECK(victim_of(pool.story.decide()) == fails);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
}

TEST_CASE("a job whose program has failed starts it anew where no guarantee covers what another job claims") {
  SharedPool pool({{.name = "vision", .weight = 100}, {.name = "speech", .weight = 0}}, 2);
  const JobId fails = pool.submit(restarted_spec("speech", 2));
  launch(pool.story, fails);
  fail_program(pool.story, fails);
  launch(pool.story, fails);
  pool.story.pass(Duration::millis(500));
  (void)pool.submit(SharedPool::spec("vision", 2));
  CHECK(names_of(pool.story.decide()).empty());
  pool.story.pass(Duration::millis(500));
  CHECK(names_of(pool.story.decide()) == "launch");
}

TEST_CASE("a job that waits to leave a drained node gives way to a guarantee before the drain's deadline") {
  SharedPool pool({{.name = "vision", .guarantee = 1}, {.name = "speech"}}, 1);
  const NodeId drained = pool.story.node(1);
  const JobId on_both = pool.running("speech", 2);
  pool.story.learn(core::NodeDrainRequested{drained, Duration::seconds(3'600), "maintenance"});
  pool.story.decide();
  const JobId claims = pool.submit(SharedPool::spec("vision", 1));
  CHECK(victim_of(pool.story.decide()) == on_both);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 1);
}

TEST_CASE("what tenants hold within their guarantees is not taken for another's where nodes are closed") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 2}}, 2);
  const NodeId closed = pool.story.node(2);
  const JobId guaranteed = pool.running("speech", 2);
  pool.story.learn(core::NodeCordonChanged{closed, true});
  const JobId claims = pool.submit(SharedPool::spec("vision", 2));
  CHECK(victim_of(pool.story.decide()) == std::nullopt);
  CHECK(pool.story.job(guaranteed).size() == 2);
  CHECK(pool.story.job(claims).state() == core::JobState::kPending);
}

TEST_CASE("a user is told to choose a size only where the guarantee of the job's tenant holds one") {
  SharedPool pool({{.name = "vision"}, {.name = "speech", .guarantee = 4}});
  const JobId id = pool.running("vision", 2);
  const auto is_advised = [&] {
    core::Job job = pool.story.job(id);
    job.planned.reset();
    job.verdict.reason = core::reason::NoMeasurements{{.size = 2}};
    const auto lines = core::explain(pool.story.state(), job).unblocks();
    return std::count(lines.begin(), lines.end(), "choose a size: schedctl resize " + id.text() + " SIZE") == 1;
  };
  CHECK_FALSE(is_advised());
  pool.configure({{.name = "vision", .guarantee = 2}, {.name = "speech", .guarantee = 4}});
  CHECK(is_advised());
}

}  // namespace tidepool::test
