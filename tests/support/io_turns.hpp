// Lets an io_context turn on the test's own thread until something is so.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

#include "tests/support/patience.hpp"

namespace tidepool::test {

// Whether it came to be so. Something must be awaited meanwhile: an io_context that has run out of work turns no more.
inline bool turns_until(boost::asio::io_context& io, const std::function<bool()>& done) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(20 * patience());
  while (!done() && Clock::now() < end) io.run_one_for(std::chrono::milliseconds(100));
  return done();
}

}  // namespace tidepool::test
