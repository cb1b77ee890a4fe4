// Programs that are asked to leave and may refuse (notice_refusal of their tenant): what a refusal keeps, and from
// which claims.
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/calendar.hpp"
#include "core/codec/codec.hpp"
#include "core/explain/explain.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/shared_pool.hpp"
#include "tests/support/victim_pool.hpp"

namespace tidepool::test {
namespace {

using core::NoticeAnswer;
using Jobs = std::vector<JobId>;

constexpr Duration kGrace = Duration::seconds(30);
constexpr Duration kHolds = Duration::seconds(600);

JobSketch gang_of(int size) {
  return {.min = size, .max = size, .grace = kGrace};
}

void learn_node_with_notices(Story& story, int slots) {
  const std::string name = "n" + std::to_string(story.state().next_node);
  core::NodeJoined joined{story.engine().node_id_for(name), name, slots, "cpu", Money::micros(1'000'000), {}};
  joined.gives_notice = true;
  story.learn(joined);
}

struct AskingPool : policies::cluster::VictimPool {
  explicit AskingPool(const std::vector<int>& slots) : VictimPool({}) {
    for (const int each : slots) learn_node_with_notices(story, each);
  }
  // From now on its jobs are of a tenant and may refuse.
  void let_refuse(std::optional<Duration> holds = kHolds) {
    story.learn(core::TenantsConfigured{{.tenants = {{.name = "demo", .notice_refusal = holds}}}});
  }
  // The next decision; which jobs are to leave for `claimant`, and which are asked.
  Jobs asked_for(JobId claimant, const Jobs& others) {
    said->order = {claimant};
    for (const JobId id : others) {
      said->sizes[id] = 0;
      said->order.push_back(id);
    }
    return asked_in(story.decide());
  }
  static Jobs asked_in(const core::Decision& decision) {
    Jobs jobs;
    for (const auto& planned : decision.plan) {
      if (const auto* intent = std::get_if<core::AskIntent>(&planned.intent)) jobs.push_back(intent->job);
    }
    return jobs;
  }
  void answer(JobId job, NoticeAnswer what, std::int64_t number = 1, std::size_t rank = 0) {
    const WorkerId worker = story.job(job).membership.workers.at(rank);
    story.learn(core::NoticeAnswered{worker, story.worker(worker).notice.value().decision, number, what, {}});
  }
  [[nodiscard]] std::string told(JobId id) { return core::sentence(story.job(id).verdict.reason); }
};

std::string clock_of(Instant at) {
  return utc_clock_text((at.count_us() + 999'999) / 1'000'000);
}

Jobs preempted_by(const core::Decision& decision) {
  Jobs jobs;
  for (const auto& planned : decision.plan) {
    if (const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent)) jobs.push_back(intent->job);
  }
  return jobs;
}

}  // namespace

TEST_CASE("a job that may refuse is asked first, and leaves when it has said nothing within its grace") {
  AskingPool pool({4});
  const JobId runs = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  CHECK(pool.asked_for(waits, {runs}) == Jobs{runs});
  const Instant by = pool.story.now() + kGrace;
  CHECK(pool.story.job(runs).state() == core::JobState::kRunning);
  CHECK(pool.told(runs) == "is asked to leave for " + waits.text() + "; it may refuse until " + clock_of(by));
  CHECK(pool.story.worker(pool.story.job(runs).membership.members.front()).notice->by == by);
  const auto lines = core::explain(pool.story.state(), runs).evidence;
  INFO(Catch::StringMaker<std::vector<std::string>>::convert(lines));
  CHECK(std::count(lines.begin(), lines.end(),
                   "4 workers have until " + utc_clock_text(by.count_us() / 1'000'000) + " to answer") == 1);
  REQUIRE(pool.story.engine().next_due() == by);
  pool.story.pass(kGrace);
  CHECK(preempted_by(pool.story.decide()) == Jobs{runs});
}

TEST_CASE("a refusal is granted and holds for the tenant's time, then the job is asked again") {
  AskingPool pool({4});
  const JobId runs = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  REQUIRE(pool.asked_for(waits, {runs}) == Jobs{runs});
  pool.answer(runs, NoticeAnswer::kRefuse);
  const Instant again = pool.story.now() + kHolds;
  const auto& told = pool.story.last("job.notice_answered").data;
  CHECK(told.at("granted") == true);
  CHECK(told.at("text").get<std::string>().ends_with(" refuses to leave, which is granted"));
  CHECK(pool.story.decide().plan.empty());
  CHECK(pool.told(runs) ==
        "keeps its slots: its program refuses to leave; it may be asked again at " + clock_of(again));
  CHECK(pool.told(waits) == "waits for 4 slots; none is free; " + runs.text() +
                                " refuses to leave; it may be asked again at " + clock_of(again));
  // The grace of the question is over, and nothing follows.
  pool.story.pass(kGrace);
  CHECK(pool.story.decide().plan.empty());
  pool.story.pass(again - pool.story.now());
  CHECK(AskingPool::asked_in(pool.story.decide()) == Jobs{runs});
}

TEST_CASE("once one worker's refusal is granted, those of its job's other workers are told the same") {
  AskingPool pool({4});
  const JobId runs = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  REQUIRE(pool.asked_for(waits, {runs}) == Jobs{runs});
  pool.answer(runs, NoticeAnswer::kRefuse);
  const auto until = pool.story.job(runs).preemption.refused_until;
  pool.story.pass(Duration::seconds(1));
  for (const std::size_t rank : {1U, 2U, 3U}) {
    pool.answer(runs, NoticeAnswer::kRefuse, 1, rank);
    const auto& told = pool.story.last("job.notice_answered").data;
    CHECK(told.at("granted") == true);
    CHECK(told.at("text").get<std::string>().ends_with(" refuses to leave, which is granted"));
  }
  CHECK(pool.story.job(runs).preemption.refused_until == until);
  // A notice that is no question is of another decision: what was granted before is not in it.
  pool.story.learn(core::JobSuspendRequested{runs});
  REQUIRE(preempted_by(pool.story.decide()) == Jobs{runs});
  pool.answer(runs, NoticeAnswer::kRefuse, 1, 1);
  CHECK(pool.story.last("job.notice_answered").data.at("granted") == false);
}

TEST_CASE("a refusal that was granted stands whatever its program says later, and so does its next one") {
  AskingPool pool({1});
  const JobId runs = pool.running(gang_of(1), 1);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(1), 1);
  REQUIRE(pool.asked_for(waits, {runs}) == Jobs{runs});
  const auto granted = [&] { return pool.story.last("job.notice_answered").data.at("granted").get<bool>(); };
  pool.answer(runs, NoticeAnswer::kRefuse, 1);
  CHECK(granted());
  const auto until = pool.story.job(runs).preemption.refused_until;
  pool.answer(runs, NoticeAnswer::kSaving, 2);
  pool.answer(runs, NoticeAnswer::kRefuse, 3);
  CHECK(granted());
  CHECK(pool.story.job(runs).preemption.refused_until == until);
  CHECK(preempted_by(pool.story.decide()).empty());
}

TEST_CASE("of a notice of earlier versions a refusal is known by what was granted") {
  AskingPool pool({2});
  const JobId runs = pool.running(gang_of(2), 2);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(2), 2);
  REQUIRE(pool.asked_for(waits, {runs}) == Jobs{runs});
  const auto read_as_refused = [&] {
    auto written = core::to_json(pool.story.state());
    std::vector<bool> refused;
    for (auto& worker : written.at("workers")) REQUIRE(worker.at("notice").erase("refused") == 1);
    const auto read = core::state_from_json(written);
    REQUIRE(read.ok());
    for (const WorkerId id : pool.story.job(runs).membership.members) {
      refused.push_back(read->find_worker(id)->notice->refused);
    }
    return refused;
  };
  CHECK(read_as_refused() == std::vector<bool>{false, false});
  pool.answer(runs, NoticeAnswer::kRefuse);
  CHECK(read_as_refused() == std::vector<bool>{true, true});
}

