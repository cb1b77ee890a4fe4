// Runs numbered pieces of work on several threads and says how far it is. The pieces share nothing but what the caller
// gives them to read; which thread runs which has no bearing on what they give.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace tidepool::ctl {

struct PoolWork {
  std::size_t count = 0;
  unsigned threads = 1;                            // >= 1
  std::function<void(std::size_t piece)> run;      // on any thread; an exception stops the pool
  std::function<void(std::size_t piece)> on_done;  // on the calling thread, in the order in which they end
  std::function<void(std::size_t done)> on_tick;   // on the calling thread, now and then
};

// Returns when all are done. Throws the first exception of a piece; pieces not begun by then are left.
void run_pool(const PoolWork& work);

// "[##########----------] 12 of 24 runs, 41 s, about 40 s left"
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t count, std::chrono::seconds since);

}  // namespace tidepool::ctl
