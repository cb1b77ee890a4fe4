// Workers that are told to leave: what their notice says, and what answers to it change.
#include "core/explain/explain.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using core::NoticeAnswer;

constexpr Duration kGrace = Duration::seconds(30);

struct Leaving {
  Story story;
  JobId job;

  explicit Leaving(std::optional<Duration> extension, JobSketch sketch = {.min = 2, .max = 2, .grace = kGrace}) {
    if (extension) {
      story.learn(core::TenantsConfigured{{.tenants = {{.name = "demo", .notice_extension = extension}}}});
    }
    story.node(2);
    job = story.running(std::move(sketch), 2);
    story.steps(job, 5);
  }
  void suspend() {
    story.learn(core::JobSuspendRequested{job});
    REQUIRE(names_of(story.decide()) == "preempt");
  }
  [[nodiscard]] const core::LeaveNotice& notice(std::uint64_t worker = 1) const {
    return story.worker(WorkerId(worker)).notice.value();
  }
  void answer(NoticeAnswer what, std::int64_t number, Duration needs = {}, std::uint64_t worker = 1) {
    story.learn(core::NoticeAnswered{WorkerId(worker), notice(worker).decision, number, what, needs});
  }
  [[nodiscard]] nlohmann::json told() const { return story.last("job.notice_answered").data; }
};

}  // namespace

TEST_CASE("a job that is suspended gives its workers a notice of that decision, until their grace is over") {
  Leaving leaving({});
  CHECK_FALSE(leaving.story.worker(WorkerId(1)).notice);
  leaving.suspend();
  for (const std::uint64_t worker : {1U, 2U}) {
    const core::LeaveNotice& notice = leaving.notice(worker);
    CHECK(notice.decision == leaving.story.last("decision.made").decision);
    CHECK(says<core::reason::SuspendedByUser>(notice.reason));
    CHECK(notice.by == leaving.story.now() + kGrace);
    CHECK(leaving.story.worker(WorkerId(worker)).stop_due == notice.by);
  }
}

TEST_CASE("a program that needs longer gets it for all that leave with it, and is stopped only then") {
  Leaving leaving(Duration::seconds(60));
  leaving.suspend();
  const Instant due = leaving.notice().due;
  leaving.story.pass(Duration::seconds(20));
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(40));
  const Instant until = leaving.story.now() + Duration::seconds(40);
  CHECK(leaving.notice(1).by == until);
  CHECK(leaving.notice(2).by == until);
  CHECK(leaving.notice().granted);
  CHECK(leaving.told().at("granted") == true);
  CHECK(leaving.told().at("added_seconds") == (until - due).to_seconds());
  CHECK(leaving.told().at("text") == "w-1 is saving, until 00:01:01 UTC granted");
  leaving.story.pass(due - leaving.story.now());
  CHECK(names_of(leaving.story.decide()).empty());
  CHECK(leaving.story.engine().next_due() == until);
  leaving.story.pass(until - leaving.story.now());
  const auto decision = leaving.story.decide();
  REQUIRE(names_of(decision) == "stop_worker stop_worker");
  CHECK(says<core::reason::ParkTimeout>(decision.plan[0].reason));
  CHECK(number_in(decision.plan[0].reason, "seconds") == 60);
}

TEST_CASE("more than the tenant's limit is cut to it, and what is granted once stays") {
  Leaving leaving(Duration::seconds(60));
  leaving.suspend();
  const Instant due = leaving.notice().due;
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(3'600));
  CHECK(leaving.notice().by == due + Duration::seconds(60));
  CHECK_FALSE(leaving.notice().granted);
  CHECK(leaving.told().at("text") == "w-1 asked for more time than it may have; it has until 00:01:31 UTC");
  // It wants less now, or the same again: nothing changes.
  leaving.answer(NoticeAnswer::kUntil, 2, Duration::seconds(5));
  CHECK(leaving.notice().by == due + Duration::seconds(60));
  CHECK(leaving.notice().granted);
  const auto before = core::digest_of(leaving.story.state());
  leaving.answer(NoticeAnswer::kUntil, 2, Duration::seconds(70));
  leaving.answer(NoticeAnswer::kDone, 1);
  CHECK(core::digest_of(leaving.story.state()) == before);
}

TEST_CASE("without tenants, and where none sets it, no time is granted") {
  Leaving leaving(std::nullopt);
  leaving.suspend();
  const Instant due = leaving.notice().due;
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(31));
  CHECK(leaving.notice().by == due);
  CHECK_FALSE(leaving.notice().granted);
  leaving.answer(NoticeAnswer::kUntil, 2, Duration::seconds(30));
  CHECK(leaving.notice().granted);  // it has that anyway
}

TEST_CASE("a program that refuses is told that it may not, and is ended as it was told") {
  Leaving leaving(Duration::seconds(60));
  leaving.suspend();
  const Instant due = leaving.notice().due;
  leaving.answer(NoticeAnswer::kRefuse, 1, Duration::seconds(80));
  CHECK(leaving.notice().by == due);
  CHECK_FALSE(leaving.notice().granted);
  CHECK(leaving.told().at("text") == "w-1 refuses to leave, which is denied; it has until 00:00:31 UTC");
  leaving.story.pass(kGrace);
  CHECK(names_of(leaving.story.decide()) == "stop_worker stop_worker");
}

