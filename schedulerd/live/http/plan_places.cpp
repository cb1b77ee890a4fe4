#include "schedulerd/live/http/plan_places.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/words/wording.hpp"
#include "schedulerd/live/service/forecasts.hpp"

namespace tidepool::live::http {
namespace {

// From the one directly under the pool to the tenant, or to the team in it by name. None: of a token of all.
std::vector<std::string> owners_of(const std::string& tenant, const core::TenantsByName& tree) {
  if (tenant.empty()) return {};
  const std::string in_tree = tenant.substr(0, tenant.find('/'));
  std::vector<std::string> owners;
  for (const core::Tenant* above : tree.path_to(in_tree)) owners.push_back(above->name);
  if (owners.empty()) owners.push_back(in_tree);
  if (tenant != in_tree) owners.push_back(tenant);
  return owners;
}

// Of a tenant of the level, 0 for those directly under the pool.
std::size_t places_of(std::size_t level) {
  return level + 2 < kPlansMost ? kPlansMost - 1 - level : 1;
}

Problem too_many(std::string detail) {
  return {.status = 429,
          .code = "TooManyPlans",
          .detail = std::move(detail),
          .hint = "retry once one has been answered, or in a few seconds"};
}

}  // namespace

std::optional<Problem> PlanPlaces::take(const Caller& caller, const core::TenantsByName& tree) {
  if (taken_.contains(caller.token_id)) {
    return too_many("a plan is being made for this token already, and a token has one at a time");
  }
  std::vector<std::string> owners = owners_of(caller.tenant, tree);
  for (std::size_t level = 0; level < owners.size(); ++level) {
    const auto is_below = [&](const auto& entry) {
      return std::find(entry.second.begin(), entry.second.end(), owners[level]) != entry.second.end();
    };
    const auto taken = static_cast<std::size_t>(std::count_if(taken_.begin(), taken_.end(), is_below));
    const std::size_t most = places_of(level);
    if (taken < most) continue;
    const std::string plans = core::counted(static_cast<double>(most), "plan");
    return too_many("tenant " + owners[level] + " and those below it have " + plans +
                    " at a time, which are being made for tokens of theirs");
  }
  taken_.emplace(caller.token_id, std::move(owners));
  return std::nullopt;
}

}  // namespace tidepool::live::http
