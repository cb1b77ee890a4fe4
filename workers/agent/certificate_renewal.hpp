// Renews the node's certificate over the link to the daemon, once two thirds of its time have passed by this machine's
// clock. Workers and link go on; the new one is shown with the next link. A daemon that does not answer is asked again.
// What cannot be written is used all the same, until the agent ends. Likewise keeps by which authorities the daemon
// says that it is to be known.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <optional>

#include "api/worker_protocol.hpp"
#include "workers/agent/node_identity.hpp"

namespace tidepool::agent {

class CertificateRenewal {
 public:
  struct Handlers {
    std::function<void(const api::CertificateRequest&)> send;
    std::function<void(tls::Context)> use;  // for the next link
  };
  // Without an identity nothing is ever renewed.
  CertificateRenewal(boost::asio::io_context& io, std::filesystem::path state_dir, std::optional<NodeIdentity> identity,
                     Handlers handlers);

  void welcomed();
  void link_closed();
  void take(const api::CertificateIssued& issued);
  // Of the link that is open, which an authority has vouched for that the node knew: it may name the next ones.
  void take(const api::TrustedAuthorities& told);

 private:
  void look_again();
  [[nodiscard]] Status ask_if_due();
  [[nodiscard]] Status keep(NodeIdentity changed);
  void write();

  boost::asio::steady_timer timer_;
  std::filesystem::path state_dir_;
  std::optional<NodeIdentity> identity_;
  bool is_written_ = true;  // else tried again at each look
  Handlers handlers_;
};

}  // namespace tidepool::agent
