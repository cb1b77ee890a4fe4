#include "schedctl/session.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "schedctl/failure.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::ctl {
namespace {

// The environment that resolve_endpoint() reads, for one test.
class Environment {
 public:
  explicit Environment(const std::filesystem::path& home) {
    unsetenv("TIDEPOOL_URL");
    unsetenv("TIDEPOOL_TOKEN");
    setenv("HOME", home.c_str(), 1);
    std::filesystem::create_directories(home / ".local/share/tidepool");
    std::ofstream(home / ".local/share/tidepool/admin.token") << "of-this-machine\n";
  }
};

TEST_CASE("the administrator's token of this machine is never sent to another") {
  const test::TemporaryFolder home;
  const Environment environment(home.path());
  CHECK(resolve_endpoint({}).token == "of-this-machine");
  CHECK(resolve_endpoint({.url = "http://localhost:7480"}).token == "of-this-machine");
  CHECK(resolve_endpoint({.url = "http://[::1]:7480"}).token == "of-this-machine");
  for (const char* url : {"http://192.0.2.1:7480", "http://127.example.org", "http://localhost.example.org",
                          "http://127.0.0.1@example.org", "http://example.org#127.0.0.1", "not a url"}) {
    CAPTURE(url);
    CHECK(resolve_endpoint({.url = url}).token.empty());
  }
  CHECK(resolve_endpoint({.url = "https://192.0.2.1", .token = "given"}).token == "given");
}

TEST_CASE("a token leaves this machine over TLS only") {
  const test::TemporaryFolder home;
  const Environment environment(home.path());
  for (const char* url : {"http://192.0.2.1:7480", "pool.example.org:7480", "http://127.0.0.1@example.org"}) {
    CAPTURE(url);
    CHECK_THROWS_AS(resolve_endpoint({.url = url, .token = "given"}), Failure);
    setenv("TIDEPOOL_TOKEN", "given", 1);
    CHECK_THROWS_AS(resolve_endpoint({.url = url}), Failure);
    unsetenv("TIDEPOOL_TOKEN");
    CHECK(resolve_endpoint({.url = url}).token.empty());
  }
  try {
    static_cast<void>(resolve_endpoint({.url = "pool.example.org:7480", .token = "given"}));
    FAIL("an address without http:// or https:// is taken");
  } catch (const Failure& failure) {
    CHECK(failure.message == "pool.example.org:7480 is no address; write https://HOST:PORT");
  }
  for (const char* url : {"http://127.0.0.1:7480", "http://[::1]:7480", "https://pool.example.org:7480"}) {
    CHECK(resolve_endpoint({.url = url, .token = "given"}).token == "given");
  }
}

TEST_CASE("a reply that is no success carries the daemon's words") {
  const auto words = [](const HttpReply& reply) {
    try {
      require_success(reply);
    } catch (const Failure& failure) {
      CHECK(failure.exit_code == kExitApi);
      return failure.message;
    }
    return std::string();
  };
  CHECK(words({.status = 204}).empty());
  CHECK(words({.status = 404, .body = R"({"title": "No such job"})"}) == "No such job");
  CHECK(words({.status = 500, .body = "[]"}) == "the daemon answered with status 500 and no explanation");
}

TEST_CASE("a URL keeps only unreserved characters") {
  CHECK(escape_url("job-1_a.b~c") == "job-1_a.b~c");
  CHECK(escape_url("a b/\xc3\xa9?") == "a%20b%2F%C3%A9%3F");
}

}  // namespace
}  // namespace tidepool::ctl
