// One connection that carries lines both ways, over TCP, with or without TLS, or a Unix socket. Everything runs on the
// thread of its io_context. Nothing is called after on_closed. A peer that does not read is disconnected instead of
// buffering without limit.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "api/worker_protocol.hpp"
#include "tls/stream.hpp"

namespace tidepool::agent {

class LineStream : public std::enable_shared_from_this<LineStream> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Stream = tls::Stream<Socket>;
  struct Handlers {
    std::function<void(const std::string& line)> on_line;
    std::function<void(const std::string& why)> on_closed;  // once, and never from inside send() or close()
  };

  // `stream` is connected, with the TLS handshake done if it uses TLS; `unsent_max` bounds the bytes that wait for the
  // peer, `line_max` the bytes of a line that the peer sends.
  LineStream(Stream stream, std::size_t unsent_max, std::size_t line_max = api::kLineBytesMax);

  void start(Handlers handlers);
  void send(std::string line);
  // Sends what is queued, then closes.
  void finish(std::string why);
  // Sends what is queued, then shuts down the sending side; what the peer still sends is read.
  void finish_sending();
  void close(std::string why);
  [[nodiscard]] Socket& socket() { return stream_.next_layer(); }

 private:
  void read_more();
  void write_more();
  void flushed();

  Stream stream_;
  std::size_t unsent_max_;
  Handlers handlers_;
  api::LineBuffer incoming_;
  std::array<char, 16'384> buffer_{};
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::string finish_why_;
  bool finishing_ = false;
  bool half_closing_ = false;
  bool closed_ = false;
};

}  // namespace tidepool::agent
