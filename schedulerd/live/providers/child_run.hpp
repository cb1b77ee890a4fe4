// Runs a program to its end: text in, text out, within a limit. It has a session of its own, and all of that session is
// killed when the limit has passed; what it prints beyond a mebibyte counts as a fault, too.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tidepool::live {

struct ChildRun {
  std::vector<std::string> command;  // the program, found by PATH, and its arguments
  std::string input;
  std::chrono::milliseconds limit{};
};
struct ChildEnd {
  enum class How { kExited, kNotStarted, kTimeout, kTooMuchOutput };
  How how = How::kExited;
  int exit_code = 0;       // 128 + the signal that ended it
  std::string output;      // what it has written to stdout
  std::string last_error;  // the last line that it has written to stderr, or why it was not started
};
[[nodiscard]] ChildEnd run_child(const ChildRun& run);

// The signal that has ended it, or ended what a shell ran for it; 0: none. What it was to do may be done all the same.
[[nodiscard]] int ending_signal(const ChildEnd& end);

// What a person must see of a program whose output is not what it should be: the first 100 characters of it, and of the
// last line of its standard error. What is no printable ASCII is shown as '?'.
[[nodiscard]] std::string shown_output(const ChildEnd& end);

}  // namespace tidepool::live
