// For which jobs others give up slots, and whose slots a job that waits is given, as a forecast has seen it.
#include <memory>

#include <catch2/catch.hpp>

#include "forecast/submit_plan.hpp"
#include "policies/engine/whole_cluster_policy.hpp"
#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using forecast::FreedBy;
using forecast::SizeFrom;
using forecast::SubmitPlan;
using policies::cluster::Allocation;
using policies::cluster::Grant;

// The newest job comes first and has the most that it may have, the others their least as far as slots go.
class NewestFirst final : public policies::cluster::AllocationPolicy {
 public:
  [[nodiscard]] Allocation allocate(const policies::cluster::View& view, core::StepBudget&) const override {
    Allocation allocation;
    allocation.grants.resize(view.jobs.size());
    int left = view.slots();
    for (std::size_t row = view.jobs.size(); row-- > 0;) {
      const int wanted = row + 1 == view.jobs.size() ? view.jobs[row].size_max : view.jobs[row].size_min;
      Grant& grant = allocation.grants[row];
      grant.size = wanted <= left ? wanted : 0;
      grant.reason = core::reason::Started{{.size = grant.size}};
      left -= grant.size;
      allocation.order.push_back(row);
    }
    return allocation;
  }
};

core::EngineParts newest_first() {
  auto policy = std::make_shared<const policies::cluster::WholeClusterPolicy>("newest_first",
                                                                              std::make_shared<const NewestFirst>());
  return {{{"default", policy}}, {std::make_shared<PlainDetector>()}, {}};
}

// One node on which jobs run that go on for long.
struct Pool {
  Story story;

  explicit Pool(int slots) {
    story.engine() = core::Engine(newest_first());
    story.node(slots);
  }
  JobId running(const JobSketch& sketch) {
    const JobId id = story.submit(sketch);
    story.settle(id);
    REQUIRE(story.job(id).size() == sketch.max);
    return id;
  }
  [[nodiscard]] SubmitPlan plan(const JobSketch& sketch) const {
    auto plan = forecast::plan_submit(newest_first(), story.state(),
                                      {.spec = job_spec(sketch), .now = story.now(), .limits = {}}, {});
    REQUIRE(plan.ok());
    return *std::move(plan);
  }
  [[nodiscard]] forecast::Forecast forecast() const {
    return forecast::forecast(newest_first(), story.state(), story.now());
  }
};

const JobSketch kTwoOrFour{.min = 2, .max = 4, .sizes = {2, 4}, .cooldown = {}};
const JobSketch kTwo{.min = 2, .max = 2};

}  // namespace

TEST_CASE("a plan names the job for which another goes on with fewer workers") {
  Pool pool(4);
  const JobId running = pool.running(kTwoOrFour);
  const SubmitPlan plan = pool.plan(kTwo);
  REQUIRE(plan.changes.size() == 1);
  const SubmitPlan::Change& change = plan.changes.front();
  CHECK(change.job == running);
  CHECK(change.effect == SubmitPlan::Effect::kShrunk);
  CHECK(change.from == 4);
  CHECK(change.to == 2);
  CHECK(change.taken_for == core::reason::Claimants{.for_job = plan.job});
  CHECK(plan.told.jobs.at(plan.job).starts_after == FreedBy{running, FreedBy::How::kGivesUpSome});
}

TEST_CASE("a forecast keeps for which jobs a size is smaller, and of an end or a larger size it keeps none") {
  Pool pool(4);
  const JobId running = pool.running(kTwoOrFour);
  const JobId waiting = pool.story.submit(kTwo);
  const auto made = pool.forecast();
  const std::vector<SizeFrom>& sizes = made.jobs.at(running).sizes;
  REQUIRE(sizes.size() > 1);
  CHECK(sizes[0].taken_for == core::reason::Claimants());
  CHECK(sizes[1].size == 2);
  CHECK(sizes[1].taken_for == core::reason::Claimants{.for_job = waiting});
  for (std::size_t i = 2; i < sizes.size(); ++i) CHECK(sizes[i].taken_for == core::reason::Claimants());
  for (const SizeFrom& from : made.jobs.at(waiting).sizes) CHECK(from.taken_for == core::reason::Claimants());
}

TEST_CASE("a job that waits is told whose slots it is given, and one that finds free ones is not") {
  Pool full(2);
  const JobId running = full.running(kTwo);
  const JobId waiting = full.story.submit(kTwo);
  const auto made = full.forecast();
  REQUIRE(made.jobs.at(waiting).start);
  CHECK(made.jobs.at(waiting).starts_after == FreedBy{running, FreedBy::How::kGivesUpAll});
  CHECK_FALSE(made.jobs.at(running).starts_after);
  REQUIRE(made.jobs.at(running).sizes.size() > 1);
  CHECK(made.jobs.at(running).sizes[1].size == 0);
  CHECK(made.jobs.at(running).sizes[1].taken_for == core::reason::Claimants{.for_job = waiting});

  Pool free(4);
  (void)free.running(kTwo);
  const JobId starts = free.story.submit(kTwo);
  REQUIRE(free.forecast().jobs.at(starts).start);
  CHECK_FALSE(free.forecast().jobs.at(starts).starts_after);
}

TEST_CASE("a job that is cancelled, or has run for as long as it may, ends, and gives up no part of its slots") {
  const auto fifo = [] {
    return core::EngineParts{policies::make_policies("fifo").value(), {std::make_shared<PlainDetector>()}, {}};
  };
  const bool is_cancelled = GENERATE(false, true);
  JobSketch sketch = kTwo;
  if (!is_cancelled) sketch.max_duration = Duration::seconds(30);
  Story story;
  story.engine() = core::Engine(fifo());
  story.node(2);
  const JobId ends = story.submit(sketch);
  story.settle(ends);
  const JobId waiting = story.submit(kTwo);
  story.decide();
  if (is_cancelled) story.learn(core::JobCancelRequested{ends});
  story.decide();
  const auto made = forecast::forecast(fifo(), story.state(), story.now());
  CHECK(made.jobs.at(waiting).starts_after == FreedBy{ends, FreedBy::How::kEnds});
}

}  // namespace tidepool::test
