// A reason explains and never decides: an engine all of whose reasons are one constant, and one whose reasons are drawn
// at random, plan, intent by intent, what one plans that keeps them, and are left in the same state but for the words.
#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "core/decide/plan_inputs.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/registry.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/reworded.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {
namespace {

namespace reason = core::reason;

core::Engine::Parts parts_with_files(const std::string& policy) {
  return {.policies = policies::make_policies(policy).value(),
          .stragglers = {std::make_shared<PlainDetector>()},
          .config = short_timeouts(),
          .file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback())};
}

// Each kind of reason in turn, about a worker that is likely to exist.
core::Reason constant_of(std::uint64_t seed) {
  const auto& names = core::reason_names();
  const std::vector<core::ReasonNumber> numbers{{"worker", 1}, {"size", 1}, {"for_job", 1}, {"node", 1}, {"to", 1}};
  return core::reason_from(names[seed % names.size()], "", numbers).value();
}

// A few kinds, so that each of them is said often; over the seeds all of them are.
std::vector<core::Reason> few_kinds(std::uint64_t seed) {
  std::vector<core::Reason> kinds{reason::WaitingForSlots{}};
  for (std::uint64_t kind = 0; kind < 5; ++kind) kinds.push_back(constant_of(5 * seed + kind));
  return kinds;
}

