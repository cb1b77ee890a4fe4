#include "schedulerd/live/setup/config.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/state/node_faults.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

ConfigReading read(std::vector<std::string> arguments) {
  return read_config({.arguments = std::move(arguments),
                      .policies = {"autoscaling_engine", "fifo", "fixed"},
                      .detectors = {"change_point", "z_score"},
                      .home = "/home/somebody"});
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

std::string write_file(const test::TemporaryFolder& dir, const std::string& text) {
  std::ofstream(dir / "config.yaml") << text;
  return dir / "config.yaml";
}

}  // namespace

TEST_CASE("without arguments the promised defaults hold") {
  const auto reading = read({});
  REQUIRE(reading.errors.empty());
  CHECK(reading.config.listen.host == "127.0.0.1");
  CHECK(reading.config.listen.port == 7480);
  CHECK(reading.config.state_dir == "/home/somebody/.local/share/tidepool");
  CHECK(reading.config.local_slots == 0);
}

TEST_CASE("a clock that is far off is accepted by a flag alone, so for one start") {
  const test::TemporaryFolder dir;
  CHECK_FALSE(read({}).config.accept_clock);
  CHECK(read({"--accept-clock"}).config.accept_clock);
  CHECK_FALSE(read({"--config", write_file(dir, "accept_clock: true\n")}).errors.empty());
}

TEST_CASE("that the configuration is only to be checked is a flag alone") {
  const test::TemporaryFolder dir;
  CHECK_FALSE(read({}).config.check_config);
  CHECK(read({"--check-config"}).config.check_config);
  CHECK_FALSE(read({"--config", write_file(dir, "check_config: true\n")}).errors.empty());
}

TEST_CASE("amounts are in the currency that the file names, by its three letters") {
  const test::TemporaryFolder dir;
  CHECK(read({}).config.currency == "USD");
  const auto named = read({"--config", write_file(dir, "currency: EUR\n")});
  INFO(joined(named.errors));
  REQUIRE(named.errors.empty());
  CHECK(named.config.currency == "EUR");
  for (const char* wrong : {"eur", "EURO", "\"\""}) {
    const auto refused = read({"--config", write_file(dir, std::string("currency: ") + wrong + "\n")});
    INFO(wrong);
    CHECK(joined(refused.errors).find("/currency: \"") != std::string::npos);
    CHECK(joined(refused.errors).find("is no currency; write its three letters, such as EUR\n") != std::string::npos);
  }
}

TEST_CASE("dev brings four local slots and a fresh state directory") {
  const auto reading = read({"--dev"});
  REQUIRE(reading.errors.empty());
  CHECK(reading.config.local_slots == 4);
  CHECK(reading.config.state_dir.empty());
  CHECK(read({"--dev", "--local-slots", "2"}).config.local_slots == 2);
}

TEST_CASE("the command line goes before the file, the file before the defaults") {
  const test::TemporaryFolder dir;
  const auto path = write_file(dir,
                               "listen: 127.0.0.1:7000\nstate_dir: /from/file\nlocal: {slots: 3, price_per_slot_hour: "
                               "\"2.50\", data_address: eth1, isolation: auto, syscall_filter: off, "
                               "metadata: deny, deny_addresses: [10.9.0.0/16, fd00::1]}\n"
                               "agents: {heartbeat: 200ms, patience: 1s}\nengine: {replace_stragglers: false}\n"
                               "straggler: {detector: z_score}\n");
  const auto reading = read({"--config", path, "--state-dir", "/from/flag"});
  INFO(joined(reading.errors));
  REQUIRE(reading.errors.empty());
  CHECK(reading.config.listen.port == 7000);
  CHECK(reading.config.state_dir == "/from/flag");
  CHECK(reading.config.local_slots == 3);
  CHECK(reading.config.local_price == Money::micros(2'500'000));
  CHECK(reading.config.local_data_address == "eth1");
  CHECK(reading.config.local_isolation == "auto");
  CHECK(reading.config.local_syscall_filter == "off");
  CHECK(reading.config.local_metadata == "deny");
  REQUIRE(reading.config.local_denied.size() == 2);
  CHECK(to_text(reading.config.local_denied[1]) == "fd00::1/128");
  CHECK(reading.config.heartbeat == Duration::millis(200));
  CHECK_FALSE(reading.config.replace_stragglers);
  CHECK(reading.config.detector == "z_score");
}

