// Lua policies that try to break out, to stall or to lie: each ends in a fault with a name, and the process and the
// next round are fine.
#include <string>
#include <vector>

#include "tests/integration/policy_host/hosts.hpp"

namespace tidepool::test {
namespace {

using policies::host::Answers;
using policies::host::Budgets;
using policies::host::PolicyHost;

struct Attack {
  const char* what;
  const char* text;
  const char* fault;
};

// `size` does what `body` says, and then answers for two jobs.
std::string size_hook(const std::string& body) {
  return "local P = {}\nfunction P.size(view, params)\n" + body + "\nreturn {1, 1}\nend\nreturn P\n";
}

std::string outcome(const std::string& text, Budgets budgets = roomy()) {
  PolicyHost host = lua_host(text, budgets);
  return outcome_of(host.ask(waiting_jobs(2, 1), {}));
}

}  // namespace

TEST_CASE("a hook that never ends is stopped by its count of instructions, whatever it catches") {
  const auto body = GENERATE(
      as<std::string>(), "while true do end", "for i = 1, 1e18 do end",
      "while true do pcall(function() while true do end end) end", "while true do pcall(error, 'x') end",
      "local function f() return pcall(f) end while true do f() end",
      "local function f() while true do pcall(f) end end f()", "local t = {} for i = 1, 1e9 do t[i % 10] = {i} end",
      "local s = 'x' while true do s = ('x'):rep(60000) .. 'y' end",
      "while true do local t = {} for i = 1, 1000 do t[i] = i end table.sort(t) end",
      "repeat local ok = pcall(string.rep, 'x', 1e9) until false", "goto a ::a:: goto a");
  CAPTURE(body);
  CHECK(outcome(size_hook(body)) == "policy.instruction_budget");
}

TEST_CASE("a hook that wants all memory is stopped, whatever it catches") {
  const auto body = GENERATE(as<std::string>(), "local t = {} for i = 1, 1e9 do t[i] = i end",
                             "local s = 'x' while true do s = s .. s end",
                             "local s = 'x' while true do pcall(function() while true do s = s .. s end end) end",
                             "local t = {} while true do t[#t + 1] = ('x'):rep(60000) .. #t end");
  CAPTURE(body);
  const std::string fault =
      outcome(size_hook(body), {.instructions = 50'000'000, .memory_bytes = 8 << 20, .wall = Duration::seconds(20)});
  CHECK(fault == "policy.memory_budget");
}

TEST_CASE("work that no count sees is stopped at the deadline") {
  // Each call copies an argument list that grows; few instructions, much copying.
  const std::string text = size_hook("local function f(...) return f(1, ...) end f()");
  CHECK(outcome(text, {.instructions = 100'000'000, .wall = Duration::millis(300)}) == "policy.deadline");
}

TEST_CASE("what could reach out of the sandbox is not there") {
  const auto body =
      GENERATE(as<std::string>(), "io.open('/etc/passwd')", "os.execute('true')", "os.exit(1)", "require('os')",
               "package.loadlib('a', 'b')", "load('return 1')()", "loadstring('return 1')()", "dofile('/etc/passwd')",
               "loadfile('/etc/passwd')", "debug.sethook()", "debug.getregistry()", "coroutine.wrap(function() end)()",
               "coroutine.create(print)", "print('hello')", "next({})", "collectgarbage('stop')",
               "getmetatable('').__index = nil", "setmetatable({}, {__gc = function() while true do end end})",
               "rawset(_G, 'x', 1)", "string.dump(function() end)", "('x'):gsub('x', 'y')", "('x'):match('(.-)*')",
               "string.gmatch('x', 'x')()", "string.pack('i', 1)", "math.random()", "os.time()", "os.clock()",
               "table.move({}, 1, 1e12, 2)", "utf8.char(1)", "string.format('%p', {})", "string.format('%s', {})",
               "string.find('x', '.-.-.-')", "string.rep('x', 1e10)", "string.format(('%99d'):rep(1000), 1)",
               "view.fresh = 5", "view.n = 1", "view.size_wanted = {}", "view.why = nil", "local a = params.mst",
               "local a = view.no_such_column", "view.why(3, 'Why')", "view.why(0, 'Why')", "view.goodput(99, 1)",
               "('x').y.z = 1", "error({})", "error()", "error(nil)", "local a <const> = nil + 1",
               "string.find(('x'):rep(60000), ('x'):rep(60000))", "for k in pairs({[{}] = 1}) do end");
  CAPTURE(body);
  CHECK(outcome(size_hook(body)) == "policy.runtime_error");
}

TEST_CASE("an error names the line of the policy's text, whatever function raised it") {
  struct Mistake {
    const char* body;
    const char* message;
  };
  const auto mistake = GENERATE(
      Mistake{"local a = math.min(1, nil)", "policy.lua:3: attempt to compare nil with number"},
      Mistake{"table.sort({1, 'x'})", "policy.lua:3: attempt to compare"},
      Mistake{"local a = params.mst", "policy.lua:3: params has no \"mst\"; declare it under params of policy.yaml"},
      Mistake{"view.n = 1", "policy.lua:3: view is read-only"}, Mistake{"error('no', 0)", "policy.lua:3: no"});
  PolicyHost host = lua_host(size_hook(mistake.body));
  const auto judged = host.ask(waiting_jobs(2, 1), {});
  REQUIRE(outcome_of(judged) == "policy.runtime_error");
  CHECK_THAT(std::get<policies::host::PolicyFault>(judged).message, Catch::StartsWith(mistake.message));
}

TEST_CASE("a hook that is written with a colon gets params for its view, and is told to be written with a dot") {
  PolicyHost host = lua_host(
      "local P = {}\nfunction P:size(view)\nlocal s = {} for i = 1, view.n do s[i] = 1 end\nreturn s\nend\nreturn P\n");
  const auto judged = host.ask(waiting_jobs(2, 1), {});
  REQUIRE(outcome_of(judged) == "policy.runtime_error");
  CHECK_THAT(std::get<policies::host::PolicyFault>(judged).message,
             Catch::StartsWith("policy.lua:3: params has no \"n\": if it is that of view which is meant, "
                               "write the hook with a dot"));
}

TEST_CASE("a source that is no policy is refused when it is loaded, with a name") {
  const auto attack = GENERATE(
      Attack{"syntax", "return {", "policy.syntax_error"}, Attack{"bytecode", "\x1bLua\x54", "policy.bytecode"},
      Attack{"nothing", "local x = 1", "policy.wrong_shape"}, Attack{"a number", "return 5", "policy.wrong_shape"},
      Attack{"no hook", "return {}", "policy.wrong_shape"},
      Attack{"an unknown hook", "return {sizes = function() end}", "policy.wrong_shape"},
      Attack{"a hook that is none", "return {size = 5}", "policy.wrong_shape"},
      Attack{"a loop while loading", "while true do end", "policy.instruction_budget"},
      Attack{"memory while loading", "local s = 'x' while true do s = s .. s end", "policy.memory_budget"},
      Attack{"an error while loading", "error('no')", "policy.runtime_error"});
  CAPTURE(attack.what);
  PolicyHost host = lua_host(attack.text);
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<policies::host::PolicyFault>(loaded));
  CHECK(std::get<policies::host::PolicyFault>(loaded).code == attack.fault);
  CHECK(host.process() == 0);
}

