#include "studies/tenant_split.hpp"

#include <algorithm>
#include <vector>

#include "base/digest.hpp"
#include "base/rng.hpp"
#include "base/word_list.hpp"
#include "core/facts/tenant_facts.hpp"

namespace tidepool::sim {
namespace {

struct Leaf {
  std::string name;
  std::uint64_t share = 1;
};

std::string unit_of(const SimJob& job, const std::string& unit) {
  if (unit == "hour") return std::to_string(job.arrives.count_ms() / 3'600'000);
  if (unit == "user") return job.user;
  return unit == "tenant" ? job.spec.tenant : job.spec.name;
}

const Leaf& drawn(const std::vector<Leaf>& leaves, std::uint64_t total, Rng rng) {
  std::uint64_t rest = rng.below(total);
  for (const Leaf& leaf : leaves) {
    if (rest < leaf.share) return leaf;
    rest -= leaf.share;
  }
  return leaves.back();
}

}  // namespace

Result<core::TenantTree> equal_tenants(int count, int slots) {
  if (count < 1 || count > slots) {
    return invalid_argument("a pool of " + std::to_string(slots) + " slots can be split between 1 to " +
                            std::to_string(slots) + " tenants, not " + std::to_string(count));
  }
  core::TenantTree tree;
  for (int i = 0; i < count; ++i) {
    tree.tenants.push_back(
        {.name = "tenant-" + std::to_string(i + 1), .guarantee = slots / count + (i < slots % count ? 1 : 0)});
  }
  return tree;
}

Status deal_jobs(Workload& workload, const core::TenantTree& tree, const DealRules& rules) {
  if (std::ranges::find(kDealUnits, rules.unit, &DealUnit::name) == kDealUnits.end()) {
    return invalid_argument("jobs are dealt by " + word_list(kDealUnits, &DealUnit::name) + ", not by \"" + rules.unit +
                            "\"");
  }
  std::vector<Leaf> leaves;
  std::uint64_t total = 0;
  for (const core::Tenant& tenant : tree.tenants) {
    if (!tree.is_leaf(tenant.name)) continue;
    leaves.push_back({.name = tenant.name, .share = static_cast<std::uint64_t>(std::max(tenant.guarantee, 1))});
    total += leaves.back().share;
  }
  if (leaves.empty()) return invalid_argument("jobs are dealt over tenants, and there are none");
  for (SimJob& job : workload.jobs) {
    const std::string unit = unit_of(job, rules.unit);
    if (unit.empty()) {
      return invalid_argument("the job " + job.spec.name + " names no " + rules.unit + "; deal by job or by hour");
    }
    job.spec.tenant = drawn(leaves, total, Rng(Digest().mix(rules.seed).mix(unit).value())).name;
  }
  return ok_status();
}

Status check_jobs(const Workload& workload, const core::TenantTree& dealt) {
  const core::TenantsByName tree(dealt);
  for (const SimJob& job : workload.jobs) {
    const core::Tenant* leaf = tree.find(job.spec.tenant);
    if (leaf == nullptr || !tree.is_leaf(leaf->name)) {
      return invalid_argument("the job " + job.spec.name + " is of the tenant \"" + job.spec.tenant + "\", which is " +
                              (leaf == nullptr ? "not there" : "no leaf of the tree") +
                              "; add it below the pool, or deal the jobs over the leaves with --deal");
    }
    if (const Status allowed = core::check_allowed(tree, job.spec); !allowed) {
      return invalid_argument("the job " + job.spec.name + ": " + allowed.error().message);
    }
  }
  return ok_status();
}

}  // namespace tidepool::sim
