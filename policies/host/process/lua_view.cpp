#include "policies/host/process/lua_view.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <span>

#include "policies/host/column_names.hpp"

namespace tidepool::policies::host::process {
namespace {

const char kRoundKey = 0;  // its address is the key

void push_name(lua_State* state, const tidepool_name* names, std::uint32_t count, double index) {
  if (index >= 0 && index < count) {
    lua_pushstring(state, names[static_cast<std::uint32_t>(index)].text);
  } else {
    lua_pushboolean(state, 0);
  }
}

void push_cell(lua_State* state, double value, ColumnKind kind) {
  const tidepool_view& view = round_of(state).facts->view;
  if (kind == ColumnKind::kPool) {
    push_name(state, view.pool_name, view.pool_rows, value);
  } else if (kind == ColumnKind::kTenant) {
    push_name(state, view.tenant_name, view.tenants, value);
  } else if (kind == ColumnKind::kSlotType) {
    push_name(state, view.type_name, view.types, value);
  } else if (kind == ColumnKind::kBoolean) {
    lua_pushboolean(state, value != 0 ? 1 : 0);
  } else if (std::isnan(value) && (kind == ColumnKind::kOptional || kind == ColumnKind::kRow)) {
    lua_pushboolean(state, 0);
  } else if (kind == ColumnKind::kRow) {
    lua_pushinteger(state, static_cast<lua_Integer>(value) + 1);
  } else if (std::trunc(value) == value && std::fabs(value) < 0x1p53) {
    lua_pushinteger(state, static_cast<lua_Integer>(value));
  } else {
    lua_pushnumber(state, value);
  }
}

void push_column(lua_State* state, const double* column, std::uint32_t rows, ColumnKind kind) {
  lua_createtable(state, static_cast<int>(rows), 0);
  for (std::uint32_t row = 0; row < rows; ++row) {
    push_cell(state, column[row], kind);
    lua_rawseti(state, -2, row + 1);
  }
}

// view.sizes[i]: the sizes that job i may take, ascending.
void push_sizes(lua_State* state, const tidepool_view& view) {
  lua_createtable(state, static_cast<int>(view.jobs), 0);
  for (std::uint32_t row = 0; row < view.jobs; ++row) {
    const std::uint32_t first = view.first_option[row];
    push_column(state, view.option_size + first, view.first_option[row + 1] - first, ColumnKind::kNumber);
    lua_rawseti(state, -2, row + 1);
  }
}

// view.types_asked[i]: the names of the types of slot that job i asks for, none if it may be on any.
void push_types_asked(lua_State* state, const tidepool_view& view) {
  lua_createtable(state, static_cast<int>(view.jobs), 0);
  for (std::uint32_t row = 0; row < view.jobs; ++row) {
    lua_newtable(state);
    for (std::uint32_t at = view.first_asked[row]; at < view.first_asked[row + 1]; ++at) {
      lua_pushstring(state, view.type_name[view.asked_type[at]].text);
      lua_rawseti(state, -2, lua_Integer{at} - view.first_asked[row] + 1);
    }
    lua_rawseti(state, -2, row + 1);
  }
}

// view.types_held[i]: how many slots of which type job i holds, by name.
void push_types_held(lua_State* state, const tidepool_view& view) {
  lua_createtable(state, static_cast<int>(view.jobs), 0);
  for (std::uint32_t row = 0; row < view.jobs; ++row) {
    lua_newtable(state);
    for (std::uint32_t at = view.first_held[row]; at < view.first_held[row + 1]; ++at) {
      lua_pushinteger(state, view.held_slots[at]);
      lua_setfield(state, -2, view.type_name[view.held_type[at]].text);
    }
    lua_rawseti(state, -2, row + 1);
  }
}

struct RaggedColumn {
  const char* name;
  void (*push)(lua_State* state, const tidepool_view& view);
};
constexpr RaggedColumn kRaggedColumns[] = {
    {"sizes", push_sizes}, {"types_asked", push_types_asked}, {"types_held", push_types_held}};

// The row that argument `index` names, counted from 0; raises if there is none.
std::uint32_t check_row(lua_State* state, int index) {
  const lua_Integer row = luaL_checkinteger(state, index);
  const std::uint32_t jobs = round_of(state).facts->view.jobs;
  luaL_argcheck(state, row >= 1 && row <= jobs, index, "no such job; rows go from 1 to view.n");
  return static_cast<std::uint32_t>(row - 1);
}

// The value of `column` at the option of row (argument 1) and size (argument 2); `none` if there is no such option.
int push_option(lua_State* state, const double* column, double none) {
  const tidepool_view& view = round_of(state).facts->view;
  const std::uint32_t row = check_row(state, 1);
  const double size = luaL_checknumber(state, 2);
  const double* begin = view.option_size + view.first_option[row];
  const double* end = view.option_size + view.first_option[row + 1];
  const double* found = std::lower_bound(begin, end, size);
  lua_pushnumber(state, found != end && *found == size ? column[found - view.option_size] : none);
  return 1;
}

int view_goodput(lua_State* state) {
  return push_option(state, round_of(state).facts->view.option_goodput, 0);
}

int view_step_seconds(lua_State* state) {
  return push_option(state, round_of(state).facts->view.option_step_seconds, HUGE_VAL);
}

// view.grow_seconds_at(i, size) and its kin: upvalue 1 is the place in kCostColumns.
int view_cost(lua_State* state) {
  const tidepool_view& view = round_of(state).facts->view;
  const CostColumn& column = kCostColumns[static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(1)))];
  const std::uint32_t row = check_row(state, 1);
  const double size = luaL_checknumber(state, 2);
  double seconds = view.job[column.mean][row];
  for (std::uint32_t at = view.first_cost[row]; at < view.first_cost[row + 1]; ++at) {
    const double least = view.cost[TIDEPOOL_COST_SIZE][at];
    if (least <= size && size < 2 * least) seconds = view.cost[column.at_size][at];
  }
  lua_pushnumber(state, seconds);
  return 1;
}