TEST_CASE("compiled Lua inside a text is no way round") {
  CHECK(outcome("\x1bLua") == "policy.bytecode");
  CHECK(outcome("return load('\\27Lua')()") == "policy.runtime_error");
}

TEST_CASE("answers of the wrong type or range each have their name") {
  const auto attack = GENERATE(
      Attack{"no table", "return {size = function() return 5 end}", "policy.wrong_type"},
      Attack{"nothing", "return {size = function() end}", "policy.wrong_type"},
      Attack{"a text", "return {size = function() return {'1', 1} end}", "policy.wrong_type"},
      Attack{"a boolean", "return {size = function() return {true, 1} end}", "policy.wrong_type"},
      Attack{"too few", "return {size = function() return {1} end}", "policy.missing_answer"},
      Attack{"too many", "return {size = function() return {1, 1, 1} end}", "policy.wrong_type"},
      Attack{"NaN", "return {size = function() return {0/0, 1} end}", "policy.invalid_number"},
      Attack{"infinite", "return {size = function() return {1/0, 1} end}", "policy.invalid_number"},
      Attack{"-infinite", "return {order = function() return {-1/0, 1} end}", "policy.invalid_number"},
      Attack{"NaN rank", "return {order = function() return {0/0, 1} end}", "policy.invalid_number"},
      Attack{"too large", "return {size = function() return {9, 1} end}", "policy.invalid_size"},
      Attack{"huge", "return {size = function() return {1e300, 1} end}", "policy.invalid_size"},
      Attack{"negative", "return {size = function() return {-1, 1} end}", "policy.invalid_size"},
      Attack{"a fraction", "return {size = function() return {1.5, 1} end}", "policy.invalid_size"},
      Attack{"no verdict", "return {admit = function() return 1 end}", "policy.wrong_type"},
      Attack{"no reason", "return {admit = function() return false, 'two words' end}", "policy.invalid_reason"},
      Attack{"a wish for a pool", "return {pool = function() return {want = 24} end}", "policy.wrong_shape"},
      Attack{"a bad mark", "return {size = function(v) v.mark(1, 0.5) return {1, 1} end}", "policy.invalid_number"},
      Attack{"a reason with NaN", "return {size = function(v) v.why(1, 'A', {x = 0/0}) return {1, 1} end}",
             "policy.invalid_reason"},
      Attack{"nine numbers",
             "return {size = function(v) v.why(1, 'A', {a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1}) return {1, 1} end}",
             "policy.invalid_reason"});
  CAPTURE(attack.what);
  CHECK(outcome(attack.text) == attack.fault);
}