TEST_CASE("one that answers anything but a refusal leaves at once, and what it said later does not count") {
  AskingPool pool({4});
  const JobId runs = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  REQUIRE(pool.asked_for(waits, {runs}) == Jobs{runs});
  pool.answer(runs, NoticeAnswer::kSaving);
  CHECK(preempted_by(pool.story.decide()) == Jobs{runs});
  pool.answer(runs, NoticeAnswer::kRefuse);
  CHECK(pool.story.last("job.notice_answered").data.at("granted") == false);
  CHECK(pool.story.job(runs).state() == core::JobState::kSuspending);
}

TEST_CASE("no job leaves for nothing: while one is asked the others stay, and others are found for one that refuses") {
  AskingPool pool({2, 2, 2});
  const JobId first = pool.running(gang_of(2), 2);
  const JobId second = pool.running(gang_of(2), 2);
  const JobId third = pool.running({.min = 2, .max = 2, .grace = {}}, 2);  // has no time to answer
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  CHECK(pool.asked_for(waits, {first, second, third}) == Jobs{second});
  CHECK(pool.story.job(third).state() == core::JobState::kRunning);
  pool.answer(second, NoticeAnswer::kRefuse);
  CHECK(AskingPool::asked_in(pool.story.decide()) == Jobs{first});
  pool.answer(first, NoticeAnswer::kDone);
  CHECK(preempted_by(pool.story.decide()) == Jobs{third, first});
  CHECK(pool.story.job(second).state() == core::JobState::kRunning);
}

