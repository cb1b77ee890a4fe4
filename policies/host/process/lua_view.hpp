// The view that a Lua hook gets: columns as arrays from 1 to view.n, made at first use. Nothing can be assigned to it.
// Each hook gets a view of its own, so no hook sees what another writes into an array.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rng.hpp"
#include "policies/host/process/lua_sandbox.hpp"

namespace tidepool::policies::host::process {

// One round in the making.
struct LuaRound {
  const Facts* facts = nullptr;      // null while a source is only checked
  const Answers* answers = nullptr;  // likewise
  std::string_view text;
  Rng rng{0};
  std::uint32_t hooks = 0;
};

// Raises an error under a name of its own, about one row (-1 = none). `format` as in luaL_error.
int raise(lua_State* state, const Failure& failure, const char* format, ...);
// The round of this sandbox.
[[nodiscard]] LuaRound& round_of(lua_State* state);
void set_round(lua_State* state, LuaRound* round);

// Pushes a fresh view. May raise.
void push_view(lua_State* state);
// Reads a code and its numbers (a table or nothing) from the stack into `why`; raises if they are not well formed.
void read_why(lua_State* state, int code, int numbers, WhyRecord& why);

}  // namespace tidepool::policies::host::process
