// Policies for the whole cluster inside the engine, over random lives of a cluster: whatever they answer, every law of
// decisions holds; under those that serve all jobs, every job comes to its end.
#include <catch2/catch.hpp>

#include "policies/engine/engine_rows.hpp"
#include "policies/engine/whole_cluster_policy.hpp"
#include "policies/registry.hpp"
#include "studies/baselines/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_allocation.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// One of the published systems as well.
core::Engine::Parts parts_of_any(const std::string& policy) {
  return {studies::make_policies(policy).value(), {std::make_shared<PlainDetector>()}, short_timeouts()};
}

core::Engine::Parts wild_parts(double wild) {
  auto policies = policies::make_policies().value();
  policies["default"] = std::make_shared<const policies::cluster::WholeClusterPolicy>(
      "random", std::make_shared<const RandomAllocation>(wild));
  return {std::move(policies), {std::make_shared<PlainDetector>()}, short_timeouts()};
}

void live(SimulatedWorld& world, int ticks) {
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    require_books(world.state());
    decide_and_check(world);
  }
}

// A search and a binary program answer lawfully like the others, but a random life has time for fewer of their answers.
bool is_dear(std::string_view policy) {
  return policy == "pollux" || policy == "sia";
}

std::vector<std::string> policies_that(bool are_dear) {
  std::vector<std::string> all;
  for (const auto& preset : studies::all_presets()) {
    const bool is_rule = preset.name == "fifo";  // it plans nothing
    if (policies::cluster::runs_live(preset) && !is_rule && is_dear(preset.name) == are_dear) {
      all.emplace_back(preset.name);
    }
  }
  return all;
}

void go_on(SimulatedWorld& world) {
  const core::Decision decision = world.engine().decide(world.now());
  REQUIRE(world.engine().validate(decision).ok());
  for (const auto& event : world.engine().accept(decision)) world.see(event);
  world.carry_out(decision);
}

// Of how many jobs something is expected by what others did.
int expected_jobs(const SimulatedWorld& world) {
  policies::cluster::EngineRows rows;
  for (const auto& [id, job] : world.state().jobs) (void)rows.follow(world.state(), id);
  for (const auto& [id, job] : world.state().ended) (void)rows.follow(world.state(), id);
  rows.follow_nodes(world.state());
  int expected = 0;
  for (const auto& [id, job] : world.state().jobs) {
    if (core::is_final(job->state())) continue;
    const auto row = rows.row({world.state(), world.now()}, *job, {.has_own_policy = false, .room = 8});
    expected += row.useful_expected ? 1 : 0;
  }
  return expected;
}

}  // namespace

TEST_CASE("under every policy for the whole cluster the books agree and every law of decisions holds") {
  for_each_seed("cluster policies", 12, [](std::uint64_t seed, Rng&) {
    for (const std::string& policy : policies_that(false)) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of_any(policy));
      live(world, 120);
    }
  });
}

TEST_CASE("under the policies that search, too, the books agree and every law of decisions holds") {
  for_each_seed("searching policies", 2, [](std::uint64_t seed, Rng&) {
    for (const std::string& policy : policies_that(true)) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of_any(policy));
      live(world, 60);
    }
  });
}

TEST_CASE("a market that is kept between events plans as one that was made a moment ago") {
  for_each_seed("kept market", 20, [](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 3000, true, parts_of_any("tidal"));
    int replans = 0;
    for (int i = 0; i < 200; ++i) {
      world.tick();
      const auto kept = world.engine().decide(world.now());
      const auto anew = world.engine().decide_from_scratch(world.now());
      REQUIRE(Story::text_of(kept) == Story::text_of(anew));
      replans += kept.replan ? 1 : 0;
      // Now and then a decision is not carried out, as when a fact comes first.
      if (i % 3 != 0) decide_and_check(world);
    }
    REQUIRE(replans > 0);
  });
}

namespace {

// A few small nodes under tidal, and jobs whose workers hold one slot, two or three. Every decision of a story is held
// against one from scratch.
struct Gangs {
  Story story;
  std::vector<JobId> live;
  int scattered = 0;  // times that a gang waited, though there were as many free slots as it needs

  explicit Gangs(Rng& rng) {
    story.engine() = core::Engine(parts_of_any("tidal"));
    for (int i = 0; i < 4; ++i) (void)story.node(static_cast<int>(rng.between(2, 4)));
  }

