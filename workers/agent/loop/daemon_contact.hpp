// This node's contact with the daemon across links: the node's address on the link, the name and token that it
// presents, the certificate that is renewed over the link, and the log lines about links that open and close.
//
// A link counts as open only if workers of other nodes could connect to this node's address. Attempts that fail in the
// same way produce one log line. AgentState decides when to connect and what to send.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "api/worker_protocol.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/certificate_renewal.hpp"
#include "workers/agent/daemon_link.hpp"
#include "workers/agent/data_address.hpp"

namespace tidepool::agent {

class DaemonContact {
 public:
  struct Handlers {
    std::function<void()> on_opened;
    std::function<void(api::DaemonToAgent)> on_message;     // all messages except those for the node's certificate
    std::function<void(const std::string& why)> on_closed;  // once per open(), also if it could not connect
  };
  DaemonContact(boost::asio::io_context& io, const AgentOptions& options, Handlers handlers);

  [[nodiscard]] const NodeAddress& address() const { return address_; }

  void open() { link_.open(); }
  void close(const std::string& why) { link_.close(why); }
  void send(const api::AgentToDaemon& message) { link_.send(message); }
  // Adds the node's identity. Closes the link if the token cannot be read.
  void send_hello_once(api::AgentHello hello);
  // Ends the contact permanently: sends what is queued, then closes. False: there is no link.
  [[nodiscard]] bool finish();

 private:
  void on_opened();
  void on_message(api::DaemonToAgent message);
  void on_closed(const std::string& why);

  std::string node_;
  std::filesystem::path token_file_;
  bool has_joined_ = false;
  Handlers handlers_;
  NodeAddress address_;
  DaemonLink link_;
  CertificateRenewal renewal_;
  std::string last_loss_;
  bool finishing_ = false;
};

}  // namespace tidepool::agent
