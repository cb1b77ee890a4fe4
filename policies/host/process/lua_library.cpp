// The functions that a policy may call, in place of Lua's own libraries. Left out on purpose: whatever loads, reads or
// writes; metatables and finalizers (they run outside of every count); coroutines; patterns (one match can run for
// hours inside a single call); `next` and addresses (their order is another one in each process).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "policies/host/process/lua_sandbox.hpp"

namespace tidepool::policies::host::process {
namespace {

constexpr std::size_t kRepeatedBytesMax = 64U << 10U;
constexpr std::size_t kFormatBytesMax = 1'000;
constexpr std::size_t kSearchWorkMax = 1U << 20U;  // subject length x text length
constexpr std::uint64_t kCaughtErrorCost = 200;    // raising and catching one takes about this many instructions
constexpr std::string_view kPatternCharacters = "^$*+?.([%-";

// --- what catches, compares and shows ------------------------------------------------------------

int protected_call(lua_State* state) {
  luaL_checkany(state, 1);
  lua_pushboolean(state, 1);
  lua_insert(state, 1);
  const int status = lua_pcall(state, lua_gettop(state) - 2, LUA_MULTRET, 0);
  if (status == LUA_OK) return lua_gettop(state);
  Account& account = account_of(state);
  if (status == LUA_ERRMEM) account.spent = Spent::kMemory;
  if (account.spent != Spent::kNothing) return lua_error(state);  // no pcall may catch that
  account.failure = {.code = ""};
  charge(state, kCaughtErrorCost);
  lua_pushboolean(state, 0);
  lua_insert(state, -2);
  return 2;
}

int to_string(lua_State* state) {
  luaL_checkany(state, 1);
  const int type = lua_type(state, 1);
  const bool plain = type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN || type == LUA_TNIL;
  if (plain) {
    luaL_tolstring(state, 1, nullptr);
  } else {
    lua_pushstring(state, lua_typename(state, type));  // without its address
  }
  return 1;
}

struct Key {
  const char* text;  // null for a number
  std::size_t length;
  lua_Number number;
  lua_Integer whole;  // of Lua's integers, which `number` may round
  bool is_whole;
};

bool number_before(const Key& a, const Key& b) {
  if (a.is_whole && b.is_whole) return a.whole < b.whole;
  // Only 2^63 can equal a rounded integer, and it is larger than all of them.
  return a.number < b.number || (a.number == b.number && a.is_whole && !b.is_whole);
}

bool before(const Key& a, const Key& b) {
  if ((a.text == nullptr) != (b.text == nullptr)) return a.text == nullptr;
  if (a.text == nullptr) return number_before(a, b);
  const int order = std::memcmp(a.text, b.text, std::min(a.length, b.length));
  return order != 0 ? order < 0 : a.length < b.length;
}

// Upvalues: table, its keys in order, index of the last one given.
int next_pair(lua_State* state) {
  lua_Integer index = lua_tointeger(state, lua_upvalueindex(3));
  while (true) {
    lua_settop(state, 0);
    if (lua_rawgeti(state, lua_upvalueindex(2), ++index) == LUA_TNIL) return 1;
    lua_pushvalue(state, 1);
    if (lua_rawget(state, lua_upvalueindex(1)) != LUA_TNIL) break;  // else it was removed on the way
  }
  lua_pushinteger(state, index);
  lua_replace(state, lua_upvalueindex(3));
  return 2;
}

// pairs in the order of keys, numbers first.
int sorted_pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  std::size_t count = 0;
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) ++count;
  charge(state, 8 * count);
  auto* keys = static_cast<Key*>(lua_newuserdatauv(state, (count + 1) * sizeof(Key), 0));
  std::size_t filled = 0;
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) {
    Key& key = keys[filled++];
    key = {.text = nullptr, .length = 0, .number = 0, .whole = 0, .is_whole = lua_isinteger(state, -2) != 0};
    if (lua_type(state, -2) == LUA_TNUMBER) {
      key.number = lua_tonumber(state, -2);
      if (key.is_whole) key.whole = lua_tointeger(state, -2);
    } else if (lua_type(state, -2) == LUA_TSTRING) {
      key.text = lua_tolstring(state, -2, &key.length);
    } else {
      return luaL_error(state, "pairs: a key is a %s; only numbers and strings have an order",
                        luaL_typename(state, -2));
    }
  }
  std::sort(keys, keys + count, before);
  lua_pushvalue(state, 1);
  lua_createtable(state, static_cast<int>(count), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Key& key = keys[i];
    if (key.text != nullptr) {
      lua_pushlstring(state, key.text, key.length);
    } else if (key.is_whole) {
      lua_pushinteger(state, key.whole);
    } else {
      lua_pushnumber(state, key.number);
    }
    lua_rawseti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, next_pair, 3);
  return 1;
}

