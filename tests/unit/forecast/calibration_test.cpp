#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "forecast/calibration.hpp"
#include "forecast/calibration_text.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using forecast::Basis;
using forecast::Calibration;
using forecast::Moment;

constexpr Duration kHour = Duration::seconds(3'600);

// Jobs that are forecast one after the other to end after `said` and do after `took`, as a daemon learns of it.
class Outcomes {
 public:
  explicit Outcomes(Basis basis) : basis_(basis) {}

  void add(Duration said, Duration took) {
    const JobId id(next_++);
    core::ClusterState state;
    auto job = std::make_shared<core::Job>();
    job->id = id;
    job->started_at = now_;
    state.jobs.emplace(id, job);
    state.next_job = next_;
    forecast::Forecast made{.at = now_, .until = now_ + said};
    made.jobs[id] = {.basis = basis_, .end = now_ + said};
    calibration_.remember(state, made);
    now_ = now_ + took;
    auto ended = std::make_shared<core::EndedJob>();
    ended->id = id;
    ended->finished_at = now_;
    state.jobs.erase(id);
    state.ended.emplace(id, ended);
    calibration_.learn(state, now_);
  }
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  Basis basis_;
  Calibration calibration_;
  std::uint64_t next_ = 1;
  Instant now_ = Instant::from_micros(1);
};

TEST_CASE("before anything was learnt an interval is as wide as what the forecast rests on is weak") {
  const Calibration calibration;
  Duration narrower;
  const Instant now = Instant() + kHour;
  for (const Basis basis : {Basis::kDeclared, Basis::kKin, Basis::kUnknown}) {
    const auto expected = calibration.expect(Moment::kEnd, basis, now, now + kHour);
    CHECK(expected.early < expected.at);
    CHECK(expected.at < expected.late);
    CHECK(expected.early >= now);
    CHECK(expected.late - expected.early > narrower);
    narrower = expected.late - expected.early;
  }
}

TEST_CASE("an expected time is as it was run forward until more forecasts were off alike than are taken to be right") {
  for (const Basis basis : {Basis::kDeclared, Basis::kTold, Basis::kKin, Basis::kUnknown}) {
    const Instant now = Instant() + kHour;
    for (const Moment moment : {Moment::kStart, Moment::kEnd}) {
      CHECK(Calibration().expect(moment, basis, now, now + kHour).at == now + kHour);
    }
    Outcomes outcomes(basis);
    const auto expected = [&] {
      return outcomes.calibration().expect(Moment::kEnd, basis, outcomes.now(), outcomes.now() + kHour).at -
             outcomes.now();
    };
    for (int i = 0; i < 3; ++i) outcomes.add(kHour, kHour * 2);
    CHECK(expected() == kHour);
    for (int i = 0; i < 2; ++i) outcomes.add(kHour, kHour * 2);
    CHECK(expected() == kHour * 2);
  }
}

TEST_CASE("jobs that take half as long again make the next forecast half as long again") {
  Outcomes outcomes(Basis::kDeclared);
  for (int i = 0; i < 200; ++i) outcomes.add(kHour, kHour + Duration::seconds(1'800));
  const Instant now = outcomes.now();
  const auto expected = outcomes.calibration().expect(Moment::kEnd, Basis::kDeclared, now, now + kHour);
  CHECK(expected.at - now == kHour + Duration::seconds(1'800));
  CHECK(expected.late - expected.early <= Duration::seconds(10));
  // Of what rests on something else, and of starts, nothing was learnt.
  const auto other = outcomes.calibration().expect(Moment::kEnd, Basis::kKin, now, now + kHour);
  CHECK(other == Calibration().expect(Moment::kEnd, Basis::kKin, now, now + kHour));
  const auto start = outcomes.calibration().expect(Moment::kStart, Basis::kDeclared, now, now + kHour);
  CHECK(start == Calibration().expect(Moment::kStart, Basis::kDeclared, now, now + kHour));
}

TEST_CASE("where most are nearly right and others far too early, the expected time is near to most") {
  Outcomes outcomes(Basis::kDeclared);
  for (int i = 0; i < 200; ++i) {
    const int place = i % 100;
    const double factor = place < 54 ? 1 + 0.1 * place / 53 : 2 + 0.1 * (place - 54);
    outcomes.add(kHour, Duration::from_seconds(kHour.to_seconds() * factor));
  }
  const Instant now = outcomes.now();
  const auto expected = outcomes.calibration().expect(Moment::kEnd, Basis::kDeclared, now, now + kHour);
  const double factor = (expected.at - now).to_seconds() / kHour.to_seconds();
  CHECK(factor > 1.03);
  CHECK(factor < 1.07);  // the median is at 1.09
  CHECK(expected.late - now > kHour * 4);
}

TEST_CASE("what was observed reads back as it was written, and goes on") {
  Outcomes outcomes(Basis::kDeclared);
  for (int i = 0; i < 1'200; ++i) outcomes.add(kHour, kHour + Duration::seconds(i % 7 * 600));
  const std::string text = forecast::calibration_text(outcomes.calibration());
  const auto read = forecast::calibration_from_text(text);
  REQUIRE(read.ok());
  CHECK(read->observations() == outcomes.calibration().observations());
  CHECK(read->observed(Moment::kEnd) == outcomes.calibration().observed(Moment::kEnd));
  CHECK(read->observed(Moment::kEnd).all == 1'024);
  CHECK(forecast::calibration_text(*read) == text);
  const Instant now = outcomes.now();
  CHECK(read->expect(Moment::kEnd, Basis::kDeclared, now, now + kHour) ==
        outcomes.calibration().expect(Moment::kEnd, Basis::kDeclared, now, now + kHour));
  // What is cut off, or was never written so, is refused.
  CHECK_FALSE(forecast::calibration_from_text(text.substr(0, text.size() / 2)).ok());
  CHECK_FALSE(forecast::calibration_from_text("{}").ok());
  CHECK_FALSE(forecast::calibration_from_text(R"({"classes":[],"version":1})").ok());
  CHECK_FALSE(forecast::calibration_from_text(R"({"classes":[],"version":2})").ok());
}

TEST_CASE("four in five of what comes later lie in the interval, however far off forecasts are") {
  for (const double spread : {0.05, 0.5, 1.5}) {
    Rng rng(7);
    Outcomes outcomes(Basis::kKin);
    int covered = 0;
    constexpr int kCounted = 1'000;
    for (int i = 0; i < kCounted + 300; ++i) {
      const Instant now = outcomes.now();
      const auto expected = outcomes.calibration().expect(Moment::kEnd, Basis::kKin, now, now + kHour);
      const Duration took = Duration::from_seconds(3'600 * std::exp(spread * rng.normal()));
      if (i >= 300 && now + took >= expected.early && now + took <= expected.late) ++covered;
      outcomes.add(kHour, took);
    }
    INFO("spread " << spread);
    CHECK(covered > 0.77 * kCounted);
    CHECK(covered < 0.83 * kCounted);
  }
}

TEST_CASE("it is counted how many forecasts lay in the interval that was told") {
  Rng rng(11);
  Outcomes outcomes(Basis::kKin);
  std::size_t within = 0;
  for (std::size_t all = 1; all <= 200; ++all) {
    const Instant now = outcomes.now();
    const auto expected = outcomes.calibration().expect(Moment::kEnd, Basis::kKin, now, now + kHour);
    const Duration took = Duration::from_seconds(3'600 * std::exp(rng.normal()));
    if (now + took >= expected.early && now + took <= expected.late) ++within;
    outcomes.add(kHour, took);
    CHECK(outcomes.calibration().observed(Moment::kEnd) == forecast::Observed{.all = all, .within = within});
  }
  CHECK(within > 100);
  CHECK(within < 200);
  CHECK(outcomes.calibration().observed(Moment::kStart) == forecast::Observed{});
}

TEST_CASE("what should have happened and has not counts by the time that has passed") {
  Calibration calibration;
  core::ClusterState state;
  forecast::Forecast made{.at = Instant() + kHour, .until = Instant() + kHour * 2};
  for (std::uint64_t i = 1; i <= 100; ++i) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(i);
    job->started_at = Instant();
    state.jobs.emplace(job->id, job);
    made.jobs[job->id] = {.basis = Basis::kDeclared, .end = Instant() + kHour * 2};
  }
  calibration.remember(state, made);
  const Instant now = Instant() + kHour * 5;
  calibration.learn(state, now);
  CHECK(calibration.known(Moment::kEnd, Basis::kDeclared) == 0);
  const auto expected = calibration.expect(Moment::kEnd, Basis::kDeclared, now, now + kHour);
  CHECK(expected.late >= now + kHour * 4);
}

TEST_CASE("jobs that fail or are cancelled teach nothing and are forgotten") {
  Calibration calibration;
  core::ClusterState state;
  auto job = std::make_shared<core::Job>();
  job->id = JobId(1);
  state.jobs.emplace(job->id, job);
  forecast::Forecast made{.at = Instant(), .until = Instant() + kHour};
  made.jobs[job->id] = {.basis = Basis::kDeclared, .start = Instant() + kHour, .end = Instant() + kHour * 2};
  calibration.remember(state, made);
  state.jobs.erase(job->id);
  calibration.learn(state, Instant() + kHour * 100);
  const Instant now = Instant() + kHour * 100;
  for (const Moment moment : {Moment::kStart, Moment::kEnd}) {
    CHECK(calibration.known(moment, Basis::kDeclared) == 0);
    CHECK(calibration.expect(moment, Basis::kDeclared, now, now + kHour) ==
          Calibration().expect(moment, Basis::kDeclared, now, now + kHour));
  }
}

}  // namespace
}  // namespace tidepool::test
