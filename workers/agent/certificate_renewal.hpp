// Renews the node's certificate over the link to the daemon once two thirds of its lifetime have passed by this
// machine's clock. Workers and the link continue; the next link uses the new certificate. The request is repeated until
// the daemon answers. A certificate that cannot be written to disk is used all the same, until the agent ends. Also
// stores the authorities by which the daemon says it will be verified.
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
  // Without an identity nothing is renewed.
  CertificateRenewal(boost::asio::io_context& io, std::filesystem::path state_dir, std::optional<NodeIdentity> identity,
                     Handlers handlers);

  void welcomed();
  void link_closed();
  void take(const api::CertificateIssued& issued);
  // Call for messages of the open link only: a known authority has verified that link, so the daemon may name the next
  // authorities.
  void take(const api::TrustedAuthorities& told);

 private:
  void look_again();
  [[nodiscard]] Status ask_if_due();
  [[nodiscard]] Status keep(NodeIdentity changed);
  void write();

  boost::asio::steady_timer timer_;
  std::filesystem::path state_dir_;
  std::optional<NodeIdentity> identity_;
  bool is_written_ = true;  // if false, writing is tried again at each check
  Handlers handlers_;
};

}  // namespace tidepool::agent
