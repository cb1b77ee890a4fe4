#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include "policies/host/process/lua_view.hpp"

namespace tidepool::policies::host::process {
namespace {

// Names that a policy's table may have, with the hook each one is.
struct Field {
  const char* name;
  std::uint32_t hook;  // 0 = not a hook
};
constexpr Field kFields[] = {{"admit", kAdmit}, {"order", kOrder},         {"size", kSizes},
                             {"share", kShare}, {"provision", kProvision}, {"params", 0}};

// Runs the text; leaves the policy's table at index 1 of an otherwise empty stack.
void run_text(lua_State* state, LuaRound& round) {
  lua_settop(state, 0);
  if (luaL_loadbufferx(state, round.text.data(), round.text.size(), "=policy.lua", "t") != LUA_OK) {
    account_of(state).failure = {.code = "policy.syntax_error"};
    lua_error(state);
  }
  lua_call(state, 0, 1);
  if (!lua_istable(state, 1)) {
    raise(state, {.code = "policy.wrong_shape"}, "the file must end with `return` and a table of hooks, not a %s",
          luaL_typename(state, 1));
  }
}

// Notes which hooks the table at 1 has; raises if it has anything else.
void find_hooks(lua_State* state, LuaRound& round) {
  const Failure wrong{.code = "policy.wrong_shape"};
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) {
    const char* name = lua_type(state, -2) == LUA_TSTRING ? lua_tostring(state, -2) : "?";
    const Field* field = nullptr;
    for (const Field& known : kFields) {
      if (std::strcmp(known.name, name) == 0) field = &known;
    }
    if (std::strcmp(name, "pool") == 0) raise(state, wrong, "%s", kNoPool);
    if (field == nullptr) {
      raise(state, wrong, "the policy has a field \"%s\"; it may have admit, order, size, share, provision and params",
            name);
    }
    const bool right = field->hook != 0 ? lua_isfunction(state, -1) : lua_istable(state, -1);
    if (!right) raise(state, wrong, "\"%s\" must be a %s", name, field->hook != 0 ? "function" : "table");
    round.hooks |= field->hook;
  }
  if (round.hooks == 0) raise(state, wrong, "the policy has no hook; it needs admit, order, size, share or provision");
}

int params_lack(lua_State* state) {
  const char* name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  // In `function P:size(view)` the view is called self, and params view.
  if (std::strcmp(name, "n") == 0) {
    return luaL_error(
        state,
        "params has no \"n\": if it is that of view which is meant, write the hook with a dot, function P.size(view, "
        "params), since with a colon its first argument is called self; else declare it under params of policy.yaml");
  }
  return luaL_error(state, "params has no \"%s\"; declare it under params of policy.yaml, or write its name right",
                    name);
}

// Leaves the parameters at index 2: the policy's own table, overridden by what the daemon gives.
void push_params(lua_State* state, const Facts& facts) {
  if (lua_getfield(state, 1, "params") != LUA_TTABLE) {
    lua_settop(state, 1);
    lua_newtable(state);
  }
  for (const ParamRecord& record : facts.params) {
    if (record.kind == ParamKind::kText) {
      lua_pushlstring(state, record.text, strnlen(record.text, kTextBytes));
    } else if (record.kind == ParamKind::kBoolean) {
      lua_pushboolean(state, record.number != 0 ? 1 : 0);
    } else {
      lua_pushnumber(state, record.number);
    }
    char name[kNameBytes];
    copy_text({record.name, strnlen(record.name, kNameBytes)}, name, sizeof name);
    lua_setfield(state, 2, name);
  }
  lua_createtable(state, 0, 1);
  lua_pushcfunction(state, params_lack);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, 2);
}

// One number per job from the table on top of the stack; a hole stays unset, and the daemon names it.
void read_numbers(lua_State* state, const char* hook, double* into) {
  const Failure wrong{.code = "policy.wrong_type", .hook = hook};
  if (!lua_istable(state, -1)) {
    raise(state, wrong, "%s must return a table with a number per job, not a %s", hook, luaL_typename(state, -1));
  }
  const std::uint32_t jobs = round_of(state).answers->jobs();
  for (std::uint32_t row = 0; row < jobs; ++row) {
    const int type = lua_rawgeti(state, -1, row + 1);
    if (type == LUA_TNUMBER) {
      into[row] = lua_tonumber(state, -1);
    } else if (type != LUA_TNIL) {
      raise(state, {.code = wrong.code, .hook = hook, .row = row}, "%s must give row %d a number, not a %s", hook,
            static_cast<int>(row + 1), lua_typename(state, type));
    }
    lua_pop(state, 1);
  }
  if (lua_rawgeti(state, -1, lua_Integer{jobs} + 1) != LUA_TNIL) {
    raise(state, wrong, "%s answers for more jobs than there are", hook);
  }
  lua_pop(state, 1);
}

