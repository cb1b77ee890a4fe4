// Runs a program and reads all that it writes, until it has ended or a limit is reached. Blocks, so it belongs into a
// thread of its own; the program's process group is killed where it is not waited for any longer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "workers/agent/system/child_process.hpp"

namespace tidepool::agent {

struct ChildAnswer {
  enum class Ended { kItself, kLate, kGivenUp };
  Ended ended = Ended::kItself;
  int status = 0;    // as of waitpid(2)
  std::string text;  // of stdout and stderr; only the newest is kept
};

struct AnswerLimits {
  std::chrono::milliseconds within{};
  std::size_t text_max = 0;  // bytes
  // True: the answer is not wanted any more. Asked every tenth of a second; none = it always is.
  std::function<bool()> gives_up = {};
};

// `spec.output` is not looked at. An error: the program was not started.
[[nodiscard]] Result<ChildAnswer> ask_child(ChildSpec spec, const AnswerLimits& limits);

}  // namespace tidepool::agent
