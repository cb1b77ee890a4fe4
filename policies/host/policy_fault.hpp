// What can go wrong with a policy: a closed list of names, each with its numbers. A fault costs only the round: the
// built-in default decides it instead.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "core/state/reason.hpp"

namespace tidepool::policies::host {

struct FaultName {
  std::string_view code;
  std::string_view meaning;
};

inline constexpr std::array kFaultNames{
    // of the source
    FaultName{"policy.syntax_error", "the text is not Lua"},
    FaultName{"policy.bytecode", "compiled Lua is not taken"},
    FaultName{"policy.wrong_shape", "the file does not return a table of hooks"},
    FaultName{"policy.wrong_abi", "the library was built for another version of the interface"},
    // of a round
    FaultName{"policy.runtime_error", "a hook raised an error"},
    FaultName{"policy.instruction_budget", "a round took more instructions than it may"},
    FaultName{"policy.memory_budget", "a round took more memory than it may"},
    FaultName{"policy.deadline", "a round took longer than it may"},
    FaultName{"policy.cpu_limit", "the process used more processor time than it may"},
    FaultName{"policy.crashed", "the process died of a signal"},
    FaultName{"policy.exited", "the process exited unexpectedly"},
    FaultName{"policy.forbidden_call", "the process made a forbidden system call"},
    // of an answer
    FaultName{"policy.wrong_type", "an answer is not of the right type"},
    FaultName{"policy.missing_answer", "a job, a tenant or a pool has no answer"},
    FaultName{"policy.invalid_number", "an answer is not a finite number in its range"},
    FaultName{"policy.invalid_size", "a size is not one that the job may take"},
    FaultName{"policy.invalid_nodes", "a number of nodes is not one that the pool may have"},
    FaultName{"policy.invalid_reason", "a reason is not well formed"},
    FaultName{"policy.bad_reply", "the process did not answer as agreed"},
    // of the machine
    FaultName{"policy.view_too_large", "there are more jobs than a view has room for"},
    FaultName{"policy.no_sandbox", "the system refused a part of the sandbox, so nothing was run"},
    FaultName{"policy.not_started", "the policy host could not be started"},
    FaultName{"policy.native_off", "this daemon was started without --allow-native-policies"},
};

// The name as in the table, or none.
[[nodiscard]] constexpr std::optional<std::string_view> find_fault(std::string_view code) {
  for (const FaultName& fault : kFaultNames) {
    if (fault.code == code) return fault.code;
  }
  return std::nullopt;
}

struct PolicyFault {
  std::string_view code;  // one of kFaultNames
  std::string message;    // one sentence for the author
  std::string hook;       // empty = none in particular
  JobId job;              // none = no job in particular
  std::vector<core::ReasonNumber> numbers;
};

// "policy.invalid_size (size, job-3): 99 is not ..."
[[nodiscard]] std::string to_text(const PolicyFault& fault);
// The same with this name for the job; empty = no job in particular.
[[nodiscard]] std::string to_text(const PolicyFault& fault, const std::string& job);

}  // namespace tidepool::policies::host
