// How a failed command ends: the failure is thrown where it is detected, and printed once by run().
#pragma once

#include <string>
#include <utility>

namespace tidepool::ctl {

// The interface for scripts; every command keeps it.
enum ExitCode : int {
  kExitOk = 0,
  kExitNegative = 1,  // the answer is no: the job failed, nothing matched
  kExitUsage = 2,     // the command line or the job file is wrong
  kExitApi = 3,       // the daemon refused, for example because it has no such job
  kExitTimeout = 4,
  kExitNoDaemon = 5,       // no answer came: no daemon there, the connection broke, or it is not trusted
  kExitInternal = 6,       // this program could not do its part: its output cannot be written, or it has a defect
  kExitInterrupted = 130,  // Ctrl-C, as shells expect it
};

struct Failure {
  int exit_code = kExitApi;
  std::string message;    // what is wrong and what to do; may have several lines
  bool may_pass = false;  // the daemon or an agent is away, or at a limit
  bool answered = false;  // by the daemon, which refused
};

[[noreturn]] inline void fail(int exit_code, std::string message) {
  throw Failure{exit_code, std::move(message)};
}

}  // namespace tidepool::ctl
