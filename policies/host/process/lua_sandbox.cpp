#include "policies/host/process/lua_sandbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tidepool::policies::host::process {
namespace {

constexpr int kCountEvery = 1'000;                  // instructions between two looks at the budget
constexpr std::uint64_t kBytesPerInstruction = 64;  // a fresh byte costs about so much less

void* allocate(void* user, void* block, std::size_t old_size, std::size_t size) {
  auto& account = *static_cast<Account*>(user);
  const std::size_t before = block == nullptr ? 0 : old_size;  // otherwise Lua tells the kind of object
  if (size == 0) {
    std::free(block);
    account.memory -= before;
    return nullptr;
  }
  if (size > before && account.memory - before + size > account.budget.memory) return nullptr;
  void* moved = std::realloc(block, size);
  if (moved == nullptr) return nullptr;
  account.memory = account.memory - before + size;
  account.memory_peak = std::max(account.memory_peak, account.memory);
  if (size > before) account.instructions += (size - before) / kBytesPerInstruction;
  return moved;
}

// The line that runs, of the policy's text: of the function that runs, or of the nearest one that has called it.
bool find_line(lua_State* state, lua_Debug& where) {
  for (int level = 0; lua_getstack(state, level, &where) != 0; ++level) {
    lua_getinfo(state, "Sl", &where);
    if (where.currentline > 0) return true;
  }
  return false;
}

void end_if_spent(lua_State* state, Account& account) {
  if (account.instructions <= account.budget.instructions) return;
  account.spent = Spent::kInstructions;
  // From here on every instruction ends in this error, so catching it gains nothing.
  lua_sethook(state, lua_gethook(state), LUA_MASKCOUNT, 1);
  lua_Debug where;
  if (find_line(state, where)) {
    lua_pushfstring(state, "%s:%d: ", where.short_src, where.currentline);
  } else {
    lua_pushliteral(state, "");
  }
  lua_pushfstring(state, "it has used its %I instructions", static_cast<lua_Integer>(account.budget.instructions));
  lua_concat(state, 2);
  lua_error(state);
}

void on_count(lua_State* state, lua_Debug* /*where*/) {
  Account& account = account_of(state);
  if (account.spent == Spent::kNothing) account.instructions += kCountEvery;
  if (account.spent == Spent::kMemory) luaL_error(state, "it has used its memory");
  end_if_spent(state, account);
}

// Errors that a function of ours or of Lua's raises name no line: theirs is the nearest one of the policy's text.
int with_line(lua_State* state) {
  std::size_t length = 0;
  const char* text = lua_type(state, 1) == LUA_TSTRING ? lua_tolstring(state, 1, &length) : nullptr;
  if (text == nullptr || account_of(state).spent != Spent::kNothing) return 1;
  lua_Debug where;
  if (!find_line(state, where)) return 1;
  const std::string_view source = where.short_src;
  if (length > source.size() && text[source.size()] == ':' && std::string_view(text).starts_with(source)) return 1;
  lua_pushfstring(state, "%s:%d: ", where.short_src, where.currentline);
  lua_insert(state, 1);
  lua_concat(state, 2);
  return 1;
}

}  // namespace

Account& account_of(lua_State* state) {
  return **static_cast<Account**>(lua_getextraspace(state));
}

void charge(lua_State* state, std::uint64_t instructions) {
  Account& account = account_of(state);
  account.instructions += instructions;
  end_if_spent(state, account);
}

LuaSandbox::LuaSandbox(const Budget& budget) : account_{.budget = budget}, state_(lua_newstate(allocate, &account_)) {
  if (state_ == nullptr) return;
  *static_cast<Account**>(lua_getextraspace(state_)) = &account_;
  lua_sethook(state_, on_count, LUA_MASKCOUNT, kCountEvery);
}

LuaSandbox::~LuaSandbox() {
  if (state_ != nullptr) lua_close(state_);
}

bool LuaSandbox::run(lua_CFunction body, void* context) {
  lua_settop(state_, 0);
  lua_pushcfunction(state_, with_line);
  lua_pushcfunction(state_, body);
  lua_pushlightuserdata(state_, context);
  const int status = lua_pcall(state_, 1, 0, 1);
  if (status == LUA_ERRMEM) account_.spent = Spent::kMemory;
  return status == LUA_OK;
}

}  // namespace tidepool::policies::host::process
