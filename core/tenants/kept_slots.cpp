#include "core/tenants/kept_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/tenants/entitlement.hpp"
#include "core/tenants/tenant_nodes.hpp"

namespace tidepool::core {
namespace {

// The tree as the newest plan found it, to compute what one tenant would have in it.
class SharesIfLent {
 public:
  // None: there is no such tenant, or a policy file's claims divide the pool.
  static std::optional<SharesIfLent> of(const ClusterState& state, const std::string& tenant) {
    const TenantPlaces places = places_of(*state.tenants);
    const auto place = places.find(tenant);
    const bool by_claims = state.deployment.answer && !state.deployment.answer->claims.empty();
    if (place == places.end() || by_claims) return std::nullopt;
    return SharesIfLent(state, places, place->second);
  }

  [[nodiscard]] int share() const { return entitlements(nodes_, slots_)[at_]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // The lend setting of a tenant that keeps part of its guarantee.
  [[nodiscard]] std::optional<int> lend(std::size_t node) const {
    const std::optional<int> lend = nodes_[node].lend;
    return lend && *lend < nodes_[node].guarantee ? lend : std::nullopt;
  }
  void lend_all(std::size_t node) { nodes_[node].lend.reset(); }

 private:
  SharesIfLent(const ClusterState& state, const TenantPlaces& places, std::size_t at)
      : nodes_(nodes_as_planned(state, places)), slots_(slots_to_share(state)), at_(at) {}

  std::vector<TenantNode> nodes_;
  int slots_;
  std::size_t at_;  // of the tenant
};

}  // namespace

int slots_kept_from(const ClusterState& state, const std::string& tenant) {
  std::optional<SharesIfLent> shares = SharesIfLent::of(state, tenant);
  if (!shares) return 0;
  const int share = shares->share();
  for (std::size_t node = 0; node < shares->size(); ++node) shares->lend_all(node);
  return std::max(0, shares->share() - share);
}

std::vector<Keeper> keepers_from(const ClusterState& state, const std::string& tenant, const TenantFilter& passes) {
  std::vector<Keeper> keepers;
  std::optional<SharesIfLent> shares = SharesIfLent::of(state, tenant);
  if (!shares) return keepers;
  int share = shares->share();
  for (std::size_t node = 0; node < shares->size(); ++node) {
    const std::optional<int> lend = shares->lend(node);
    const std::string& name = state.tenants->tenants[node].name;
    if (!lend || !passes(name)) continue;
    shares->lend_all(node);
    const int more = shares->share() - share;
    share += more;
    if (more > 0) keepers.push_back({.tenant = name, .lend = *lend, .slots = more});
  }
  return keepers;
}

}  // namespace tidepool::core
