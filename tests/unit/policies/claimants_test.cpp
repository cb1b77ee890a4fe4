// For which jobs a running job gives up slots and goes on: what its decision, its event and its explanation say of it.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "core/codec/policy_words.hpp"
#include "core/explain/explain.hpp"
#include "core/place/slot_claims.hpp"
#include "core/words/adjusted_reason.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/victim_pool.hpp"

namespace tidepool::policies::cluster {
namespace {

using Words = std::vector<std::string>;

const test::JobSketch kElastic{.min = 1, .max = 4, .cooldown = {}};

test::JobSketch gang(int size) {
  return {.min = size, .max = size};
}

// What the decision says of each job that it shrinks, in its order.
Words shrinks_told(const core::Decision& decision) {
  Words told;
  for (const auto& planned : decision.plan) {
    if (std::holds_alternative<core::ShrinkIntent>(planned.intent)) told.push_back(core::sentence(planned.reason));
  }
  return told;
}

std::string back_to(const std::string& change) {
  return change + ": to the size that its policy gives it";
}

core::reason::PriceShrink outbid(core::reason::Claimants claimants) {
  return {{{.from = 4, .to = 2}, {.worth = 1, .price = 2}}, claimants};
}

}  // namespace

TEST_CASE("a job that is shrunk for one that waits names it in the decision, the event and the explanation") {
  VictimPool pool({4});
  const JobId runs = pool.running(kElastic, 4);
  const JobId waits = pool.submit(gang(2), 2);
  pool.said->sizes[runs] = 2;
  pool.said->order = {waits, runs};
  const std::string told = back_to("going 4 -> 2 for " + waits.text());
  CHECK(shrinks_told(pool.story.decide()) == Words{told});
  CHECK(pool.story.last("job.resizing").data.at("reason").at("text") == told);
  CHECK(core::sentence(pool.story.job(runs).verdict.reason) == told);
  CHECK(core::explain(pool.story.state(), runs).summary == told);
}

TEST_CASE("a job for which another is shrunk is told to wait for the slots that come free, and nothing else") {
  VictimPool pool({4});
  const JobId runs = pool.running(kElastic, 4);
  const JobId waits = pool.submit(gang(2), 2);
  pool.said->sizes[runs] = 2;
  pool.said->order = {waits, runs};
  REQUIRE(shrinks_told(pool.story.decide()).size() == 1);
  const Instant by = pool.story.now() + pool.story.job(runs).spec.elastic.grace;
  const std::string gives = runs.text() + " releases 2 slots for it";
  const core::Explanation why = core::explain(pool.story.state(), waits);
  CHECK(why.unblocks() == Words{"wait until " + utc_clock_text(by.count_us() / 1'000'000) + ": " + gives});
  CHECK(std::count(why.evidence.begin(), why.evidence.end(), gives) == 1);
  pool.story.settle(runs);
  REQUIRE(pool.story.job(waits).state() == core::JobState::kStarting);
  const Words after = core::explain(pool.story.state(), waits).evidence;
  CHECK(std::count(after.begin(), after.end(), gives) == 0);
}

TEST_CASE(
    "where several jobs share the slots that one gives up the first in line is named, and the others are counted") {
  VictimPool pool({4});
  const JobId runs = pool.running(kElastic, 4);
  const JobId first = pool.submit(gang(1), 1);
  const JobId next = pool.submit(gang(1), 1);
  const JobId last = pool.submit(gang(1), 1);
  pool.said->sizes[runs] = 1;
  pool.said->order = {next, first, last, runs};
  CHECK(shrinks_told(pool.story.decide()) == Words{back_to("going 4 -> 1 for " + next.text() + " and 2 more jobs")});
}

TEST_CASE("each of several jobs that are shrunk names the job that its own slots are for") {
  VictimPool pool({8});
  const JobId one = pool.running(kElastic, 4);
  const JobId other = pool.running(kElastic, 4);
  const JobId first = pool.submit(gang(2), 2);
  const JobId next = pool.submit(gang(2), 2);
  pool.said->sizes[one] = pool.said->sizes[other] = 2;
  pool.said->order = {first, next, one, other};
  CHECK(shrinks_told(pool.story.decide()) ==
        Words{back_to("going 4 -> 2 for " + first.text()), back_to("going 4 -> 2 for " + next.text())});
}

TEST_CASE("slots of a job that is preempted for another are that one's, and what is given up beside them is not") {
  VictimPool pool({8});
  const JobId shrunk = pool.running(kElastic, 4);
  const JobId preempted = pool.running(kElastic, 4);
  const JobId first = pool.submit(gang(4), 4);
  const JobId second = pool.submit(gang(2), 2);
  pool.said->sizes[shrunk] = 2;
  pool.said->sizes[preempted] = 0;
  pool.said->order = {first, second, shrunk, preempted};
  CHECK(shrinks_told(pool.story.decide()) == Words{back_to("going 4 -> 2 for " + second.text())});
}

TEST_CASE("slots that leave already are for the job before, and what is given up next for the one behind it") {
  VictimPool pool({8});
  const JobId one = pool.running(kElastic, 4);
  const JobId other = pool.running(kElastic, 4);
  const JobId first = pool.submit(gang(2), 2);
  pool.said->sizes[one] = 2;
  pool.said->order = {first, one, other};
  REQUIRE(shrinks_told(pool.story.decide()).size() == 1);
  const JobId next = pool.submit(gang(2), 2);
  pool.said->sizes[other] = 2;
  pool.said->order = {first, next, one, other};
  CHECK(shrinks_told(pool.story.decide()) == Words{back_to("going 4 -> 2 for " + next.text())});
}

TEST_CASE("a job whose slots no other lacks, or that its user shrinks, names none") {
  SECTION("none waits for slots") {
    VictimPool pool({4});
    const JobId runs = pool.running(kElastic, 4);
    pool.said->sizes[runs] = 2;
    (void)pool.submit(gang(1), 0);  // so that a new plan is due
    CHECK(shrinks_told(pool.story.decide()) == Words{back_to("going 4 -> 2")});
  }
  SECTION("enough are free") {
    VictimPool pool({6});
    const JobId runs = pool.running(kElastic, 4);
    pool.said->sizes[runs] = 2;
    const JobId starts = pool.submit(gang(2), 2);
    pool.said->order = {starts, runs};
    CHECK(shrinks_told(pool.story.decide()) == Words{back_to("going 4 -> 2")});
    CHECK(pool.story.job(starts).state() == core::JobState::kStarting);
  }
  SECTION("its user asked for the size") {
    VictimPool pool({4});
    const JobId runs = pool.running(kElastic, 4);
    const JobId waits = pool.submit(gang(2), 2);
    pool.said->sizes[runs] = 2;
    pool.said->order = {waits, runs};
    pool.story.learn(core::JobResizeRequested{runs, 2});
    CHECK(shrinks_told(pool.story.decide()) == Words{"going 4 -> 2, as requested"});
  }
}

TEST_CASE("slots are for jobs that may run on them, and a job for which all are too few comes after the others") {
  test::Story story;
  const NodeId node = story.engine().node_id_for("a");
  story.learn(core::NodeJoined{node, "a", 4, "a100", Money::micros(1'000'000), {}});
  const auto job = [](std::uint64_t id) {
    core::Job made;
    made.id = JobId(id);
    return made;
  };
  core::Job elsewhere = job(2);
  elsewhere.spec.slot_types = {"h100"};
  const core::Job large = job(3);
  const core::Job any = job(4);
  const auto named = [&](const std::vector<core::LackingJob>& lacking) {
    return core::claimants_of(story.state(), {{.slots = 1}, {.from = JobId(1), .node = node, .slots = 2}}, lacking);
  };
  using Named = std::map<JobId, std::vector<JobId>>;
  CHECK(named({{&elsewhere, 2}, {&large, 8}, {&any, 2}}) == Named{{JobId(1), {any.id, large.id}}});
  CHECK(named({{&any, 2, "h100"}}).empty());
  CHECK(named({{&any, 1}}).empty());  // of use is the free one
  CHECK(named({{&any, 2, "a100"}}) == Named{{JobId(1), {any.id}}});
}

TEST_CASE("an explanation names the jobs although the plan, which does not, is newer") {
  VictimPool pool({4});
  core::Job job = pool.story.job(pool.running(kElastic, 4));
  REQUIRE(job.planned);
  job.phase = core::phase::Resizing{};
  job.verdict.reason = outbid({.for_job = JobId(7), .for_others = 2});
  job.planned->target.reason = outbid({});
  job.planned->target.lost = {{.size = 4, .score = 1, .reason = core::reason::FixedSize{{.size = 4}}}};
  CHECK(core::explain(pool.story.state(), job).summary ==
        "shrinking 4 -> 2 for job-7 and 2 more jobs: other jobs gain more from the slots");
}

TEST_CASE("the jobs are stored with the reason, which is as before without them") {
  const core::reason::Claimants claimants{.for_job = JobId(7), .for_others = 1, .rule = {.by_weight = true}};
  const core::reason::BackToSize back{{.from = 4, .to = 2}};
  const core::reason::PolicyWord own{.from = 4, .to = 2, .word = "Capped", .numbers = {{"most", 2}}};
  for (const core::Reason& plain : {core::Reason(outbid({})), core::Reason(back), core::Reason(own)}) {
    const core::Reason told = core::with_claimants(plain, claimants);
    CHECK(core::claimants_in(told) == claimants);
    CHECK(core::claimants_in(plain) == core::reason::Claimants());
    CHECK(core::sentence(told).find("4 -> 2 for job-7 and 1 more job (rule: weight): ") != std::string::npos);
    for (const core::Reason& each : {plain, told}) {
      CHECK(core::reason_from(core::name_of(each), core::word_of(each), core::numbers_of(each)).value() == each);
    }
  }
  const core::Reason does_not_pay = core::reason::InefficientDown{{{.from = 4, .to = 2}}};
  CHECK(core::with_claimants(does_not_pay, claimants) == does_not_pay);
  // A policy file's number of that name names no job.
  const core::Reason said = core::reason_of_policy("Capped", {{"for_job", 3}, {"most", 4}}, core::reason::FixedSize{});
  CHECK(core::sentence(said) == "waits: its policy says Capped (most 4)");
}

}  // namespace tidepool::policies::cluster