TEST_CASE(
    "a plan counts out one that refuses: another that was to stay gives way in its place, as soon as it refuses") {
  AskingPool pool({8});
  const JobId other = pool.running(gang_of(4), 4);
  const JobId refuses = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  pool.said->sizes[refuses] = 0;
  pool.said->order = {waits, other, refuses};
  REQUIRE(AskingPool::asked_in(pool.story.decide()) == Jobs{refuses});
  pool.answer(refuses, NoticeAnswer::kRefuse);
  CHECK(AskingPool::asked_in(pool.story.decide()) == Jobs{other});
  CHECK(pool.story.job(refuses).planned->target.size == 4);
  CHECK(pool.story.job(other).planned->target.size == 0);
  pool.answer(other, NoticeAnswer::kDone);
  CHECK(preempted_by(pool.story.decide()) == Jobs{other});
  CHECK(pool.story.job(refuses).size() == 4);
}

TEST_CASE("without the setting, without a grace and where its nodes tell no notices a job is not asked") {
  for (const std::optional<Duration> none : {std::optional<Duration>(), std::optional(Duration())}) {
    AskingPool pool({4});
    const JobId runs = pool.running(gang_of(4), 4);
    pool.let_refuse(none);
    const JobId waits = pool.submit(gang_of(4), 4);
    CHECK(pool.preempted_for(waits, {runs}) == Jobs{runs});
  }
  AskingPool deaf({});
  deaf.story.node(4);
  const JobId runs = deaf.running(gang_of(4), 4);
  deaf.let_refuse();
  const JobId waits = deaf.submit(gang_of(4), 4);
  CHECK(deaf.preempted_for(waits, {runs}) == Jobs{runs});
}

TEST_CASE("a guarantee of another tenant waits for no answer, and no refusal keeps slots from it") {
  SharedPool pool({});
  learn_node_with_notices(pool.story, 8);
  pool.story.learn(core::NodeCordonChanged{NodeId(1), true});
  pool.configure({{.name = "vision", .guarantee = 8}, {.name = "speech", .notice_refusal = kHolds}});
  const JobId borrower = pool.running("speech", 8);
  const JobId claimant = pool.submit(SharedPool::spec("vision", 4));
  CHECK(preempted_by(pool.story.decide()) == Jobs{borrower});
  const WorkerId worker = pool.story.job(borrower).membership.workers.front();
  pool.story.learn(
      core::NoticeAnswered{worker, pool.story.worker(worker).notice.value().decision, 1, NoticeAnswer::kRefuse, {}});
  CHECK(pool.story.last("job.notice_answered").data.at("granted") == false);
  CHECK_FALSE(pool.story.job(borrower).preemption.refused_until);
  CHECK(pool.story.job(claimant).state() == core::JobState::kPending);
}

TEST_CASE("of a claim that goes beyond a guarantee what that covers waits for no answer") {
  SharedPool pool({});
  learn_node_with_notices(pool.story, 8);
  pool.story.learn(core::NodeCordonChanged{NodeId(1), true});
  pool.configure({{.name = "vision", .notice_refusal = kHolds}, {.name = "speech", .guarantee = 4, .weight = 1'000}});
  for (int i = 0; i < 4; ++i) (void)pool.running("vision", 2);
  core::JobSpec elastic = SharedPool::spec("speech", 8);
  elastic.elastic.min = 2;
  elastic.elastic.sizes = {2, 4, 8};
  const JobId claims = pool.submit(elastic);
  const core::Decision decision = pool.story.decide();
  REQUIRE(pool.story.job(claims).planned->target.size > 4);
  CHECK(preempted_by(decision).size() == 2);
  CHECK(AskingPool::asked_in(decision).empty());
}

TEST_CASE("what was asked and refused is stored, and states without it are read") {
  AskingPool pool({4, 4});
  const JobId refuses = pool.running(gang_of(4), 4);
  const JobId asked = pool.running(gang_of(4), 4);
  pool.let_refuse();
  const JobId waits = pool.submit(gang_of(4), 4);
  REQUIRE(pool.asked_for(waits, {asked, refuses}) == Jobs{refuses});
  pool.answer(refuses, NoticeAnswer::kRefuse);
  REQUIRE(AskingPool::asked_in(pool.story.decide()) == Jobs{asked});
  auto stored = core::to_json(pool.story.state());
  const auto read = core::state_from_json(stored);
  REQUIRE(read.ok());
  CHECK(core::digest_of(*read) == core::digest_of(pool.story.state()));
  CHECK(read->find_job(refuses)->preemption.refused_until == pool.story.job(refuses).preemption.refused_until);
  CHECK(read->find_job(asked)->preemption.asked->for_job == waits);
  for (auto& job : stored["jobs"]) {
    for (const char* field : {"asked_to_leave", "refused_until"}) REQUIRE(job.erase(field) == 1);
  }
  for (auto& tenant : stored["tenants"]["tree"]["tenants"]) REQUIRE(tenant.erase("notice_refusal") == 1);
  const auto earlier = core::state_from_json(stored);
  INFO((earlier.ok() ? std::string() : earlier.error().message));
  REQUIRE(earlier.ok());
  CHECK_FALSE(earlier->find_job(asked)->preemption.asked);
  CHECK(earlier->tenants->notice_refusal_of("demo") == Duration());
}

}  // namespace tidepool::test
