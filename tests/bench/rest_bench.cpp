// Durable submits per second through REST with 64 clients, against plain SQLite commits of one row each; and the
// median time of GET job, against a bare Beast server that answers a fixed text. Both sides run in this call.
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/bench_daemon.hpp"

namespace {

using namespace tidepool::bench;
namespace net = boost::asio;
namespace http = boost::beast::http;
using net::ip::tcp;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kClients = 64;
constexpr int kSubmitsPerClient = 40;
constexpr int kReads = 3'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print(const char* metric, double value, const char* unit, const char* baseline_name, double baseline) {
  const json line = {{"bench", "rest"},          {"metric", metric},
                     {"value", value},           {"unit", unit},
                     {"baseline", baseline},     {"baseline_name", baseline_name},
                     {"ratio", value / baseline}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// A server with nothing but Beast in it: reads a request, answers a fixed text.
class BareEcho {
 public:
  explicit BareEcho(std::string answer)
      : acceptor_(context_, {net::ip::make_address("127.0.0.1"), 0}), answer_(std::move(answer)) {
    thread_ = std::thread([this] { serve(); });
  }
  BareEcho(const BareEcho&) = delete;
  BareEcho& operator=(const BareEcho&) = delete;
  ~BareEcho() { thread_.join(); }
  [[nodiscard]] unsigned short port() const { return acceptor_.local_endpoint().port(); }

 private:
  void serve() {
    tcp::socket socket = acceptor_.accept();
    socket.set_option(tcp::no_delay(true));
    boost::beast::flat_buffer buffer;
    for (;;) {
      http::request<http::string_body> request;
      boost::system::error_code error;
      http::read(socket, buffer, request, error);
      if (error) return;
      http::response<http::string_body> response{http::status::ok, 11};
      response.set(http::field::content_type, "application/json");
      response.body() = answer_;
      response.prepare_payload();
      http::write(socket, response);
    }
  }

  net::io_context context_;
  tcp::acceptor acceptor_;
  std::string answer_;
  std::thread thread_;
};

double sqlite_commits_per_second() {
  const std::string path = "/tmp/tidepool-bench-" + std::to_string(getpid()) + ".db";
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(id INTEGER PRIMARY KEY, body)",
               nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO t(body) VALUES(zeroblob(600))", -1, &insert, nullptr);
  const auto start = Clock::now();
  int commits = 0;
  while (seconds_since(start) < 2.0) {
    sqlite3_step(insert);
    sqlite3_reset(insert);
    ++commits;
  }
  const double rate = commits / seconds_since(start);
  sqlite3_finalize(insert);
  sqlite3_close(db);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  return rate;
}

double submits_per_second(const Daemon& daemon) {
  const std::string job = R"({"run":{"command":["true"]},"resources":{"gpus_per_worker":1}})";
  std::atomic<int> refused{0};
  std::vector<std::thread> clients;
  const auto start = Clock::now();
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      Client client(daemon.port(), daemon.token());
      for (int n = 0; n < kSubmitsPerClient; ++n) {
        if (client.call("POST", "/v1/jobs", job).status != 201) ++refused;
      }
    });
  }
  for (auto& client : clients) client.join();
  const double seconds = seconds_since(start);
  if (refused > 0) throw std::runtime_error(std::to_string(refused) + " submits were refused; the figure is void");
  return kClients * kSubmitsPerClient / seconds;
}

double read_p50_us(Client& client, const std::string& target) {
  std::vector<double> times;
  for (int i = 0; i < kReads; ++i) {
    const auto start = Clock::now();
    const auto response = client.call("GET", target);
    if (response.status != 200) throw std::runtime_error(target + " answered " + response.body);
    times.push_back(seconds_since(start) * 1e6);
  }
  return median(std::move(times));
}

void run(const std::string& program) {
  const double sqlite_rate = sqlite_commits_per_second();
  Daemon daemon(program);
  print("durable_submits_64_clients", submits_per_second(daemon), "1/s", "sqlite_single_row_commits", sqlite_rate);

  std::string body;
  double get_p50 = 0;
  {
    Client client(daemon.port(), daemon.token());
    body = client.call("GET", "/v1/jobs/job-1").body;
    get_p50 = read_p50_us(client, "/v1/jobs/job-1");
  }
  BareEcho echo(body);
  Client client(echo.port(), "");
  print("get_job_p50", get_p50, "us", "bare_beast_same_bytes", read_p50_us(client, "/"));
}

}  // namespace

int main() {
  const char* folder = std::getenv("TIDEPOOL_BIN_DIR");
  try {
    run(std::string(folder == nullptr ? "build/release/bin" : folder) + "/schedulerd");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rest_bench: %s\n", error.what());
    return 1;
  }
}
