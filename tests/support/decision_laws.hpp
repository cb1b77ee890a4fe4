// The laws of decisions, checked at one moment of a simulated world, which then goes on with the decision.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/row_texts.hpp"
#include "core/state/ended_job.hpp"
#include "tests/support/row_oracle.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {

inline void require_books(const core::ClusterState& state) {
  const auto broken = core::broken_invariant(state);
  INFO(broken.value_or(""));
  REQUIRE_FALSE(broken);
}

// An engine that has kept nothing decides the same.
[[nodiscard]] inline bool is_as_from_scratch(SimulatedWorld& world, const core::Decision& decision) {
  return Story::text_of(decision) == Story::text_of(world.engine().decide_from_scratch(world.now()));
}

// Checks every law about one decision, and accepts it.
inline void check_and_accept(SimulatedWorld& world, const core::Decision& decision) {
  core::Engine& engine = world.engine();
  const auto text = [](const core::Decision& any) { return core::to_json(any).dump(); };
  REQUIRE(text(decision) == text(engine.decide(world.now())));
  REQUIRE(is_as_from_scratch(world, decision));
  const auto valid = engine.validate(decision);
  INFO((valid.ok() ? std::string() : valid.error().message));
  REQUIRE(valid.ok());
  std::map<JobId, GenerationNumber> generations;
  for (const auto& [id, job] : world.state().jobs) generations[id] = job->membership.generation;
  REQUIRE(core::decision_text(decision) == decision_by_tree(decision));
  const auto as_a_row = core::decision_from_text(core::decision_text(decision));
  REQUIRE(as_a_row.ok());
  REQUIRE(text(*as_a_row) == text(decision));
  for (const auto& event : engine.accept(decision)) world.see(event);
  require_books(world.state());
  for (const auto& job : world.take_ended()) {
    REQUIRE(core::has_left(*job));
    REQUIRE(world.state().has_ended(job->id));
  }
  for (const auto& [id, job] : world.state().jobs) REQUIRE_FALSE(core::has_left(*job));
  for (const auto& planned : decision.plan) {
    const auto* next = std::get_if<core::SwitchIntent>(&planned.intent);
    if (next != nullptr) REQUIRE(next->number > generations.at(next->job));
  }
}

// Slots that one decision frees for a job may serve another that is before it in line, which the next decision finds. A
// daemon decides until nothing follows; that comes soon, and is rare.
constexpr int kFollowInARow = 2;
constexpr int kFollowInALife = 4;

// Decides until nothing follows, checks every law about decisions, and carries them out.
inline void decide_and_check(SimulatedWorld& world) {
  core::Engine& engine = world.engine();
  if (const auto due = engine.clock_due(); due && *due <= world.now()) REQUIRE(world.learn(core::ClockAdvanced{}));
  std::vector<core::Decision> decisions{engine.decide(world.now())};
  for (int round = 0;; ++round) {
    INFO("after " << core::to_json(decisions.back()).dump());
    check_and_accept(world, decisions.back());
    core::Decision next = engine.decide(world.now());
    REQUIRE(Story::text_of(next) == Story::text_of(engine.decide_from_scratch(world.now())));
    if (Story::text_of(next).empty()) break;
    INFO("there follows " << Story::text_of(next));
    REQUIRE(round < kFollowInARow);
    REQUIRE(world.note_following() <= kFollowInALife);
    decisions.push_back(std::move(next));
  }
  for (const core::Decision& decision : decisions) world.carry_out(decision);
}

// Faults have ended: decides and works until nothing is left to do, which comes to an end.
inline void come_to_rest(SimulatedWorld& world) {
  world.calm_down();
  decide_and_check(world);
  for (int rounds = 0; world.work_a_round(); ++rounds) {
    decide_and_check(world);
    REQUIRE(rounds < 3000);
  }
}

// An engine of these parts, made from the written state, is due when this world's is, and decides what it does.
inline void check_recovery(SimulatedWorld& world, core::Engine::Parts parts) {
  const auto read = core::state_from_json(nlohmann::json::parse(core::to_json(world.state()).dump()));
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  REQUIRE(core::digest_of(*read) == core::digest_of(world.state()));
  core::Engine again(std::move(parts), *read);
  REQUIRE(again.clock_due() == world.engine().clock_due());
  REQUIRE(Story::text_of(again.decide(world.now())) == Story::text_of(world.engine().decide(world.now())));
}

}  // namespace tidepool::test
