// The plans of submissions that are being made, by token and tenant.
//
// Rule: one of a token at a time, and of a tenant with all below it fewer than of the one above it, but always one, so
// that a tenant whose admin makes many tokens leaves a place to others. I/O thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/tenants.hpp"
#include "schedulerd/live/http/authenticator.hpp"
#include "schedulerd/live/http/server/problem.hpp"

namespace tidepool::live::http {

class PlanPlaces {
 public:
  // Takes a place for the caller until it is given back; else why there is none.
  [[nodiscard]] std::optional<Problem> take(const Caller& caller, const core::TenantsByName& tree);
  // The one that the token has taken.
  void give_back(const std::string& token_id) { taken_.erase(token_id); }

 private:
  std::map<std::string, std::vector<std::string>> taken_;  // by token: the tenants on the path to its own
};

}  // namespace tidepool::live::http