// --- table.sort: stable, so that equal entries keep their order on every machine -------------------

// Whether entry `a` of the table at 1 goes before entry `b`.
bool entry_before(lua_State* state, int a, int b) {
  const bool with_function = !lua_isnoneornil(state, 2);
  if (with_function) lua_pushvalue(state, 2);
  lua_rawgeti(state, 1, a);
  lua_rawgeti(state, 1, b);
  if (!with_function) {
    const bool less = lua_compare(state, -2, -1, LUA_OPLT) != 0;
    lua_pop(state, 2);
    return less;
  }
  lua_call(state, 2, 1);
  const bool less = lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return less;
}

struct Run {
  const int* from;
  int low, middle, high;
};

void merge(lua_State* state, const Run& run, int* into) {
  int left = run.low;
  int right = run.middle;
  for (int k = run.low; k < run.high; ++k) {
    const bool take_right =
        right < run.high && (left >= run.middle || entry_before(state, run.from[right], run.from[left]));
    into[k] = run.from[take_right ? right++ : left++];
  }
}

int stable_sort(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (!lua_isnoneornil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  luaL_argcheck(state, lua_rawlen(state, 1) < 1U << 24U, 1, "too long to sort");
  const auto count = static_cast<int>(lua_rawlen(state, 1));
  const auto entries = static_cast<std::size_t>(count);
  charge(state, 16 * entries);
  auto* from = static_cast<int*>(lua_newuserdatauv(state, (entries + 1) * sizeof(int), 0));
  auto* into = static_cast<int*>(lua_newuserdatauv(state, (entries + 1) * sizeof(int), 0));
  for (int i = 0; i < count; ++i) from[i] = i + 1;
  for (int width = 1; width < count; width *= 2) {
    for (int low = 0; low < count; low += 2 * width) {
      merge(state, {from, low, std::min(low + width, count), std::min(low + 2 * width, count)}, into);
    }
    std::swap(from, into);
  }
  lua_createtable(state, count, 0);
  for (int i = 0; i < count; ++i) {
    lua_rawgeti(state, 1, from[i]);
    lua_rawseti(state, -2, i + 1);
  }
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(state, -1, i);
    lua_rawseti(state, 1, i);
  }
  return 0;
}

// --- functions of Lua's own, kept within bounds ----------------------------------------------------

