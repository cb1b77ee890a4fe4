// A TLS link to another agent, for a thread of its own: each call waits for its end, for a bounded time, and ends early
// when the thread is to stop. Nothing is believed before the handshake has shown the other's certificate.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "tls/stream.hpp"

namespace tidepool::agent {

// What the two say to each other before the frames: objects on lines.
inline constexpr std::size_t kPeerLineMax = 4'096;
inline constexpr JsonLimits kPeerJson{.bytes_max = kPeerLineMax, .depth_max = 2, .values_max = 8};
// How often a thread that waits looks whether it is to stop.
inline constexpr std::chrono::milliseconds kStopPeriod{100};
inline constexpr Duration kPeerPatience = Duration::seconds(30);  // for a byte

class PeerLink {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `host` is an address. The error names the agent that could not be reached.
  [[nodiscard]] static Result<std::unique_ptr<PeerLink>> connect(const std::string& host, int port,
                                                                 const tls::Context& context, std::stop_token stop);
  // `accepted`: a connected socket, which the link owns from here on. The link is in a hurry() from the handshake on.
  [[nodiscard]] static Result<std::unique_ptr<PeerLink>> serve(int accepted, const tls::Context& context,
                                                               std::stop_token stop, Duration within);

  // From now on whatever is waited for must have come within that time, all together; none: each within its own.
  void hurry(std::optional<Duration> within);

  // Fingerprint of the certificate that the other side has shown and proven; empty = none.
  [[nodiscard]] std::string peer_print();

  [[nodiscard]] Status send(std::string_view bytes);
  // At least one byte. `meanwhile` is called again and again while none has come.
  struct Waiting {
    Duration most = kPeerPatience;
    std::function<void()> meanwhile = [] {};
  };
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::byte> into) { return read_some(into, Waiting()); }
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::byte> into, const Waiting& waiting);
  // Without its newline.
  [[nodiscard]] Result<std::string> read_line();

 private:
  explicit PeerLink(std::stop_token stop) : stop_(std::move(stop)) {}
  // Begins what ends with a call of the handler that it is given.
  using Ended = std::function<void(boost::system::error_code, std::size_t)>;
  [[nodiscard]] Result<std::size_t> wait(const std::string& attempt, const std::function<void(Ended)>& begin,
                                         const Waiting& waiting);
  [[nodiscard]] Result<std::size_t> wait(const std::string& attempt, const std::function<void(Ended)>& begin) {
    return wait(attempt, begin, Waiting());
  }

  boost::asio::io_context io_{1};
  std::stop_token stop_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::unique_ptr<Socket> socket_;  // until the handshake
  std::unique_ptr<tls::Stream<Socket>> stream_;
};

}  // namespace tidepool::agent
