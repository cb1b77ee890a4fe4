// A job's specification changes while it lives: whether its policy plans anew at once.
#include <catch2/catch.hpp>
#include <functional>

#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::policies {
namespace {

const Instant kNow = Instant::from_micros(1);

void decide(core::Engine& engine) {
  for (core::Decision decision = engine.decide(kNow); !decision.empty(); decision = engine.decide(kNow)) {
    REQUIRE(engine.validate(decision).ok());
    (void)engine.accept(decision);
  }
}

// Whether a plan is made anew when `change` is all that happens; no time passes.
bool plans_anew(const std::function<void(core::JobSpec&)>& change) {
  core::Engine engine({make_policies("tidal").value(), {std::make_shared<test::PlainDetector>()}, {}});
  core::JobSpec spec = test::job_spec({.min = 1, .max = 4});
  spec.scaling.linear_utility = core::LinearUtility{100, Duration::seconds(3'600)};
  const auto learn = [&](core::Fact fact) { REQUIRE(engine.step({kNow, std::move(fact)}).ok()); };
  learn(core::NodeJoined{engine.node_id_for("n"), "n", 4, "cpu", Money(), {}});
  const JobId job = engine.next_job_id();
  learn(core::JobSubmitted{job, spec});
  decide(engine);
  change(spec);
  learn(core::JobChanged{job, spec});
  return engine.decide(kNow).replan.has_value();
}

TEST_CASE("what a job's sizes are judged by makes a new plan when it changes alone") {
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.efficiency_threshold = 0.3; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.every_steps = 5; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.spawn_size = 2; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.linear_utility->value = 50; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.linear_utility->zero_at = Duration::seconds(60); }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.scaling.linear_utility.reset(); }));
  CHECK(plans_anew([](core::JobSpec& spec) {
    spec.scaling.linear_utility.reset();
    spec.scaling.piecewise_utility = core::PiecewiseUtility{{{Duration(), 9}, {Duration::seconds(60), 2}}};
  }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.pack_node = true; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.placement.strategy = core::TopologyStrategy::kStrictPack; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.placement.key = "rack"; }));
  CHECK(plans_anew([](core::JobSpec& spec) { spec.placement.exclusive = true; }));
}

TEST_CASE("what no plan depends on makes no new one") {
  CHECK_FALSE(plans_anew([](core::JobSpec& spec) { spec.max_restarts = 9; }));
  CHECK_FALSE(plans_anew([](core::JobSpec& spec) { spec.labels["a"] = "b"; }));
  CHECK_FALSE(plans_anew([](core::JobSpec&) {}));
}

}  // namespace
}  // namespace tidepool::policies
