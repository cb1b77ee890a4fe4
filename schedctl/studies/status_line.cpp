#include "schedctl/studies/status_line.hpp"

#include <unistd.h>

#include <cstdio>

#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDrawnEvery{1};

}  // namespace

StatusLine::StatusLine() : shown_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()) {}

std::chrono::seconds StatusLine::since_begin() const {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_);
}

void StatusLine::draw(const std::string& text) {
  if (!shown_) return;
  // Not wrapped where the terminal is too narrow: of two rows one would be left.
  std::fprintf(stderr, "\r\033[K\033[?7l%s\033[?7h", text.c_str());
  drawn_ = true;
}

void StatusLine::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void follow_run(sim::SimOptions& options, StatusLine& line) {
  if (!line.is_shown()) return;
  options.on_progress = [&line, next = Clock::time_point()](const sim::RunProgress& progress) mutable {
    const Clock::time_point now = Clock::now();
    if (now < next) return;
    next = now + kDrawnEvery;
    line.draw(run_line(progress, line.since_begin()));
  };
}

std::string run_line(const sim::RunProgress& progress, std::chrono::seconds since) {
  return whole(static_cast<double>(progress.ended)) + " of " + count_of(static_cast<double>(progress.jobs), "job") +
         " ended after " + seconds_in_words(progress.now.to_seconds()) + " of simulated time, " +
         seconds_in_words(static_cast<double>(since.count()));
}

}  // namespace tidepool::ctl