TEST_CASE("a fault names hook and job") {
  PolicyHost host = lua_host("return {size = function() return {1, 99} end}");
  const auto judged = host.ask(waiting_jobs(2, 1), {});
  const auto& fault = std::get<policies::host::PolicyFault>(judged);
  CHECK(fault.hook == "size");
  CHECK(fault.job == JobId(2));
  CHECK(fault.message.find("99 is not a size") != std::string::npos);
  CHECK(fault.numbers == std::vector<core::ReasonNumber>{{"size", 99}, {"min", 1}, {"max", 8}});
}

TEST_CASE("a fault of a budget names the line that ran, or how much memory there was") {
  PolicyHost loops = lua_host("local function f()\n  while true do end\nend\nreturn {size = function()\n  f()\nend}");
  CHECK(to_text(std::get<policies::host::PolicyFault>(loops.ask(waiting_jobs(1, 1), {}))) ==
        "policy.instruction_budget: policy.lua:2: it has used its 5000000 instructions");
  PolicyHost grows = lua_host(size_hook("local s = 'x' while true do s = s .. s end"));
  CHECK(to_text(std::get<policies::host::PolicyFault>(grows.ask(waiting_jobs(1, 1), {}))) ==
        "policy.memory_budget: it has used its 32 MiB of memory, as an endless recursion does, too");
}

TEST_CASE("a rank that is infinite is told as such") {
  PolicyHost host = lua_host("return {order = function() return {math.huge} end}");
  CHECK(to_text(std::get<policies::host::PolicyFault>(host.ask(waiting_jobs(1, 1), {}))) ==
        "policy.invalid_number (order, job-1): inf is not a finite number");
}