// Leaves what the hook returns on top of the stack.
void call_hook(lua_State* state, const char* field) {
  lua_settop(state, 2);
  lua_getfield(state, 1, field);
  push_view(state);
  lua_pushvalue(state, 2);
  lua_call(state, 2, 1);
}

void call_columns(lua_State* state, const char* field, double* into) {
  call_hook(state, field);
  read_numbers(state, field, into);
}

// What a hook answers for that is no job.
struct Rows {
  const char* hook;
  const char* what;  // one of them
  std::uint32_t count;
};

// Every key of the table on top of the stack must be a row's number: since a row may be left out, an answer by name
// would not be missed.
void check_keys(lua_State* state, const Rows& rows) {
  const Failure wrong{.code = "policy.wrong_type", .hook = rows.hook};
  bool too_many = false;
  const char* stray = nullptr;  // the first by name: a table's own order is another one in each process
  const char* quote = "";
  for (lua_pushnil(state); lua_next(state, -2) != 0; lua_pop(state, 1)) {
    const lua_Integer row = lua_isinteger(state, -2) != 0 ? lua_tointeger(state, -2) : 0;
    too_many = too_many || row > rows.count;
    if (row >= 1) continue;
    const bool is_name = lua_type(state, -2) == LUA_TSTRING;
    const char* key = is_name ? lua_tostring(state, -2) : luaL_typename(state, -2);
    if (stray != nullptr && std::strcmp(key, stray) >= 0) continue;
    stray = key;
    quote = is_name ? "\"" : "";
  }
  if (too_many) raise(state, wrong, "%s answers for more %ss than there are", rows.hook, rows.what);
  if (stray == nullptr) return;
  raise(state, wrong,
        "%s has an answer for %s%s%s%s, which is no row: rows go from 1 to view.%ss, and view.%s_name has their names",
        rows.hook, *quote == '\0' ? "a key that is a " : "", quote, stray, quote, rows.what, rows.what);
}

// One number per row from the table on top of the stack; nil and false leave the row to the built-in rule.
void read_rows(lua_State* state, const Rows& rows, double* into) {
  const Failure wrong{.code = "policy.wrong_type", .hook = rows.hook};
  if (!lua_istable(state, -1)) {
    raise(state, wrong, "%s must return a table with a number, nil or false per %s, not a %s", rows.hook, rows.what,
          luaL_typename(state, -1));
  }
  for (std::uint32_t row = 0; row < rows.count; ++row) {
    const int type = lua_rawgeti(state, -1, row + 1);
    if (type == LUA_TNUMBER) {
      into[row] = lua_tonumber(state, -1);
      if (std::isnan(into[row]))
        raise(state, {.code = "policy.invalid_number", .hook = rows.hook}, "row %d is NaN", static_cast<int>(row + 1));
    } else if (type == LUA_TNIL || (type == LUA_TBOOLEAN && lua_toboolean(state, -1) == 0)) {
      into[row] = std::nan("");
    } else {
      const char* what = type == LUA_TBOOLEAN ? "true" : lua_pushfstring(state, "a %s", lua_typename(state, type));
      raise(state, wrong, "%s must give row %d a number, nil or false, not %s", rows.hook, static_cast<int>(row + 1),
            what);
    }
    lua_pop(state, 1);
  }
  check_keys(state, rows);
}

void call_rows(lua_State* state, const Rows& rows, double* into) {
  call_hook(state, rows.hook);
  read_rows(state, rows, into);
}

