#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <list>
#include <stdexcept>
#include <thread>

#include "tests/support/patience.hpp"
#include "tests/support/rest_fixture.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

std::string post_head(const RestFixture& fixture, const std::string& headers) {
  return "POST /v1/jobs HTTP/1.1\r\nHost: " + fixture.host + "\r\nAuthorization: Bearer " + fixture.admin +
         "\r\nContent-Type: application/json\r\n" + headers + "\r\n";
}

TEST_CASE("a body beyond the limit is refused, announced or not") {
  auto options = test_options();
  options.http.limits.body_bytes = 10'000;
  RestFixture fixture(options);
  RawConnection announced(fixture.port);
  announced.send(post_head(fixture, "Content-Length: 10001\r\n"));
  CHECK(announced.response().status == 413);
  RawConnection chunked(fixture.port);
  chunked.send(post_head(fixture, "Transfer-Encoding: chunked\r\n"));
  for (int i = 0; i < 11; ++i) chunked.send("3e8\r\n" + std::string(1'000, ' ') + "\r\n");
  const auto refused = chunked.response();
  CHECK(refused.status == 413);
  CHECK(json::parse(refused.body).at("code") == "BodyTooLarge");
  CHECK(chunked.wait_for_close());
  RawConnection just_fits(fixture.port);
  just_fits.send(post_head(fixture, "Content-Length: 10000\r\n") + std::string(10'000, ' '));
  CHECK(just_fits.response().status == 400);  // blanks are no JSON, but they were read
}

TEST_CASE("chunk extensions are allowed in small amounts over the whole body") {
  RestFixture fixture;
  const std::string body = R"({"run":{"command":["a"]}})";
  const auto in_chunks = [&](std::size_t extension) {
    std::string chunks;
    for (const char c : body) chunks += "1;" + std::string(extension, 'x') + "\r\n" + c + "\r\n";
    RawConnection connection(fixture.port);
    connection.send(post_head(fixture, "Transfer-Encoding: chunked\r\n") + chunks + "0\r\n\r\n");
    return connection.response().status;
  };
  CHECK(in_chunks(5) == 201);
  CHECK(in_chunks(50) == 400);
}

TEST_CASE("a head that does not come, a body that does not come and an idle connection are ended") {
  auto options = test_options();
  options.http.head_deadline = Duration::millis(100);
  options.http.body_deadline = Duration::millis(100);
  options.http.idle_deadline = Duration::millis(100);
  RestFixture fixture(options);
  RawConnection silent(fixture.port);
  CHECK(silent.wait_for_close());
  RawConnection half_head(fixture.port);
  half_head.send("GET /healthz HT");
  CHECK(half_head.wait_for_close());
  RawConnection half_body(fixture.port);
  half_body.send(post_head(fixture, "Content-Length: 10\r\n") + "{");
  CHECK(half_body.wait_for_close());
  RawConnection idle(fixture.port);
  idle.send(fixture.request({.path = "/healthz"}));
  CHECK(idle.response().status == 200);
  CHECK(idle.wait_for_close());
}

TEST_CASE("a slow head cannot buy time byte by byte") {
  auto options = test_options();
  options.http.head_deadline = Duration::millis(300);
  RestFixture fixture(options);
  RawConnection slow(fixture.port);
  const auto begin = std::chrono::steady_clock::now();
  slow.send("GET /healthz HTTP/1.1\r\nX: ");
  bool closed = false;
  while (!closed && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
    slow.send("a");
    closed = slow.closed_within(20);
  }
  CHECK(closed);
}

TEST_CASE("a connection beyond the cap is answered with 503; when one ends there is room again") {
  auto options = test_options();
  options.http.connections.per_group_here = 3;
  RestFixture fixture(options);
  std::list<RawConnection> held;
  for (int i = 0; i < 3; ++i) {
    auto& connection = held.emplace_back(fixture.port);
    connection.send(fixture.request({.path = "/healthz"}));
    REQUIRE(connection.response().status == 200);
  }
  RawConnection beyond(fixture.port);
  beyond.send(fixture.request({.path = "/healthz"}));
  const auto turned_away = beyond.response();
  CHECK(turned_away.status == 503);
  CHECK(turned_away.headers.at("retry-after") == "5");
  CHECK(turned_away.headers.at("content-type") == "application/problem+json");
  const json problem = json::parse(turned_away.body);
  CHECK(misfit(problem, "Problem").empty());
  CHECK(problem.at("code") == "TooManyConnections");
  CHECK(problem.at("hint").get<std::string>().starts_with("try again in a few seconds"));
  held.front().send(fixture.request({.path = "/metrics", .token = fixture.admin}));
  CHECK(held.front().response().body.find("sched_http_turned_away_total 1") != std::string::npos);
  held.pop_front();
  bool served = false;
  for (int attempt = 0; attempt < 1'000 && !served; ++attempt) {
    RawConnection again(fixture.port);
    again.send(fixture.request({.path = "/healthz"}));
    served = again.response().status == 200;
  }
  CHECK(served);
}

TEST_CASE("a path that is another server's probe is not answered with the dashboard") {
  RestFixture fixture;
  for (const char* path : {"/health", "/ready", "/livez"}) {
    RawConnection connection(fixture.port);
    connection.send(fixture.request({.path = path}));
    const auto response = connection.response();
    CHECK(response.status == 404);
    CHECK(response.body.find("/healthz") != std::string::npos);
  }
  RawConnection page(fixture.port);
  page.send(fixture.request({.path = "/jobs"}));
  CHECK(page.response().status == 200);
}

TEST_CASE("a path of another version or place of the API is not answered with the dashboard") {
  RestFixture fixture;
  for (const char* path : {"/v2/jobs", "/V1/jobs", "/api/v1/jobs", "/v1", "/api"}) {
    INFO(path);
    const json refused = fixture.json_of({.path = path, .token = fixture.admin}, 404);
    CHECK(refused.at("code") == "UnknownPath");
    CHECK(refused.at("hint").get<std::string>().starts_with("GET /v1/openapi.json lists what there is"));
  }
  for (const char* path : {"/", "/v", "/vision", "/apis"}) CHECK(fixture.call({.path = path}).status == 200);
}

TEST_CASE("requests that follow each other on one connection are answered in order") {
  RestFixture fixture;
  RawConnection connection(fixture.port);
  connection.send(fixture.request({.path = "/healthz"}) + fixture.request({.path = "/readyz"}) +
                  fixture.request({.method = "HEAD", .path = "/healthz"}) +
                  fixture.request({.path = "/v1/nothing", .token = fixture.admin}));
  CHECK(json::parse(connection.response().body).at("status") == "alive");
  CHECK(json::parse(connection.response().body).at("status") == "ready");
  const auto head = connection.response(true);
  CHECK(head.status == 200);
  CHECK(connection.response().status == 404);
}

TEST_CASE("Connection: close and HTTP/1.0 end after one answer") {
  RestFixture fixture;
  for (const std::string& request : {"GET /healthz HTTP/1.1\r\nHost: " + fixture.host + "\r\nConnection: close\r\n\r\n",
                                     "GET /healthz HTTP/1.0\r\nHost: " + fixture.host + "\r\n\r\n"}) {
    RawConnection connection(fixture.port);
    connection.send(request);
    CHECK(connection.response().status == 200);
    CHECK(connection.wait_for_close());
  }
}

TEST_CASE("a client that expects a go-ahead gets it, and is refused before it sends too much") {
  RestFixture fixture;
  const std::string body = R"({"run":{"command":["a"]}})";
  RawConnection connection(fixture.port);
  connection.send(
      post_head(fixture, "Expect: 100-continue\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
  CHECK(connection.response().status == 100);
  connection.send(body);
  CHECK(connection.response().status == 201);
  RawConnection large(fixture.port);
  large.send(post_head(fixture, "Expect: 100-continue\r\nContent-Length: 9000000\r\n"));
  CHECK(large.response().status == 413);
}

TEST_CASE("a port that is taken, an address that is none and one that is not loopback are explained") {
  RestFixture fixture;
  EngineService service;
  const auto start = [&](const std::string& address, int port) {
    auto options = test_options();
    options.http.address = address;
    options.http.port = port;
    const auto rest = live::http::Rest::create(service, options);
    auto url = rest->start();
    rest->stop();
    return url.ok() ? std::string("started") : url.error().message;
  };
  CHECK(start("127.0.0.1", fixture.port).find("another program listens on") != std::string::npos);
  CHECK(start("0.0.0.0", 0).find("refused") != std::string::npos);
  CHECK(start("example.org", 0).find("no IP address") != std::string::npos);
  CHECK(start("localhost", 0) == "started");
}

TEST_CASE("work that throws ends alone, and the request that awaits its answer gets status 500") {
  live::http::HttpServer* server = nullptr;
  live::http::HttpServer real(
      {},
      [&](const live::http::HttpRequest& request, const live::http::Responder& responder) {
        server->post([responder, path = request.path] {
          if (path == "/wrong") throw std::runtime_error("planted");
          responder.send({.status = 200, .headers = {}, .body = "well"});
        });
      },
      [](const live::http::Refusal& refusal, const std::string&) {
        return live::http::HttpResponse{.status = refusal.status, .headers = {}, .body = "refused"};
      });
  server = &real;
  const auto url = real.start();
  REQUIRE(url.ok());
  const int port = std::stoi(url->substr(url->rfind(':') + 1));
  const auto ask = [&](const std::string& path) {
    RawConnection connection(port);
    connection.send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n");
    return connection.response().status;
  };
  CHECK(ask("/wrong") == 500);
  CHECK(ask("/right") == 200);
  std::promise<void> came;
  real.after(Duration::millis(1), [] { throw std::runtime_error("planted"); });
  real.after(Duration::millis(20), [&] { came.set_value(); });
  CHECK(came.get_future().wait_for(std::chrono::seconds(20 * patience())) == std::future_status::ready);
  real.stop();
}

TEST_CASE("a reader that takes not even the head of a stream is cut off") {
  live::http::HttpOptions options;
  options.write_deadline = Duration::millis(100);
  std::shared_ptr<live::http::StreamWriter> stream;
  std::promise<void> closed;
  live::http::HttpServer server(
      options,
      [&](const live::http::HttpRequest&, const live::http::Responder& responder) {
        live::http::HttpResponse head{.status = 200, .headers = {}, .body = {}};
        // More than the kernel keeps for a reader.
        for (int i = 0; i < 400; ++i)
          head.headers.emplace_back("X-Long-" + std::to_string(i), std::string(60'000, 'x'));
        stream = responder.stream(std::move(head));
        stream->on_closed([&] { closed.set_value(); });
      },
      [](const live::http::Refusal& refusal, const std::string&) {
        return live::http::HttpResponse{.status = refusal.status, .headers = {}, .body = "refused"};
      });
  const auto url = server.start();
  REQUIRE(url.ok());
  const std::string port = url->substr(url->rfind(':') + 1);
  RawConnection reader(std::stoi(port), 4'096);
  reader.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n");
  CHECK(closed.get_future().wait_for(std::chrono::seconds(20 * patience())) == std::future_status::ready);
  server.stop();
}

TEST_CASE("a slow reader of a large answer gets it whole, and one that is slower than the lowest rate is cut off") {
  constexpr std::size_t kBytes = 16U << 20U;  // of the body, more than the kernel keeps for a reader
  const auto read_slowly = [&](std::int64_t rate_min) {
    live::http::HttpOptions options;
    options.write_deadline = Duration::seconds(3 * patience());
    options.write_rate_min = rate_min;
    live::http::HttpServer server(
        options,
        [&](const live::http::HttpRequest&, const live::http::Responder& responder) {
          responder.send({.status = 200, .headers = {}, .body = std::string(kBytes, 'x')});
        },
        [](const live::http::Refusal& refusal, const std::string&) {
          return live::http::HttpResponse{.status = refusal.status, .headers = {}, .body = "refused"};
        });
    const auto url = server.start();
    REQUIRE(url.ok());
    const std::string port = url->substr(url->rfind(':') + 1);
    RawConnection reader(std::stoi(port));
    reader.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n");
    while (reader.seen().size() <= kBytes && !reader.closed_within(1'000 * patience())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(15) * patience());  // 64 KiB each time: 4 s in all
    }
    server.stop();
    return reader.seen().size() > kBytes;
  };
  CHECK(read_slowly(1'024));
  CHECK_FALSE(read_slowly(1'024 * 1'024 * 1'024));
}

TEST_CASE("a single piece may be larger than what a reader may let wait, and a further one may not") {
  live::http::HttpOptions options;
  options.stream_bytes = 1'000;
  std::vector<std::shared_ptr<live::http::StreamWriter>> streams;
  std::promise<bool> further;
  live::http::HttpServer server(
      options,
      [&](const live::http::HttpRequest& request, const live::http::Responder& responder) {
        streams.push_back(responder.stream({.status = 200, .headers = {}, .body = {}}));
        (void)streams.back()->write(std::string(5'000, 'x') + "the end of it");
        if (request.path == "/two") further.set_value(streams.back()->write(std::string("y")));
      },
      [](const live::http::Refusal& refusal, const std::string&) {
        return live::http::HttpResponse{.status = refusal.status, .headers = {}, .body = "refused"};
      });
  const auto url = server.start();
  REQUIRE(url.ok());
  const std::string port = url->substr(url->rfind(':') + 1);
  const auto ask = [&](const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n";
  };
  RawConnection alone(std::stoi(port));
  alone.send(ask("/one"));
  CHECK(alone.wait_for("the end of it"));
  RawConnection behind(std::stoi(port));
  behind.send(ask("/two"));
  CHECK(behind.wait_for_close());
  CHECK_FALSE(further.get_future().get());
  server.stop();
}

TEST_CASE("stopping ends open streams and does not wait for idle connections") {
  auto options = test_options();
  options.http.stop_patience = Duration::seconds(60);
  auto fixture = std::make_unique<RestFixture>(options);
  RawConnection stream(fixture->port);
  stream.send(fixture->request({.path = "/v1/events/stream", .token = fixture->admin}));
  REQUIRE(stream.wait_for(": stream of events"));
  RawConnection idle(fixture->port);
  const auto begin = std::chrono::steady_clock::now();
  fixture->rest->stop();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(stream.wait_for_close());
  CHECK(idle.wait_for_close());
}

}  // namespace
}  // namespace tidepool::test
