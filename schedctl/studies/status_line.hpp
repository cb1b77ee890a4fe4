// One line on standard error that says how far a command is and is drawn over. Nothing is drawn where standard error is
// no terminal, and nothing of it is left when this is gone.
#pragma once

#include <chrono>
#include <string>

#include "studies/replay/sim_options.hpp"

namespace tidepool::ctl {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool is_shown() const { return shown_; }
  [[nodiscard]] std::chrono::seconds since_begin() const;
  void draw(const std::string& text);
  void clear();

 private:
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
};

// Has the run tell how far it is on the line, which must outlive it: once a second at most.
void follow_run(sim::SimOptions& options, StatusLine& line);

// "120 of 300 jobs ended after 3h 20m of simulated time, 41.0 s"
[[nodiscard]] std::string run_line(const sim::RunProgress& progress, std::chrono::seconds since);

}  // namespace tidepool::ctl
