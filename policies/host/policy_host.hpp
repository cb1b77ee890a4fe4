// One policy version in its sandboxed process. A round is one message each way; any failure is a named fault that costs
// that round, and the next round has a working process again. Not thread-safe. The process dies with the thread that
// started it, so one thread owns a host for its whole life.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "base/time.hpp"
#include "policies/host/answers.hpp"
#include "policies/host/facts_image.hpp"

namespace tidepool::policies::host {

// What a round may use. Exceeding it ends the round, not the daemon.
struct Budgets {
  std::int64_t instructions = 5'000'000;  // counted by Lua; native code has none
  std::int64_t memory_bytes = 32 << 20;
  Duration wall = Duration::millis(250);
};

// What runs in the host: Lua text, or the bytes of a shared library.
struct Source {
  EngineKind engine = EngineKind::kLua;
  std::string bytes;
  Budgets budgets;
};

class PolicyHost {
 public:
  // `program` is the path of tidepool-policy-host. Nothing is started yet.
  PolicyHost(Source source, std::string program);
  ~PolicyHost();
  PolicyHost(const PolicyHost&) = delete;
  PolicyHost& operator=(const PolicyHost&) = delete;

  // Starts the process if there is none and has it check the source: returns its hooks (a mask of Hook), or why it
  // cannot be run.
  [[nodiscard]] std::variant<std::uint32_t, PolicyFault> load();
  // One round; loads first if necessary, for example if the process has ended since the previous round.
  [[nodiscard]] Judged ask(const cluster::View& view, std::span<const Param> params);

  // Of the running process; 0 = none. For tests that end it.
  [[nodiscard]] int process() const;

 private:
  class Process;
  std::optional<PolicyFault> start();

  Source source_;
  std::string program_;
  std::unique_ptr<Process> process_;
  std::uint32_t hooks_ = 0;
};

// The program next to the running one, or the one that TIDEPOOL_POLICY_HOST names.
[[nodiscard]] std::string policy_host_program();

}  // namespace tidepool::policies::host
