#include "schedulerd/live/http/server/request_validator.hpp"

#include <catch2/catch.hpp>

#include "tests/support/request_shapes.hpp"

namespace tidepool::live::http {
namespace {

const std::vector<std::string> kHosts = {"127.0.0.1:7480", "localhost:7480", "[::1]:7480"};

// All that the server does with a head: scan, read, check, split the target.
std::optional<Refusal> judge(const std::string& bytes, RequestHead* head = nullptr) {
  const HttpLimits limits;
  const auto scanned = scan_head(bytes, limits);
  if (const auto* refusal = std::get_if<Refusal>(&scanned)) return *refusal;
  REQUIRE(std::get<std::size_t>(scanned) > 0);
  const auto read = read_head(std::string_view(bytes).substr(0, std::get<std::size_t>(scanned)), limits);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  if (head != nullptr) *head = std::get<RequestHead>(read);
  if (auto refusal = check_head(std::get<RequestHead>(read), kHosts, limits)) return refusal;
  const auto target = read_target(std::get<RequestHead>(read).target);
  if (const auto* refusal = std::get_if<Refusal>(&target)) return *refusal;
  return std::nullopt;
}

TEST_CASE("every ambiguous shape of a request has its one outcome") {
  int in_head = 0;
  for (const auto& shape : test::request_shapes()) {
    const auto refusal = judge(test::with_host(shape.bytes, "localhost:7480"));
    INFO(shape.name);
    if (shape.status == 0 || !shape.in_head) {
      if (refusal) UNSCOPED_INFO(refusal->code << ": " << refusal->message);
      CHECK(!refusal);
      continue;
    }
    ++in_head;
    REQUIRE(refusal);
    CHECK(refusal->status == shape.status);
    CHECK(refusal->code == shape.code);
    CHECK(!refusal->message.empty());
  }
  CHECK(in_head >= 45);
}

TEST_CASE("an ordinary request is read with its values") {
  RequestHead head;
  const auto refusal = judge(
      "POST /v1/jobs?dry_run=true HTTP/1.1\r\nHost: LOCALHOST:7480\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
      "Content-Length: 2\r\nOrigin: http://localhost:7480\r\nX-Thing: \t a b \r\n\r\n{}",
      &head);
  if (refusal) UNSCOPED_INFO(refusal->message);
  REQUIRE(!refusal);
  CHECK(head.method == "POST");
  CHECK(head.content_length == 2);
  CHECK(!head.chunked);
  CHECK(head.first("x-thing") == "a b");
}

TEST_CASE("a forwarded port of loopback is good for its own pages, and an unknown Host hears which are known") {
  const auto judged = [](const std::string& host, const std::string& origin) {
    return judge("GET /v1/jobs HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + origin + "\r\n\r\n");
  };
  CHECK_FALSE(judged("localhost:9000", "localhost:9000"));
  CHECK(judged("localhost:9000", "localhost:9001"));
  const auto refusal = judged("example.org:7480", "example.org:7480");
  REQUIRE(refusal);
  CHECK(refusal->status == 421);
  CHECK(refusal->message.starts_with("this server answers for 127.0.0.1, localhost and [::1] only, "));
  CHECK(refusal->message.find("tls: {names: [NAME]}") != std::string::npos);
  CHECK(refusal->message.find("allowed_hosts: [NAME]") != std::string::npos);
  // A daemon of a loopback address has some names twice: its listener's and its certificate's.
  RequestHead head;
  head.version = 11;
  head.headers = {{"host", "example.org"}};
  const auto twice = check_head(head, {"gpu:7480", "localhost:7480", "gpu:7480"}, {});
  REQUIRE(twice);
  CHECK(twice->message.starts_with("this server answers for gpu:7480, 127.0.0.1, localhost and [::1] only, "));
}

TEST_CASE("the daemon's own pages may call it over TLS, too, and other sites by neither scheme") {
  const auto judged = [](const std::string& origin) {
    return judge("GET /v1/jobs HTTP/1.1\r\nHost: localhost:7480\r\nOrigin: " + origin + "\r\n\r\n");
  };
  CHECK_FALSE(judged("https://localhost:7480"));
  for (const char* foreign :
       {"https://localhost:7481", "https://localhost", "https://example.org", "ws://localhost:7480"}) {
    const auto refusal = judged(foreign);
    REQUIRE(refusal);
    CHECK(refusal->code == "ForeignOrigin");
  }
}

TEST_CASE("a head may come in pieces, and is complete at its empty line") {
  const std::string whole = "GET / HTTP/1.1\r\nHost: localhost:7480\r\n\r\n";
  const HttpLimits limits;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto scanned = scan_head(std::string_view(whole).substr(0, size), limits);
    REQUIRE(std::holds_alternative<std::size_t>(scanned));
    CHECK(std::get<std::size_t>(scanned) == 0);
  }
  CHECK(std::get<std::size_t>(scan_head(whole + "GET /next", limits)) == whole.size());
}

TEST_CASE("the head's limit counts to the byte") {
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost:7480\r\nX: ";
  const std::string fits = start + std::string(8'192 - start.size() - 4, 'a') + "\r\n\r\n";
  REQUIRE(fits.size() == 8'192);
  CHECK(!judge(fits));
  const auto refusal = judge(start + std::string(8'192 - start.size() - 3, 'a') + "\r\n\r\n");
  REQUIRE(refusal);
  CHECK(refusal->status == 431);
}

TEST_CASE("sixty-four headers are allowed and sixty-five are not") {
  const auto with = [](int count) {
    std::string bytes = "GET / HTTP/1.1\r\nHost: localhost:7480\r\n";
    for (int i = 1; i < count; ++i) bytes += "A" + std::to_string(i) + ": b\r\n";
    return bytes + "\r\n";
  };
  CHECK(!judge(with(64)));
  REQUIRE(judge(with(65)));
  CHECK(judge(with(65))->status == 431);
}

TEST_CASE("a target is decoded once") {
  const auto read = read_target("/v1/jobs/job%2D1?state=running%2Cpending&tenant=a+b&flag");
  REQUIRE(std::holds_alternative<RequestTarget>(read));
  const auto& target = std::get<RequestTarget>(read);
  CHECK(target.path == "/v1/jobs/job-1");
  CHECK(target.query.at("state") == "running,pending");
  CHECK(target.query.at("tenant") == "a b");
  CHECK(target.query.at("flag").empty());
  const auto twice = read_target("/v1/%2541");
  REQUIRE(std::holds_alternative<RequestTarget>(twice));
  CHECK(std::get<RequestTarget>(twice).path == "/v1/%41");
}

}  // namespace
}  // namespace tidepool::live::http
