// The limits on preemption that operators set: how long a job waits before others are preempted for it, and how often
// one job, and all of them, are preempted within a window.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "core/codec/state_rows.hpp"
#include "core/explain/explain.hpp"
#include "core/tenants/preemption_limits.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/shared_pool.hpp"
#include "tests/support/victim_pool.hpp"

namespace tidepool::test {
namespace {

using Victims = std::vector<JobId>;

Duration minutes(std::int64_t count) {
  return Duration::seconds(count * 60);
}

JobSketch gang(int size) {
  return {.min = size, .max = size};
}

Victims preempted(const core::Decision& decision) {
  Victims jobs;
  for (const auto& planned : decision.plan) {
    if (const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent)) jobs.push_back(intent->job);
  }
  return jobs;
}

// No tenants share it.
struct LimitedPool : policies::cluster::VictimPool {
  LimitedPool(const std::vector<int>& slots, const core::TenantTree& limits) : VictimPool(slots) {
    story.learn(core::TenantsConfigured{limits});
  }

  [[nodiscard]] std::string told(JobId id) { return core::sentence(story.job(id).verdict.reason); }
  // The moment at which others are preempted, if the engine is asked when it says that something is due and never
  // else; none: not within two hours.
  std::optional<Instant> next_preemption() {
    const Instant end = story.now() + minutes(120);
    while (true) {
      const auto due = story.engine().next_due();
      if (!due || *due > end) return std::nullopt;
      story.pass(*due - story.now());
      if (!preempted(story.decide()).empty()) return story.now();
    }
  }
  // From now on the one has the pool and the other nothing; whether the other was preempted for that.
  bool swap(JobId in, JobId out) {
    said->sizes[in] = 4;
    const bool went = preempted_for(in, {out}) == Victims{out};
    for (int round = 0; round < 3; ++round) {
      story.settle(out);
      story.settle(in);
    }
    return went;
  }
};

std::string clock(Instant at) {
  return utc_clock_text((at.count_us() + 999'999) / 1'000'000);
}

core::TenantTree waits_for(Duration delay) {
  core::TenantTree tree;
  tree.preempt_after = delay;
  return tree;
}

core::TenantTree limited(const core::ChurnLimit& churn) {
  core::TenantTree tree;
  tree.churn = churn;
  return tree;
}

}  // namespace

TEST_CASE("no job is preempted for one that has not waited for preempt_after, and the engine is due when it has") {
  LimitedPool pool({4}, waits_for(minutes(10)));
  const JobId runs = pool.running(gang(4), 4);
  pool.story.pass(minutes(5));
  const JobId waits = pool.submit(gang(4), 4);
  const Instant since = pool.story.now();
  CHECK(pool.preempted_for(waits, {runs}).empty());
  CHECK(pool.told(waits) == "waits for 4 slots; none is free; it has waited since " +
                                utc_clock_text(since.count_us() / 1'000'000) +
                                ", and other jobs may be preempted for it from " + clock(since + minutes(10)) + " on");
  CHECK(pool.next_preemption() == since + minutes(10));
  pool.story.settle(runs);
  pool.story.settle(waits);
  CHECK(pool.story.job(waits).size() == 4);
  // The job that gave way waits from then on.
  CHECK(core::waits_since(pool.story.job(runs)) >= since + minutes(10));
}

TEST_CASE("free slots are taken at once, and jobs without a claim on them are told why they stay") {
  LimitedPool pool({4}, waits_for(minutes(10)));
  const JobId runs = pool.running(gang(2), 2);
  const JobId waits = pool.submit(gang(2), 2);
  CHECK(pool.preempted_for(waits, {runs}).empty());
  CHECK(pool.story.job(waits).state() == core::JobState::kStarting);
  CHECK(says<core::reason::Unclaimed>(pool.story.job(runs).verdict.reason));
}

TEST_CASE("shrinking is not held up") {
  LimitedPool pool({4}, waits_for(minutes(10)));
  const JobId runs = pool.running({.min = 1, .max = 4, .cooldown = {}}, 4);
  const JobId waits = pool.submit(gang(2), 2);
  pool.said->sizes[runs] = 2;
  pool.said->order = {waits, runs};
  const core::Decision decision = pool.story.decide();
  REQUIRE_FALSE(decision.plan.empty());
  CHECK(std::holds_alternative<core::ShrinkIntent>(decision.plan.front().intent));
}

TEST_CASE("of the delays of the tree and of the tenants on a job's path the greatest counts") {
  const core::TenantsByName tree(
      core::TenantTree{.tenants = {{.name = "lab", .preempt_after = minutes(5)},
                                   {.name = "vision", .parent = "lab", .preempt_after = minutes(1)},
                                   {.name = "speech", .parent = "lab", .preempt_after = minutes(9)}},
                       .preempt_after = minutes(3)});
  CHECK(tree.preempt_after_of("vision") == minutes(5));
  CHECK(tree.preempt_after_of("speech") == minutes(9));
  CHECK(tree.preempt_after_of("nobody") == minutes(3));
}

TEST_CASE("a job that is held up does not take what others leave for one behind it that may preempt") {
  LimitedPool pool({10}, waits_for(minutes(10)));
  const JobId runs = pool.running(gang(6), 6);
  const JobId stays = pool.running({.min = 4, .max = 4, .min_runtime = minutes(600)}, 4);
  const JobId old = pool.submit(gang(4), 0);
  pool.story.decide();
  pool.story.pass(minutes(11));
  const JobId young = pool.submit(gang(4), 4);
  const JobId small = pool.submit(gang(2), 2);
  pool.said->sizes[old] = 4;
  pool.said->sizes[runs] = pool.said->sizes[stays] = 0;
  pool.said->order = {young, old, small, runs, stays};
  CHECK(preempted(pool.story.decide()) == Victims{runs});
  for (int round = 0; round < 3; ++round) {
    for (const JobId id : {runs, young, old, small}) pool.story.settle(id);
  }
  CHECK(pool.story.job(old).size() == 4);
  CHECK(pool.story.job(small).size() == 2);
  CHECK(says<core::reason::WaitingForSlots>(pool.story.job(young).verdict.reason));
}

TEST_CASE(
    "what a preemption leaves over is for the job before it in line, and one behind makes room for itself at once") {
  LimitedPool pool({12}, waits_for(minutes(10)));
  const JobId runs = pool.running(gang(6), 6);
  const JobId other = pool.running(gang(2), 2);
  const JobId stays = pool.running({.min = 4, .max = 4, .min_runtime = minutes(600)}, 4);
  const JobId old = pool.submit(gang(4), 0);
  const JobId small = pool.submit(gang(2), 0);
  pool.story.decide();
  pool.story.pass(minutes(11));
  const JobId young = pool.submit(gang(2), 2);
  pool.said->sizes[old] = 4;
  pool.said->sizes[small] = 2;
  pool.said->sizes[runs] = pool.said->sizes[other] = pool.said->sizes[stays] = 0;
  pool.said->order = {young, old, small, other, runs, stays};
  CHECK(preempted(pool.story.decide()) == Victims{runs, other});
}

TEST_CASE("of what comes free for two jobs each slot counts once: the free one beside it is kept, too") {
  LimitedPool pool({5}, waits_for(minutes(10)));
  const JobId first_out = pool.running(gang(2), 2);
  const JobId next_out = pool.running(gang(2), 2);
  const JobId first = pool.submit(gang(2), 0);
  const JobId next = pool.submit(gang(3), 0);
  pool.story.decide();
  pool.story.pass(minutes(11));
  pool.said->sizes[first] = 2;
  pool.said->sizes[next] = 3;
  pool.said->sizes[first_out] = pool.said->sizes[next_out] = 0;
  pool.said->order = {first, next, next_out, first_out};
  CHECK(preempted(pool.story.decide()) == Victims{first_out, next_out});
  const JobId young = pool.submit(gang(1), 1);
  pool.said->order = {young, first, next, next_out, first_out};
  pool.story.decide();
  CHECK(pool.story.job(young).state() == core::JobState::kPending);
  for (int round = 0; round < 3; ++round) {
    for (const JobId id : {first_out, next_out, first, next}) pool.story.settle(id);
  }
  CHECK(pool.story.job(first).size() == 2);
  CHECK(pool.story.job(next).size() == 3);
}

TEST_CASE("a job that was preempted as often as is allowed is spared until the window has moved on") {
  LimitedPool pool({4}, limited({.per_job = 2, .window = minutes(60)}));
  const JobId one = pool.running(gang(4), 4);
  const JobId two = pool.submit(gang(4), 4);
  std::vector<Instant> times;  // of preemptions of the first one
  for (int turn = 0; turn < 2; ++turn) {
    pool.story.pass(minutes(10));
    times.push_back(pool.story.now());
    REQUIRE(pool.swap(two, one));
    pool.story.pass(minutes(10));
    REQUIRE(pool.swap(one, two));
  }
  CHECK(pool.story.job(one).preemption.times == times);
  pool.story.pass(minutes(10));
  pool.said->sizes[two] = 4;
  CHECK(pool.preempted_for(two, {one}).empty());
  const Instant again = times.front() + minutes(60);
  const std::string often =
      "preempted 2 times within the last 60 min, which is the limit; it may be "
      "preempted again at " +
      clock(again);
  CHECK(pool.told(two) == "waits for 4 slots; none is free; " + one.text() + " was " + often);
  CHECK(pool.told(one) == "keeps its slots: it was " + often);
  CHECK(pool.next_preemption() == again);
  CHECK(pool.story.job(one).preemption.times == std::vector{times.back(), again});
}

TEST_CASE("where a job was preempted as often as is allowed another that runs gives way in its place") {
  LimitedPool pool({8}, limited({.per_job = 1, .window = minutes(60)}));
  const JobId other = pool.running(gang(4), 4);
  const JobId often = pool.running(gang(4), 4);
  const auto claim = [&] {
    pool.story.pass(minutes(2));
    const JobId claims = pool.submit(gang(4), 4);
    pool.said->sizes[often] = 0;
    pool.said->order = {claims, other, often};
    return claims;
  };
  const JobId first = claim();
  REQUIRE(preempted(pool.story.decide()) == Victims{often});
  for (const JobId id : {often, first}) pool.story.settle(id);
  pool.said->sizes[often] = 4;
  pool.story.learn(core::JobCancelRequested{first});
  pool.story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(pool.story.job(first).membership.workers)) pool.story.exit(worker);
  pool.story.settle(often);
  REQUIRE(pool.story.job(often).size() == 4);
  const JobId next = claim();
  CHECK(preempted(pool.story.decide()) == Victims{other});
  for (const JobId id : {other, next}) pool.story.settle(id);
  CHECK(pool.story.job(next).size() == 4);
  CHECK(pool.story.job(often).size() == 4);
}

TEST_CASE("once the pool's limit is reached no job is preempted until the window has moved on") {
  LimitedPool pool({4}, limited({.pool = 2, .window = minutes(60)}));
  const JobId one = pool.running(gang(4), 4);
  const JobId two = pool.submit(gang(4), 4);
  pool.story.pass(minutes(10));
  const Instant first = pool.story.now();
  REQUIRE(pool.swap(two, one));
  pool.story.pass(minutes(10));
  REQUIRE(pool.swap(one, two));
  CHECK(pool.story.state().preempted_at.size() == 2);
  pool.story.pass(minutes(10));
  pool.said->sizes[two] = 4;
  CHECK(pool.preempted_for(two, {one}).empty());
  const std::string often = "jobs were preempted 2 times within the last 60 min, which is the limit; ";
  CHECK(pool.told(two) ==
        "waits for 4 slots; none is free; " + often + "one may be preempted for it at " + clock(first + minutes(60)));
  CHECK(pool.told(one) == "keeps its slots: " + often + "it may be preempted at " + clock(first + minutes(60)));
  CHECK(pool.next_preemption() == first + minutes(60));
}

TEST_CASE("a claim that needs more preemptions than the pool's limit leaves has none") {
  LimitedPool pool({4}, limited({.pool = 2, .window = minutes(60)}));
  Victims runs;
  for (int i = 0; i < 3; ++i) runs.push_back(pool.running(gang(1), 1));
  const JobId waits = pool.submit(gang(4), 4);
  CHECK(pool.preempted_for(waits, runs).empty());
  CHECK(says<core::reason::WaitingForSlots>(pool.story.job(waits).verdict.reason));
  CHECK(pool.next_preemption() == std::nullopt);
}

TEST_CASE("a job to which no job could give way is told no limit") {
  LimitedPool pool({4}, waits_for(minutes(10)));
  const JobId stays = pool.running({.min = 2, .max = 2, .min_runtime = minutes(600)}, 2);
  const JobId waits = pool.submit(gang(4), 4);
  CHECK(pool.preempted_for(waits, {stays}).empty());
  CHECK(says<core::reason::WaitingForSlots>(pool.story.job(waits).verdict.reason));
}

TEST_CASE("limits that are set, loosened or lifted hold for jobs that wait already") {
  LimitedPool pool({4}, waits_for(minutes(60)));
  const JobId runs = pool.running(gang(4), 4);
  const JobId waits = pool.submit(gang(4), 4);
  const Instant since = pool.story.now();
  CHECK(pool.preempted_for(waits, {runs}).empty());
  // Not a moment at which the plan is made anew anyway.
  const Duration shorter = minutes(7) + Duration::seconds(17);
  pool.story.learn(core::TenantsConfigured{waits_for(shorter)});
  CHECK(preempted(pool.story.decide()).empty());
  CHECK(pool.next_preemption() == since + shorter);
}

TEST_CASE("a job that runs and is to have more waits from its last change on, by the limits as they are now") {
  LimitedPool pool({4}, waits_for(minutes(60)));
  const JobId grows = pool.running({.min = 2, .max = 4, .sizes = {2, 4}, .cooldown = {}}, 2);
  const JobId gives = pool.running(gang(2), 2);
  pool.story.pass(minutes(2));
  pool.said->sizes[grows] = 4;
  CHECK(pool.preempted_for(grows, {gives}).empty());
  const Duration shorter = minutes(7) + Duration::seconds(17);
  pool.story.learn(core::TenantsConfigured{waits_for(shorter)});
  CHECK(preempted(pool.story.decide()).empty());
  CHECK(pool.next_preemption() == core::waits_since(pool.story.job(grows)) + shorter);
  CHECK(pool.story.job(grows).preemption.room_made);
}

TEST_CASE("a guarantee is had back at once whatever the limits are, and counts; what is beyond it waits") {
  SharedPool pool({});
  core::TenantTree tree{.tenants = {{.name = "vision", .guarantee = 4}, {.name = "speech", .weight = 100}}};
  tree.churn = {.per_job = 1, .pool = 1};
  tree.preempt_after = minutes(30);
  pool.story.learn(core::TenantsConfigured{tree});
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  pool.configure({});  // has no limits
  tree.tenants = {{.name = "vision", .weight = 1}, {.name = "speech", .guarantee = 4, .weight = 1'000}};
  pool.story.learn(core::TenantsConfigured{tree});
  for (int i = 0; i < 2; ++i) {
    (void)pool.submit(SharedPool::spec("speech", 2));
    CHECK(preempted_in(pool.story.decide()) == 1);
  }
  CHECK(pool.story.state().preempted_at.size() == 1);  // as many as the limit is about
  pool.settle_all();
  CHECK(pool.held_by("speech") == 4);
  const JobId beyond = pool.submit(SharedPool::spec("speech", 2));
  CHECK(preempted_in(pool.story.decide()) == 0);
  CHECK(pool.plan("speech").entitled > 4);
  pool.settle_all();
  CHECK(pool.story.job(beyond).state() == core::JobState::kPending);
  CHECK_FALSE(says<core::reason::WaitingForSlots>(pool.story.job(beyond).verdict.reason));
}

TEST_CASE("of a claim that goes beyond a guarantee what the guarantee covers is had at once") {
  SharedPool pool({});
  core::TenantTree tree{.tenants = {{.name = "vision", .weight = 1}, {.name = "speech", .guarantee = 4}}};
  tree.tenants[1].weight = 1'000;
  tree.preempt_after = minutes(30);
  pool.story.learn(core::TenantsConfigured{tree});
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  core::JobSpec elastic = SharedPool::spec("speech", 8);
  elastic.elastic.min = 2;
  elastic.elastic.sizes = {2, 3, 5, 8};
  elastic.elastic.cooldown = {};
  const JobId claims = pool.submit(elastic);
  pool.story.decide();
  pool.settle_all();
  const int covered = pool.story.job(claims).size();
  CHECK(covered >= 3);
  CHECK(covered <= 4);
  const Instant started = pool.story.job(claims).last_start_at.value();
  CHECK(core::may_preempt_from(pool.story.state(), pool.story.job(claims)) >= started + minutes(30));
}

TEST_CASE("a guarantee of a tenant above both jobs covers nothing between them") {
  core::ClusterState state;
  state.tenants = core::TenantTree{.tenants = {{.name = "lab", .guarantee = 8},
                                               {.name = "vision", .parent = "lab", .guarantee = 3},
                                               {.name = "speech", .parent = "lab"},
                                               {.name = "guests"}}};
  core::GuaranteeRoom room(state);
  room.add("vision", 2);
  room.add("speech", 1);
  CHECK(room.beside("vision", "speech") == 1);
  CHECK(room.beside("vision", "vision") == 0);
  CHECK(room.beside("vision", "guests") == 5);
  CHECK(room.beside("speech", "guests") == 5);
  CHECK(room.beside("speech", "vision") == 0);
  CHECK(room.beside("guests", "speech") == 0);
}

TEST_CASE("what the limits go by is stored, and states without it are read") {
  LimitedPool pool({4}, limited({.per_job = 2, .pool = 5, .window = minutes(60)}));
  const JobId one = pool.running(gang(4), 4);
  const JobId two = pool.submit(gang(4), 4);
  REQUIRE(pool.swap(two, one));
  const core::ClusterState& state = pool.story.state();
  REQUIRE(state.preempted_at.size() == 1);
  auto stored = core::to_json(state);
  const auto read = core::state_from_json(stored);
  REQUIRE(read.ok());
  CHECK(read->preempted_at == state.preempted_at);
  CHECK(*read->tenants == *state.tenants);
  CHECK(read->find_job(one)->preemption.times == state.find_job(one)->preemption.times);
  CHECK(read->find_job(one)->preemption.pending_since == state.find_job(one)->preemption.pending_since);
  CHECK(core::digest_of(*read) == core::digest_of(state));
  stored.erase("preempted_at");
  stored["tenants"]["tree"].erase("churn");
  stored["tenants"]["tree"].erase("preempt_after");
  for (auto& job : stored["jobs"]) {
    for (const char* field : {"preempted_at", "pending_since", "room_made"}) job.erase(field);
  }
  const auto earlier = core::state_from_json(stored);
  INFO((earlier.ok() ? std::string() : earlier.error().message));
  REQUIRE(earlier.ok());
  CHECK_FALSE(earlier->tenants->limits_preemption());
  CHECK(earlier->find_job(one)->preemption.times.empty());
}

}  // namespace tidepool::test
