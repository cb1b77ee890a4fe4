#include <catch2/catch.hpp>

#include "tests/support/request_shapes.hpp"
#include "tests/support/rest_fixture.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

TEST_CASE("over a socket every ambiguous shape gets one answer and a closed connection") {
  const RestFixture fixture;
  for (const auto& shape : request_shapes()) {
    if (shape.status == 0) continue;
    RawConnection connection(fixture.port);
    connection.send(with_host(shape.bytes, fixture.host));
    const RawResponse response = connection.response();
    INFO(shape.name << ": " << response.status << " " << response.body);
    CHECK(response.status == shape.status);
    const json problem = json::parse(response.body, nullptr, false);
    REQUIRE(problem.is_object());
    CHECK(misfit(problem, "Problem").empty());
    CHECK(problem.at("code") == shape.code);
    CHECK(connection.wait_for_close());
    CHECK(connection.seen().empty());  // nothing was taken for a second request
  }
  CHECK(fixture.service.commands_carried_out() == 0);
}

TEST_CASE("trailers are ignored: they give no token") {
  const RestFixture fixture;
  const std::string head = "POST /v1/jobs HTTP/1.1\r\nHost: " + fixture.host +
                           "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  const std::string body = "2\r\n{}\r\n0\r\nAuthorization: Bearer " + fixture.admin + "\r\n\r\n";
  RawConnection connection(fixture.port);
  connection.send(head + "\r\n" + body);
  CHECK(connection.response().status == 401);
  connection.send(head + "Authorization: Bearer " + fixture.admin + "\r\n\r\n" + body);
  CHECK(connection.response().status == 422);  // {} is a job without anything to run
  connection.send(fixture.request({.path = "/healthz"}));
  CHECK(connection.response().status == 200);  // and the connection is still in step
}

TEST_CASE("a name under which a proxy answers is a good Host as it was given, and so are its pages") {
  auto options = test_options();
  options.http.allowed_hosts = {"Pool.example.org", "pool.example.org:8443"};
  const RestFixture fixture(options);
  for (const auto& [host, status] : {std::pair{"pool.example.org", 200},
                                     {"POOL.example.org:8443", 200},
                                     {"pool.example.org:8444", 421},
                                     {"other.example.org", 421}}) {
    RawConnection connection(fixture.port);
    connection.send(std::string("GET /healthz HTTP/1.1\r\nHost: ") + host +
                    "\r\nOrigin: https://pool.example.org\r\n\r\n");
    INFO(host);
    CHECK(connection.response().status == status);
  }
}

TEST_CASE("each name of this machine's loopback is a good Host, with any port, and other names are not") {
  const RestFixture fixture;
  const std::string port = std::to_string(fixture.port);
  for (const auto& [host, status] : {std::pair{"127.0.0.1:" + port, 200},
                                     {"LocalHost:" + port, 200},
                                     {"[::1]:" + port, 200},
                                     {std::string("127.0.0.1"), 200},
                                     {std::string("localhost:1"), 200},
                                     {"localhost.example.org:" + port, 421},
                                     {"127.0.0.1.example.org:" + port, 421},
                                     {"0.0.0.0:" + port, 421},
                                     {"127.0.0.1:" + port + ".", 421}}) {
    RawConnection connection(fixture.port);
    connection.send("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + fixture.host + "\r\n\r\n");
    INFO(host);
    CHECK(connection.response().status == status);
  }
}

}  // namespace
}  // namespace tidepool::test
