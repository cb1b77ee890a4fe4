// Real policy hosts for tests: the program from the build, Lua text or a library built beside the tests.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include "policies/host/policy_host.hpp"
#include "tests/support/policy_views.hpp"

namespace tidepool::test {

inline std::string host_program() {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  return (folder == nullptr ? std::string("bin") : std::string(folder)) + "/tidepool-policy-host";
}

// Generous in wall time, because the machine may be busy; tight where a test is about the bound itself.
inline policies::host::Budgets roomy() {
  return {.instructions = 5'000'000, .memory_bytes = 32 << 20, .wall = Duration::seconds(10)};
}

inline policies::host::PolicyHost lua_host(const std::string& text, policies::host::Budgets budgets = roomy()) {
  return {policies::host::Source{.engine = policies::host::EngineKind::kLua, .bytes = text, .budgets = budgets},
          host_program()};
}

inline policies::host::PolicyHost native_host(const std::string& library, policies::host::Budgets budgets = roomy()) {
  const char* folder = std::getenv("TIDEPOOL_NATIVE_POLICIES");
  std::ifstream in(std::string(folder == nullptr ? "." : folder) + "/" + library + ".so", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return {policies::host::Source{
              .engine = policies::host::EngineKind::kNative, .bytes = std::move(bytes), .budgets = budgets},
          host_program()};
}

// The name of the fault, or "answered".
inline std::string outcome_of(const policies::host::Judged& judged) {
  const auto* fault = std::get_if<policies::host::PolicyFault>(&judged);
  if (fault != nullptr) UNSCOPED_INFO(to_text(*fault));
  return fault == nullptr ? "answered" : std::string(fault->code);
}

// Of a policy whose parameter `by` counts the column that it answers with.
inline policies::host::Judged ask_by(policies::host::PolicyHost& host, const policies::cluster::View& view, int by) {
  return host.ask(view, {{{.name = "by", .value = double(by)}}});
}

// Of a Lua policy that answers this to its only hook, which must be at fault.
inline std::string fault_of_hook(const std::string& hook, const policies::cluster::View& view,
                                 const std::string& answer) {
  policies::host::PolicyHost host = lua_host("return {" + hook + " = function(view) return " + answer + " end}");
  const auto judged = host.ask(view, {});
  REQUIRE(std::holds_alternative<policies::host::PolicyFault>(judged));
  return to_text(std::get<policies::host::PolicyFault>(judged));
}

}  // namespace tidepool::test
