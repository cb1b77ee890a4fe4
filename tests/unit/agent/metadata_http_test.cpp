// Notices from a metadata service, by a real HTTP server on loopback.
#include "workers/agent/notice/metadata_http.hpp"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/support/patience.hpp"
#include "workers/agent/notice/notice_source.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using Seen = NoticeLook::Seen;

// Answers each request with what `answer` says of its head; an empty answer keeps the client waiting.
class Server {
 public:
  using Answer = std::function<std::string(const std::string& head)>;
  explicit Server(Answer answer) : answer_(std::move(answer)), thread_([this] { serve(); }) {}
  ~Server() {
    ends_ = true;
    boost::system::error_code ignored;
    asio::ip::tcp::socket last(io_);
    last.connect(acceptor_.local_endpoint(), ignored);  // so that accept() returns
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + path;
  }
  [[nodiscard]] std::string heads() {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  void serve() {
    while (true) {
      boost::system::error_code failed;
      asio::ip::tcp::socket socket(io_);
      acceptor_.accept(socket, failed);
      if (ends_) return;
      std::string head;
      asio::read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n", failed);
      const std::string answer = answer_(head);
      {
        const std::lock_guard lock(mutex_);
        heads_ += head;
      }
      if (answer.empty()) {
        waiting_.push_back(std::move(socket));
        continue;
      }
      asio::write(socket, asio::buffer(answer), failed);
    }
  }

  Answer answer_;
  std::atomic<bool> ends_ = false;
  std::mutex mutex_;
  std::string heads_;
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::vector<asio::ip::tcp::socket> waiting_;
  std::thread thread_;
};

std::string reply(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

NoticeLook look(const Server& server) {
  return look_at_url(server.url("/latest/meta-data/spot/instance-action"), std::chrono::seconds(20) * test::patience());
}

}  // namespace

TEST_CASE("200 is a notice with its text, 404 is none, and what fails says neither") {
  const std::string action = R"({"action":"terminate","time":"2026-11-20T22:02:00Z"})";
  Server aws([&](const std::string&) { return reply("200 OK", action); });
  CHECK(look(aws).seen == Seen::kNotice);
  CHECK(look(aws).text == action);
  CHECK(aws.heads().starts_with("GET /latest/meta-data/spot/instance-action HTTP/1.0\r\n"));
  Server none([](const std::string&) { return reply("404 Not Found", "nothing"); });
  CHECK(look(none).seen == Seen::kNone);
  Server broken([](const std::string&) { return reply("500 Internal Server Error", "{}"); });
  CHECK(look(broken).seen == Seen::kUnknown);
  Server strange([](const std::string&) { return std::string("220 mail.example.org\r\n\r\n"); });
  CHECK(look(strange).seen == Seen::kUnknown);
  Server without_length([](const std::string&) { return std::string("HTTP/1.0 200 OK\r\n\r\nTRUE"); });
  CHECK(look(without_length).text == "TRUE");
}

TEST_CASE("of a service that answers TRUE or FALSE the latter is no notice, and it gets the header that it wants") {
  std::atomic<bool> preempted = false;
  Server gcp([&](const std::string& head) {
    if (head.find("Metadata-Flavor: Google\r\n") == std::string::npos) return reply("403 Forbidden", "");
    return reply("200 OK", preempted ? "TRUE" : "FALSE");
  });
  CHECK(look(gcp).seen == Seen::kNone);
  preempted = true;
  CHECK(look(gcp).seen == Seen::kNotice);
}

TEST_CASE("a service that wants a session token is asked for one") {
  Server aws([](const std::string& head) {
    if (head.starts_with("PUT /latest/api/token ")) return reply("200 OK", "secret==");
    const bool knows = head.find("X-aws-ec2-metadata-token: secret==\r\n") != std::string::npos;
    return knows ? reply("404 Not Found", "") : reply("401 Unauthorized", "");
  });
  CHECK(look(aws).seen == Seen::kNone);
  CHECK(aws.heads().find("X-aws-ec2-metadata-token-ttl-seconds: 60\r\n") != std::string::npos);
}

TEST_CASE("a service that does not answer is not waited for beyond the limit") {
  Server silent([](const std::string&) { return std::string(); });
  const NoticeLook none = look_at_url(silent.url(), std::chrono::milliseconds(200));
  CHECK(none.seen == Seen::kUnknown);
  CHECK_THAT(none.text, Catch::Contains("no answer in time"));
  std::string gone;
  {
    const Server ended([](const std::string&) { return std::string(); });
    gone = ended.url();
  }
  CHECK(look_at_url(gone, std::chrono::seconds(20)).seen == Seen::kUnknown);
}

TEST_CASE("only addresses of the machine itself are taken, since plain HTTP proves nothing of others") {
  const auto url = parse_metadata_url("http://169.254.169.254/latest?x=1");
  REQUIRE(url.ok());
  CHECK(url->host == "169.254.169.254");
  CHECK(url->port == 80);
  CHECK(url->path == "/latest?x=1");
  CHECK(parse_metadata_url("http://[fd00:ec2::254]/latest")->host == "fd00:ec2::254");
  CHECK(parse_metadata_url("http://[::1]:8080")->port == 8080);
  CHECK(parse_metadata_url("http://[::1]:8080")->path == "/");
  for (const char* wrong : {"http://10.0.0.1/", "http://[2001:db8::1]/", "http://metadata.google.internal/",
                            "https://169.254.169.254/", "http:///x", "http://169.254.169.254:0/",
                            "http://169.254.169.254:http/", "http://169.254.169.254/a b", "169.254.169.254"}) {
    INFO(wrong);
    CHECK_FALSE(parse_metadata_url(wrong).ok());
  }
}

}  // namespace tidepool::agent
