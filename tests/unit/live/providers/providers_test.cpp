// Providers of nodes: what a program's answer means, and what becomes of one that gives none.
#include <catch2/catch.hpp>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "schedulerd/live/providers/child_run.hpp"
#include "schedulerd/live/providers/provider_table.hpp"
#include "schedulerd/live/setup/pool_config.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

using core::ProviderFault;
using live::ChildEnd;

std::unique_ptr<live::NodeProvider> exec(const std::string& script, std::chrono::milliseconds limit) {
  return live::make_provider("exec", {.pool = "gpu",
                                      .cluster = "c-1",
                                      .command = {"/bin/sh", "-c", script},
                                      .settings = {{"region", "north"}},
                                      .limit = limit});
}
constexpr std::chrono::milliseconds kLong = std::chrono::seconds(60);

// False also of what nothing has reaped yet.
bool lives(pid_t process) {
  for (int i = 0; i < 10'000 && ::kill(process, 0) == 0; ++i) {
    const std::string text = text_of_file("/proc/" + std::to_string(process) + "/status");
    if (text.find("State:\tZ") != std::string::npos) return false;
  }
  return ::kill(process, 0) == 0;
}

ProviderFault fault_of(const std::string& script) {
  const auto made = exec(script, kLong)->create({.request = "c-1-7", .name = "gpu-1", .slots = 2, .slot_type = ""});
  CHECK_FALSE(made.value);
  CHECK_FALSE(made.detail.empty());
  return made.fault;
}

}  // namespace

