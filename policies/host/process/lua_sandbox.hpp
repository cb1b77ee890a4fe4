// A fresh Lua state with bounded instructions and memory and a short list of functions: none of them reads, writes,
// loads, looks at metatables, returns the time or reveals an address. The same text and facts give the same answers.
// Lua unwinds by longjmp: no object with a destructor may live across a call that can raise.
#pragma once

#include <lua.hpp>

#include <cstdint>

#include "policies/host/process/engine.hpp"

namespace tidepool::policies::host::process {

enum class Spent { kNothing, kInstructions, kMemory };

// What a state has used. Memory is charged as instructions too, so that building and dropping large values ends.
struct Account {
  Budget budget;
  std::uint64_t instructions = 0;
  std::uint64_t memory = 0;
  std::uint64_t memory_peak = 0;
  Spent spent = Spent::kNothing;  // once set, no error can be caught
  Failure failure{.code = ""};    // the name of the error that is being raised; none = a plain Lua error
};

class LuaSandbox {
 public:
  explicit LuaSandbox(const Budget& budget);
  ~LuaSandbox();
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  // Runs `body` with `context` as its only argument, a light userdata. False if it raised; the message is then the one
  // value on the stack.
  [[nodiscard]] bool run(lua_CFunction body, void* context);
  [[nodiscard]] lua_State* state() const { return state_; }
  [[nodiscard]] const Account& account() const { return account_; }

 private:
  Account account_;
  lua_State* state_;  // null if there was no memory for it
};

// The account of the sandbox that `state` belongs to.
[[nodiscard]] Account& account_of(lua_State* state);
// Counts work that no instruction represents; raises if the budget is spent.
void charge(lua_State* state, std::uint64_t instructions);

// Puts the allowed functions into the global table. May raise.
void open_library(lua_State* state);

}  // namespace tidepool::policies::host::process
