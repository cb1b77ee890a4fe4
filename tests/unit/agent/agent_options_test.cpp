#include "workers/agent/agent_options.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/state_lock.hpp"

namespace tidepool::agent {
namespace {

using Arguments = std::vector<const char*>;

std::variant<AgentOptions, int> parse(Arguments arguments) {
  arguments.insert(arguments.begin(), "agentd");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

void write(const std::filesystem::path& path, const std::string& text, std::filesystem::perms mode) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, mode);
}

}  // namespace

TEST_CASE("the flags that the daemon's starter uses are understood") {
  const auto parsed =
      parse({"--daemon-socket", "/d/agent.sock", "--state-dir", "/s/agent/", "--node", "n1", "--slots", "3",
             "--token-file", "/s/token", "--price", "2.50", "--slot-type", "cpu", "--exit-when-idle", "30s"});
  REQUIRE(std::holds_alternative<AgentOptions>(parsed));
  const auto& options = std::get<AgentOptions>(parsed);
  CHECK(std::get<UnixAddress>(options.daemon).path == "/d/agent.sock");
  CHECK(options.state_dir == "/s/agent");
  CHECK(options.node == "n1");
  CHECK(options.cpu_slots == 3);
  CHECK(options.price_per_slot_hour == "2.50");
  CHECK(options.exit_when_idle == Duration::seconds(30));
  CHECK_FALSE(options.stop_workers);
  CHECK_FALSE(options.lifeline);
}

TEST_CASE("a node that has joined is started again with the options that it was given") {
  const auto parsed =
      parse({"join", "--daemon", "10.0.0.1:7481", "--token=TOKEN", "--name", "a", "--state-dir", "/s", "--slots", "2",
             "--isolation=none", "--notice-command", "test -e '/x y'", "--lifeline", "3", "--anew", "--stop-workers"});
  REQUIRE(std::holds_alternative<AgentOptions>(parsed));
  CHECK(std::get<AgentOptions>(parsed).join->node_options ==
        R"( --slots 2 --isolation=none --notice-command 'test -e '\''/x y'\''' --stop-workers)");
}

TEST_CASE("an option that is not known ends the agent as a wrong command line") {
  for (const Arguments& wrong : {Arguments{"--slot", "2"}, Arguments{"join", "--tokn", "x"}, Arguments{"more"}}) {
    const auto parsed = parse(wrong);
    REQUIRE(std::holds_alternative<int>(parsed));
    CHECK(std::get<int>(parsed) == 2);
  }
}

TEST_CASE("an agent with a lifeline stops its workers at SIGTERM, too") {
  const auto parsed = parse({"--daemon-socket", "/d", "--state-dir", "/s", "--lifeline", "3"});
  REQUIRE(std::holds_alternative<AgentOptions>(parsed));
  CHECK(std::get<AgentOptions>(parsed).lifeline == 3);
  CHECK(std::get<AgentOptions>(parsed).stop_workers);
}

TEST_CASE("each agent of a host keeps states in a folder of memory of its own, by its state folder") {
  const auto options = [](Arguments more) {
    Arguments all{"--daemon-socket", "/d"};
    all.insert(all.end(), more.begin(), more.end());
    return std::get<AgentOptions>(parse(all));
  };
  const AgentOptions whole = options({"--state-dir", "/s"});
  const AgentOptions beside = options({"--state-dir", "/t"});
  const AgentOptions one = options({"--state-dir", "/s/one", "--gpus", "nvidia-h200"});
  const AgentOptions two = options({"--state-dir", "/s/two", "--gpus", "GPU-1,GPU-2"});
  CHECK(two.gpus == "GPU-1,GPU-2");
  if (whole.memory_folder().empty()) return;  // no memory to keep them in
  CHECK(whole.memory_folder() == options({"--state-dir", "/s", "--node", "renamed"}).memory_folder());
  CHECK(beside.memory_folder() != whole.memory_folder());
  CHECK(beside.shared_memory_folder() == whole.shared_memory_folder());
  CHECK(one.memory_folder() != whole.memory_folder());
  CHECK(one.memory_folder() != two.memory_folder());
}

TEST_CASE("isolation is asked for by mode, users and bounds") {
  const auto plain = parse({"--daemon-socket", "/d", "--state-dir", "/s"});
  CHECK(std::get<AgentOptions>(plain).isolation.mode == IsolationOptions::Mode::kAuto);
  CHECK_FALSE(std::get<AgentOptions>(plain).isolation.memory_per_slot);
  const auto parsed = parse({"--daemon-socket", "/d", "--state-dir", "/s", "--isolation", "required", "--job-uids",
                             "5000-5999", "--memory-per-slot", "12GiB", "--processes-per-worker", "64"});
  REQUIRE(std::holds_alternative<AgentOptions>(parsed));
  const IsolationOptions& isolation = std::get<AgentOptions>(parsed).isolation;
  CHECK(isolation.mode == IsolationOptions::Mode::kRequired);
  CHECK(isolation.uids.first == 5000);
  CHECK(isolation.uids.last == 5999);
  CHECK(isolation.memory_per_slot == std::int64_t{12} << 30);
  CHECK(isolation.processes_per_worker == 64);
}