// Asked once per job that holds nothing; jobs that hold slots have been admitted.
void call_admit(lua_State* state, LuaRound& round) {
  lua_settop(state, 2);
  push_view(state);
  const tidepool_view& view = round.facts->view;
  for (std::uint32_t row = 0; row < view.jobs; ++row) {
    round.answers->admit()[row] = 1;
    if (view.job[TIDEPOOL_JOB_SIZE][row] > 0) continue;
    lua_settop(state, 3);
    lua_getfield(state, 1, "admit");
    lua_pushinteger(state, row + 1);
    lua_pushvalue(state, 3);
    lua_pushvalue(state, 2);
    lua_call(state, 3, 3);
    if (lua_type(state, 4) != LUA_TBOOLEAN) {
      raise(state, {.code = "policy.wrong_type", .hook = "admit", .row = row},
            "admit must return true, or false with a reason, not a %s", luaL_typename(state, 4));
    }
    if (lua_toboolean(state, 4) != 0) continue;
    round.answers->admit()[row] = 0;
    if (lua_isnil(state, 5)) continue;
    read_why(state, 5, 6, round.answers->why(row));
    round.answers->header().why_set = 1;
  }
}

// The body of a protected call; its argument is the LuaRound.
int run_round(lua_State* state) {
  LuaRound& round = *static_cast<LuaRound*>(lua_touserdata(state, 1));
  set_round(state, &round);
  open_library(state);
  run_text(state, round);
  find_hooks(state, round);
  if (round.facts == nullptr) return 0;
  push_params(state, *round.facts);
  const tidepool_view& view = round.facts->view;
  const std::uint32_t hooks = round.hooks & round.facts->hooks_asked();
  if ((hooks & kAdmit) != 0) call_admit(state, round);
  if ((hooks & kOrder) != 0) call_columns(state, "order", round.answers->order());
  if ((hooks & kSizes) != 0) call_columns(state, "size", round.answers->sizes());
  if ((hooks & kShare) != 0) call_rows(state, {"share", "tenant", view.tenant_rows}, round.answers->share());
  if ((hooks & kProvision) != 0) call_rows(state, {"provision", "pool", view.pool_rows}, round.answers->provision());
  return 0;
}

// What went wrong, in the words of the one who must act.
void tell(const LuaSandbox& sandbox, AnswersHeader& header) {
  Failure failure = sandbox.account().failure;
  if (sandbox.account().spent == Spent::kMemory) {
    const std::string mib = std::to_string(sandbox.account().budget.memory >> 20U);
    return write_failure(header, {.code = "policy.memory_budget"},
                         "it has used its " + mib + " MiB of memory, as an endless recursion does, too");
  }
  if (sandbox.account().spent == Spent::kInstructions) {
    failure = {.code = "policy.instruction_budget"};
  } else if (failure.code[0] == '\0') {
    failure = {.code = "policy.runtime_error"};
  }
  lua_State* state = sandbox.state();
  std::size_t length = 0;
  const bool text = lua_gettop(state) > 0 && lua_type(state, -1) == LUA_TSTRING;
  const char* message = text ? lua_tolstring(state, -1, &length) : nullptr;
  if (message == nullptr) {
    write_failure(header, failure, "it raised an error that is no text");
  } else {
    write_failure(header, failure, {message, length});
  }
}

class LuaEngine final : public PolicyEngine {
 public:
  LuaEngine(std::span<const char> text, const Budget& budget) : text_(text), budget_(budget) {}

  bool load(AnswersHeader& header, std::uint32_t& hooks) override {
    if (!text_.empty() && text_[0] == LUA_SIGNATURE[0]) {
      write_failure(header, {.code = "policy.bytecode"},
                    "the file is compiled Lua; only text is taken, because compiled code can break out of Lua");
      return false;
    }
    LuaRound round;
    const bool done = run(round, header);
    hooks = round.hooks;
    return done;
  }

  bool round(const Facts& facts, const Answers& answers) override {
    LuaRound round;
    round.facts = &facts;
    round.answers = &answers;
    round.rng = Rng(facts.seed);
    const bool done = run(round, answers.header());
    answers.header().hooks = round.hooks & facts.hooks_asked();
    return done;
  }

 private:
  bool run(LuaRound& round, AnswersHeader& header) {
    round.text = {text_.data(), text_.size()};
    LuaSandbox sandbox(budget_);
    if (sandbox.state() == nullptr) {
      write_failure(header, {.code = "policy.memory_budget"}, "the memory budget is too small for any policy");
      return false;
    }
    const bool done = sandbox.run(run_round, &round);
    header.instructions = sandbox.account().instructions;
    header.memory_peak = sandbox.account().memory_peak;
    if (!done) tell(sandbox, header);
    return done;
  }

  std::span<const char> text_;
  Budget budget_;
};

}  // namespace

std::unique_ptr<PolicyEngine> make_lua_engine(std::span<const char> text, const Budget& budget) {
  return std::make_unique<LuaEngine>(text, budget);
}

}  // namespace tidepool::policies::host::process
