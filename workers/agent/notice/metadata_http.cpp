#include "workers/agent/notice/metadata_http.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number_text.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kReplyMax = 64U << 10U;
constexpr int kUnauthorized = 401;

bool is_own_machine(const asio::ip::address& address) {
  if (address.is_loopback()) return true;
  if (address.is_v4()) return (address.to_v4().to_uint() >> 16U) == 0xA9FEU;  // 169.254.0.0/16
  return address.to_v6().is_link_local() || address == asio::ip::make_address("fd00:ec2::254");
}

// The value of a header, if present; `name` in lower case.
std::optional<std::string> header_of(std::string_view head, std::string_view name) {
  std::string lower(head);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = lower.find("\r\n" + std::string(name) + ":");
  if (at == std::string::npos) return std::nullopt;
  const auto begin = lower.find_first_not_of(' ', at + name.size() + 3);
  return lower.substr(begin, lower.find("\r\n", begin) - begin);
}

// Whether the reply is complete by its Content-Length; without that header it ends with the connection.
bool is_whole(const std::string& reply) {
  const auto head = reply.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const auto length = header_of(std::string_view(reply).substr(0, head + 2), "content-length");
  std::size_t bytes = 0;
  if (!length || std::from_chars(length->data(), length->data() + length->size(), bytes).ec != std::errc{})
    return false;
  return reply.size() >= head + 4 + bytes;
}

std::optional<MetadataReply> read_reply(const std::string& reply) {
  const auto head = reply.find("\r\n\r\n");
  if (head == std::string::npos || !reply.starts_with("HTTP/1.") || reply.size() < 12) return std::nullopt;
  MetadataReply result;
  if (std::from_chars(reply.data() + 9, reply.data() + 12, result.status).ec != std::errc{}) return std::nullopt;
  result.body = reply.substr(head + 4);
  return result;
}

// Connects, sends the request and reads to the end, in a run of its own that the deadline ends.
class Exchange {
 public:
  Exchange(const MetadataUrl& url, std::string request) : url_(url), request_(std::move(request)) {}

  Result<MetadataReply> run(Clock::time_point deadline) {
    const asio::ip::tcp::endpoint to(asio::ip::make_address(url_.host), url_.port);
    socket_.async_connect(to, [this](error_code failed) { failed ? end(failed) : write(); });
    io_.run_until(deadline);
    const std::string where = "the metadata service at " + url_.host;
    if (!ended_) return Error{ErrorCode::kUnavailable, where + " gives no answer in time"};
    if (failure_) return Error{ErrorCode::kUnavailable, where + " cannot be asked: " + failure_.message()};
    auto reply = read_reply(reply_);
    if (!reply) return Error{ErrorCode::kUnavailable, where + " does not answer as an HTTP server does"};
    return *std::move(reply);
  }

 private:
  void write() {
    asio::async_write(socket_, asio::buffer(request_),
                      [this](error_code failed, std::size_t) { failed ? end(failed) : read(); });
  }
  void read() {
    const auto goes_on = [this](error_code failed, std::size_t) {
      return failed || is_whole(reply_) ? std::size_t{0} : std::size_t{4096};
    };
    asio::async_read(socket_, asio::dynamic_buffer(reply_, kReplyMax), goes_on, [this](error_code failed, std::size_t) {
      end(failed == asio::error::eof ? error_code() : failed);
    });
  }
  void end(error_code failed) {
    ended_ = true;
    failure_ = failed;
  }

  const MetadataUrl& url_;
  std::string request_;
  std::string reply_;
  bool ended_ = false;
  error_code failure_;
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
};

Result<MetadataReply> ask(const MetadataUrl& url, const std::string& line, const std::string& headers,
                          Clock::time_point deadline) {
  const std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  const std::string port = url.port == 80 ? "" : ":" + std::to_string(url.port);
  return Exchange(url, line + " HTTP/1.0\r\nHost: " + host + port + "\r\n" + headers + "Connection: close\r\n\r\n")
      .run(deadline);
}

}  // namespace

Result<MetadataUrl> parse_metadata_url(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  const auto wrong = [&] { return invalid_argument("\"" + text + "\" is not http://ADDRESS[:PORT]/PATH"); };
  if (!text.starts_with(kScheme)) return wrong();
  const auto slash = std::min(text.find('/', kScheme.size()), text.size());
  std::string host = text.substr(kScheme.size(), slash - kScheme.size());
  MetadataUrl url{.host = {}, .port = 80, .path = slash == text.size() ? "/" : text.substr(slash)};
  if (std::any_of(url.path.begin(), url.path.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; })) {
    return wrong();
  }
  const auto colon = host.find(']') == std::string::npos ? host.find(':') : host.find(':', host.find(']'));
  if (colon != std::string::npos) {
    url.port = parse_number<std::uint16_t>(host.substr(colon + 1)).value_or(0);
    if (url.port == 0) return wrong();
    host.resize(colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed || !is_own_machine(address)) {
    return invalid_argument("\"" + host + "\" is no link-local address such as 169.254.169.254");
  }
  url.host = host;
  return url;
}

Result<MetadataReply> get_metadata(const MetadataUrl& url, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  const std::string line = "GET " + url.path;
  auto reply = ask(url, line, "Metadata-Flavor: Google\r\n", deadline);
  if (!reply.ok() || reply->status != kUnauthorized) return reply;
  const auto token =
      ask(url, "PUT /latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 60\r\nContent-Length: 0\r\n", deadline);
  if (!token.ok() || token->status != 200 || token->body.find_first_of("\r\n") != std::string::npos) return reply;
  return ask(url, line, "X-aws-ec2-metadata-token: " + token->body + "\r\n", deadline);
}

}  // namespace tidepool::agent