core::Engine::Parts reworded(core::Engine::Parts parts, const Rewording& words) {
  for (auto& [name, policy] : parts.policies) policy = std::make_shared<RewordedPolicy>(policy, words);
  if (parts.file_policy) parts.file_policy = std::make_shared<RewordedPolicy>(parts.file_policy, words);
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
    // Which decision it was: those that only say something count, too.
    if (value.contains("notice") && value["notice"].is_object()) value["notice"].erase("decision");
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

// An engine that learns the same facts and has lost its reasons.
class Silent {
 public:
  Silent(Rewording words, const core::Engine::Parts& parts)
      : words_(std::move(words)), engine_(reworded(parts, words_)) {}

  core::Engine& engine() { return engine_; }

  void learn(core::TimedFact fact) {
    if (auto* answered = std::get_if<core::PolicyAnswered>(&fact.fact)) {
      for (core::PolicyJobAnswer& wish : answered->round.job_answers) {
        wish.word = core::name_of(words_.at(wish.job, wish.size.value_or(0)));
        wish.numbers.clear();
      }
    }
    REQUIRE(engine_.step(fact).ok());
  }

  // False: it plans something else, and is not to be asked again.
  [[nodiscard]] bool decides_alike(const core::Decision& spoken, const core::ClusterState& after, Instant now) {
    core::Decision silent = engine_.decide(now);
    if (intents_of(silent) != intents_of(spoken)) return false;
    reword(silent, words_);
    REQUIRE(engine_.validate(silent).ok());
    (void)engine_.accept(silent);
    const auto difference = nlohmann::json::diff(without_words(engine_.view()), without_words(after));
    UNSCOPED_INFO(difference.dump());
    return difference.empty();
  }

 private:
  Rewording words_;
  core::Engine engine_;
};

// A world whose engine keeps its reasons, and beside it one whose reasons are a constant and one with others at random.
class Twins {
 public:
  Twins(std::uint64_t seed, const core::Engine::Parts& parts)
      : world_(seed, true, parts),
        silent_{Silent(Rewording(constant_of(seed)), parts), Silent(Rewording(few_kinds(seed), seed), parts)} {
    if (seed % 4 != 0) world_.strain();
    catch_up();
  }

  SimulatedWorld& world() { return world_; }
  // What the policy file is to be asked; all ask the same.
  std::optional<std::int64_t> pending_policy_request() {
    catch_up();
    const auto number = world_.engine().pending_policy_request(world_.now());
    for (Silent& silent : silent_) REQUIRE(silent.engine().pending_policy_request(world_.now()) == number);
    return number;
  }
  [[nodiscard]] const std::map<std::string, int>& seen() const { return seen_; }

  void decide() { REQUIRE(decide_alike()); }
  // False: the twins differ from now on.
  [[nodiscard]] bool decide_alike() {
    catch_up();
    const core::Decision spoken = world_.engine().decide(world_.now());
    UNSCOPED_INFO(core::to_json(spoken).dump());
    for (const auto& planned : spoken.plan) ++seen_[kind_of(planned.intent)];
    for (const auto& event : world_.engine().accept(spoken)) world_.see(event);
    const bool alike = std::ranges::all_of(
        silent_, [&](Silent& silent) { return silent.decides_alike(spoken, world_.state(), world_.now()); });
    world_.carry_out(spoken);
    return alike;
  }

 private:
  // "resume": a start of a job that has run before. "move": a worker that leaves its slot to a job that asks for it.
  [[nodiscard]] std::string kind_of(const core::Intent& intent) const {
    const core::Job* job = world_.state().find_job(core::job_of(intent));
    if (std::holds_alternative<core::StartIntent>(intent) && job->last_start_at) return "resume";
    const auto* replace = std::get_if<core::ReplaceIntent>(&intent);
    if (replace != nullptr && replace->cause == core::ReplaceCause::kSlotType) return "move";
    return std::string(core::name_of(intent));
  }

  void catch_up() {
    for (; known_ < world_.facts().size(); ++known_) {
      for (Silent& silent : silent_) silent.learn(world_.facts()[known_]);
    }
  }

  SimulatedWorld world_;
  std::array<Silent, 2> silent_;
  std::size_t known_ = 0;
  std::map<std::string, int> seen_;
};

// Holds some jobs back, and asks for other sizes more often than jobs can follow: what a job waits for is not always
// room, and what a running one is told changes with every few steps. A pure function of the job.
class ReluctantPolicy final : public core::Policy, public core::JobRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "reluctant"; }
  [[nodiscard]] const core::JobRule* rule() const override { return this; }
  [[nodiscard]] core::LineRule line_rule() const override { return core::LineRule::kPassed; }
  [[nodiscard]] core::QueueRank rank(const core::Job& job) const override { return base_.rank(job); }
  [[nodiscard]] core::Target target(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override {
    const auto turn = static_cast<std::uint64_t>(job.progress.step / 3);
    const std::uint64_t draw = Digest().mix(job.id.number()).mix(turn).value();
    const bool waits = job.membership.members.empty();
    if (waits && job.spec.priority < 0) return {.reason = reason::AwaitsPolicy{}, .lost = {}, .mark = {}};
    core::Target target = base_.target(view, job, budget);
    if (waits || job.measurements.steps_since_switch < 2) return target;
    target.size = draw % 4 == 0 ? 0 : draw % 2 == 0 ? job.spec.elastic.min : job.spec.elastic.max;
    target.reason =
        target.size == 0 ? core::Reason(reason::Preempted{}) : core::Reason(reason::AtMax{{.size = target.size}});
    return target;
  }

 private:
  RestlessPolicy base_{false};
};

template <class OnlyPolicy>
core::Engine::Parts parts_with() {
  core::Engine::Parts parts = restless_parts(false);
  parts.policies = {{"default", std::make_shared<OnlyPolicy>()}};
  return parts;
}

// Reads what was said of a job last, and sizes it by that.
class ReadingPolicy final : public core::Policy, public core::JobRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "reading"; }
  [[nodiscard]] const core::JobRule* rule() const override { return this; }
  [[nodiscard]] core::LineRule line_rule() const override { return core::LineRule::kPassed; }
  [[nodiscard]] core::Target target(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override {
    core::Target target = base_.target(view, job, budget);
    const std::string said(core::name_of(job.verdict.reason));
    target.size = 1 + static_cast<int>(said.size() % static_cast<std::size_t>(job.spec.elastic.max));
    return target;
  }

 private:
  RestlessPolicy base_{false};
};

