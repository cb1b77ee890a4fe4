// A policy for the whole cluster that answers anything: sizes and an order that follow from the rows alone, and every
// now and then an answer that no engine may follow. What is drawn is a function of the view, as policies must be.
#pragma once

#include <limits>
#include <numeric>
#include <utility>

#include "base/digest.hpp"
#include "base/rng.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::test {

class RandomAllocation final : public policies::cluster::AllocationPolicy {
 public:
  // `wild`: the share of answers that break a law.
  explicit RandomAllocation(double wild) : wild_(wild) {}

  [[nodiscard]] policies::cluster::Allocation allocate(const policies::cluster::View& view,
                                                       core::StepBudget& budget) const override {
    budget.spend(static_cast<std::int64_t>(view.jobs.size()));
    Rng rng(digest_of(view));
    policies::cluster::Allocation allocation;
    allocation.grants.resize(view.jobs.size());
    allocation.order.resize(view.jobs.size());
    std::iota(allocation.order.begin(), allocation.order.end(), 0);
    rng.shuffle(allocation.order);
    int left = view.slots();
    for (const std::size_t row : allocation.order) {
      auto& grant = allocation.grants[row];
      const auto& job = view.jobs[row];
      grant.size = rng.chance(0.2) ? 0 : static_cast<int>(rng.between(0, std::min(left, job.size_max)));
      left -= grant.size;
      grant.reason = core::reason::PriceHold{{.size = grant.size}, core::reason::Market{.price = odd(rng)}};
      grant.lost = {{.size = job.size_max, .score = odd(rng), .reason = grant.reason}};
      grant.mark = {.level = job.mark.level + 1, .since = view.now, .numbers = {odd(rng)}};
    }
    if (rng.chance(wild_)) break_a_law(view, allocation, rng);
    if (rng.chance(0.2)) allocation.wake = view.now + Duration::seconds(rng.between(-5, 5));
    return allocation;
  }

 private:
  static double odd(Rng& rng) {
    if (rng.chance(0.1)) return std::numeric_limits<double>::quiet_NaN();
    if (rng.chance(0.1)) return std::numeric_limits<double>::infinity();
    return rng.uniform();
  }

  // Not of the time: with nothing new to see, the answer is the same.
  static std::uint64_t digest_of(const policies::cluster::View& view) {
    Digest digest;
    for (const auto& node : view.nodes) digest.mix(node.id.number()).mix(static_cast<std::uint64_t>(node.slots));
    for (const auto& job : view.jobs) {
      digest.mix(job.id.number()).mix(static_cast<std::uint64_t>(job.slot_seconds * 10));
      digest.mix(static_cast<std::uint64_t>(size_of(job.placement)));
    }
    return digest.value();
  }

  static void break_a_law(const policies::cluster::View& view, policies::cluster::Allocation& allocation, Rng& rng) {
    const auto row = view.jobs.empty() ? 0 : rng.below(view.jobs.size());
    switch (rng.below(6)) {
      case 0: allocation.grants.clear(); break;
      case 1: allocation.grants.resize(view.jobs.size() + 3); break;
      case 2: allocation.order.clear(); break;
      case 3: allocation.order.assign(view.jobs.size(), row); break;
      case 4:
        if (!allocation.grants.empty()) allocation.grants[row].size = -1;
        break;
      default:
        for (auto& grant : allocation.grants) grant.size = std::numeric_limits<int>::max();
    }
  }

  double wild_;
};

}  // namespace tidepool::test
