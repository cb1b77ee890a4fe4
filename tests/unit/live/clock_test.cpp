#include "schedulerd/live/service/clock.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live {
namespace {

class FakeSource final : public ClockSource {
 public:
  ClockReading reading{.boot_id = "boot-a", .boottime_us = 1'000'000, .wall_unix_us = 1'795'000'000'000'000};
  ClockReading read() override { return reading; }
  void pass(Duration time) {
    reading.boottime_us += time.count_us();
    reading.wall_unix_us += time.count_us();
  }
};

}  // namespace

TEST_CASE("the time line starts at zero and follows the time since boot") {
  FakeSource source;
  DaemonClock clock(source, std::nullopt);
  CHECK(clock.now() == Instant());
  source.pass(Duration::seconds(3));
  CHECK(clock.now() == Instant::from_micros(3'000'000));
}

TEST_CASE("setting the wall clock changes nothing but what is shown") {
  FakeSource source;
  DaemonClock clock(source, std::nullopt);
  const auto before = clock.wall().text(clock.now());
  source.reading.wall_unix_us -= 10LL * 365 * 86'400 * 1'000'000;
  CHECK(clock.now() == Instant());
  CHECK(clock.wall().text(clock.now()) < before);
}

TEST_CASE("the line never goes backwards even if the boot clock does") {
  FakeSource source;
  DaemonClock clock(source, std::nullopt);
  source.pass(Duration::seconds(5));
  const Instant seen = clock.now();
  source.reading.boottime_us -= 4'000'000;
  CHECK(clock.now() == seen);
}

TEST_CASE("within one boot a restart counts the time since boot, whatever the wall clock says") {
  FakeSource source;
  DaemonClock first(source, std::nullopt);
  source.pass(Duration::seconds(10));
  const StoredClock stored = first.stored();
  source.pass(Duration::seconds(60));
  source.reading.wall_unix_us += 3'600'000'000;
  DaemonClock second(source, stored);
  CHECK(second.now() == Instant::from_micros(70'000'000));
}

TEST_CASE("after a reboot the wall clock lengthens the line but never turns it back") {
  FakeSource source;
  DaemonClock first(source, std::nullopt);
  source.pass(Duration::seconds(10));
  const StoredClock stored = first.stored();
  source.reading = {"boot-b", 5'000'000, stored.reading.wall_unix_us + 120'000'000};
  CHECK(DaemonClock(source, stored).now() == Instant::from_micros(130'000'000));
  source.reading.wall_unix_us = stored.reading.wall_unix_us - 120'000'000;
  CHECK(DaemonClock(source, stored).now() == Instant::from_micros(10'000'000));
}

TEST_CASE("after a boot the wall clock may be 30 days ahead and a day behind, within one boot anything") {
  constexpr std::int64_t kDay_us = 86'400'000'000;
  FakeSource source;
  const StoredClock stored = DaemonClock(source, std::nullopt).stored();
  const auto after = [&](std::int64_t gone_us) {
    return check_clock({"boot-b", 5'000'000, stored.reading.wall_unix_us + gone_us}, stored);
  };
  CHECK(after(0).ok());
  CHECK(after(21 * kDay_us).ok());
  CHECK(after(30 * kDay_us).ok());
  CHECK(after(-kDay_us).ok());
  const Status ahead = after(400 * kDay_us);
  REQUIRE_FALSE(ahead.ok());
  CHECK(ahead.error().message ==
        "the clock of this machine says 2027-12-23T11:06:40.000Z, 400 days after the newest entry of the journal "
        "(2026-11-18T11:06:40.000Z); set the clock and start again, or, if it is right, start once with "
        "--accept-clock");
  const Status behind = after(-3 * kDay_us);
  REQUIRE_FALSE(behind.ok());
  CHECK(behind.error().message.find(", 3 days before the newest entry") != std::string::npos);
  CHECK_FALSE(after(30 * kDay_us + 1).ok());
  CHECK_FALSE(after(-kDay_us - 1).ok());
  source.reading.wall_unix_us += 4'000 * kDay_us;
  CHECK(check_clock(source.reading, stored).ok());
}

TEST_CASE("the shown time of an old event does not flicker with small corrections of the wall clock") {
  FakeSource source;
  DaemonClock clock(source, std::nullopt);
  const auto before = clock.wall().text(Instant());
  source.reading.wall_unix_us += 100'000;
  CHECK(clock.wall().text(Instant()) == before);
}

TEST_CASE("instants are shown as RFC 3339 with milliseconds") {
  const WallClock wall{.unix_us_at_zero = 1'795'211'604'120'000};
  CHECK(wall.text(Instant()) == "2026-11-20T21:53:24.120Z");
  CHECK(wall.text(Instant::from_micros(880'000)) == "2026-11-20T21:53:25.000Z");
}

TEST_CASE("the machine's own clocks give a boot and move forward") {
  SystemClockSource source;
  const ClockReading first = source.read();
  CHECK(first.boot_id.size() == 36);
  CHECK(source.read().boottime_us >= first.boottime_us);
}

}  // namespace tidepool::live