TEST_CASE("the system call filter is on unless it is turned off by name") {
  const Arguments start = {"--daemon-socket", "/d", "--state-dir", "/s"};
  const auto filters = [&](const Arguments& more) {
    Arguments all = start;
    all.insert(all.end(), more.begin(), more.end());
    return std::get<AgentOptions>(parse(all)).isolation.filter_calls;
  };
  CHECK(filters({}));
  CHECK(filters({"--syscall-filter", "on"}));
  CHECK_FALSE(filters({"--syscall-filter", "off"}));
}

TEST_CASE("addresses are denied to jobs by name, one or more, and the metadata's as it is said") {
  const auto isolation = [](const Arguments& more) {
    Arguments all{"--daemon-socket", "/d", "--state-dir", "/s"};
    all.insert(all.end(), more.begin(), more.end());
    return std::get<AgentOptions>(parse(all)).isolation;
  };
  using Metadata = IsolationOptions::Metadata;
  CHECK(isolation({}).metadata == Metadata::kAuto);
  CHECK(isolation({}).denied.empty());
  CHECK(isolation({"--metadata", "deny"}).metadata == Metadata::kDeny);
  CHECK(isolation({"--metadata", "allow"}).metadata == Metadata::kAllow);
  const auto denied = isolation({"--deny-address", "10.9.0.0/16", "--deny-address=fd00::1", "--slots", "2"}).denied;
  REQUIRE(denied.size() == 2);
  CHECK(to_text(denied[0]) == "10.9.0.0/16");
  CHECK(to_text(denied[1]) == "fd00::1/128");
}

TEST_CASE("an agent does not start with its own data address denied to its workers") {
  const auto refusal = [](const Arguments& more) {
    Arguments all{"--state-dir", "/s", "--token-file", "/t"};
    all.insert(all.end(), more.begin(), more.end());
    auto options = std::get<AgentOptions>(parse(all));
    const Status settled = settle_data_address(options);
    return settled.ok() ? "starts with " + options.data_address : settled.error().message;
  };
  CHECK(refusal({"--daemon-socket", "/d", "--data-address", "lo"}) == "starts with 127.0.0.1");
  CHECK_THAT(refusal({"--daemon-socket", "/d", "--data-address", "lo", "--deny-address", "127.0.0.0/8"}),
             Catch::Contains("--deny-address 127.0.0.0/8 holds this node's own data address 127.0.0.1"));
  // Without a word, that of a socket is known, and that of another link not yet.
  CHECK_THAT(refusal({"--daemon-socket", "/d", "--deny-address", "127.0.0.1"}),
             Catch::Contains("--deny-address 127.0.0.1/32 holds this node's own data address 127.0.0.1"));
  CHECK(refusal({"--daemon", "127.0.0.1:7481", "--deny-address", "127.0.0.0/8"}) == "starts with ");
  auto joining = std::get<AgentOptions>(
      parse({"join", "--daemon", "127.0.0.1:7481", "--state-dir", "/s", "--deny-address", "127.0.0.0/8"}));
  CHECK(settle_data_address(joining).ok());
  CHECK_THAT(refusal({"--daemon-socket", "/d", "--data-address", "203.0.113.77"}),
             Catch::Contains("203.0.113.77 is no address of this machine"));
}

TEST_CASE("more networks than the kernel's check takes are refused") {
  Arguments many{"--daemon-socket", "/d", "--state-dir", "/s"};
  for (std::size_t count = 0; count < kDeniedNetworksMax; ++count) many.push_back("--deny-address=10.0.0.0/8");
  CHECK(std::holds_alternative<AgentOptions>(parse(many)));
  many.push_back("--deny-address=10.0.0.0/8");
  REQUIRE(std::holds_alternative<int>(parse(many)));
}

