// The daemon's authority for the gateway: checks the certificates of nodes, and signs new ones. Uses the clock of this
// machine.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/time.hpp"
#include "tls/client_certificate.hpp"

namespace tidepool::live {

class NodeAuthority {
 public:
  // `authority` without a certificate: it signs and accepts none.
  NodeAuthority(tls::Identity authority, Duration lifetime) : authority_(std::move(authority)), lifetime_(lifetime) {}

  [[nodiscard]] bool signs() const { return !authority_.chain.empty(); }
  // Of the certificates that it signs.
  [[nodiscard]] Duration lifetime() const { return lifetime_; }

  // The error is for the agent that has shown it.
  [[nodiscard]] Result<tls::Client> check(const std::string& certificate) const;
  [[nodiscard]] bool has_expired(const tls::Client& client) const;
  // For the key of the request, from now on.
  [[nodiscard]] Result<std::string> sign(const std::string& request, const std::string& node) const;

 private:
  tls::Identity authority_;
  Duration lifetime_;
};

}  // namespace tidepool::live