TEST_CASE("what the local agent denies to its jobs is read strictly, with what to write") {
  const test::TemporaryFolder dir;
  const auto message = [&](const std::string& text) {
    return joined(read({"--config", write_file(dir, "local: {slots: 1, " + text + "}\n")}).errors);
  };
  CHECK_THAT(message("metadata: off"), Catch::Contains("/local/metadata") && Catch::Contains("auto, deny or allow"));
  CHECK_THAT(message("deny_addresses: 10.9.0.0/16"), Catch::Contains("must be a list, such as [10.9.0.0/16]"));
  CHECK_THAT(message("deny_addresses: [10.9.0.1/16]"),
             Catch::Contains("/local/deny_addresses") && Catch::Contains("write 10.9.0.0/16 for the network"));
  for (const char* own : {"", "data_address: 10.9.0.7, ", "data_address: 10.9.1.0/24, "}) {
    CHECK_THAT(message(std::string(own) + "deny_addresses: [127.0.0.0/8, 10.9.0.0/16]"),
               Catch::Contains("/local/deny_addresses") && Catch::Contains("holds the agent's own data address"));
  }
  CHECK_THAT(message("data_address: 10.9.0.7, deny_addresses: [10.9.0.0/16]"),
             Catch::Contains("10.9.0.0/16 holds the agent's own data address 10.9.0.7, at which its workers meet"));
  CHECK(message("data_address: eth0, deny_addresses: [127.0.0.0/8]").empty());
  CHECK(message("data_address: 10.8.0.7, deny_addresses: [127.0.0.0/8, 10.9.0.0/16]").empty());
  std::string many = "10.0.0.0/8";
  for (int more = 0; more < 64; ++more) many += ", 10.0.0.0/8";
  CHECK_THAT(message("deny_addresses: [" + many + "]"), Catch::Contains("has more than 64 networks"));
  CHECK_THAT(message("deny_addresses: [7]"), Catch::Contains("is no IP address or network; write it as"));
}

TEST_CASE("a straggler detector that is not there is refused with those that are") {
  const test::TemporaryFolder dir;
  const auto message = [&](const std::string& text) {
    return joined(read({"--config", write_file(dir, text)}).errors);
  };
  const auto typo = message("straggler: {detector: zscore}\n");
  CHECK(typo.find("/straggler/detector") != std::string::npos);
  CHECK(typo.find("did you mean z_score?") != std::string::npos);
  CHECK(message("straggler: {detector: none}\n").find("there are: change_point, z_score") != std::string::npos);
  CHECK(message("straggler: {detectors: z_score}\n").find("/straggler/detectors") != std::string::npos);
  CHECK(message("straggler: {detector: 7}\n").find("/straggler/detector") != std::string::npos);
}

