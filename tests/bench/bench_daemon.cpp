#include "tests/bench/bench_daemon.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace tidepool::bench {

namespace net = boost::asio;
namespace http = boost::beast::http;

struct Client::Connection {
  net::io_context context;
  net::ip::tcp::socket socket{context};
  boost::beast::flat_buffer buffer;
  std::string token;
  Headers headers;
  std::string host;
};

Client::Client(unsigned short port, std::string token, Headers headers) : connection_(std::make_unique<Connection>()) {
  connection_->token = std::move(token);
  connection_->headers = std::move(headers);
  connection_->host = "127.0.0.1:" + std::to_string(port);
  connection_->socket.connect({net::ip::make_address("127.0.0.1"), port});
  connection_->socket.set_option(net::ip::tcp::no_delay(true));
}

Client::~Client() = default;

Answer Client::call(const std::string& method, const std::string& target, const std::string& body) {
  http::request<http::string_body> request{http::string_to_verb(method), target, 11};
  request.set(http::field::host, connection_->host);
  if (!connection_->token.empty()) request.set(http::field::authorization, "Bearer " + connection_->token);
  for (const auto& [name, value] : connection_->headers) request.set(name, value);
  if (!body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = body;
  request.prepare_payload();
  http::write(connection_->socket, request);
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);  // a page of 500 jobs is larger than the default allows
  http::read(connection_->socket, connection_->buffer, parser);
  auto response = parser.release();
  return {.status = response.result_int(), .body = std::move(response.body())};
}

Daemon::Daemon(std::string program, std::vector<std::string> arguments)
    : program_(std::move(program)), arguments_(std::move(arguments)) {
  start();
}

Daemon::~Daemon() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

void Daemon::kill_and_restart() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  start();
}

void Daemon::start() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const std::string log = folder_ / "log";
    if (std::freopen(log.c_str(), "w", stderr) == nullptr) _exit(126);
    std::vector<std::string> words = {"schedulerd", "--listen", "127.0.0.1:0"};
    const bool is_temporary = std::find(arguments_.begin(), arguments_.end(), "--dev") != arguments_.end();
    if (!is_temporary) words.insert(words.end(), {"--state-dir", state_dir()});
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(program_.c_str(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  read_ready_line(ends[0]);
  close(ends[0]);
}

void Daemon::read_ready_line(int fd) {
  std::string line;
  char c = 0;
  while (read(fd, &c, 1) == 1 && c != '\n') line += c;
  if (!line.starts_with("ready ")) throw std::runtime_error("schedulerd did not start:\n" + log_text());
  const auto ready = nlohmann::json::parse(line.substr(6));
  const auto url = ready.at("url").get<std::string>();
  port_ = static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
  token_ = ready.value("token", "");  // with --dev
  if (!ready.contains("token_file")) return;
  std::ifstream file(ready.at("token_file").get<std::string>());
  std::getline(file, token_);
}

std::string Daemon::log_text() const {
  std::ifstream log(folder_ / "log");
  return {std::istreambuf_iterator<char>(log), {}};
}

}  // namespace tidepool::bench
