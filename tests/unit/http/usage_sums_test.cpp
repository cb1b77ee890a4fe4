// Usage of days: ranges as they are asked for, and sums that add up.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "schedulerd/live/http/numbers/job_use.hpp"
#include "schedulerd/live/http/usage/usage_sums.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::int64_t kToday = 20'780;  // Monday, 2026-11-23

std::string range_text(const AskedRange& asked) {
  const auto range = read_range(asked, kToday);
  return range.ok() ? date_text(range->from) + " " + date_text(range->to) : "refused: " + range.error().message;
}

// It used slots on each of these days, and is charged up to the last of them.
core::Job job_of(std::uint64_t id, const std::string& tenant, const std::vector<core::DayMark>& days) {
  core::Job job;
  job.id = JobId(id);
  job.spec.tenant = tenant;
  job.account.days = {days.begin(), days.end() - 1};
  job.account.slot_time = days.back().slot_time;
  job.account.cost = days.back().cost;
  job.account.charged_until = Instant::from_micros(days.back().day * kDayMicros + 1);
  return job;
}

core::DayMark mark(std::int64_t day, std::int64_t hours, std::int64_t micros) {
  return {.day = day, .slot_time = Duration::seconds(hours * 3'600), .cost = Money::micros(micros)};
}

}  // namespace

TEST_CASE("days are asked for as dates or as a window of the calendar, this month without either") {
  CHECK(date_text(kToday) == "2026-11-23");
  CHECK(range_text({}) == "2026-11-01 2026-11-30");
  CHECK(range_text({.window = "week"}) == "2026-11-23 2026-11-29");
  CHECK(range_text({.window = "day"}) == "2026-11-23 2026-11-23");
  CHECK(range_text({.from = "2026-10-01", .to = "2026-10-31"}) == "2026-10-01 2026-10-31");
  CHECK(range_text({.from = "2026-11-20"}) == "2026-11-20 2026-11-23");
  CHECK(range_text({.window = "year"}) == "refused: window is day, week or month, not \"year\"");
  CHECK(range_text({.window = "day", .from = "2026-11-20"}) == "refused: give window, or from and to");
  CHECK(range_text({.to = "2026-11-20"}) == "refused: to needs from, the first day");
  CHECK(range_text({.from = "2026-11-20", .to = "2026-11-19"}) == "refused: to, the last day, is before from");
  CHECK(range_text({.from = "2026-11-23", .to = "2026-11-30"}) == "2026-11-23 2026-11-30");
  CHECK(range_text({.from = "2026-11-24"}) ==
        "refused: from, the first day, is 2026-11-24, and today is 2026-11-23 in UTC: nothing has been used on days to "
        "come; give a day up to today");
  CHECK(range_text({.from = "2026-02-30"}).starts_with("refused: \"2026-02-30\" is no date"));
}

TEST_CASE("rows are told apart by keys that are known, each once") {
  CHECK(read_keys("").value() == std::vector<std::string>{"tenant"});
  CHECK(read_keys("tenant,label:project,day").value() == std::vector<std::string>{"tenant", "label:project", "day"});
  CHECK_FALSE(read_keys("tenant,project"));
  CHECK_FALSE(read_keys("label:"));
  CHECK_FALSE(read_keys("job,job"));
  CHECK_FALSE(read_keys("tenant,,job"));
}

TEST_CASE("seconds and hours of slots have the digits of whole microseconds") {
  CHECK(json(slot_seconds(Duration::micros(51'312'564))).dump() == "51.312564");
  CHECK(json(slot_seconds(Duration::micros(1))).dump() == "1e-06");
  CHECK(json(slot_hours(Duration::seconds(3'600 * 51))).dump() == "51.0");
  CHECK(json(slot_hours(Duration::micros(51'312'564))).dump() == "0.01425349");
}

TEST_CASE("usage is summed by what is asked for, within the days") {
  const core::ClusterState state;
  core::Job labelled = job_of(1, "vision", {mark(10, 2, 100), mark(11, 5, 250), mark(14, 6, 300)});
  labelled.spec.labels = {{"project", "faces"}};
  const core::Job first = labelled;
  const core::Job second = job_of(2, "vision", {mark(11, 1, 7)});
  const core::Job third = job_of(3, "speech", {mark(9, 1, 1)});
  UsageSums sums({10, 13}, {"tenant", "label:project"});
  for (const core::Job* job : {&first, &second, &third}) sums.add(state, *job, job->account);
  CHECK(sums.body().at("rows") == json::parse(R"([
    {"by": {"label:project": "", "tenant": "vision"}, "jobs": 1, "slot_seconds": 3600.0, "cost": "0.000007"},
    {"by": {"label:project": "faces", "tenant": "vision"}, "jobs": 1, "slot_seconds": 18000.0, "cost": "0.00025"}])"));
  CHECK(sums.body().at("total") == json::parse(R"({"jobs": 2, "slot_seconds": 21600.0, "cost": "0.000257"})"));
  UsageSums days({10, 14}, {"day"});
  for (const core::Job* job : {&first, &second, &third}) days.add(state, *job, job->account);
  CHECK(days.body().at("rows") == json::parse(R"([
    {"by": {"day": "1970-01-11"}, "jobs": 1, "slot_seconds": 7200.0, "cost": "0.0001"},
    {"by": {"day": "1970-01-12"}, "jobs": 2, "slot_seconds": 14400.0, "cost": "0.000157"},
    {"by": {"day": "1970-01-15"}, "jobs": 1, "slot_seconds": 3600.0, "cost": "0.00005"}])"));
}

TEST_CASE("usage is told by what slots were held for, and what is useful is the rest") {
  const core::ClusterState state;
  core::DayMark before = mark(10, 2, 100);
  before.overheads[core::Overhead::kBootAndResize] = {Duration::seconds(3'600), Money::micros(50)};
  core::Job job = job_of(1, "vision", {before, mark(11, 5, 250)});
  job.account.overheads = before.overheads;
  job.account.overheads[core::Overhead::kLostToFailure] = {Duration::seconds(1'800), Money::micros(25)};
  UsageSums sums({11, 11}, {"class", "tenant"});
  sums.add(state, job, job.account);
  CHECK(sums.body().at("rows") == json::parse(R"([
    {"by": {"class": "lost_to_failure", "tenant": "vision"}, "jobs": 1, "slot_seconds": 1800.0, "cost": "0.000025"},
    {"by": {"class": "useful", "tenant": "vision"}, "jobs": 1, "slot_seconds": 9000.0, "cost": "0.000125"}])"));
  CHECK(sums.body().at("total") == json::parse(R"({"jobs": 1, "slot_seconds": 10800.0, "cost": "0.00015"})"));
}

TEST_CASE("the pool's account is told by class, day and type, for those who may see it") {
  core::PoolLedger ledger;
  ledger.types["fast"][core::PoolClass::kFree].now = {.slots = 2, .rate = Money::micros(7'200)};
  ledger.types["slow"][core::PoolClass::kFragmentation].now = {.slots = 1, .rate = Money::micros(3'600)};
  ledger.count_until(Instant::from_micros(kDayMicros + 3'600'000'000), 0);  // an hour into the second day
  const std::vector<std::string> keys = {"tenant", "day", "type"};
  UsageSums sums({1, 1}, keys);
  CHECK(sums.body().at("pool") == nullptr);
  sums.add_pool(ledger);
  CHECK(sums.body().at("pool") == json::parse(R"({"by": ["day", "type", "class"], "rows": [
    {"by": {"class": "free", "day": "1970-01-02", "type": "fast"}, "slot_seconds": 7200.0, "cost": "0.0072"},
    {"by": {"class": "fragmentation", "day": "1970-01-02", "type": "slow"}, "slot_seconds": 3600.0, "cost": "0.0036"}],
    "total": {"slot_seconds": 10800.0, "cost": "0.0108"}})"));
  CHECK(sums.body().at("total").at("jobs") == 0);
  UsageSums whole({0, 1}, {"tenant"});
  whole.add_pool(ledger);
  CHECK(whole.body().at("pool") == json::parse(R"({"by": ["class"], "rows": [
    {"by": {"class": "fragmentation"}, "slot_seconds": 90000.0, "cost": "0.09"},
    {"by": {"class": "free"}, "slot_seconds": 180000.0, "cost": "0.18"}],
    "total": {"slot_seconds": 270000.0, "cost": "0.27"}})"));
}

TEST_CASE("ranges that follow each other add up to the whole, and so do days") {
  const core::ClusterState state;
  test::for_each_seed("usage sums", 100, [&](std::uint64_t, Rng& rng) {
    std::vector<core::DayMark> days;
    std::int64_t hours = 0;
    std::int64_t micros = 0;
    for (std::int64_t day = 1; day < 40; ++day) {
      if (rng.chance(0.4)) days.push_back(mark(day, hours += rng.between(1, 50), micros += rng.between(0, 5'000'000)));
    }
    if (days.empty()) return;
    const core::Job job = job_of(1, "vision", days);
    std::int64_t cost = 0;
    for (std::int64_t from = 0; from < 40;) {
      const std::int64_t to = from + rng.between(0, 9);
      UsageSums sums({from, to}, {rng.chance(0.5) ? "day" : "job"});
      sums.add(state, job, job.account);
      const json body = sums.body();
      std::int64_t of_rows = 0;
      for (const auto& row : body.at("rows")) {
        of_rows += parse_money(row.at("cost").get<std::string>())->count_micros();
      }
      const auto total = parse_money(body.at("total").at("cost").get<std::string>());
      REQUIRE(of_rows == total->count_micros());
      cost += of_rows;
      from = to + 1;
    }
    REQUIRE(cost == micros);
  });
}

}  // namespace tidepool::live::http
