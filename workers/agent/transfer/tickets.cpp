#include "workers/agent/transfer/tickets.hpp"

#include <utility>

namespace tidepool::agent {

void Tickets::issue(const std::string& ticket, Grant grant, Instant now) {
  std::erase_if(open_, [&](const auto& entry) { return entry.second.until <= now; });
  grant.until = now + kTicketLife;
  open_.insert_or_assign(ticket, std::move(grant));
}

Result<Grant> Tickets::redeem(const std::string& ticket, const std::string& key, Instant now) {
  auto found = open_.extract(ticket);
  if (found.empty()) return invalid_argument("the ticket is not one of this agent, or has been used");
  Grant grant = std::move(found.mapped());
  if (grant.until <= now) return invalid_argument("the ticket is older than " + to_text(kTicketLife));
  if (grant.key != key) return invalid_argument("the ticket is for an agent with another key");
  return grant;
}

}  // namespace tidepool::agent