int view_random(lua_State* state) {
  lua_pushnumber(state, round_of(state).rng.uniform());
  return 1;
}

int view_why(lua_State* state) {
  const std::uint32_t row = check_row(state, 1);
  LuaRound& round = round_of(state);
  WhyRecord unused{};
  // Of a job that admit has refused, admit gives the reason; what a later hook says is still looked over.
  read_why(state, 2, 3, round.answers->refused(row) ? unused : round.answers->why(row));
  round.answers->header().why_set = 1;
  return 0;
}

int view_why_pool(lua_State* state) {
  const LuaRound& round = round_of(state);
  const lua_Integer row = luaL_checkinteger(state, 1);
  luaL_argcheck(state, row >= 1 && row <= round.facts->view.pool_rows, 1, "no such pool; rows go from 1 to view.pools");
  read_why(state, 2, 3, round.answers->why_pool(static_cast<std::uint32_t>(row - 1)));
  round.answers->header().why_set = 1;
  return 0;
}

int view_mark(lua_State* state) {
  const std::uint32_t row = check_row(state, 1);
  round_of(state).answers->marks()[row] = luaL_checknumber(state, 2);
  round_of(state).hooks |= kMarks;
  return 0;
}

int view_is_read_only(lua_State* state) {
  return luaL_error(state, "view is read-only; return what you decide");
}

// view.NAME for a column that has not been asked for yet.
int view_column(lua_State* state) {
  const tidepool_view& view = round_of(state).facts->view;
  luaL_checktype(state, 1, LUA_TTABLE);
  const std::string_view name = luaL_checkstring(state, 2);
  bool found = false;
  for (const RaggedColumn& column : kRaggedColumns) {
    if (name != column.name) continue;
    found = true;
    column.push(state, view);
  }
  struct Table {
    std::span<const Column> columns;
    const double* const* cells;  // by column
    std::uint32_t rows;
  };
  const Table tables[] = {{kJobColumns, view.job, view.jobs},
                          {kNodeColumns, view.node, view.nodes},
                          {kTenantColumns, view.tenant, view.tenant_rows},
                          {kPoolColumns, view.pool, view.pool_rows}};
  for (const Table& table : tables) {
    for (std::size_t column = 0; !found && column < table.columns.size(); ++column) {
      found = name == table.columns[column].name;
      if (found) push_column(state, table.cells[column], table.rows, table.columns[column].kind);
    }
  }
  if (!found) return luaL_error(state, "view has no column called \"%s\"", lua_tostring(state, 2));
  lua_pushvalue(state, 2);
  lua_pushvalue(state, -2);
  lua_rawset(state, 1);
  return 1;
}