// What a policy file might answer about the jobs of today; some it forgets.
core::PolicyRound answer_to(std::int64_t number, const SimulatedWorld& world, Rng& rng) {
  core::PolicyRound round{.number = number, .asked_at = world.state().now};
  const bool ranks = rng.chance(0.5);
  for (const auto& [id, job] : world.state().jobs) {
    if (core::is_final(job->state()) || rng.chance(0.1)) continue;
    core::PolicyJobAnswer wish{.job = id, .asked = core::digest_of_request(*job), .admitted = rng.chance(0.9)};
    if (ranks) wish.rank = rng.uniform();
    const int each = job->spec.gpus_per_worker;
    wish.size = rng.chance(0.1) ? 0 : each * job->spec.elastic.sizes[rng.below(job->spec.elastic.sizes.size())];
    wish.word = rng.chance(0.5) ? "Capped" : "StragglerNoSpare";
    wish.numbers = {{"most", 4 * rng.uniform()}, {"worker", 3}};
    round.job_answers.push_back(std::move(wish));
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

void add(std::map<std::string, int>& all, const std::map<std::string, int>& seen) {
  for (const auto& [name, count] : seen) all[name] += count;
}

// A law about intents proves nothing of those that never came up. Under a plan, jobs on one type of slot each leave no
// room in so few random worlds that a whole job could move to.
void check_all_came_up(std::map<std::string, int>& seen, bool moves) {
  if (!all_seeds_run()) return;
  for (const char* name :
       {"start", "grow", "shrink", "replace", "preempt", "resume", "switch", "stop_worker", "end_job"}) {
    INFO(name);
    CHECK(seen[name] > 0);
  }
  if (moves) CHECK(seen["move"] > 0);
}

}  // namespace

TEST_CASE("engines without their reasons size one job at a time as one that keeps them") {
  std::map<std::string, int> seen;
  for_each_seed("inert reasons, one job at a time", 40, [&](std::uint64_t seed, Rng&) {
    Twins twins(seed, seed % 2 == 0 ? parts_with<ReluctantPolicy>() : restless_parts(seed % 4 == 1));
    live(twins, 150);
    add(seen, twins.seen());
  });
  check_all_came_up(seen, true);
}

TEST_CASE("planted: a policy that reads what was said of a job is seen to plan otherwise without it") {
  int seen = 0;
  for_each_seed("planted reader of reasons", 5, [&](std::uint64_t seed, Rng&) {
    Twins twins(seed, parts_with<ReadingPolicy>());
    bool alike = true;
    for (int i = 0; i < 150 && alike; ++i) {
      twins.world().tick();
      alike = twins.decide_alike();
    }
    if (!alike) ++seen;
  });
  CHECK(seen > 0);
}

TEST_CASE("engines without their reasons plan for the whole cluster as one that keeps them") {
  std::map<std::string, int> seen;
  for_each_seed("inert reasons, whole cluster", 12, [&](std::uint64_t seed, Rng&) {
    for (const std::string policy : {"tidal", "tiresias", "elastic_tiresias"}) {
      INFO(policy);
      Twins twins(seed, parts_with_files(policy));
      live(twins, 100);
      add(seen, twins.seen());
    }
  });
  check_all_came_up(seen, false);
}

TEST_CASE("engines without their reasons follow a policy file as one that keeps them") {
  const core::PolicyFileRef file{"capped", std::string(64, 'a'), "{}"};
  for_each_seed("inert reasons, policy file", 12, [&](std::uint64_t seed, Rng& rng) {
    Twins twins(seed, parts_with_files("tidal"));
    SimulatedWorld& world = twins.world();
    REQUIRE(world.learn(core::PolicyActivated{file}));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const auto number = twins.pending_policy_request();
      if (number && rng.chance(0.7)) REQUIRE(world.learn(core::PolicyAnswered{answer_to(*number, world, rng)}));
      twins.decide();
    }
  });
}

}  // namespace tidepool::test
