// What keeps no slots from a guarantee: a word of a program, ranks that have ended before the others, a program that is
// started anew each time it fails, a drain that is not over yet.
#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tenants/tenant_nodes.hpp"
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

TEST_CASE("free slots of a node that a job has to itself do not stand for slots of a guarantee") {
  SharedPool pool({{.name = "vision", .guarantee = 1}, {.name = "speech", .exclusive_nodes = true}}, 2);
  core::JobSpec alone = SharedPool::spec("speech", 1);
  alone.placement.exclusive = true;
  (void)pool.running(alone);
  pool.story.node(3);
  for (int i = 0; i < 3; ++i) (void)pool.running("speech", 1);
  REQUIRE(pool.story.state().slots_free() == 1);
  const JobId claims = pool.submit(SharedPool::spec("vision", 1));
  CHECK(preempted_in(pool.story.decide()) == 1);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 1);
  CHECK(pool.held_by("speech") == 3);
}

TEST_CASE("a guarantee is had back whole where a job that has a node to itself closes more slots than are claimed") {
  SharedPool pool({{.name = "vision", .guarantee = 2}, {.name = "speech", .exclusive_nodes = true}}, 4);
  core::JobSpec alone = SharedPool::spec("speech", 1);
  alone.placement.exclusive = true;
  (void)pool.running(alone);
  pool.story.node(4);
  for (int i = 0; i < 4; ++i) (void)pool.running("speech", 1);
  const JobId claims = pool.submit(SharedPool::spec("vision", 2));
  CHECK(preempted_in(pool.story.decide()) == 2);
  pool.settle_all();
  CHECK(pool.story.job(claims).size() == 2);
  CHECK(pool.held_by("speech") == 3);
}

TEST_CASE("slots that a job has to itself and may not grow to are told apart from those that it may") {
  SharedPool pool({{.name = "speech", .exclusive_nodes = true}}, 3);
  core::JobSpec spec = SharedPool::spec("speech", 1);
  spec.placement.exclusive = true;
  const JobId alone = pool.running(spec);
  CHECK(core::slots_to_share(pool.story.state()).all == 3);
  CHECK(core::slots_to_share(pool.story.state()).closed == 2);
  spec.elastic.max = 2;
  spec.elastic.sizes = {1, 2};
  pool.story.learn(core::JobChanged{alone, spec});
  CHECK(core::slots_to_share(pool.story.state()).closed == 1);
}

TEST_CASE("both guarantees of a pool are had back from a job that has a node to itself") {
  SharedPool pool({{.name = "vision", .guarantee = 2},
                   {.name = "lab", .guarantee = 2},
                   {.name = "speech", .exclusive_nodes = true}},
                  2);
  core::JobSpec spec = SharedPool::spec("speech", 1);
  spec.placement.exclusive = true;
  const JobId alone = pool.running(spec);
  pool.story.node(2);
  const JobId first = pool.submit(SharedPool::spec("vision", 2));
  const JobId second = pool.submit(SharedPool::spec("lab", 2));
  CHECK(victim_of(pool.story.decide()) == alone);
  pool.settle_all();
  CHECK(pool.story.job(first).size() == 2);
  CHECK(pool.story.job(second).size() == 2);
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

}  // namespace tidepool::test