  void happen(Rng& rng) {
    std::erase_if(live, [&](JobId id) { return core::is_final(story.job(id).state()); });
    const auto draw = rng.below(10);
    if (live.empty() || draw < 4) {
      const int max = static_cast<int>(rng.between(1, 3));
      live.push_back(story.submit({.max = max, .gpus = static_cast<int>(rng.between(1, 3))}));
    } else if (draw < 7) {
      const std::size_t at = rng.below(live.size());
      story.learn(core::JobCancelRequested{live[at]});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (draw < 9) {
      come_up(live[rng.below(live.size())]);
    } else {
      story.pass(Duration::seconds(rng.between(1, 60)));
    }
    story.decide();
    let_go();
    note();
  }

 private:
  // Its workers are ready, and have switched.
  void come_up(JobId id) {
    for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) {
      if (story.worker(worker).phase == core::WorkerPhase::kStarting) story.ready(worker);
    }
    story.decide();
    if (story.job(id).membership.generation > 0 && !story.job(id).membership.switched) story.switched(id);
  }
  // Workers that were told to stop are gone.
  void let_go() {
    std::vector<WorkerId> stopped;
    for (const auto& [id, worker] : story.state().workers) {
      if (worker.kill_at) stopped.push_back(id);
    }
    for (const WorkerId worker : stopped) story.exit(worker);
    story.decide();
  }
  void note() {
    for (const JobId id : live) {
      const core::Job& job = story.job(id);
      const int each = job.spec.gpus_per_worker;
      scattered += job.membership.workers.empty() && each > 1 && story.state().slots_free() >= each ? 1 : 0;
    }
  }
};

}  // namespace

TEST_CASE("a market that is kept plans as a new one where workers of several slots find no room together") {
  int scattered = 0;
  for_each_seed("kept gangs", 40, [&](std::uint64_t, Rng& rng) {
    Gangs gangs(rng);
    for (int i = 0; i < 80; ++i) gangs.happen(rng);
    scattered += gangs.scattered;
  });
  CHECK(scattered > 0);
}

namespace {

// More deadlines than are asked about at each plan, on three types of slots; every decision is held against one from
// scratch, and the plan's mark is followed.
struct ManyDeadlines {
  Story story;
  std::vector<JobId> live;
  int rounds = 0;    // of promises
  int standing = 0;  // plans by promises of an earlier round
  core::Mark newest;

  ManyDeadlines() {
    story.engine() = core::Engine(parts_of_any("tidal"));
    for (const std::string type : {"fast", "slow", "slower"}) {
      for (int i = 0; i < 2; ++i) {
        const std::string name = type + std::to_string(i);
        story.learn(core::NodeJoined{story.engine().node_id_for(name), name, 8, type, Money(), {}});
      }
    }
  }

