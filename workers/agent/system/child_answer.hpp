// Runs a program and reads all its output, until it has ended or a limit is reached. Blocks, so call it from a thread
// of its own; if it stops waiting for the program, it kills the program's process group.
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
  int status = 0;    // as from waitpid(2)
  std::string text;  // stdout and stderr; only the newest part is kept
};

struct AnswerLimits {
  std::chrono::milliseconds within{};
  std::size_t text_max = 0;  // bytes
  // True: the answer is no longer wanted. Called every tenth of a second; none = never stop early.
  std::function<bool()> gives_up = {};
};

// `spec.output` is ignored. An error: the program was not started.
[[nodiscard]] Result<ChildAnswer> ask_child(ChildSpec spec, const AnswerLimits& limits);

}  // namespace tidepool::agent