TEST_CASE("a program is run with its input, and told apart are its end, its silence, its noise and its absence") {
  const auto run = [](const std::string& script, std::chrono::milliseconds limit) {
    return live::run_child({.command = {"/bin/sh", "-c", script}, .input = std::string(300'000, 'x'), .limit = limit});
  };
  const ChildEnd counted = run("wc -c; echo first >&2; echo last words >&2; exit 3", kLong);
  CHECK(counted.how == ChildEnd::How::kExited);
  CHECK(counted.exit_code == 3);
  CHECK(std::stoi(counted.output) == 300'000);
  CHECK(counted.last_error == "last words");
  CHECK(run("cat >/dev/null; yes", kLong).how == ChildEnd::How::kTooMuchOutput);
  CHECK(live::run_child({.command = {"/no/such/program"}, .input = "", .limit = kLong}).how ==
        ChildEnd::How::kNotStarted);
  // What it has started in its turn holds its pipes open and outlives it.
  CHECK(run("setsid sleep 3 & echo done", kLong).output == "done\n");
  CHECK(run("kill -9 $$", kLong).exit_code == 128 + SIGKILL);
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);  // as a library opens it
  REQUIRE(listener > STDERR_FILENO);
  CHECK(run("ls /proc/self/fd/" + std::to_string(listener), kLong).exit_code != 0);
  ::close(listener);
}

TEST_CASE("a program that is not there, or is none, is told at the first list, which a pool asks for when it begins") {
  const auto listed = [](const std::string& program) {
    const auto provider = live::make_provider(
        "exec", {.pool = "gpu", .cluster = "c-1", .command = {program}, .settings = {}, .limit = kLong});
    const auto list = provider->list();
    CHECK_FALSE(list.value);
    CHECK(list.fault == ProviderFault::kRefused);
    return list.detail;
  };
  CHECK(listed("/no/such/program") == "cannot be started: /no/such/program: No such file or directory");
  const TemporaryFolder folder;
  std::ofstream(folder / "notes") << "no program";
  CHECK(listed(folder / "notes") == "cannot be started: " + std::string(folder / "notes") + ": Permission denied");
}

TEST_CASE("a program that hangs is killed with all that it has started, in whatever process group") {
  // timeout(1) makes a group of its own, in which it starts what it is told.
  for (const char* command : {"sleep 600 & echo $! >MARK; wait", "timeout 60 sh -c 'echo $$ >MARK; sleep 60; :'; :",
                              "timeout 60 sh -c 'echo $$ >MARK; sleep 60; :' & wait"}) {
    INFO(command);
    const TemporaryFolder folder;
    const std::string mark = folder / "pid";
    std::string script = command;
    script.replace(script.find("MARK"), 4, mark);
    const ChildEnd end =
        live::run_child({.command = {"/bin/sh", "-c", script}, .input = "", .limit = std::chrono::milliseconds(1500)});
    CHECK(end.how == ChildEnd::How::kTimeout);
    CHECK(end.exit_code == 128 + SIGKILL);
    pid_t child = 0;
    std::ifstream(mark) >> child;
    REQUIRE(child > 0);
    CHECK_FALSE(lives(child));
  }
}

TEST_CASE("what has begun a session of its own outlives the program that hangs") {
  const TemporaryFolder folder;
  const std::string mark = folder / "pid";
  const std::string script = "setsid sh -c 'echo $$ >" + mark + "; exec sleep 60' & wait; sleep 60";
  const ChildEnd end =
      live::run_child({.command = {"/bin/sh", "-c", script}, .input = "", .limit = std::chrono::milliseconds(1500)});
  CHECK(end.how == ChildEnd::How::kTimeout);
  pid_t child = 0;
  std::ifstream(mark) >> child;
  REQUIRE(child > 0);
  CHECK(lives(child));
  ::kill(child, SIGKILL);
}

TEST_CASE("the provider exec passes on what it is asked, and tells refusals, quotas and garbage apart") {
  const auto echo = exec(R"(python3 -c 'import json,sys
call = json.load(sys.stdin)
assert call["version"] == 1 and call["settings"] == {"region": "north"} and call["cluster"] == "c-1"
print(json.dumps({"id": call["action"] + call["request"], "lifetime_s": 60}))')",
                         kLong);
  const auto made = echo->create({.request = "c-1-7", .name = "gpu-1", .slots = 2, .slot_type = "H100"});
  REQUIRE(made.value);
  CHECK(made.value->id == "createc-1-7");
  CHECK(made.value->lifetime == Duration::seconds(60));
  CHECK(fault_of(R"(echo '{"error": {"code": "quota", "message": "no more than 4"}}')") == ProviderFault::kQuota);
  CHECK(fault_of(R"(echo '{"error": {"code": "stock", "message": "none left"}}'; exit 1)") == ProviderFault::kRefused);
  CHECK(fault_of("echo broken >&2; exit 4") == ProviderFault::kRefused);
  CHECK(fault_of("echo '<html>'") == ProviderFault::kGarbage);
  // What a signal has ended may have been done; a shell passes on that of what it ran.
  CHECK(fault_of("kill -TERM $$") == ProviderFault::kGarbage);
  CHECK(fault_of("echo '{\"id\": \"i\"}'; sh -c 'kill -9 $$'; exit $?") == ProviderFault::kGarbage);
  CHECK(fault_of("exit 255") == ProviderFault::kRefused);
  CHECK(fault_of("echo '{\"name\": 4}'") == ProviderFault::kGarbage);
  CHECK(exec("echo '{}'", kLong)->create({.request = "c-1-7"}).detail == "its answer to create: id is needed");
  CHECK(exec("echo '{}'", kLong)->end({.request = "c-1-7", .id = ""}).value);
  CHECK_FALSE(exec("echo '{\"nodes\": [{\"id\": \"i\"}]}'", kLong)->list().value);
  const auto listed = exec(R"(echo '{"nodes": [{"request": "c-1-7", "id": "i-1"}]}')", kLong)->list();
  REQUIRE(listed.value);
  CHECK(listed.value->front().request == "c-1-7");
}

TEST_CASE("what a program says beside an answer is in the log, once as long as it stays the same") {
  std::ostringstream log;
  const auto logger = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  const TemporaryFolder folder;
  const std::string words = folder / "words";
  const auto provider = exec("cat " + words + R"( >&2; echo '{"nodes": []}')", kLong);
  for (const char* text :
       {"first\nimage not found\n", "image not found\n", "", "image not found\n", "no \"memory\"\n"}) {
    std::ofstream(words) << text;
    CHECK(provider->list().value);
  }
  spdlog::set_default_logger(logger);
  std::vector<std::string> told;
  std::istringstream lines(log.str());
  for (std::string line; std::getline(lines, line);) told.push_back(line.substr(line.find("event=")));
  const std::string event = "event=provider_said pool=gpu action=list text=";
  CHECK(told == std::vector<std::string>{event + "\"image not found\"", event + "\"image not found\"",
                                         event + R"("no \"memory\"")"});
}

TEST_CASE("of output that is no JSON it is told what was printed, and the last line of the standard error") {
  const auto told = [](const std::string& script) { return exec(script, kLong)->list().detail; };
  CHECK(told("echo '<html>'; echo broken >&2; echo no quota server >&2") ==
        "its output is no JSON object; it printed \"<html>\"; its standard error ends with \"no quota server\"");
  CHECK(told("true") == "its output is no JSON object; it printed nothing");
  CHECK(told("printf '%0200d\\303' 0") ==
        "its output is no JSON object; it printed \"" + std::string(100, '0') + "...\"");
}

TEST_CASE("a pool's configuration is complete, or every mistake in it is told") {
  const auto read = [](const char* text, std::vector<FieldError>& findings) {
    return live::read_pools(nlohmann::json::parse(text), findings);
  };
  std::vector<FieldError> findings;
  const auto good = read(R"({"list": [{"name": "gpu", "provider": "exec", "command": ["x"], "slots_per_node": 8,
                                       "memory_per_slot": "64GiB", "price_per_slot_hour": "2.50",
                                       "max": 4, "idle": "5m"}]})",
                         findings);
  CHECK(findings.empty());
  REQUIRE(good.pools.size() == 1);
  CHECK(good.pools.front().worth_per_slot_hour == Money::micros(5'000'000));
  CHECK(good.pools.front().idle == Duration::seconds(300));
  CHECK(good.pools.front().memory_per_slot == std::int64_t{64} << 30U);
  (void)read(R"({"spot_share": 2, "list": [
      {"name": "GPU", "provider": "ec2", "slots_per_node": 0, "max": 1, "min": 2, "idle": "0s", "colour": "red"},
      {"name": "s", "provider": "slurm", "slots_per_node": 1, "max": 1, "settings": {"walltime": "1", "start2": "x"}},
      {"name": "s", "provider": "exec", "slots_per_node": 1, "max": 1, "worth_per_slot_hour": "0.10",
       "memory_per_slot": "64GB"}]})",
             findings);
  std::vector<std::string> where;
  for (const auto& finding : findings) where.push_back(finding.pointer);
  for (const char* each :
       {"/pools/spot_share", "/pools/list/0/name", "/pools/list/0/provider", "/pools/list/0/slots_per_node",
        "/pools/list/0/min", "/pools/list/0/idle", "/pools/list/0/colour", "/pools/list/1/settings",
        "/pools/list/2/name", "/pools/list/2/command", "/pools/list/2/worth_per_slot_hour",
        "/pools/list/2/memory_per_slot"}) {
    INFO(each);
    CHECK(std::find(where.begin(), where.end(), each) != where.end());
  }
}

TEST_CASE("a pilot's start is one command, because its script would run no other") {
  const auto told = [](const std::string& start) {
    std::vector<FieldError> findings;
    auto pools = nlohmann::json::parse(R"({"list": [{"name": "s", "provider": "slurm", "slots_per_node": 1, "max": 1,
                                                     "settings": {"walltime": "1"}}]})");
    pools["list"][0]["settings"]["start"] = start;
    (void)live::read_pools(pools, findings);
    return findings.empty() ? std::string() : findings.front().message;
  };
  CHECK(told("agentd join --name {name}\n") == "");
  CHECK(told("agentd join \\\n  --name {name}\n") == "");
  CHECK(told("sh -c '\nmodule load cuda\nexec agentd join'\n") == "");
  CHECK(told("sh -c \"\nmodule load \\\"cuda\\\"\nexec agentd join\"") == "");
  CHECK_THAT(told("module load cuda\nagentd join --name {name}\n"),
             Catch::Contains("several commands, of which only the first would run"));
}

}  // namespace tidepool::test