TEST_CASE("how long and how much of the past is kept is asked for by flag or file, and nonsense is refused") {
  const test::TemporaryFolder dir;
  CHECK(read({}).config.retention == Duration::seconds(30 * 24 * 3'600));
  CHECK(read({}).config.retention_bytes == 0);
  const auto path = write_file(dir, "retention: {age: 7d, size: 512MiB}\n");
  const auto reading = read({"--config", path, "--retention-size", "2GiB"});
  INFO(joined(reading.errors));
  REQUIRE(reading.errors.empty());
  CHECK(reading.config.retention == Duration::seconds(7 * 24 * 3'600));
  CHECK(reading.config.retention_bytes == std::int64_t{2} << 30);
  for (const char* size : {"2", "GiB", "-1GiB", "1MiB", "2TB", "99999999999GiB"}) {
    INFO(size);
    CHECK(joined(read({"--retention-size", size}).errors).find("MiB, GiB or TiB") != std::string::npos);
  }
  CHECK_FALSE(read({"--retention", "soon"}).errors.empty());
}

TEST_CASE("how faults of nodes count is set in the file, and can be off") {
  const test::TemporaryFolder dir;
  const UnsteadyNodes usual = read({}).config.unsteady_nodes;
  const core::NodeDamping damping{usual.half_life, usual.suppress, usual.reuse, usual.longest};
  CHECK(damping == core::kUsualDamping);
  const auto of = [&](const std::string& text) { return read({"--config", write_file(dir, text)}); };
  CHECK(of("unsteady_nodes: off\n").config.unsteady_nodes.half_life == Duration());
  const auto set = of("unsteady_nodes: {half_life: 5m, suppress: 3, reuse: 1, longest: 20m}\n");
  INFO(joined(set.errors));
  REQUIRE(set.errors.empty());
  const UnsteadyNodes asked{
      .half_life = Duration::seconds(300), .suppress = 3, .reuse = 1, .longest = Duration::seconds(1200)};
  CHECK(set.config.unsteady_nodes == asked);
  CHECK(joined(of("unsteady_nodes: {reuse: 2}\n").errors).find("must be below suppress") != std::string::npos);
  CHECK(joined(of("unsteady_nodes: {half_life: 0s}\n").errors).find("unsteady_nodes: off") != std::string::npos);
  CHECK(joined(of("unsteady_nodes: {longest: 1m}\n").errors).find("at least half_life") != std::string::npos);
  CHECK_FALSE(of("unsteady_nodes: {suppres: 3}\n").errors.empty());
  CHECK_FALSE(of("unsteady_nodes: on\n").errors.empty());
}

TEST_CASE("all errors of command line and file are told at once") {
  const test::TemporaryFolder dir;
  const auto path = write_file(dir, "listn: 127.0.0.1:1\npolicy: fifoo\nagents: {patience: soon}\n");
  const auto reading =
      read({"--config", path, "--listen", "0.0.0.0:80", "--local-slots", "many", "--stat-dir", "--log-level", "loud"});
  const auto text = joined(reading.errors);
  INFO(text);
  CHECK(text.find("/listn") != std::string::npos);
  CHECK(text.find("did you mean \"listen\"") != std::string::npos);
  CHECK(text.find("did you mean fifo?") != std::string::npos);
  CHECK(text.find("/agents/patience") != std::string::npos);
  CHECK(text.find("not a loopback address") != std::string::npos);
  CHECK(text.find("--local-slots: many") != std::string::npos);
  CHECK(text.find("--state-dir") != std::string::npos);
  CHECK(text.find("loud is none of") != std::string::npos);
}

TEST_CASE("a section that is no object is refused with what to write in its place") {
  const test::TemporaryFolder dir;
  const auto errors = [&](const std::string& text) { return joined(read({"--config", write_file(dir, text)}).errors); };
  CHECK(errors("tls: true\n")
            .ends_with("config.yaml: /tls: must be an object with named fields; write tls: {} for TLS by the daemon's "
                       "own authority, "
                       "or remove it\n"));
  CHECK(errors("local: 4\n").ends_with("/local: must be an object with named fields; write local: {slots: 4}\n"));
  CHECK(errors("retention: 30d\n").find("write retention: {age: 30d, size: 20GiB}") != std::string::npos);
  CHECK(errors("local_slots: 4\n").find("/local_slots: ") != std::string::npos);
  CHECK(errors("local_slots: 4\n").find("write local: {slots: 4}") != std::string::npos);
  CHECK(read({"--config", write_file(dir, "policy: [a]\n")}).errors.size() == 1);
}

TEST_CASE("an option that is not known is told with the nearest, and once") {
  CHECK(read({"--local-slot", "4"}).errors ==
        std::vector<std::string>{"--local-slot: no such option; did you mean --local-slots?"});
}

TEST_CASE("an unknown policy is refused with the names of the built-in ones, and a file that is not there as missing") {
  const auto unknown = read({"--policy", "mine"});
  REQUIRE(unknown.errors.size() == 1);
  CHECK(unknown.errors[0].find("autoscaling_engine, fifo, fixed") != std::string::npos);
  const auto missing = read({"--policy", "./mine.lua"});
  REQUIRE(missing.errors.size() == 1);
  CHECK(missing.errors[0].find("./mine.lua is not there") != std::string::npos);
  CHECK(read({"--policy", "fifo"}).config.policy == "fifo");
}

TEST_CASE("a missing or broken file is one clear error") {
  CHECK(joined(read({"--config", "/nowhere.yaml"}).errors).find("cannot be read") != std::string::npos);
  const test::TemporaryFolder dir;
  CHECK(joined(read({"--config", write_file(dir, "a: [1,")}).errors).find("not valid YAML") != std::string::npos);
  CHECK(joined(read({"--config", write_file(dir, "- just\n- a list\n")}).errors) != "");
}

TEST_CASE("only loopback addresses may be bound") {
  for (const char* good : {"127.0.0.1:0", "localhost:7480", "[::1]:7480", "127.1.2.3:1"}) {
    CHECK(read({"--listen", good}).errors.empty());
  }
  for (const char* bad : {"0.0.0.0:80", "10.0.0.1:80", "127.0.0.1.example.com:80", "127.0.0.1", ":80",
                          "127.0.0.1:99999", "127.0.0.1:8o", "::1:80", "[::]:80"}) {
    INFO(bad);
    CHECK(read({"--listen", bad}).errors.size() == 1);
  }
}

TEST_CASE("help is text, not an error") {
  const auto reading = read({"--help"});
  REQUIRE(reading.help.has_value());
  CHECK(reading.help->find("--state-dir") != std::string::npos);
  CHECK(reading.errors.empty());
}

TEST_CASE("hosts that a proxy answers under come from the file and from flags, and must be hosts") {
  const test::TemporaryFolder dir;
  const auto reading = read({"--config", write_file(dir, "allowed_hosts: [pool.example.org, \"[fd00::1]:8443\"]\n"),
                             "--allowed-host", "a.example.org", "--allowed-host", "b.example.org:8443"});
  INFO(joined(reading.errors));
  REQUIRE(reading.errors.empty());
  CHECK(reading.config.allowed_hosts ==
        std::vector<std::string>{"pool.example.org", "[fd00::1]:8443", "a.example.org", "b.example.org:8443"});
  CHECK_THAT(joined(read({"--allowed-host", "https://pool.example.org/"}).errors), Catch::Contains("is no host"));
  for (const char* text : {"allowed_hosts: pool.example.org\n", "allowed_hosts: [3]\n", "allowed_hosts: [\"a b\"]\n",
                           "allowed_hosts: [\"a:99999\"]\n", "allowed_hosts: [\"a:\"]\n", "allowed_hosts: [\":80\"]\n",
                           "allowed_hosts: [\"[fd00::1\"]\n"}) {
    INFO(text);
    CHECK_THAT(joined(read({"--config", write_file(dir, text)}).errors), Catch::Contains("/allowed_hosts: "));
  }
}

TEST_CASE("a number where a text belongs, or a lack, is one error, which says how to write it") {
  const test::TemporaryFolder dir;
  const auto refused = [&](const std::string& text) { return read({"--config", write_file(dir, text)}).errors; };
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
           {"listen: 7480\n", "/listen: listen must be a text, such as \"127.0.0.1:7480\""},
           {"agents: {listen: 7481}\n", "/agents/listen: listen must be a text, such as \"127.0.0.1:7480\""},
           {"agents: {patience: 15}\n", "/agents/patience: 15 has no unit; write it as 15s, or with another one"},
           {"engine: {plan_every: 60}\n", "/engine/plan_every: 60 has no unit; write it as 60s, or with another one"},
           {"retention: {age: 30}\n", "/retention/age: 30 has no unit; write it as 30s, or with another one"},
           {"pools: {list: [{name: a, provider: exec, command: [x], slots_per_node: 1, max: 1, price_per_slot_hour: "
            "1}]}\n",
            "/price_per_slot_hour: price_per_slot_hour must be a text, such as \"1.00\" with the quotes"},
           {"pools: {list: [{name: a, provider: exec, slots_per_node: 1, max: 1}]}\n",
            "/command: command is needed: the program that the provider exec runs, as a list of texts"},
           {"tls: {certificate: a.pem}\n", "/tls/key: key is needed: certificate and key are given together"},
           {"local: {price_per_slot_hour: 1.00}\n",
            "/local/price_per_slot_hour: price_per_slot_hour must be a text, such as \"1.00\" with the quotes"}}) {
    const auto errors = refused(text);
    INFO(joined(errors));
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().ends_with(told));
  }
}

TEST_CASE("a configuration that says a thing twice, grows by aliases, is too large or has empty sections is refused") {
  const test::TemporaryFolder dir;
  const auto refused = [&](const std::string& text) {
    return joined(read({"--config", write_file(dir, text)}).errors);
  };
  CHECK_THAT(refused("listen: 127.0.0.1:7000\nlisten: 127.0.0.1:7001\n"), Catch::Contains("appears twice"));
  CHECK_THAT(refused("listen: 127.0.0.1:7000\n---\nlisten: 127.0.0.1:7001\n"), Catch::Contains("second document"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int copy = 0; copy < 8; ++copy) bomb += ", " + before;
    bomb += "]\n";
  }
  CHECK_THAT(refused(bomb), Catch::Contains("more values"));
  CHECK_THAT(refused(std::string((1U << 20U) + 1, '#')), Catch::Contains("larger than 1 MiB"));
  CHECK_THAT(refused("tls:\n"), Catch::Contains("tls: {}"));
  CHECK_THAT(refused("retention:\n"), Catch::Contains("has nothing below it"));
  CHECK(refused("tls: {}\n").empty());
}

}  // namespace tidepool::live
