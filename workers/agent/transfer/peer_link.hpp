// A TLS link to another agent, for use in a thread of its own: each call blocks until it completes, for a bounded time,
// and ends early when the thread must stop. Nothing is trusted before the handshake has shown the other side's
// certificate.
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

// The messages before the frames: objects on lines.
inline constexpr std::size_t kPeerLineMax = 4'096;
inline constexpr JsonLimits kPeerJson{.bytes_max = kPeerLineMax, .depth_max = 2, .values_max = 8};
// How often a waiting thread checks whether it must stop.
inline constexpr std::chrono::milliseconds kStopPeriod{100};
inline constexpr Duration kPeerPatience = Duration::seconds(30);  // for a byte

class PeerLink {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `host` is an address. The error names the agent that could not be reached.
  [[nodiscard]] static Result<std::unique_ptr<PeerLink>> connect(const std::string& host, int port,
                                                                 const tls::Context& context, std::stop_token stop);
  // `accepted`: a connected socket, which the link owns from now on. hurry() applies from the handshake on.
  [[nodiscard]] static Result<std::unique_ptr<PeerLink>> serve(int accepted, const tls::Context& context,
                                                               std::stop_token stop, Duration within);

  // Everything that is awaited from now on must arrive within that time in total; none: each wait has its own limit.
  void hurry(std::optional<Duration> within);

  // Fingerprint of the certificate that the other side presented and proved; empty = none.
  [[nodiscard]] std::string peer_print();

  [[nodiscard]] Status send(std::string_view bytes);
  // Reads at least one byte. `meanwhile` is called repeatedly while none has arrived.
  struct Waiting {
    Duration most = kPeerPatience;
    std::function<void()> meanwhile = [] {};
  };
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::byte> into) { return read_some(into, Waiting()); }
  [[nodiscard]] Result<std::size_t> read_some(std::span<std::byte> into, const Waiting& waiting);
  // Returns the line without its newline.
  [[nodiscard]] Result<std::string> read_line();

 private:
  explicit PeerLink(std::stop_token stop) : stop_(std::move(stop)) {}
  // Starts an operation that ends by calling the handler it was given.
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
