#include "tests/support/raw_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>

#include "base/check.hpp"

namespace tidepool::test {
namespace {

constexpr int kPatienceMs = 10'000;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lowered;
}

}  // namespace

RawConnection::RawConnection(int port, int receive_buffer) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  TP_CHECK(socket_ >= 0, "a test gets a socket");
  if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  closed_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0;
}

RawConnection::~RawConnection() {
  ::close(socket_);
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return !closed_;
}

bool RawConnection::read_more(int patience_ms) {
  if (closed_) return false;
  pollfd waiting{socket_, POLLIN, 0};
  if (::poll(&waiting, 1, patience_ms) <= 0) return false;
  std::array<char, 65'536> bytes{};
  const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    closed_ = true;
    return false;
  }
  seen_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

bool RawConnection::wait_for(std::string_view text) {
  while (seen_.find(text) == std::string::npos) {
    if (!read_more(kPatienceMs)) return false;
  }
  return true;
}

bool RawConnection::wait_for_close() {
  while (read_more(kPatienceMs)) {
  }
  return closed_;
}

bool RawConnection::closed_within(int milliseconds) {
  read_more(milliseconds);
  return closed_;
}

// Joins the chunks that begin at `from` and takes everything up to their end out of seen_.
std::string RawConnection::take_chunks(std::size_t from) {
  std::string body;
  for (;;) {
    std::size_t line_end = seen_.find("\r\n", from);
    while (line_end == std::string::npos && read_more(kPatienceMs)) line_end = seen_.find("\r\n", from);
    if (line_end == std::string::npos) return body;
    std::size_t size = 0;
    std::from_chars(seen_.data() + from, seen_.data() + line_end, size, 16);
    while (seen_.size() < line_end + 2 + size + 2 && read_more(kPatienceMs)) {
    }
    body += seen_.substr(line_end + 2, size);
    from = std::min(seen_.size(), line_end + 2 + size + 2);
    if (size == 0) break;
  }
  seen_.erase(0, from);
  return body;
}

RawResponse RawConnection::response(bool head_request) {
  RawResponse response;
  if (!wait_for("\r\n\r\n")) return response;
  const std::size_t head_end = seen_.find("\r\n\r\n") + 4;
  const std::string head = seen_.substr(0, head_end);
  std::from_chars(head.data() + 9, head.data() + 12, response.status);
  for (std::size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const std::size_t end = head.find("\r\n", at);
    const std::string line = head.substr(at, end - at);
    const auto colon = line.find(':');
    response.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = end + 2;
  }
  if (response.headers.contains("transfer-encoding") && !head_request) {
    response.body = take_chunks(head_end);
    return response;
  }
  const auto length = response.headers.find("content-length");
  const std::size_t size = length == response.headers.end() || head_request ? 0 : std::stoul(length->second);
  while (seen_.size() < head_end + size && read_more(kPatienceMs)) {
  }
  response.body = seen_.substr(head_end, size);
  seen_.erase(0, std::min(seen_.size(), head_end + size));
  return response;
}

}  // namespace tidepool::test
