// What lets another agent fetch one saved state from this one: a ticket for one use, for a while, and for the holder of
// one key. Pure; tickets are drawn by the caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

inline constexpr Duration kTicketLife = Duration::seconds(60);  // until it must be shown; a transfer may last longer

struct Grant {
  JobId job;
  std::int64_t step = 0;
  std::string key;  // fingerprint of the certificate that its holder shows
  Instant until;
};

class Tickets {
 public:
  void issue(const std::string& ticket, Grant grant, Instant now);
  // Uses the ticket up, also when it is shown with another key: then it is no secret any more.
  [[nodiscard]] Result<Grant> redeem(const std::string& ticket, const std::string& key, Instant now);

 private:
  std::map<std::string, Grant> open_;
};

}  // namespace tidepool::agent
