// How the daemon comes to its certificate: from its own authority, which stays, or from files; and what it refuses.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "schedulerd/live/setup/given_certificate.hpp"
#include "schedulerd/live/setup/server_tls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

std::string write_text(const std::string& path, const std::string& text, mode_t mode = 0600) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
  return path;
}

ConfigReading read(const test::TemporaryFolder& folder, const std::string& text, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--config", write_text((folder / "config.yaml").string(), text)});
  return read_config({.arguments = std::move(more), .policies = {"fifo"}, .detectors = {}, .home = "/home/x"});
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("a bind beyond loopback needs TLS, wherever that is asked for") {
  const test::TemporaryFolder folder;
  const std::string open = "agents: {listen: '10.0.0.1:7481'}\n";
  const auto refused = joined(read(folder, open, {"--listen", "0.0.0.0:7480"}).errors);
  CHECK(refused.find("0.0.0.0 is not a loopback address") != std::string::npos);
  CHECK(refused.find("agents.listen: 10.0.0.1 is not a loopback address") != std::string::npos);
  CHECK(refused.find("--tls") != std::string::npos);
  CHECK(read(folder, open, {"--listen", "0.0.0.0:7480", "--tls"}).errors.empty());
  const auto by_file = read(folder, open + "tls: {names: [pool.example.org, 10.9.9.9]}\n");
  REQUIRE(by_file.errors.empty());
  CHECK(by_file.config.tls->names == std::vector<std::string>{"pool.example.org", "10.9.9.9"});
  CHECK(read(folder, open + "tls: {}\n").errors.empty());
  CHECK_FALSE(read(folder, "").config.tls);
}

TEST_CASE("what the configuration says of TLS is whole or refused") {
  const test::TemporaryFolder folder;
  CHECK(joined(read(folder, "tls: {key: k.pem}\n").errors).find("/tls/certificate") != std::string::npos);
  CHECK(joined(read(folder, "tls: {certificate: c.pem}\n").errors).find("/tls/key") != std::string::npos);
  CHECK(joined(read(folder, "tls: {ca: c.pem}\n").errors).find("/tls/ca") != std::string::npos);
  CHECK(joined(read(folder, "tls: {names: pool}\n").errors).find("/tls/names") != std::string::npos);
  CHECK(joined(read(folder, "tls: {names: [7]}\n").errors).find("/tls/names") != std::string::npos);
  CHECK(joined(read(folder, "tls: {nmaes: []}\n").errors).find("/tls/nmaes") != std::string::npos);
}

TEST_CASE("the authority is made once, private to the owner, and a half of it is refused") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  Config config;
  CHECK(prepare_tls(config, *state, std::time(nullptr)).value().context == nullptr);
  CHECK_FALSE(std::filesystem::exists(state->file("tls")));
  config.tls.emplace();
  config.tls->names = {"pool.example.org"};
  const auto first = prepare_tls(config, *state, std::time(nullptr));
  REQUIRE(first.ok());
  CHECK(first->context != nullptr);
  CHECK(first->ca_file == state->file("tls/ca.pem"));
  for (const char* name : {"pool.example.org", "localhost", "127.0.0.1", "::1"}) CHECK(has(first->names, name));
  const auto mode = [&](const std::string& name) { return std::filesystem::status(state->file(name)).permissions(); };
  using std::filesystem::perms;
  CHECK(mode("tls") == perms::owner_all);
  for (const char* name : {"tls/ca.pem", "tls/ca.key"}) CHECK(mode(name) == (perms::owner_read | perms::owner_write));
  CHECK(prepare_tls(config, *state, std::time(nullptr)).value().ca_fingerprint == first->ca_fingerprint);

  std::filesystem::permissions(state->file("tls/ca.key"), perms::owner_all | perms::others_read);
  CHECK(prepare_tls(config, *state, std::time(nullptr)).error().message.find("chmod 600") != std::string::npos);
  const auto other =
      tls::make_authority("other", {.from_unix_s = std::time(nullptr) - 1, .until_unix_s = std::time(nullptr) + 60});
  std::filesystem::permissions(state->file("tls/ca.key"), perms::owner_read | perms::owner_write);
  std::filesystem::rename(state->file("tls/ca.key"), folder / "ca.key");
  write_text(state->file("tls/ca.key"), other->key);
  CHECK(prepare_tls(config, *state, std::time(nullptr)).error().message.find("do not belong") != std::string::npos);
  std::filesystem::remove(state->file("tls/ca.key"));
  const auto half = prepare_tls(config, *state, std::time(nullptr));
  REQUIRE_FALSE(half.ok());
  CHECK(half.error().message.find("bring it back") != std::string::npos);
  std::filesystem::rename(folder / "ca.key", state->file("tls/ca.key"));
  std::filesystem::rename(state->file("tls/ca.pem"), folder / "ca.pem");
  const auto other_half = prepare_tls(config, *state, std::time(nullptr));
  REQUIRE_FALSE(other_half.ok());
  CHECK(other_half.error().message.find("ca.pem is missing") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(state->file("tls/ca.pem")));
}

