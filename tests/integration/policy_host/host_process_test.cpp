// What the process of a policy is, seen from outside: sandboxed, without children, and gone with its parent.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "policies/host/policy_file.hpp"
#include "tests/integration/policy_host/hosts.hpp"

namespace tidepool::test {
namespace {

using policies::host::PolicyHost;

constexpr const char* kWanted = "return {size = function(v) local s = {} for i = 1, v.n do s[i] = 2 end return s end}";

std::string line_of(int process, const std::string& file, const std::string& begin) {
  std::ifstream in("/proc/" + std::to_string(process) + "/" + file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return "";
}

std::string value_of(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  in >> word;
  return word;
}

}  // namespace

TEST_CASE("the process is filtered, has no new privileges and only the four descriptors it was given") {
  PolicyHost host = lua_host(kWanted);
  REQUIRE(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  const int process = host.process();
  CHECK(value_of(line_of(process, "status", "Seccomp:")) == "2");
  CHECK(value_of(line_of(process, "status", "NoNewPrivs:")) == "1");
  CHECK(value_of(line_of(process, "status", "Threads:")) == "1");
  if (geteuid() == 0) CHECK(value_of(line_of(process, "status", "Uid:")) == "65534");
  CHECK(getpgid(process) == process);
  CHECK(value_of(line_of(process, "limits", "Max open files")) == "0");
  CHECK(value_of(line_of(process, "limits", "Max core file size")) == "0");
  CHECK(value_of(line_of(process, "limits", "Max file size")) == "0");
  CHECK(value_of(line_of(process, "limits", "Max address space")) != "unlimited");
  CHECK(value_of(line_of(process, "limits", "Max cpu time")) != "unlimited");
  std::error_code failed;
  int descriptors = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", failed)) {
    const int number = std::stoi(entry.path().filename().string());
    CHECK(number <= policies::host::kSourceFd);
    ++descriptors;
  }
  if (geteuid() == 0) CHECK(descriptors == 7);
  std::ifstream environment("/proc/" + std::to_string(process) + "/environ");
  CHECK(environment.peek() == std::ifstream::traits_type::eof());
}

TEST_CASE("a policy is told useful steps a second and seconds a step of each size, and which is which") {
  class Told final : public policies::cluster::SpeedModel {
   public:
    [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override { return 8.0 / shape.size; }
    [[nodiscard]] double goodput(policies::cluster::Shape shape) const override { return 3.0 * shape.size; }
  };
  const Told speed;
  auto view = waiting_jobs(1, 1);
  view.jobs[0].speed = &speed;
  PolicyHost host = lua_host(R"(
return {size = function(view)
  assert(view.goodput(1, 2) == 6 and view.step_seconds(1, 2) == 4)
  assert(view.goodput(1, 99) == 0 and view.step_seconds(1, 99) == math.huge)
  return {2}
end})");
  CHECK(outcome_of(host.ask(view, {})) == "answered");
}

TEST_CASE("the reason that admit gives for a job that it refuses is not replaced by a later hook") {
  PolicyHost host = lua_host(R"(
return {
  admit = function(job, view)
    if job == 1 then return false, "Curfew", {ends = 7} end
    return true
  end,
  size = function(view)
    for i = 1, view.n do view.why(i, "Capped", {most = 2}) end
    return {2, 2}
  end
})");
  const auto judged = host.ask(waiting_jobs(2, 1), {});
  REQUIRE(outcome_of(judged) == "answered");
  const auto& why = std::get<policies::host::Answers>(judged).why;
  CHECK(why[0].code == "Curfew");
  CHECK(why[0].numbers == std::vector<core::ReasonNumber>{{"ends", 7}});
  CHECK(why[1].code == "Capped");
}

TEST_CASE("a file is looked over with all the hooks it has, and refused for one that it lists and has not") {
  PolicyHost lua = lua_host(kWanted);
  policies::host::PolicyFile file;
  file.manifest.hooks = {"size"};
  CHECK(std::get<std::vector<std::string>>(look_over(file, lua)) == std::vector<std::string>{"size"});
  file.manifest.hooks = {"size", "order"};
  const auto refused = look_over(file, lua);
  REQUIRE(std::holds_alternative<policies::host::PolicyFault>(refused));
  CHECK(to_text(std::get<policies::host::PolicyFault>(refused)) ==
        "policy.wrong_shape: policy.yaml lists the hook order, and the policy has only size");
  PolicyHost native = native_host("hostile_policy");
  const auto hooks = std::get<std::vector<std::string>>(look_over({}, native));
  CHECK(std::find(hooks.begin(), hooks.end(), "marks") != hooks.end());
}

TEST_CASE("a process with a native library cannot be looked into once it is loaded") {
  PolicyHost host = native_host("even_split");
  REQUIRE(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  struct stat memory = {};
  REQUIRE(stat(("/proc/" + std::to_string(host.process()) + "/mem").c_str(), &memory) == 0);
  CHECK(memory.st_uid == 0);  // the system's, because the process may not be dumped
}

TEST_CASE("a process that is killed between two rounds is replaced and costs none") {
  PolicyHost host = lua_host(kWanted);
  REQUIRE(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  const int before = host.process();
  REQUIRE(before > 0);
  REQUIRE(kill(before, SIGKILL) == 0);
  siginfo_t ended{};  // it has ended, and stays the host's to be waited for
  REQUIRE(waitid(P_PID, static_cast<id_t>(before), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  CHECK(host.process() != before);
}

TEST_CASE("a process that is killed in the middle of a round costs that one") {
  PolicyHost host = lua_host(R"(
return {size = function(view)
  while view.n == 2 do end
  return {1}
end})",
                             {.instructions = 200'000'000'000, .wall = Duration::seconds(60)});
  REQUIRE(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  const int before = host.process();
  REQUIRE(before > 0);
  const auto sleeps = [before] { return value_of(line_of(before, "status", "State:")) == "S"; };
  while (!sleeps()) usleep(1'000);  // it waits for the next round
  std::thread killer([before, sleeps] {
    while (sleeps()) usleep(1'000);
    (void)kill(before, SIGKILL);
  });
  const std::string killed = outcome_of(host.ask(waiting_jobs(2, 1), {}));
  killer.join();
  CHECK(killed == "policy.crashed");
  CHECK(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "answered");
  CHECK(host.process() != before);
}

TEST_CASE("a process that is stopped is given up at the deadline") {
  PolicyHost host = lua_host(kWanted, {.wall = Duration::millis(200)});
  std::string first;
  do {  // on a very busy machine the first answer may take longer than the tight bound of this test
    first = outcome_of(host.ask(waiting_jobs(1, 1), {}));
  } while (first == "policy.deadline");
  REQUIRE(first == "answered");
  REQUIRE(host.process() > 0);
  REQUIRE(kill(host.process(), SIGSTOP) == 0);
  CHECK(outcome_of(host.ask(waiting_jobs(1, 1), {})) == "policy.deadline");
}

TEST_CASE("the process dies with its parent") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t parent = fork();
  if (parent == 0) {
    PolicyHost host = lua_host(kWanted);
    const int process = std::holds_alternative<std::uint32_t>(host.load()) ? host.process() : -1;
    (void)!write(pipe_ends[1], &process, sizeof process);
    pause();
    _exit(0);
  }
  REQUIRE(parent > 0);
  int process = 0;
  const ssize_t got = read(pipe_ends[0], &process, sizeof process);
  REQUIRE(kill(parent, SIGKILL) == 0);
  REQUIRE(waitpid(parent, nullptr, 0) == parent);
  REQUIRE(got == static_cast<ssize_t>(sizeof process));
  REQUIRE(process > 0);
  // It is no child of this process, so its end is seen by its absence (or as a zombie that is not reaped yet).
  const auto gone = [&] {
    const std::string state = value_of(line_of(process, "status", "State:"));
    return state.empty() || state == "Z" || state == "X";
  };
  for (int waited = 0; waited < 10'000 && !gone(); ++waited) usleep(1'000);
  CHECK(gone());
  (void)close(pipe_ends[0]);
  (void)close(pipe_ends[1]);
}

TEST_CASE("without the program the fault says what to install") {
  PolicyHost host(policies::host::Source{.bytes = kWanted}, "/no/such/program");
  const auto judged = host.ask(waiting_jobs(1, 1), {});
  CHECK(outcome_of(judged) == "policy.not_started");
  const auto& fault = std::get<policies::host::PolicyFault>(judged);
  CHECK(fault.message.find("install tidepool-policy-host") != std::string::npos);
}

TEST_CASE("thousands of jobs fit into a view, and more than fit are refused") {
  PolicyHost host = lua_host(kWanted);
  CHECK(outcome_of(host.ask(waiting_jobs(10'000, 100), {})) == "answered");
  CHECK(outcome_of(host.ask(waiting_jobs(300'000, 1), {})) == "policy.view_too_large");
  CHECK(outcome_of(host.ask(waiting_jobs(10, 1), {})) == "answered");
  CHECK(outcome_of(host.ask(waiting_jobs(0, 1), {})) == "answered");
}

}  // namespace tidepool::test
