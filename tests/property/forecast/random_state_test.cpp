// Forecasts of any state that a cluster with failures, drains and impatient users can come to: they end, they
// contradict neither themselves nor the state, and the same state gives the same one.
#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "forecast/forecast.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/pool_provider.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

bool same(const forecast::Forecast& one, const forecast::Forecast& other) {
  return one.at == other.at && one.until == other.until && one.events == other.events && one.error == other.error &&
         std::equal(one.jobs.begin(), one.jobs.end(), other.jobs.begin(), other.jobs.end());
}

// Nodes of pools are decided about once no job changes.
void go_on(SimulatedWorld& world) {
  for (int round = 0; round < 8; ++round) {
    const core::Decision decision = world.engine().decide(world.now());
    REQUIRE(world.engine().validate(decision).ok());
    for (const auto& event : world.engine().accept(decision)) world.see(event);
    (void)world.take_ended();
    world.carry_out(decision);
    if (decision.empty()) return;
  }
}

void require_sound(const core::ClusterState& state, const forecast::Forecast& made) {
  CHECK(made.until >= made.at);
  for (const auto& [id, told] : made.jobs) {
    INFO(id.text());
    const core::Job* job = state.find_job(id);
    REQUIRE(job != nullptr);
    CHECK_FALSE(core::is_final(job->state()));
    if (told.start) CHECK(*told.start >= made.at);
    if (told.end) CHECK(*told.end >= told.start.value_or(made.at));
    if (told.end) CHECK(*told.end <= made.until);
    CHECK(told.cost >= job->account.cost);
    for (std::size_t i = 1; i < told.sizes.size(); ++i) {
      CHECK(told.sizes[i - 1].at <= told.sizes[i].at);
      CHECK(told.sizes[i - 1].size != told.sizes[i].size);
    }
  }
}

TEST_CASE("a forecast of any state ends, is sound and says the same again") {
  int ended = 0;
  for (const std::string policy : {"tidal", "autoscaling_engine", "las"}) {
    for_each_seed(("forecast of any state, " + policy).c_str(), 60, [&](std::uint64_t seed, Rng& rng) {
      SimulatedWorld world(seed, true, parts_of(policy));
      if (rng.chance(0.3)) world.strain();
      if (rng.chance(0.3)) world.label_nodes();
      if (rng.chance(0.3)) REQUIRE(world.share_among(random_tenants(rng, static_cast<int>(rng.between(0, 20)))));
      PoolProvider provider(world, rng);
      if (rng.chance(0.3)) {
        REQUIRE(world.learn(
            core::PoolsConfigured{.spot_share = 1, .pools = {fast_pool("p", static_cast<int>(rng.between(1, 4)))}}));
      }
      for (int i = 0; i < 150; ++i) {
        world.tick();
        provider.act(true);
        go_on(world);
        if (i % 30 != 29) continue;
        const core::ClusterState state = world.state();
        const auto before = core::digest_of(state);
        const forecast::Limits limits{.events_most = 20'000};
        const auto made = forecast::forecast(parts_of(policy), state, world.now(), limits);
        CHECK(core::digest_of(state) == before);
        CHECK(same(made, forecast::forecast(parts_of(policy), state, world.now(), limits)));
        require_sound(state, made);
        for (const auto& [id, told] : made.jobs) ended += told.end ? 1 : 0;
      }
    });
  }
  CHECK(ended > 500);
}

}  // namespace
}  // namespace tidepool::test
