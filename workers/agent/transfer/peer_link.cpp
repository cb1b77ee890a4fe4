#include "workers/agent/transfer/peer_link.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

#include "tls/certificate.hpp"
#include "workers/agent/transfer/transfer_key.hpp"

namespace tidepool::agent {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

}  // namespace

Result<std::size_t> PeerLink::wait(const std::string& attempt, const std::function<void(Ended)>& begin,
                                   const Waiting& waiting) {
  // Outlives this call if the operation does.
  struct Outcome {
    bool ended = false;
    error_code error;
    std::size_t bytes = 0;
  };
  const auto outcome = std::make_shared<Outcome>();
  begin([outcome](error_code error, std::size_t bytes) { *outcome = {true, error, bytes}; });
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(waiting.most.count_us());
  while (!outcome->ended) {
    if (stop_.stop_requested()) return io_error("stopped while it was to " + attempt);
    const auto now = std::chrono::steady_clock::now();
    if (deadline_ && now >= *deadline_)
      return io_error("could not " + attempt + " in time: the other side is too slow");
    if (now >= until) return io_error("could not " + attempt + " within " + to_text(waiting.most));
    if (io_.stopped()) io_.restart();
    if (io_.run_one_for(kStopPeriod) == 0) waiting.meanwhile();
  }
  if (outcome->error) return io_error("could not " + attempt + ": " + outcome->error.message());
  return outcome->bytes;
}

Result<std::unique_ptr<PeerLink>> PeerLink::connect(const std::string& host, int port, const tls::Context& context,
                                                    std::stop_token stop) {
  std::unique_ptr<PeerLink> link(new PeerLink(std::move(stop)));
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return invalid_argument("\"" + host + "\" is no address of an agent");
  const asio::ip::tcp::endpoint endpoint(address, static_cast<std::uint16_t>(port));
  const std::string place = host + ":" + std::to_string(port);
  link->socket_ = std::make_unique<Socket>(link->io_);
  const auto connected = link->wait("connect to the agent at " + place, [&](Ended ended) {
    link->socket_->async_connect(endpoint, [ended = std::move(ended)](error_code failed) { ended(failed, 0); });
  });
  if (!connected.ok()) return connected.error();
  link->stream_ = std::make_unique<tls::Stream<Socket>>(std::move(*link->socket_), context);
  const auto agreed = link->wait("agree on TLS with the agent at " + place, [&](Ended ended) {
    link->stream_->async_connect(kTransferHost, [ended = std::move(ended)](error_code failed) { ended(failed, 0); });
  });
  if (!agreed.ok()) return agreed.error();
  return link;
}

Result<std::unique_ptr<PeerLink>> PeerLink::serve(int accepted, const tls::Context& context, std::stop_token stop,
                                                  Duration within) {
  std::unique_ptr<PeerLink> link(new PeerLink(std::move(stop)));
  link->hurry(within);
  link->socket_ = std::make_unique<Socket>(link->io_);
  error_code error;
  link->socket_->assign(asio::ip::tcp::v4(), accepted, error);
  if (error) return io_error("a connection cannot be used: " + error.message());
  link->stream_ = std::make_unique<tls::Stream<Socket>>(std::move(*link->socket_), context);
  const auto agreed = link->wait("agree on TLS with another agent", [&](Ended ended) {
    link->stream_->async_serve([ended = std::move(ended)](error_code failed) { ended(failed, 0); });
  });
  if (!agreed.ok()) return agreed.error();
  return link;
}

void PeerLink::hurry(std::optional<Duration> within) {
  deadline_.reset();
  if (within) deadline_ = std::chrono::steady_clock::now() + std::chrono::microseconds(within->count_us());
}

std::string PeerLink::peer_print() {
  const auto print = tls::fingerprint(stream_->peer_certificate());
  return print.ok() ? *print : std::string();
}

Status PeerLink::send(std::string_view bytes) {
  const auto sent = wait("send to another agent", [&](Ended ended) {
    asio::async_write(*stream_, asio::buffer(bytes.data(), bytes.size()), std::move(ended));
  });
  return sent.ok() ? ok_status() : Status(sent.error());
}

Result<std::size_t> PeerLink::read_some(std::span<std::byte> into, const Waiting& waiting) {
  const auto begin = [&](Ended ended) {
    stream_->async_read_some(asio::buffer(into.data(), into.size()), std::move(ended));
  };
  return wait("hear from another agent", begin, waiting);
}

Result<std::string> PeerLink::read_line() {
  std::string line;
  std::byte next{};
  while (line.size() < kPeerLineMax) {
    const auto got = read_some(std::span(&next, 1));
    if (!got.ok()) return got.error();
    if (next == std::byte{'\n'}) return line;
    line += static_cast<char>(next);
  }
  return invalid_argument("another agent sends a line of more than " + std::to_string(kPeerLineMax) + " bytes");
}

}  // namespace tidepool::agent
