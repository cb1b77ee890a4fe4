// Whatever a policy host leaves in its memory, the daemon makes a lawful allocation or a named fault of it.
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>

#include "policies/cluster/allocation_check.hpp"
#include "policies/host/answers.hpp"
#include "policies/host/file_policy.hpp"
#include "tests/support/answer_region.hpp"
#include "tests/support/policy_views.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::host {

TEST_CASE("any bytes at all give answers that pass the check, or a fault") {
  test::for_each_seed("answers of a policy host", 500, [](std::uint64_t /*seed*/, Rng& rng) {
    const auto jobs = static_cast<int>(rng.between(0, 6));
    cluster::View view = test::waiting_jobs(jobs, static_cast<int>(rng.between(1, 2)));
    view.tenants.resize(rng.below(4));
    view.pools.resize(rng.below(4));
    for (cluster::PoolRow& pool : view.pools) pool.max = pool.min + static_cast<int>(rng.below(3));
    test::AnswerRegion region(static_cast<std::uint32_t>(jobs), static_cast<std::uint32_t>(view.tenants.size()),
                              static_cast<std::uint32_t>(view.pools.size()));
    const double numbers[] = {0, 1, 2, 8, -1, 1.5, 9, 1e300, kUnset, NAN, HUGE_VAL};
    for (std::uint64_t at = region.layout().admit; at < region.layout().why; at += 8) {
      region.put(at, rng.chance(0.2) ? numbers[rng.below(std::size(numbers))] : double(rng.between(0, 1)));
    }
    for (int i = 0; i < 40 && rng.chance(0.9); ++i) {
      region.bytes()[rng.below(region.bytes().size())] = std::byte(rng.below(256));
    }
    region.hooks(static_cast<std::uint32_t>(rng.below(64)));
    const Judged judged = read_answers(view, region.bytes());
    if (const auto* answers = std::get_if<Answers>(&judged)) {
      for (const auto& claim : answers->claims) CHECK(claim.value_or(0) >= 0);
      CHECK((answers->claims.empty() || answers->claims.size() == view.tenants.size()));
      CHECK((answers->nodes.empty() || answers->nodes.size() == view.pools.size()));
      for (std::size_t row = 0; row < answers->nodes.size(); ++row) {
        const auto& [pool, nodes] = std::pair(view.pools[row], answers->nodes[row]);
        CHECK((!nodes || (*nodes >= pool.min && *nodes <= pool.max)));
      }
      core::StepBudget budget(1'000'000);
      const auto standard = standard_for(view, *answers, *built_in_fallback(), budget);
      CHECK(check_allocation(view, allocate(view, *answers, standard)).ok());
    } else {
      CHECK(find_fault(std::get<PolicyFault>(judged).code).has_value());
    }
  });
}

}  // namespace tidepool::policies::host
