// Rows are written as text at once; the same by way of a JSON tree gives the same bytes.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "core/codec/row_texts.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/row_oracle.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {

TEST_CASE("rows and facts have the bytes that a JSON tree would give them") {
  for_each_seed("row texts", 8, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 6000, true);
    for (int i = 0; i < 120; ++i) {
      world.tick();
      decide_and_check(world);
      if (rng.chance(0.2)) require_rows_by_tree(world.state());
    }
    for (const auto& [at, fact] : world.facts()) REQUIRE(core::fact_text(fact) == fact_by_tree(fact));
  });
}

TEST_CASE("numbers and texts of all kinds have the bytes that a JSON tree would give them") {
  for_each_seed("row values", 200, [&](std::uint64_t, Rng& rng) {
    core::Job job;
    job.id = JobId(1 + rng.below(1'000));
    const double numbers[] = {0.0,
                              -0.0,
                              1.0,
                              0.1,
                              1e300,
                              1e-300,
                              123456789.0,
                              rng.uniform(),
                              rng.uniform() * 1e20,
                              std::numeric_limits<double>::infinity(),
                              std::nan("")};
    job.progress.first_loss = numbers[rng.below(std::size(numbers))];
    job.progress.last_loss = numbers[rng.below(std::size(numbers))];
    std::string text;
    for (std::uint64_t i = rng.below(12); i > 0; --i) text += static_cast<char>(rng.below(256));
    job.spec.name = text;
    job.spec.labels[text] = "\u00fcber \"quoted\"\n";
    job.spec.run = core::RunSpec{.trainer = "mlp", .args = {{"lr", {core::Argument::Plain(rng.uniform())}}}};
    job.measurements.detector_state[WorkerId(1 + rng.below(9))] = {1.0, rng.uniform()};
    core::ClusterState state;
    state.next_job = 2'000;
    state.jobs.emplace(job.id, std::make_shared<core::Job>(job));
    require_rows_by_tree(state);
  });
}

}  // namespace tidepool::test