TEST_CASE("nothing is kept from one round to the next") {
  PolicyHost host = lua_host(R"(
count = (count or 0) + 1
local P = {params = {n = 1}}
function P.size(view, params)
  count = count + 1
  string.rep = nil
  params.n = params.n + 1
  view.size_wanted[1] = 7
  return {count == 2 and params.n or 0, view.size_wanted[2]}
end
function P.order(view, params) return {view.size_wanted[1], 2} end
return P)");
  for (int round = 0; round < 3; ++round) {
    const auto judged = host.ask(waiting_jobs(2, 1), {});
    REQUIRE(outcome_of(judged) == "answered");
    CHECK(std::get<Answers>(judged).sizes == std::vector<int>{2, 2});
    CHECK(std::get<Answers>(judged).rank == std::vector<double>{2, 2});
  }
}

TEST_CASE("the reasons of a round are its own") {
  PolicyHost host = lua_host(size_hook("view.why(params.row, 'Here')"));
  for (const int row : {1, 2}) {
    const auto judged =
        host.ask(waiting_jobs(2, 1), std::vector<policies::host::Param>{{.name = "row", .value = double(row)}});
    REQUIRE(outcome_of(judged) == "answered");
    const auto& why = std::get<Answers>(judged).why;
    CHECK(why[0].code == (row == 1 ? "Here" : ""));
    CHECK(why[1].code == (row == 2 ? "Here" : ""));
  }
}

TEST_CASE("pairs gives every number as it is, however large, and in order") {
  // Neighbours of 2^53 and the ends of the integers round to the same floating-point numbers.
  const std::string body =
      "local t = {[9007199254740993] = 3, [9007199254740992] = 2, [math.maxinteger] = 4, [math.mininteger] = 0,\n"
      "           [0.5] = 1, [2.0^63] = 5}\n"
      "local n = 0\n"
      "for k, v in pairs(t) do assert(v == n and t[k] == v, 'at ' .. n) n = n + 1 end\n"
      "assert(n == 6, 'saw ' .. n)";
  CHECK(outcome(size_hook(body)) == "answered");
}

TEST_CASE("a number's name that is cut by a zero byte is no name") {
  CHECK(outcome(size_hook("view.why(1, 'Fine', {['a\\0x'] = 1, ['a\\0y'] = 2})")) == "policy.invalid_reason");
}

TEST_CASE("chance and the order of pairs are the same in every process") {
  const std::string text = R"(
local t = {}
for i = 1, 40 do t['key' .. (i * 7919 % 101)] = i end
t[3] = 0 t[1.5] = 0
local P = {}
function P.order(view)
  local hash = view.random()
  for k, v in pairs(t) do hash = (hash * 31 + v + #tostring(k)) % 1e9 end
  return {hash, view.random()}
end
return P)";
  std::vector<double> first;
  for (int process = 0; process < 4; ++process) {
    PolicyHost host = lua_host(text);
    const auto judged = host.ask(waiting_jobs(2, 1), {});
    REQUIRE(outcome_of(judged) == "answered");
    const auto& rank = std::get<Answers>(judged).rank;
    if (first.empty()) first = rank;
    CHECK(rank == first);
  }
}

TEST_CASE("after a fault of its own making the same process answers the next round") {
  PolicyHost host = lua_host(R"(
local P = {}
function P.size(view, params)
  if view.n == 3 then while true do end end
  local sizes = {}
  for i = 1, view.n do sizes[i] = 1 end
  return sizes
end
return P)");
  CHECK(outcome_of(host.ask(waiting_jobs(2, 1), {})) == "answered");
  const int process = host.process();
  CHECK(outcome_of(host.ask(waiting_jobs(3, 1), {})) == "policy.instruction_budget");
  CHECK(outcome_of(host.ask(waiting_jobs(2, 1), {})) == "answered");
  CHECK(host.process() == process);
}

}  // namespace tidepool::test
