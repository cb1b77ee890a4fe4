// Why a tenant shares: in the shared pool its jobs complete as soon as on its own part of the pool alone, or sooner;
// and all of them together much sooner.
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

#include "sim/sharing.hpp"
#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::SimResult;
using sim::SimSetup;

constexpr int kSlotsPerNode = 4;

// Nodes of each tenant, all of them guaranteed to it.
struct Parts {
  std::map<std::string, int> nodes;
  sim::Workload workload;
};

// Two to eight tenants, each with work in bursts, so that their peaks do not coincide.
Parts random_parts(std::uint64_t seed, Rng& rng) {
  Parts parts;
  const int tenants = static_cast<int>(rng.between(2, 8));
  for (int tenant = 0; tenant < tenants; ++tenant) {
    const std::string name = "tenant-" + std::to_string(tenant);
    parts.nodes[name] = static_cast<int>(rng.between(1, 3));
    const int bursts = static_cast<int>(rng.between(2, 4));
    for (int burst = 0; burst < bursts; ++burst) {
      const auto begins = Duration::seconds(rng.between(0, 4 * 86'400));
      sim::Workload jobs =
          sim::generate_workload({.seed = seed * 1'000 + static_cast<std::uint64_t>(10 * tenant + burst),
                                  .jobs = 4 * parts.nodes[name],
                                  .mean_interarrival = Duration::seconds(300),
                                  .size_max = 16,
                                  .mean_length = Duration::seconds(7'200),
                                  .tenants = 1});
      for (sim::SimJob& job : jobs.jobs) {
        job.arrives = job.arrives + begins;
        job.spec.tenant = name;
        job.spec.name = name + "-" + std::to_string(burst) + "-" + job.spec.name;
        job.spec.priority = 0;
        parts.workload.jobs.push_back(job);
      }
    }
  }
  std::sort(parts.workload.jobs.begin(), parts.workload.jobs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.arrives, a.spec.name) < std::pair(b.arrives, b.spec.name);
  });
  return parts;
}

SimResult sound_run(SimSetup setup) {
  SimResult result = sim::Simulator(std::move(setup)).run();
  for (const std::string& violation : result.violations) UNSCOPED_INFO(violation);
  REQUIRE(result.violations.empty());
  REQUIRE(result.complete);
  return result;
}

// Of all tenants, each with its nodes guaranteed.
SimSetup in_one_pool(const Parts& parts) {
  SimSetup setup;
  setup.parts = [] { return engine_parts("tidal"); };
  setup.cluster = {.nodes = 0, .slots_per_node = kSlotsPerNode};
  setup.workload = parts.workload;
  for (const auto& [name, own] : parts.nodes) {
    setup.tenants.tenants.push_back({.name = name, .guarantee = own * kSlotsPerNode, .weight = own});
    setup.cluster.nodes += own;
  }
  return setup;
}

}  // namespace

TEST_CASE("in a shared pool each tenant's jobs complete about as soon as on its own part, and all together sooner") {
  std::vector<double> of_tenants;
  std::vector<double> of_pools;
  // A world takes ten seconds under sanitizers. The release build draws all.
  const std::uint64_t worlds = all_seeds_run() ? 200 : 40;
  for_each_seed("sharing incentive", worlds, [&](std::uint64_t seed, Rng& rng) {
    const SimSetup setup = in_one_pool(random_parts(seed, rng));
    std::map<std::string, double> alone;
    for (const core::Tenant& tenant : setup.tenants.tenants) {
      alone[tenant.name] = *sim::mean_completion_s(sound_run(sim::own_part(setup, tenant)).rows);
    }
    const sim::Sharing sharing = sim::sharing_of(setup.tenants, sound_run(setup), alone);
    for (const sim::TenantTimes& tenant : sharing.tenants) {
      of_tenants.push_back(tenant.ratio().value());
      std::printf("%s: %.3f of its time alone\n", tenant.tenant.c_str(), of_tenants.back());
    }
    of_pools.push_back(sharing.jobs_ratio.value());
    std::printf("all: %.3f\n", of_pools.back());
  });
  const auto mean = [](const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  std::printf("mean of tenants %.3f, worst %.3f; mean of pools %.3f\n", mean(of_tenants),
              *std::max_element(of_tenants.begin(), of_tenants.end()), mean(of_pools));
  for (const double ratio : of_tenants) CHECK(ratio <= 1.05);
  if (all_seeds_run()) CHECK(mean(of_pools) <= 0.7);
}

TEST_CASE("planted: a tenant that is kept to one node of its part is seen to be served worse than alone") {
  int seen = 0;
  for_each_seed("kept to one node", 4, [&](std::uint64_t seed, Rng& rng) {
    const SimSetup right = in_one_pool(random_parts(seed, rng));
    SimSetup wrong = right;
    const core::Tenant& tenant = right.tenants.tenants.front();
    wrong.tenants.tenants.front().guarantee = kSlotsPerNode;
    wrong.tenants.tenants.front().borrow = 0;
    const double alone = *sim::mean_completion_s(sound_run(sim::own_part(right, tenant)).rows);
    const sim::Sharing sharing = sim::sharing_of(right.tenants, sound_run(wrong), {{tenant.name, alone}});
    std::printf("kept to one node: %.3f of its time alone\n", *sharing.worst_ratio);
    seen += *sharing.worst_ratio > 1.05 ? 1 : 0;
  });
  CHECK(seen > 0);
}

}  // namespace tidepool::test
