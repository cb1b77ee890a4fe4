// One agent's connection: lines in, lines out, in order. Knows the framing and the limits of the
// link; what the lines mean is the gateway's.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "tls/client_certificate.hpp"
#include "tls/stream.hpp"

namespace tidepool::live {

class AgentSession : public std::enable_shared_from_this<AgentSession> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  struct Handlers {
    std::function<void(AgentSession&, api::AgentToDaemon)> on_message;
    std::function<void(AgentSession&, const std::string& why)> on_closed;  // once
  };
  enum class Stage { kHello, kJoining, kLive };

  AgentSession(tls::Stream<Socket> link, SessionNumber number, Handlers handlers)
      : number_(number), link_(std::move(link)), handlers_(std::move(handlers)) {}

  // Agrees on TLS first, if the link has it.
  void start();
  void send(const api::DaemonToAgent& message);
  // Sends what waits, then closes.
  void close_after_sending(std::string why);
  void close(const std::string& why);

  // While an agent is joining, its further lines wait.
  void hold() { held_ = true; }
  void release();

  [[nodiscard]] SessionNumber number() const { return number_; }
  [[nodiscard]] bool secured() const { return link_.secured(); }
  // The certificate that the agent has shown, unchecked; empty = none.
  [[nodiscard]] std::string shown_certificate() { return link_.peer_certificate(); }
  // Of the checked certificate; empty = it has come with the shared token.
  [[nodiscard]] std::string key() const { return certificate ? certificate->key : std::string(); }

  Stage stage = Stage::kHello;
  std::string from;  // whose links are counted together (api::Peer); empty = of the Unix socket
  std::string node_name;
  NodeId node;
  std::string instance;              // of the agent's state directory; empty: an older agent
  bool tells_starts = false;         // as api::AgentHello::starts
  bool follows_authorities = false;  // as api::AgentHello says
  std::int64_t silent_ticks = 0;
  std::optional<tls::Client> certificate;  // with which it has said hello, checked
  std::string request;                     // for a certificate, that waits for an answer

 private:
  void read();
  void handle_lines();
  void write();

  SessionNumber number_;
  tls::Stream<Socket> link_;
  Handlers handlers_;
  api::LineBuffer lines_;
  std::array<char, 65'536> chunk_{};
  std::string waiting_;  // to be written after what is being written, in one go
  std::string writing_;
  std::string why_closing_;
  bool held_ = false;
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace tidepool::live