TEST_CASE("an authority that cannot be looked for is not taken for one that is missing") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  write_text(state->file("tls"), "a file in the folder's place");
  Config config;
  config.tls.emplace();
  const auto refused = prepare_tls(config, *state, std::time(nullptr));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kInvalidArgument);
  CHECK(refused.error().message.starts_with("cannot read " + state->file("tls/ca.pem") + ": "));
}

TEST_CASE("a name that is none is refused, and a given certificate is used with its key and authority") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  Config config;
  config.tls.emplace();
  config.tls->names = {"no name"};
  CHECK(prepare_tls(config, *state, std::time(nullptr)).error().message.find("tls.names") != std::string::npos);

  const std::int64_t now = std::time(nullptr);
  const auto authority = tls::make_authority("site", {.from_unix_s = now - 1, .until_unix_s = now + 3'600}).value();
  const auto given =
      tls::issue_server(authority, {"pool.example.org"}, {.from_unix_s = now - 1, .until_unix_s = now + 60}).value();
  config.tls = TlsConfig{.names = {"pool.example.org"},
                         .certificate = write_text((folder / "server.pem").string(), given.chain),
                         .key = write_text((folder / "server.key").string(), given.key),
                         .ca = write_text((folder / "ca.pem").string(), authority.chain)};
  const auto made = prepare_tls(config, *state, now);
  REQUIRE(made.ok());
  CHECK(made->ca_fingerprint == tls::fingerprint(authority.chain).value());
  CHECK(made->ca_file == config.tls->ca);
  const auto late = prepare_tls(config, *state, now + 61);
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().message.find(config.tls->certificate + " has expired") != std::string::npos);
  CHECK(prepare_tls(config, *state, now - 60).error().message.find("not valid yet") != std::string::npos);
  CHECK(tls::covered_names(given.chain, {"pool.example.org", "localhost", "127.0.0.1"}).value() ==
        std::vector<std::string>{"pool.example.org"});
  ::chmod(config.tls->key.c_str(), 0644);
  CHECK(prepare_tls(config, *state, now).error().message.find("tls.key") != std::string::npos);
  ::chmod(config.tls->key.c_str(), 0600);
  config.tls->certificate = "/nowhere.pem";
  CHECK(prepare_tls(config, *state, now)
            .error()
            .message.find("tls.certificate: cannot read /nowhere.pem: No such file") != std::string::npos);
}

