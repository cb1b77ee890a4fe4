#include "schedulerd/live/http/numbers/job_waits.hpp"

#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::test {
namespace {

using live::StoredDecision;
using live::http::JobWait;
using live::http::waits_of;

constexpr JobId kJob{7};

// Decisions about one job, one a minute, and what follows from them.
class Told {
 public:
  Told& says(core::Reason reason, JobId job = kJob) {
    core::Decision& decision = next();
    decision.verdicts.push_back({.job = job, .reason = std::move(reason), .lost = {}});
    return *this;
  }
  Told& starts(JobId job = kJob) {
    next().plan.push_back({core::StartIntent{job, {}}, core::reason::FixedSize{{.size = 1}}});
    return *this;
  }
  [[nodiscard]] std::vector<JobWait> waits(core::JobPhase phase = core::phase::Pending{}) const {
    core::Job job;
    job.id = kJob;
    job.phase = std::move(phase);
    std::vector<StoredDecision> newest_first;
    for (auto each = decisions_.rbegin(); each != decisions_.rend(); ++each) {
      newest_first.push_back({each->id, each->at, core::to_json(*each)});
    }
    return waits_of(job, newest_first);
  }

 private:
  core::Decision& next() {
    core::Decision& decision = decisions_.emplace_back();
    decision.id = DecisionId(decisions_.size());
    decision.at = Instant() + Duration::seconds(60 * static_cast<std::int64_t>(decisions_.size()));
    return decision;
  }
  std::vector<core::Decision> decisions_;
};

Instant minute(std::int64_t n) {
  return Instant() + Duration::seconds(60 * n);
}

core::Reason no_room(int free) {
  core::reason::WaitingForSlots reason;
  reason.needed = 4;
  reason.free = free;
  return reason;
}

core::Reason budget(const std::string& tenant) {
  return core::reason::BudgetSpent{{.limit = Money::micros(5), .percent = 100, .ends_unix = 9, .word = tenant}};
}

}  // namespace

TEST_CASE("decisions that say the same are one wait, told with the newest numbers, until the job starts") {
  const auto waits = Told().says(no_room(1)).says(no_room(3)).starts().waits(core::phase::Running{});
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].from == minute(1));
  CHECK(waits[0].until == minute(3));
  CHECK(waits[0].reason == no_room(3));
}

TEST_CASE("another reason is another wait, and what decisions say of other jobs is none") {
  const auto waits = Told()
                         .says(no_room(1))
                         .says(budget("lab"), JobId(8))
                         .starts(JobId(8))
                         .says(budget("lab"))
                         .says(budget("vision"))
                         .waits();
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].until == minute(4));
  CHECK(waits[1].from == minute(4));
  CHECK(waits[1].until == minute(5));
  CHECK(waits[2].from == minute(5));
  CHECK_FALSE(waits[2].until);
}

TEST_CASE("a job that waits again after it has run has two waits, and what keeps its size is none") {
  const auto waits =
      Told().says(no_room(0)).starts().says(core::reason::FixedSize{{.size = 1}}).says(no_room(0)).waits();
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].until == minute(2));
  CHECK(waits[1].from == minute(4));
  CHECK_FALSE(waits[1].until);
}

TEST_CASE("the time that a job waits for its policy, or without slots by it, is a wait") {
  const core::Reason awaits = core::reason::AwaitsPolicy{};
  core::reason::PolicyWord curfew{.word = "Curfew"};
  const core::Reason nothing = core::reason::FixedSize{{.size = 0}};
  const auto waits = Told().says(awaits).says(curfew).says(nothing).starts().waits(core::phase::Running{});
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].reason == awaits);
  CHECK(waits[0].until == minute(2));
  CHECK(waits[1].reason == core::Reason(curfew));
  CHECK(waits[2].reason == nothing);
  CHECK(waits[2].until == minute(4));
  // The same said of a job that holds workers is none.
  curfew.from = curfew.to = 2;
  CHECK(Told().says(core::reason::AwaitsPolicy{{.size = 2}}).says(curfew).waits(core::phase::Running{}).empty());
}

TEST_CASE("a suspended job waits until it is resumed, and a wait of no time is none") {
  const core::Reason suspended = core::reason::SuspendedByUser{};
  const auto waits = Told().says(no_room(0)).says(suspended).waits(core::phase::Suspended{});
  REQUIRE(waits.size() == 2);
  CHECK(waits[1].from == minute(2));
  CHECK(waits[1].reason == suspended);
  CHECK_FALSE(waits[1].until);
  CHECK(Told().says(no_room(0)).waits(core::phase::Running{}).empty());
}

TEST_CASE("a wait ends with the job, and of many the newest are told") {
  const auto ended = Told().says(no_room(0)).waits(core::phase::Ended{core::JobState::kCancelled, minute(9)});
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].until == minute(9));
  Told many;
  for (int i = 0; i < 80; ++i) many.says(i % 2 == 0 ? no_room(0) : budget("lab"));
  const auto waits = many.waits();
  REQUIRE(waits.size() == live::http::kWaitsMost);
  CHECK(waits.back().from == minute(80));
}

}  // namespace tidepool::test
