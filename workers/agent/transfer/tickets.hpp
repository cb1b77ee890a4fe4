// Allows another agent to fetch one saved state from this one: a ticket is valid for one use, for a limited time, and
// for the holder of one key. Pure; the caller draws the tickets.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

// Until the ticket must be presented; a transfer may last longer.
inline constexpr Duration kTicketLife = Duration::seconds(60);

struct Grant {
  JobId job;
  std::int64_t step = 0;
  std::string key;  // fingerprint of the certificate that its holder presents
  Instant until;
};

class Tickets {
 public:
  void issue(const std::string& ticket, Grant grant, Instant now);
  // Uses up the ticket, even if it is presented with another key: then it is no longer secret.
  [[nodiscard]] Result<Grant> redeem(const std::string& ticket, const std::string& key, Instant now);

 private:
  std::map<std::string, Grant> open_;
};

}  // namespace tidepool::agent