// Upvalue 1: the function itself. What it walks over is paid for first.
int charged(lua_State* state) {
  if (lua_type(state, 1) == LUA_TTABLE || lua_type(state, 1) == LUA_TSTRING) charge(state, lua_rawlen(state, 1) / 8);
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

int repeated(lua_State* state) {
  std::size_t length = 0;
  std::size_t between = 0;
  luaL_checklstring(state, 1, &length);
  const lua_Integer times = luaL_checkinteger(state, 2);
  luaL_optlstring(state, 3, "", &between);
  const std::size_t one = std::max<std::size_t>(length + between, 1);
  if (times > 0 && static_cast<lua_Unsigned>(times) > kRepeatedBytesMax / one) {
    return luaL_error(state, "string.rep builds at most %d bytes", static_cast<int>(kRepeatedBytesMax));
  }
  return charged(state);
}

int formatted(lua_State* state) {
  std::size_t length = 0;
  const char* format = luaL_checklstring(state, 1, &length);
  if (length > kFormatBytesMax) {
    return luaL_error(state, "string.format takes a format of at most %d bytes", static_cast<int>(kFormatBytesMax));
  }
  for (std::size_t i = 0; i + 1 < length; ++i) {
    if (format[i] != '%') continue;
    if (format[i + 1] == '%') {
      ++i;
      continue;
    }
    while (i + 1 < length && std::strchr("-+ #0123456789.", format[i + 1]) != nullptr && format[i + 1] != '\0') ++i;
    if (i + 1 < length && format[i + 1] == 'p') return luaL_error(state, "string.format: %%p is not allowed");
  }
  for (int i = 2; i <= lua_gettop(state); ++i) {
    const int type = lua_type(state, i);
    const bool plain = type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN || type == LUA_TNIL;
    if (!plain) return luaL_argerror(state, i, "only numbers, texts and booleans can be shown");
  }
  return charged(state);
}

int find_text(lua_State* state) {
  std::size_t subject = 0;
  std::size_t length = 0;
  luaL_checklstring(state, 1, &subject);
  const char* text = luaL_checklstring(state, 2, &length);
  const bool plain = lua_toboolean(state, 4) != 0;
  if (!plain && std::string_view(text, length).find_first_of(kPatternCharacters) != std::string_view::npos) {
    return luaL_error(state, "string.find looks for plain text only; say find(s, text, 1, true)");
  }
  if (subject > 0 && length > kSearchWorkMax / subject) return luaL_error(state, "string.find: the texts are too long");
  charge(state, subject * length / 8);
  lua_settop(state, 3);
  lua_pushboolean(state, 1);
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

enum class Wrap { kNone, kCharged };

struct Kept {
  const char* name;
  Wrap wrap;
};

// Copies functions and numbers from the table at -2 (Lua's own) into the one at -1.
template <std::size_t kCount>
void keep(lua_State* state, const Kept (&names)[kCount]) {
  for (const Kept& kept : names) {
    lua_getfield(state, -2, kept.name);
    if (kept.wrap == Wrap::kCharged) lua_pushcclosure(state, charged, 1);
    lua_setfield(state, -2, kept.name);
  }
}

// Wraps the function `name` of the table at -2 and puts it into the one at -1.
void bound(lua_State* state, const char* name, lua_CFunction wrapper) {
  lua_getfield(state, -2, name);
  lua_pushcclosure(state, wrapper, 1);
  lua_setfield(state, -2, name);
}

void open_base(lua_State* state) {
  static constexpr Kept kKept[] = {{"assert", Wrap::kNone},   {"error", Wrap::kNone},  {"ipairs", Wrap::kNone},
                                   {"rawequal", Wrap::kNone}, {"rawlen", Wrap::kNone}, {"select", Wrap::kNone},
                                   {"tonumber", Wrap::kNone}, {"type", Wrap::kNone}};
  lua_pushcfunction(state, luaopen_base);
  lua_call(state, 0, 1);  // fills the global table; what is kept goes into a fresh one
  lua_newtable(state);
  keep(state, kKept);
  lua_pushcfunction(state, protected_call);
  lua_setfield(state, -2, "pcall");
  lua_pushcfunction(state, to_string);
  lua_setfield(state, -2, "tostring");
  lua_pushcfunction(state, sorted_pairs);
  lua_setfield(state, -2, "pairs");
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);  // what a chunk gets as its globals
  lua_pop(state, 1);
}

void open_string(lua_State* state) {
  static constexpr Kept kKept[] = {{"byte", Wrap::kCharged},  {"char", Wrap::kNone},   {"len", Wrap::kNone},
                                   {"lower", Wrap::kCharged}, {"sub", Wrap::kCharged}, {"reverse", Wrap::kCharged},
                                   {"upper", Wrap::kCharged}};
  luaL_requiref(state, "string", luaopen_string, 0);
  lua_newtable(state);
  keep(state, kKept);
  bound(state, "rep", repeated);
  bound(state, "format", formatted);
  bound(state, "find", find_text);
  // "text":upper() finds the same short list.
  lua_pushliteral(state, "");
  lua_createtable(state, 0, 1);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 1);
  lua_setglobal(state, "string");
  lua_pop(state, 1);
}

void open_table(lua_State* state) {
  static constexpr Kept kKept[] = {
      {"concat", Wrap::kCharged}, {"insert", Wrap::kCharged}, {"remove", Wrap::kCharged}, {"unpack", Wrap::kCharged}};
  luaL_requiref(state, "table", luaopen_table, 0);
  lua_newtable(state);
  keep(state, kKept);
  lua_pushcfunction(state, stable_sort);
  lua_setfield(state, -2, "sort");
  lua_setglobal(state, "table");
  lua_pop(state, 1);
}

void open_math(lua_State* state) {
  static constexpr Kept kKept[] = {
      {"abs", Wrap::kNone},   {"ceil", Wrap::kNone},       {"cos", Wrap::kNone},  {"exp", Wrap::kNone},
      {"floor", Wrap::kNone}, {"fmod", Wrap::kNone},       {"huge", Wrap::kNone}, {"log", Wrap::kNone},
      {"max", Wrap::kNone},   {"maxinteger", Wrap::kNone}, {"min", Wrap::kNone},  {"mininteger", Wrap::kNone},
      {"modf", Wrap::kNone},  {"pi", Wrap::kNone},         {"sin", Wrap::kNone},  {"sqrt", Wrap::kNone},
      {"tan", Wrap::kNone},   {"tointeger", Wrap::kNone},  {"type", Wrap::kNone}};
  luaL_requiref(state, "math", luaopen_math, 0);
  lua_newtable(state);
  keep(state, kKept);
  lua_setglobal(state, "math");
  lua_pop(state, 1);
}

}  // namespace

void open_library(lua_State* state) {
  open_base(state);
  open_string(state);
  open_table(state);
  open_math(state);
}

}  // namespace tidepool::policies::host::process