TEST_CASE("a program that is done is stopped at once, but not before the job's state is kept") {
  Leaving leaving({});
  leaving.suspend();
  const Instant due = leaving.notice().due;
  leaving.answer(NoticeAnswer::kSaving, 1, Duration::seconds(80));
  leaving.answer(NoticeAnswer::kDone, 2, Duration::seconds(80));
  CHECK(leaving.notice().by == due);
  CHECK(names_of(leaving.story.decide()).empty());
  leaving.story.learn(
      core::StateParked{leaving.job, WorkerId(2), leaving.story.job(leaving.job).membership.generation, 5, 100, 1});
  const auto decision = leaving.story.decide();
  REQUIRE(names_of(decision) == "stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).worker == WorkerId(1));
  CHECK(says<core::reason::SuspendedByUser>(decision.plan[0].reason));
}

TEST_CASE("no answer reaches beyond the deadline of a node that is being drained") {
  Leaving leaving(Duration::seconds(600));
  leaving.story.learn(core::NodeReclaimNoticed{NodeId(1), Duration::seconds(40)});
  leaving.suspend();
  const Instant gone = leaving.story.now() + Duration::seconds(40);
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(300));
  CHECK(leaving.notice().by == gone);
  CHECK_FALSE(leaving.notice().granted);
}

TEST_CASE("a worker that leaves by a shrink has its notice with the switch, and its time from the switch on") {
  Leaving leaving(Duration::seconds(60), {.min = 1, .max = 2, .cooldown = {}, .grace = kGrace});
  leaving.story.wish(leaving.job, 1);
  REQUIRE(names_of(leaving.story.decide()) == "shrink switch");
  CHECK_FALSE(leaving.story.worker(WorkerId(1)).notice);
  const core::LeaveNotice& notice = leaving.notice(2);
  CHECK(notice.by == leaving.story.now() + kGrace);
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(80), 2);
  const Instant until = leaving.story.now() + Duration::seconds(80);
  leaving.story.switched(leaving.job);
  CHECK(leaving.story.worker(WorkerId(2)).stop_due == until);
  CHECK(names_of(leaving.story.decide()).empty());
}

TEST_CASE("a job that ends gives notice too, and what a notice promised stands whatever comes") {
  Leaving leaving(Duration::seconds(60));
  leaving.suspend();
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(80));
  const Instant until = leaving.notice().by;
  leaving.story.learn(core::JobCancelRequested{leaving.job});
  const auto decision = leaving.story.decide();
  REQUIRE(names_of(decision) == "stop_worker stop_worker");
  CHECK(std::get<core::StopWorkerIntent>(decision.plan[0].intent).grace == until - leaving.story.now());
  CHECK(leaving.story.worker(WorkerId(1)).kill_at == until);
  CHECK(leaving.notice().by == until);
  CHECK(says<core::reason::CancelledByUser>(leaving.notice().reason));
}

TEST_CASE("an explanation says what has been answered, and an answer without sense is refused") {
  Leaving leaving(Duration::seconds(60));
  leaving.suspend();
  leaving.answer(NoticeAnswer::kUntil, 1, Duration::seconds(40));
  const auto& lines = core::explain(leaving.story.state(), leaving.job).evidence;
  const auto has = [&](const std::string& line) { return std::count(lines.begin(), lines.end(), line) == 1; };
  CHECK(has("w-1 is saving, until 00:00:41 UTC granted"));
  CHECK(has("1 worker has until 00:00:41 UTC to leave"));
  const DecisionId decision = leaving.notice().decision;
  CHECK_FALSE(leaving.story.refuses(core::NoticeAnswered{WorkerId(1), decision, 0, NoticeAnswer::kSaving, {}}).empty());
  CHECK_FALSE(
      leaving.story.refuses(core::NoticeAnswered{WorkerId(1), decision, 3, NoticeAnswer::kUntil, Duration::micros(-1)})
          .empty());
  CHECK_FALSE(leaving.story.refuses(core::NoticeAnswered{WorkerId(99), decision, 1, NoticeAnswer::kDone, {}}).empty());
}

TEST_CASE("of the limits on a tenant's path the least holds") {
  const auto seconds = [](std::int64_t n) { return std::optional(Duration::seconds(n)); };
  const core::TenantsByName tree(
      core::TenantTree{.tenants = {{.name = "lab", .notice_extension = seconds(300)},
                                   {.name = "vision", .parent = "lab"},
                                   {.name = "speech", .parent = "lab", .notice_extension = seconds(20)},
                                   {.name = "loose", .parent = "lab", .notice_extension = seconds(900)},
                                   {.name = "never", .parent = "lab", .notice_extension = seconds(0)},
                                   {.name = "guests"}}});
  CHECK(tree.notice_extension_of("vision") == seconds(300));
  CHECK(tree.notice_extension_of("speech") == seconds(20));
  CHECK(tree.notice_extension_of("loose") == seconds(300));
  CHECK(tree.notice_extension_of("never") == seconds(0));
  CHECK(tree.notice_extension_of("guests") == seconds(0));
  CHECK(tree.notice_extension_of("nobody") == seconds(0));
}

}  // namespace tidepool::test
