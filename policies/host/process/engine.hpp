// Runs a policy's source inside the sandbox: Lua text or a native library. Both take the same facts and give the same
// answers; neither keeps anything for the policy from one round to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "policies/host/process/facts.hpp"

namespace tidepool::policies::host::process {

struct Budget {
  std::uint64_t instructions = 0;  // of one round, counted; for Lua only
  std::uint64_t memory = 0;        // bytes
};

// Why a policy with a hook of this name is refused.
inline constexpr const char* kNoPool =
    "the policy has a hook pool, which nothing asks: how many nodes pools should have is what the hook provision "
    "answers; leave the hook out";

class PolicyEngine {
 public:
  virtual ~PolicyEngine() = default;
  // Checks the source and returns its hooks. On failure the header has the reason.
  [[nodiscard]] virtual bool load(AnswersHeader& header, std::uint32_t& hooks) = 0;
  // One round. Initially all answers are unset, as the daemon left them.
  [[nodiscard]] virtual bool round(const Facts& facts, const Answers& answers) = 0;
};

// `text` outlives the engine.
[[nodiscard]] std::unique_ptr<PolicyEngine> make_lua_engine(std::span<const char> text, const Budget& budget);
// Loads the library behind kSourceFd; call it between allow_loading() and enter().
[[nodiscard]] std::unique_ptr<PolicyEngine> make_native_engine();

}  // namespace tidepool::policies::host::process