TEST_CASE("given files are checked without a state directory: whether the key is that of the certificate, too") {
  const test::TemporaryFolder folder;
  const std::int64_t now = std::time(nullptr);
  Config config;
  CHECK(check_given_files(config, now).ok());
  config.tls.emplace();
  CHECK(check_given_files(config, now).ok());
  const auto authority = tls::make_authority("site", {.from_unix_s = now - 1, .until_unix_s = now + 3'600}).value();
  const auto issued = [&] {
    return tls::issue_server(authority, {"a.example"}, {.from_unix_s = now - 1, .until_unix_s = now + 60}).value();
  };
  const auto first = issued();
  config.tls = TlsConfig{.names = {},
                         .certificate = write_text((folder / "server.pem").string(), first.chain),
                         .key = write_text((folder / "server.key").string(), first.key),
                         .ca = ""};
  CHECK(check_given_files(config, now).ok());
  CHECK(check_given_files(config, now + 61).error().message.find("has expired") != std::string::npos);
  write_text(config.tls->key, issued().key);
  const Status other_key = check_given_files(config, now);
  REQUIRE_FALSE(other_key.ok());
  CHECK(other_key.error().message.starts_with("tls.certificate and tls.key: "));
}

TEST_CASE("a renewed certificate is shown within a minute, and what cannot be shown leaves the one before") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  const std::int64_t now = std::time(nullptr);
  const auto authority = tls::make_authority("site", {.from_unix_s = now - 1, .until_unix_s = now + 3'600}).value();
  const auto issued = [&](std::int64_t ends_in) {
    return tls::issue_server(authority, {"a.example"}, {.from_unix_s = now - 1, .until_unix_s = now + ends_in}).value();
  };
  const auto first = issued(600);
  Config config;
  config.tls = TlsConfig{.names = {"a.example"},
                         .certificate = write_text((folder / "server.pem").string(), first.chain),
                         .key = write_text((folder / "server.key").string(), first.key),
                         .ca = write_text((folder / "ca.pem").string(), authority.chain)};
  const auto made = prepare_tls(config, *state, now);
  REQUIRE(made.ok());
  GivenCertificate shown(*config.tls, made->names, made->given, {made->context, made->agents});
  const std::string before = shown.chain();
  CHECK(before.starts_with(first.chain));
  CHECK(shown.end_unix_s() == now + 600);
  shown.tend(now);

  const auto second = issued(900);
  write_text(config.tls->certificate, second.chain);
  shown.tend(now + 60);
  CHECK(shown.chain() == before);  // its key is not there yet
  write_text(config.tls->key, second.key);
  shown.tend(now + 61);
  CHECK(shown.chain() == before);  // read once a minute
  shown.tend(now + 120);
  CHECK(shown.chain().starts_with(second.chain));
  CHECK(shown.end_unix_s() == now + 900);

  const std::string renewed = shown.chain();
  write_text(config.tls->certificate, "none");
  shown.tend(now + 180);
  std::filesystem::remove(config.tls->key);
  shown.tend(now + 240);
  CHECK(shown.chain() == renewed);
  write_text(config.tls->key, first.key);
  write_text(config.tls->certificate, first.chain);
  shown.tend(now + 660);  // that one has ended
  CHECK(shown.chain() == renewed);
  shown.tend(now + 100);  // the clock was put back, before its end
  CHECK(shown.chain() == before);
}

TEST_CASE("a new authority is known by its fingerprint from then on, and a file that is none changes nothing") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  const std::int64_t now = std::time(nullptr);
  const auto make = [&](const char* name) {
    return tls::make_authority(name, {.from_unix_s = now - 1, .until_unix_s = now + 3'600}).value();
  };
  const auto issued = [&](const tls::Identity& authority) {
    return tls::issue_server(authority, {"a.example"}, {.from_unix_s = now - 1, .until_unix_s = now + 900}).value();
  };
  const auto old_authority = make("old");
  const auto first = issued(old_authority);
  Config config;
  config.tls = TlsConfig{.names = {"a.example"},
                         .certificate = write_text((folder / "server.pem").string(), first.chain),
                         .key = write_text((folder / "server.key").string(), first.key),
                         .ca = write_text((folder / "ca.pem").string(), old_authority.chain)};
  const auto made = prepare_tls(config, *state, now);
  REQUIRE(made.ok());
  GivenCertificate shown(*config.tls, made->names, made->given, {made->context, made->agents});
  CHECK(shown.ca_fingerprint() == tls::fingerprint(old_authority.chain).value());

  write_text(config.tls->ca, "none");
  shown.tend(now);
  CHECK(shown.ca_fingerprint() == made->ca_fingerprint);
  const auto new_authority = make("new");
  const auto second = issued(new_authority);
  write_text(config.tls->certificate, second.chain);
  write_text(config.tls->key, second.key);
  write_text(config.tls->ca, new_authority.chain);
  shown.tend(now + 60);
  CHECK(shown.ca_fingerprint() == tls::fingerprint(new_authority.chain).value());
}

TEST_CASE("while one authority replaces another both are given, and the certificate decides which one it is") {
  const test::TemporaryFolder folder;
  const auto state = StateDir::open((folder / "state").string());
  REQUIRE(state.ok());
  const std::int64_t now = std::time(nullptr);
  const auto make = [&](const char* name) {
    return tls::make_authority(name, {.from_unix_s = now - 1, .until_unix_s = now + 3'600}).value();
  };
  const auto old_authority = make("old");
  const auto new_authority = make("new");
  const std::string old_known = tls::fingerprint(old_authority.chain).value();
  const std::string new_known = tls::fingerprint(new_authority.chain).value();
  Config config;
  config.tls = TlsConfig{.names = {"a.example"},
                         .certificate = (folder / "server.pem").string(),
                         .key = (folder / "server.key").string(),
                         .ca = write_text((folder / "ca.pem").string(), old_authority.chain)};
  const auto put_certificate_of = [&](const tls::Identity& authority) {
    const auto made =
        tls::issue_server(authority, {"a.example"}, {.from_unix_s = now - 1, .until_unix_s = now + 900}).value();
    write_text(config.tls->certificate, made.chain.substr(0, made.chain.find("-----BEGIN", 1)));
    write_text(config.tls->key, made.key);
  };
  put_certificate_of(old_authority);
  const auto made = prepare_tls(config, *state, now);
  REQUIRE(made.ok());
  CHECK(made->authorities == std::vector{old_known});
  GivenCertificate shown(*config.tls, made->names, made->given, {made->context, made->agents});
  CHECK_FALSE(shown.tend(now));
  const std::string before = shown.chain();

  put_certificate_of(new_authority);  // too early: clients that know the old one alone would be cut off
  CHECK_FALSE(shown.tend(now + 60));
  CHECK(shown.chain() == before);
  const auto refused = prepare_tls(config, *state, now);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("comes from no authority in " + config.tls->ca) != std::string::npos);

  put_certificate_of(old_authority);
  write_text(config.tls->ca, new_authority.chain + old_authority.chain);
  CHECK(shown.tend(now + 120));
  CHECK(shown.authorities() == std::vector{new_known, old_known});
  CHECK(shown.ca_fingerprint() == old_known);
  put_certificate_of(new_authority);
  CHECK_FALSE(shown.tend(now + 180));
  CHECK(shown.ca_fingerprint() == new_known);
  write_text(config.tls->ca, new_authority.chain);
  CHECK(shown.tend(now + 240));
  CHECK(shown.authorities() == std::vector{new_known});
}

}  // namespace tidepool::live