void set_count(lua_State* state, const char* name, std::uint32_t count) {
  lua_pushinteger(state, count);
  lua_setfield(state, -2, name);
}

// A word of letters, digits and '_' that begins with an upper-case (codes) or lower-case letter and fits.
bool well_formed(std::string_view word, std::size_t bytes, bool upper) {
  if (word.empty() || word.size() >= bytes) return false;
  const auto first = static_cast<unsigned char>(word[0]);
  if (upper ? std::isupper(first) == 0 : std::islower(first) == 0) return false;
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

int raise(lua_State* state, const Failure& failure, const char* format, ...) {
  account_of(state).failure = failure;
  va_list arguments;
  va_start(arguments, format);
  luaL_where(state, 1);
  lua_pushvfstring(state, format, arguments);
  va_end(arguments);
  lua_concat(state, 2);
  return lua_error(state);
}

LuaRound& round_of(lua_State* state) {
  lua_rawgetp(state, LUA_REGISTRYINDEX, &kRoundKey);
  auto* round = static_cast<LuaRound*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return *round;
}

void set_round(lua_State* state, LuaRound* round) {
  lua_pushlightuserdata(state, round);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kRoundKey);
}

void push_view(lua_State* state) {
  static constexpr luaL_Reg kFunctions[] = {
      {"goodput", view_goodput}, {"step_seconds", view_step_seconds}, {"random", view_random}, {"why", view_why},
      {"mark", view_mark},       {"why_pool", view_why_pool},         {nullptr, nullptr}};
  const tidepool_view& view = round_of(state).facts->view;
  lua_newtable(state);  // stays empty, so that every assignment to it is seen
  lua_createtable(state, 0, 2);
  lua_pushcfunction(state, view_is_read_only);
  lua_setfield(state, -2, "__newindex");
  luaL_newlib(state, kFunctions);
  for (std::size_t column = 0; column < kCostColumns.size(); ++column) {
    lua_pushinteger(state, static_cast<lua_Integer>(column));
    lua_pushcclosure(state, view_cost, 1);
    lua_setfield(state, -2, kCostColumns[column].name);
  }
  set_count(state, "n", view.jobs);
  set_count(state, "nodes", view.nodes);
  set_count(state, "slots", view.slots);
  set_count(state, "tenants", view.tenant_rows);
  set_count(state, "pools", view.pool_rows);
  set_count(state, "slots_per_node", view.slots_per_node);
  lua_pushnumber(state, view.now);
  lua_setfield(state, -2, "now");
  lua_createtable(state, 0, 1);
  lua_pushcfunction(state, view_column);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_setfield(state, -2, "__index");  // a table: Lua itself looks there, without a call
  lua_setmetatable(state, -2);
}

void read_why(lua_State* state, int code, int numbers, WhyRecord& why) {
  const Failure invalid{.code = "policy.invalid_reason"};
  std::size_t length = 0;
  const char* text = lua_type(state, code) == LUA_TSTRING ? lua_tolstring(state, code, &length) : nullptr;
  if (text == nullptr || !well_formed({text, length}, kCodeBytes, true)) {
    raise(state, invalid, "a reason is a word such as UnderShare: letters and digits, at most %d",
          static_cast<int>(kCodeBytes - 1));
  }
  why.count = 0;
  copy_text({text, length}, why.code, kCodeBytes);
  if (lua_isnoneornil(state, numbers)) return;
  if (!lua_istable(state, numbers)) raise(state, invalid, "the numbers of a reason are a table of names and numbers");
  for (lua_pushnil(state); lua_next(state, numbers) != 0; lua_pop(state, 1)) {
    if (why.count == kNumbersMax) {
      raise(state, invalid, "a reason has at most %d numbers", static_cast<int>(kNumbersMax));
    }
    const char* key = lua_type(state, -2) == LUA_TSTRING ? lua_tolstring(state, -2, &length) : nullptr;
    const std::string_view name = key == nullptr ? std::string_view() : std::string_view(key, length);
    if (!well_formed(name, kNameBytes, false) || lua_type(state, -1) != LUA_TNUMBER) {
      raise(state, invalid, "the numbers of a reason are written {share = 0.5}: small letters, digits and _");
    }
    NumberRecord& record = why.numbers[why.count++];
    copy_text(name, record.name, kNameBytes);
    record.value = lua_tonumber(state, -1);
  }
}

}  // namespace tidepool::policies::host::process
