// A reason explains and never decides: an engine all of whose reasons are one constant plans, intent by intent, what
// one plans that keeps them, and is left in the same state but for the words.
#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "core/decide/plan_grounds.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/registry.hpp"
#include "tests/support/reworded.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {
namespace {

core::EngineConfig config() {
  return {.start_timeout = Duration::seconds(40),
          .switch_timeout = Duration::seconds(15),
          .plan_every = Duration::seconds(20)};
}

core::Engine::Parts parts_of(const std::string& policy) {
  return {.policies = policies::make_policies(policy).value(),
          .stragglers = {std::make_shared<PlainDetector>()},
          .config = config(),
          .file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback())};
}

// Codes that readers of a reason would ask for first.
constexpr std::array kConstants = {core::ReasonCode::kMeasuring,           core::ReasonCode::kWaitingForSlots,
                                   core::ReasonCode::kNeverFits,           core::ReasonCode::kWaitsForState,
                                   core::ReasonCode::kStragglerReplaced,   core::ReasonCode::kAwaitsPolicy,
                                   core::ReasonCode::kStragglerRebalanced, core::ReasonCode::kSwitchTimeout};

core::Reason constant_of(std::uint64_t seed) {
  return {kConstants[seed % kConstants.size()], {{"worker", 1}, {"size", 1}}};
}

core::Engine::Parts reworded(core::Engine::Parts parts, const core::Reason& constant) {
  for (auto& [name, policy] : parts.policies) policy = std::make_shared<RewordedPolicy>(policy, constant);
  if (parts.file_policy) parts.file_policy = std::make_shared<RewordedPolicy>(parts.file_policy, constant);
  return parts;
}

// Without reasons, what is told beside them, and how often something was said.
void drop_words(nlohmann::json& value) {
  if (value.is_object()) {
    for (const char* name :
         {"reason", "lost", "chosen", "stopped_for", "last_error", "word", "told", "next_decision", "next_event"}) {
      value.erase(name);
    }
    if (value.contains("allotment")) value["allotment"].erase("score");
  }
  if (!value.is_structured()) return;
  for (auto& each : value) drop_words(each);
}

nlohmann::json without_words(const core::ClusterState& state) {
  auto out = core::to_json(state);
  drop_words(out);
  if (out.contains("desk") && out["desk"]["answer"].is_object()) out["desk"]["answer"].erase("wishes");
  return out;
}

std::string intents_of(const core::Decision& decision) {
  auto plan = core::to_json(decision)["plan"];
  drop_words(plan);
  return plan.dump();
}

// Two engines that learn the same facts, one of which has lost its reasons.
class Twins {
 public:
  Twins(std::uint64_t seed, const core::Engine::Parts& parts)
      : constant_(constant_of(seed)), world_(seed, true, parts), silent_(reworded(parts, constant_)) {
    catch_up();
  }

  SimulatedWorld& world() { return world_; }
  // What the policy file is to be asked; both ask the same.
  std::optional<std::int64_t> question() {
    catch_up();
    const auto number = world_.engine().question(world_.now());
    REQUIRE(silent_.question(world_.now()) == number);
    return number;
  }
  [[nodiscard]] const std::map<std::string, int>& seen() const { return seen_; }

  void decide() {
    catch_up();
    const core::Decision spoken = world_.engine().decide(world_.now());
    core::Decision silent = silent_.decide(world_.now());
    INFO(core::to_json(spoken).dump());
    REQUIRE(intents_of(silent) == intents_of(spoken));
    reword(silent, constant_);
    REQUIRE(silent_.validate(silent).ok());
    for (const auto& event : world_.engine().accept(spoken)) world_.see(event);
    (void)silent_.accept(silent);
    const auto difference = nlohmann::json::diff(without_words(silent_.view()), without_words(world_.state()));
    INFO(difference.dump());
    REQUIRE(difference.empty());
    for (const auto& planned : spoken.plan) ++seen_[std::string(core::name_of(planned.intent))];
    world_.carry_out(spoken);
  }

 private:
  void catch_up() {
    for (; known_ < world_.facts().size(); ++known_) {
      core::TimedFact fact = world_.facts()[known_];
      if (auto* answered = std::get_if<core::PolicyAnswered>(&fact.fact)) {
        for (core::PolicyWish& wish : answered->round.wishes) {
          wish.word = core::to_text(constant_.code);
          wish.numbers.clear();
        }
      }
      REQUIRE(silent_.step(fact).ok());
    }
  }

  core::Reason constant_;
  SimulatedWorld world_;
  core::Engine silent_;
  std::size_t known_ = 0;
  std::map<std::string, int> seen_;
};

// What a policy file might answer about the jobs of today; some it forgets.
core::PolicyRound answer_to(std::int64_t number, const SimulatedWorld& world, Rng& rng) {
  core::PolicyRound round{.number = number, .asked_at = world.state().now};
  const bool ranks = rng.chance(0.5);
  for (const auto& [id, job] : world.state().jobs) {
    if (core::is_final(job->state) || rng.chance(0.1)) continue;
    core::PolicyWish wish{.job = id, .asked = core::digest_of_wishes(*job), .admitted = rng.chance(0.9)};
    if (ranks) wish.rank = rng.uniform();
    const int each = job->spec.gpus_per_worker;
    wish.size = rng.chance(0.1) ? 0 : each * job->spec.elastic.sizes[rng.below(job->spec.elastic.sizes.size())];
    wish.word = rng.chance(0.5) ? "Capped" : core::to_text(core::ReasonCode::kStragglerNoSpare);
    wish.numbers = {{"most", 4 * rng.uniform()}, {"worker", 3}};
    round.wishes.push_back(std::move(wish));
  }
  if (rng.chance(0.05)) round.fault = "policy.deadline";
  return round;
}

void live(Twins& twins, int ticks) {
  for (int i = 0; i < ticks; ++i) {
    twins.world().tick();
    twins.decide();
  }
}

}  // namespace

TEST_CASE("an engine whose reasons are one constant sizes one job at a time as one that keeps them") {
  std::map<std::string, int> seen;
  for_each_seed("inert reasons, one job at a time", 60, [&](std::uint64_t seed, Rng&) {
    Twins twins(seed, restless_parts(seed % 2 == 0));
    live(twins, 150);
    for (const auto& [name, count] : twins.seen()) seen[name] += count;
  });
  if (!all_seeds_run()) return;
  for (const char* name : {"start", "grow", "replace", "switch", "preempt", "stop_worker", "end_job"}) {
    INFO(name);
    CHECK(seen[name] > 0);
  }
}

TEST_CASE("an engine whose reasons are one constant plans for the whole cluster as one that keeps them") {
  for_each_seed("inert reasons, whole cluster", 20, [](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"tidal", "tiresias"}) {
      INFO(policy);
      Twins twins(seed, parts_of(policy));
      live(twins, 120);
    }
  });
}

TEST_CASE("an engine whose reasons are one constant follows a policy file as one that keeps them") {
  const core::PolicyFileRef file{"capped", std::string(64, 'a'), "{}"};
  for_each_seed("inert reasons, policy file", 20, [&](std::uint64_t seed, Rng& rng) {
    Twins twins(seed, parts_of("tidal"));
    SimulatedWorld& world = twins.world();
    REQUIRE(world.learn(core::PolicyActivated{file}));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const auto number = twins.question();
      if (number && rng.chance(0.7)) REQUIRE(world.learn(core::PolicyAnswered{answer_to(*number, world, rng)}));
      twins.decide();
    }
  });
}

}  // namespace tidepool::test
