// The engine's laws over random lives of a cluster.
#include <set>
#include <string>

#include "tests/support/decision_laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// How often a job had workers on several types of slot, because its file mixes them or because it moved.
struct OnSeveralTypes {
  int mixed = 0;
  int moving = 0;
};

// But for one that moves to another type, or comes from a state in which its workers were split.
void require_one_type(const core::ClusterState& state, OnSeveralTypes& seen) {
  for (const auto& [id, job] : state.jobs) {
    std::set<std::string> types;
    for (const WorkerId member : job->membership.members) {
      const core::Worker* worker = state.find_worker(member);
      if (worker != nullptr) types.insert(state.find_node(worker->node)->slot_type);
    }
    if (types.size() <= 1) continue;
    ++(job->spec.mixed_types ? seen.mixed : seen.moving);
    INFO(id.text());
    REQUIRE((job->spec.mixed_types || job->phase.transition() || !job->membership.switched));
  }
}

TEST_CASE("Whatever happens, all workers of a job are on one type of slot, unless it mixes types or moves") {
  OnSeveralTypes seen;
  const auto live = [&](SimulatedWorld& world, Rng& rng) {
    if (rng.chance(0.5)) world.close_nodes();
    for (int i = 0; i < 250; ++i) {
      world.tick();
      if (rng.chance(0.6)) decide_and_check(world);
      require_one_type(world.state(), seen);
    }
  };
  for_each_seed("random life on two types", 60, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(3 * seed, true);
    live(world, rng);
  });
  // Where many jobs wait for a type: elsewhere they hardly ever move.
  for_each_seed("strained life on two types", 60, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(6 * seed, true);
    world.strain();
    live(world, rng);
  });
  if (!all_seeds_run()) return;
  CHECK(seen.mixed > 0);
  CHECK(seen.moving > 0);
}

TEST_CASE("Whatever happens, the books agree and every law of decisions holds") {
  for_each_seed("random life", 60, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true);
    if (seed % 2 == 0) world.rule_jobs();
    for (int i = 0; i < 250; ++i) {
      world.tick();
      require_books(world.state());
      if (rng.chance(0.6)) decide_and_check(world);
    }
  });
}

TEST_CASE("After the faults stop, every job comes to its end and gives back its slots") {
  for_each_seed("liveness", 60, [](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 1000, true);
    if (seed % 2 == 0) world.rule_jobs();
    for (int i = 0; i < 150; ++i) {
      world.tick();
      decide_and_check(world);
    }
    world.calm_down();
    int rounds = 0;
    decide_and_check(world);
    while (world.work_a_round()) {
      decide_and_check(world);
      if (++rounds > 3000) {
        for (const auto& [id, job] : world.state().jobs) {
          if (!core::is_final(job->state()))
            UNSCOPED_INFO(id.text() + " " + core::to_text(job->state()) + " " +
                          core::to_json(job->verdict.reason).dump());
        }
        FAIL("a job is stuck");
      }
    }
    for (int i = 0; i < 30; ++i) {
      world.work_a_round();
      decide_and_check(world);
    }
    REQUIRE(world.state().slots_free() == world.state().slots_total());
    REQUIRE(world.state().workers.empty());
  });
}

TEST_CASE("A state written and read back goes on exactly as the engine that wrote it") {
  for_each_seed("recovery", 25, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 2000, true);
    if (seed % 2 == 0) world.rule_jobs();
    for (int i = 0; i < 120; ++i) {
      world.tick();
      if (rng.chance(0.7)) decide_and_check(world);
    }
    const auto written = core::to_json(world.state());
    auto read = core::state_from_json(nlohmann::json::parse(written.dump()));
    INFO((read.ok() ? std::string() : read.error().message));
    REQUIRE(read.ok());
    REQUIRE(core::digest_of(*read) == core::digest_of(world.state()));
    core::Engine again(restless_parts(true), *read);
    // The order of the queue is the policy's; both engines need the same one.
    core::Engine reference(restless_parts(true), world.state());
    const std::size_t known = world.facts().size();
    for (int i = 0; i < 60; ++i) {
      world.tick();
      decide_and_check(world);
    }
    for (std::size_t i = known; i < world.facts().size(); ++i) {
      const auto& fact = world.facts()[i];
      REQUIRE(reference.step(fact).ok() == again.step(fact).ok());
      const auto expected = reference.decide(fact.at);
      const auto decision = again.decide(fact.at);
      REQUIRE(Story::text_of(decision) == Story::text_of(expected));
      (void)reference.accept(expected);
      (void)again.accept(decision);
      REQUIRE(core::digest_of(again.view()) == core::digest_of(reference.view()));
    }
  });
}

TEST_CASE("Facts and decisions of a random life read back as they were written") {
  for_each_seed("codec", 20, [](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 3000, true);
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const auto decision = world.engine().decide(world.now());
      const auto written = core::to_json(decision);
      const auto read = core::decision_from_json(nlohmann::json::parse(written.dump()));
      REQUIRE(read.ok());
      REQUIRE(core::to_json(*read) == written);
      decide_and_check(world);
    }
    for (const auto& fact : world.facts()) {
      const auto written = core::to_json(fact.fact);
      const auto read = core::fact_from_json(nlohmann::json::parse(written.dump()));
      REQUIRE(read.ok());
      REQUIRE(core::to_json(*read) == written);
    }
  });
}

}  // namespace
}  // namespace tidepool::test