  void submit(Rng& rng) {
    core::JobSpec spec = job_spec({.max = static_cast<int>(rng.between(1, 4))});
    spec.work_samples = rng.between(100, 3'000) * spec.batch.global;
    spec.deadline = Duration::seconds(rng.between(60, 4'000));
    if (rng.chance(0.2)) spec.slot_types = {rng.chance(0.5) ? "slow" : "fast"};
    live.push_back(story.engine().next_job_id());
    story.learn(core::JobSubmitted{live.back(), std::move(spec)});
  }
  void happen(Rng& rng) {
    std::erase_if(live, [&](JobId id) { return core::is_final(story.job(id).state()); });
    const auto draw = rng.below(10);
    if (draw < 4) {
      submit(rng);
    } else if (draw < 6) {
      story.learn(core::JobCancelRequested{live[rng.below(live.size())]});
    } else if (draw < 9) {
      for (const WorkerId worker : starting(live[rng.below(live.size())])) story.ready(worker);
    } else {
      story.pass(Duration::seconds(rng.between(1, 40)));
    }
    const core::Decision kept = story.engine().decide(story.now());
    REQUIRE(Story::text_of(kept) == Story::text_of(story.engine().decide_from_scratch(story.now())));
    // Now and then a decision is not carried out, as when a fact comes first.
    if (rng.chance(0.3)) return;
    story.decide();
    const core::Mark& mark = story.state().plan.mark;
    rounds += mark.since != newest.since ? 1 : 0;
    standing += kept.replan && mark.since == newest.since ? 1 : 0;
    newest = mark;
  }

 private:
  [[nodiscard]] std::vector<WorkerId> starting(JobId id) const {
    std::vector<WorkerId> workers;
    for (const WorkerId worker : story.job(id).membership.workers) {
      if (story.worker(worker).phase == core::WorkerPhase::kStarting) workers.push_back(worker);
    }
    return workers;
  }
};

}  // namespace

TEST_CASE("promises that stand between rounds are those that an engine made a moment ago goes by") {
  int rounds = 0;
  int standing = 0;
  for_each_seed("standing promises", 10, [&](std::uint64_t, Rng& rng) {
    ManyDeadlines many;
    // Some lives go to and fro between few deadlines and many.
    for (std::int64_t i = rng.between(62, 90); i > 0; --i) many.submit(rng);
    for (int i = 0; i < 80; ++i) many.happen(rng);
    rounds += many.rounds;
    standing += many.standing;
  });
  if (!all_seeds_run()) return;
  CHECK(rounds > 20);
  CHECK(standing > 20);
}

TEST_CASE("a market that is kept plans as a new one while jobs that end tell of those that go on") {
  int told = 0;
  for_each_seed("kept kin", 40, [&](std::uint64_t seed, Rng&) {
    // Without jobs for which all are planned anew at each event.
    SimulatedWorld world(3 * seed + 1, false, parts_of_any("tidal"));
    for (int i = 0; i < 250; ++i) {
      world.tick();
      if (i % 3 == 0) go_on(world);
    }
    world.calm_down();
    // All of them go on until enough have ended, then one at a time: whose row rests on an end is seldom told of
    // itself.
    for (int i = 0; i < 500; ++i) {
      const int expected = expected_jobs(world);
      told += expected;
      if (expected > 0) {
        world.tick();
      } else if (!world.work_a_round()) {
        break;
      }
      REQUIRE(Story::text_of(world.engine().decide(world.now())) ==
              Story::text_of(world.engine().decide_from_scratch(world.now())));
      go_on(world);
    }
  });
  // In one world of seven.
  if (all_seeds_run()) CHECK(told > 0);
}

TEST_CASE("a decision makes all the room that it wants, however long a cluster has lived") {
  for_each_seed("long lives", 12, [](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed, false, parts_of_any("tidal"));
    for (int i = 0; i < 500; ++i) {
      world.tick();
      if (i % 3 != 0) decide_and_check(world);  // facts come faster than decisions
    }
  });
}

TEST_CASE("jobs with a target have the rows that a JSON tree would give them") {
  std::size_t planned = 0;
  for_each_seed("rows of planned jobs", 4, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 7000, true, parts_of_any("tidal"));
    for (int i = 0; i < 60; ++i) {
      world.tick();
      decide_and_check(world);
      require_rows_by_tree(world.state());
      for (const auto& [id, job] : world.state().jobs) planned += job->planned ? 1 : 0;
    }
  });
  CHECK(planned > 100);
}

TEST_CASE("whatever a policy for the whole cluster answers, no plan breaks a law, and a wrong answer is dropped") {
  int dropped = 0;
  for_each_seed("random policy", 60, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed, true, wild_parts(0.3));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      decide_and_check(world);
      dropped += world.state().plan.error.empty() ? 0 : 1;
    }
  });
  CHECK(dropped > 0);
}

TEST_CASE("under queues by attained service and under tidal no job starves: every one ends once the faults stop") {
  for_each_seed("no starvation", 12, [](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"las", "tidal", "tiresias"}) {
      INFO(policy);
      SimulatedWorld world(seed + 1000, true, parts_of_any(policy));
      live(world, 100);
      world.calm_down();
      decide_and_check(world);
      int rounds = 0;
      while (world.work_a_round()) {
        decide_and_check(world);
        if (++rounds <= 3000) continue;
        for (const auto& [id, job] : world.state().jobs) {
          if (core::is_final(job->state())) continue;
          UNSCOPED_INFO(id.text() + " " + core::to_text(job->state()) + " " +
                        core::to_json(job->verdict.reason).dump());
        }
        FAIL("a job is stuck");
      }
    }
  });
}

TEST_CASE("an engine that goes on from a written state plans as the one that wrote it") {
  int silent = 0;
  for_each_seed("recovery of plans", 10, [&](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"las", "tidal"}) {
      SimulatedWorld world(seed + 2000, true, parts_of_any(policy));
      live(world, 80);
      const auto written = core::to_json(world.state());
      auto read = core::state_from_json(nlohmann::json::parse(written.dump()));
      INFO((read.ok() ? std::string() : read.error().message));
      REQUIRE(read.ok());
      core::Engine again(parts_of(policy), *std::move(read));
      // It looks at everything again, the one that wrote it at what has changed since: facts that came with the newest
      // decision being carried out.
      const auto decision = again.decide(world.now());
      REQUIRE(again.validate(decision).ok());
      REQUIRE(Story::text_of(decision) == Story::text_of(world.engine().decide(world.now())));
      silent += Story::text_of(decision).empty() ? 1 : 0;
    }
  });
  WARN(silent << " times what was planned stands");
}

}  // namespace tidepool::test
