// Native policies that crash, stall, reach out or lie: each ends in a fault with a name, and the next round finds a
// working process.
#include "tests/integration/policy_host/hosts.hpp"

namespace tidepool::test {
namespace {

using policies::host::Answers;
using policies::host::Budgets;
using policies::host::Param;
using policies::host::PolicyFault;
using policies::host::PolicyHost;

struct Act {
  const char* what;
  double number;
  const char* fault;
};

std::vector<Param> acting(double number) {
  return {{.name = "act", .value = number}};
}

}  // namespace

TEST_CASE("a native policy answers as a Lua policy does") {
  PolicyHost host = native_host("even_split");
  const auto judged = host.ask(waiting_jobs(5, 2), {});
  REQUIRE(outcome_of(judged) == "answered");
  const auto& answers = std::get<Answers>(judged);
  CHECK(answers.sizes == std::vector<int>{3, 3, 3, 3, 3});
  CHECK(answers.why[4].code == "EvenPart");
  CHECK(answers.why[4].numbers == std::vector<core::ReasonNumber>{{"part", 3}});
}

TEST_CASE("whatever a native policy does, the fault has a name and the next round works") {
  const auto act = GENERATE(
      Act{"SIGSEGV", 1, "policy.crashed"}, Act{"abort", 2, "policy.crashed"}, Act{"exit", 3, "policy.exited"},
      Act{"fork", 5, "policy.forbidden_call"}, Act{"exec", 6, "policy.forbidden_call"},
      Act{"a file", 7, "policy.forbidden_call"}, Act{"a socket", 8, "policy.forbidden_call"},
      Act{"kill its parent", 9, "policy.forbidden_call"}, Act{"an endless recursion", 11, "policy.crashed"},
      Act{"a thread", 12, "policy.forbidden_call"}, Act{"executable memory", 13, "policy.forbidden_call"},
      Act{"memory made executable", 18, "policy.forbidden_call"}, Act{"ptrace", 14, "policy.forbidden_call"},
      Act{"a word of its own", 15, "policy.bad_reply"}, Act{"a deletion", 16, "policy.forbidden_call"},
      Act{"a shorter region", 17, "policy.forbidden_call"}, Act{"NaN", 20, "policy.invalid_number"},
      Act{"infinity", 21, "policy.invalid_number"}, Act{"a huge size", 22, "policy.invalid_size"},
      Act{"a negative size", 23, "policy.invalid_size"}, Act{"a fraction", 24, "policy.invalid_size"},
      Act{"a reason that is no word", 25, "policy.invalid_reason"}, Act{"writing to the facts", 26, "policy.crashed"},
      Act{"giving up", 28, "policy.runtime_error"}, Act{"a mark of NaN", 29, "policy.invalid_number"});
  CAPTURE(act.what);
  PolicyHost host = native_host("hostile_policy");
  const auto view = waiting_jobs(2, 1);
  REQUIRE(outcome_of(host.ask(view, acting(0))) == "answered");
  CHECK(outcome_of(host.ask(view, acting(act.number))) == act.fault);
  CHECK(outcome_of(host.ask(view, acting(0))) == "answered");
}

TEST_CASE("a native policy that never ends is killed at its deadline") {
  PolicyHost host = native_host("hostile_policy", {.wall = Duration::millis(300)});
  CHECK(outcome_of(host.ask(waiting_jobs(2, 1), acting(4))) == "policy.deadline");
  CHECK(host.process() == 0);
  CHECK(outcome_of(host.ask(waiting_jobs(2, 1), acting(0))) == "answered");
}

TEST_CASE("a native policy that wants all memory does not get it") {
  Budgets budgets = roomy();
  budgets.memory_bytes = 16 << 20;
  PolicyHost host = native_host("hostile_policy", budgets);
  const std::string fault = outcome_of(host.ask(waiting_jobs(2, 1), acting(10)));
  // A sanitizer's allocator asks for its own map of the memory before it gives up.
  CHECK((fault == "policy.crashed" || fault == "policy.exited" || fault == "policy.forbidden_call"));
}

TEST_CASE("a native policy cannot map the facts for writing") {
  PolicyHost host = native_host("hostile_policy");
  CHECK(outcome_of(host.ask(waiting_jobs(2, 1), acting(19))) == "answered");  // it would have crashed
}

TEST_CASE("a forbidden call is told by its name") {
  PolicyHost host = native_host("hostile_policy");
  const auto judged = host.ask(waiting_jobs(2, 1), acting(8));
  REQUIRE(std::holds_alternative<PolicyFault>(judged));
  CHECK(std::get<PolicyFault>(judged).message == "it called socket, which no policy may");
}

TEST_CASE("a library that reaches out while it is loaded does not get that far") {
  const auto act = GENERATE(Act{"a socket", 1, "socket"}, Act{"limits of another process", 2, "prlimit64"},
                            Act{"signals to another process", 3, "fcntl"}, Act{"a life after its parent's", 4, "prctl"},
                            Act{"a terminal", 5, "ioctl"}, Act{"a file to write", 6, "openat"});
  CAPTURE(act.what);
  PolicyHost host = native_host("hostile_at_load_" + std::to_string(static_cast<int>(act.number)));
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<PolicyFault>(loaded));
  CHECK(to_text(std::get<PolicyFault>(loaded)) ==
        std::string("policy.forbidden_call: it called ") + act.fault + ", which no policy may");
}

TEST_CASE("a library that wants all memory while it is loaded does not get it") {
  PolicyHost host = native_host("hostile_at_load_7");
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<PolicyFault>(loaded));
  CHECK(std::get<PolicyFault>(loaded).code == "policy.crashed");  // it gives up when a request is refused
}

TEST_CASE("bytes that are no library are refused with the loader's words and what to do") {
  PolicyHost host(
      policies::host::Source{
          .engine = policies::host::EngineKind::kNative, .bytes = std::string(4'096, 'x'), .budgets = roomy()},
      host_program());
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<PolicyFault>(loaded));
  CHECK(std::get<PolicyFault>(loaded).code == "policy.wrong_shape");
  const std::string& message = std::get<PolicyFault>(loaded).message;
  CAPTURE(message);
  CHECK(message.starts_with("policy.so is no shared library for this machine ("));
  CHECK(message.find("/proc/") == std::string::npos);
  CHECK(message.find("build it anew here: c++ ") != std::string::npos);
}

}  // namespace tidepool::test
