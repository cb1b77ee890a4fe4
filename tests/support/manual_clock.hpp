// A clock that the test moves; it stands still otherwise.
#pragma once

#include "schedulerd/live/service/clock.hpp"

namespace tidepool::test {

class ManualClock final : public live::ClockSource {
 public:
  live::ClockReading read() override { return reading_; }
  void pass(Duration time) {
    reading_.boottime_us += time.count_us();
    reading_.wall_unix_us += time.count_us();
  }

 private:
  live::ClockReading reading_{.boot_id = "boot", .boottime_us = 1, .wall_unix_us = 1'795'000'000'000'000};
};

}  // namespace tidepool::test