TEST_CASE("a wrong command line ends with exit code 2") {
  const Arguments wrong[] = {
      {},
      {"--state-dir", "/s"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--daemon", "127.0.0.1:1", "--token-file", "/t"},
      {"--state-dir", "/s", "--daemon", "127.0.0.1:7481"},  // a token must go with it
      {"--state-dir", "/s", "--daemon", "127.0.0.1", "--token-file", "/t"},
      {"--state-dir", "/s", "--daemon", "127.0.0.1:99999", "--token-file", "/t"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--slots", "0"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--price", "-1"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--price", "1000000.01"},  // the daemon would refuse the node
      {"--state-dir", "/s", "--daemon-socket", "/d", "--exit-when-idle", "soon"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--slot", "1"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--isolation", "some"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--syscall-filter", "some"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--metadata", "off"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--probe", "1"},  // a place in the list of its words
      {"--state-dir", "/s", "--daemon-socket", "/d", "--deny-address", "10.1.2.3/8"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--deny-address", "10.0.0.0/8", "10.1.0.0/16"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--slots", "2", "--gpus", "nvidia-h200"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--job-uids", "0-99"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--job-uids", "3000-2000"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--memory-per-slot", "12GB"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--lifeline", "2"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-file", "/n", "--notice-command", "false"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-period", "1s"},  // of nothing
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-file", "/n", "--notice-period", "0s"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-file", "/n", "--notice-lead", "soon"},
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-url", "http://10.0.0.1/"},  // beyond this machine
      {"--state-dir", "/s", "--daemon-socket", "/d", "--notice-url", "https://169.254.169.254/"},
  };
  for (const auto& arguments : wrong) {
    const auto parsed = parse(arguments);
    REQUIRE(std::holds_alternative<int>(parsed));
    CHECK(std::get<int>(parsed) == 2);
  }
}

TEST_CASE("one source of notices is named, with how often it is looked at") {
  const auto parsed = parse({"--state-dir", "/s", "--daemon-socket", "/d", "--notice-url",
                             "http://169.254.169.254/latest/meta-data/spot/instance-action", "--notice-period", "2s",
                             "--notice-lead", "90s"});
  REQUIRE(std::holds_alternative<AgentOptions>(parsed));
  const NoticeOptions& notice = std::get<AgentOptions>(parsed).notice;
  CHECK(notice.source == NoticeOptions::Source::kUrl);
  CHECK(notice.where == "http://169.254.169.254/latest/meta-data/spot/instance-action");
  CHECK(notice.period == Duration::seconds(2));
  CHECK(notice.lead == Duration::seconds(90));
}

TEST_CASE("an address may name an IPv6 host in brackets") {
  const auto address = parse_tcp_address("[::1]:7481");
  REQUIRE(address.ok());
  CHECK(address->host == "::1");
  CHECK(address->port == "7481");
}

TEST_CASE("a token that others can read is refused, with what to do") {
  const test::TemporaryFolder folder;
  using std::filesystem::perms;
  write(folder / "good", "secret\n", perms::owner_read | perms::owner_write);
  write(folder / "open", "secret\n", perms::owner_read | perms::owner_write | perms::group_read);
  write(folder / "empty", "\n", perms::owner_read);
  CHECK(read_token(folder / "good").value() == "secret");
  CHECK(read_token("").value().empty());
  CHECK_THAT(read_token(folder / "open").error().message, Catch::Contains("chmod 600"));
  CHECK_THAT(read_token(folder / "empty").error().message, Catch::Contains("is empty"));
  CHECK_THAT(read_token(folder / "none").error().message, Catch::Contains("No such file"));
}

TEST_CASE("one state directory has one agent, and the second is told the pid of the first") {
  const test::TemporaryFolder folder;
  auto first = lock_state_dir(folder / "agent");
  REQUIRE(first.ok());
  const auto second = lock_state_dir(folder / "agent");
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kConflict);
  CHECK_THAT(second.error().message, Catch::Contains("pid " + std::to_string(::getpid())));
  CHECK_THAT(second.error().message, Catch::EndsWith("; stop it first, or choose another --state-dir"));
  first->reset();
  CHECK(lock_state_dir(folder / "agent").ok());
}

TEST_CASE("a GPU is offered by one agent of its host, and the second is told the pid of the first and what to do") {
  const test::TemporaryFolder folder;
  auto first = lock_gpus(folder / "gpus", {"GPU-a", "MIG-GPU-b/1/0"});
  REQUIRE(first.ok());
  CHECK(lock_gpus(folder / "gpus", {"GPU-b", "MIG-GPU-b/2/0"}).ok());
  const auto second = lock_gpus(folder / "gpus", {"GPU-c", "MIG-GPU-b/1/0"});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kConflict);
  CHECK_THAT(second.error().message, Catch::Contains("(pid " + std::to_string(::getpid()) + ") offers MIG-GPU-b/1/0") &&
                                         Catch::Contains("--gpus"));
  CHECK(lock_gpus(folder / "gpus", {"GPU-c"}).ok());  // what was taken before the conflict is free again
  first->clear();
  CHECK(lock_gpus(folder / "gpus", {"MIG-GPU-b/1/0"}).ok());
}

}  // namespace tidepool::agent
