// What people read about random lives of a cluster: a sentence never contradicts its decision, never holds two numbers
// against each other that print alike, and names no number that only a market understands.
#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/words/unblock.hpp"
#include "policies/registry.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {
namespace {

// Which of two numbers a sentence calls the larger one.
enum class Larger { kLeft, kRight, kEither };
struct Comparison {
  const char* pattern;  // two groups
  Larger larger;
};
constexpr std::array kComparisons = {
    Comparison{R"((\S+ %) of a worker's throughput, more than the (\S+ %))", Larger::kLeft},
    Comparison{R"((\S+ %) of a worker's throughput, less than the (\S+ %))", Larger::kRight},
    Comparison{R"(\((\S+ ?k?) -> (\S+ ?k?) samples/s\))", Larger::kLeft},
    Comparison{R"(it gains (\S+) in utility for (\S+) in cost)", Larger::kLeft},
    Comparison{R"(gained only (\S+) in utility for (\S+) in cost)", Larger::kRight},
    Comparison{R"(would gain (\S+) in utility and cost (\S+) more)", Larger::kRight},
    Comparison{R"(computes at (\S+ %) of the others' speed, below (\S+ %))", Larger::kRight},
    Comparison{R"(has cost (\S+) slot-seconds, an action costs (\S+))", Larger::kEither},
    Comparison{R"(has cost (\S+) slot-seconds, a replacement costs (\S+))", Larger::kEither},
    Comparison{R"(would cost (\S+) an hour, above its price cap of (\S+))", Larger::kLeft},
    Comparison{R"((\S+ %) of a full share instead of (\S+ %))", Larger::kLeft},
    Comparison{R"(would bring it (\S+) of speed-up; the least that a slot brings is (\S+),)", Larger::kRight},
    Comparison{R"(additional slot brings it (\S+) of speed-up; the most that one would bring another is (\S+),)",
               Larger::kLeft},
    Comparison{R"(has had (\S+) slot-hours; \S+, the \w+ that [^,]+, has had (\S+) slot-hours)", Larger::kEither},
    Comparison{R"(has run (\S+ %) of the time, with a target of (\S+ %))", Larger::kEither},
    Comparison{R"(growing (\d+) -> (\d+))", Larger::kRight},
    Comparison{R"(shrinking (\d+) -> (\d+))", Larger::kLeft},
    Comparison{R"(grew (\d+) -> (\d+))", Larger::kRight},
    Comparison{R"(shrank (\d+) -> (\d+))", Larger::kLeft},
};

double value_of(std::string text) {
  std::erase(text, ',');
  const double number = std::stod(text);
  return text.ends_with("k") ? number * 1'000 : number;
}

// Returns how many comparisons the sentence makes.
int check_numbers(const std::string& text) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> all;
    for (const Comparison& each : kComparisons) all.emplace_back(each.pattern);
    return all;
  }();
  for (const char* told : {"its policy says", "the policy wants"}) {  // a policy file's own words and numbers
    if (text.find(told) != std::string::npos) return 0;
  }
  INFO(text);
  CHECK(text.find("worth") == std::string::npos);
  CHECK(text.find("price of a slot") == std::string::npos);
  int compared = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::smatch found;
    if (!std::regex_search(text, found, patterns[i])) continue;
    ++compared;
    INFO(kComparisons[i].pattern);
    REQUIRE(found[1].str() != found[2].str());
    if (kComparisons[i].larger == Larger::kEither) continue;
    const double left = value_of(found[1]);
    const double right = value_of(found[2]);
    REQUIRE((kComparisons[i].larger == Larger::kLeft ? left > right : left < right));
  }
  return compared;
}

std::optional<int> number_after(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return std::nullopt;
  return std::stoi(found[1]);
}

bool begins(const std::string& text, const char* word) {
  return text.rfind(word, 0) == 0;
}

// The reason of an intent that changes a job's size tells this change.
void check_change(const std::string& text, int from, int to) {
  INFO(text << " (" << from << " -> " << to << ")");
  CHECK_FALSE(begins(text, "keeps"));
  CHECK_FALSE(begins(text, "waits"));
  CHECK_FALSE(begins(text, to > from ? "shrinking" : "growing"));
  const auto told_from = number_after(text, R"(^(?:growing|shrinking|going) (\d+) -> )");
  const auto told_to = number_after(text, R"(^(?:growing|shrinking|going) \d+ -> (\d+))");
  if (told_from) CHECK(*told_from == from);
  if (told_to) CHECK(*told_to == to);
}

void check_intent(const core::ClusterState& state, const core::PlannedIntent& planned) {
  const int size = state.find_job(core::job_of(planned.intent))->size();
  const std::string text = core::sentence(planned.reason);
  if (const auto* grow = std::get_if<core::GrowIntent>(&planned.intent)) {
    check_change(text, size, size + static_cast<int>(grow->joining_workers.size()));
  } else if (const auto* shrink = std::get_if<core::ShrinkIntent>(&planned.intent)) {
    check_change(text, size, size - static_cast<int>(shrink->leaving_workers.size()));
  } else if (const auto* start = std::get_if<core::StartIntent>(&planned.intent)) {
    INFO(text);
    CHECK(number_after(text, R"(^started (?:again )?with (\d+) )") == static_cast<int>(start->joining_workers.size()));
  }
}

// Advice that names what only an admin of all tenants can do is for such an admin; what names a job to cancel says
// which.
void check_advice(const core::Advice& advice) {
  constexpr std::array<std::string_view, 4> kBeginnings = {"add a node ", "uncordon ", "bring back ",
                                                           "raise max of pool "};
  constexpr std::array<std::string_view, 7> kCommands = {
      "schedctl tenants apply", "schedctl node ",      "schedctl undrain ", "schedctl maintenance ",
      "schedctl policy ",       "schedulerd --policy", "agentd join"};
  const std::string& text = advice.text;
  const auto is_there = [&](std::string_view command) { return text.find(command) != std::string::npos; };
  const auto is_first = [&](std::string_view begin) { return text.starts_with(begin); };
  INFO(text);
  CHECK(advice.for_admin == (std::any_of(kBeginnings.begin(), kBeginnings.end(), is_first) ||
                             std::any_of(kCommands.begin(), kCommands.end(), is_there)));
  CHECK(static_cast<bool>(advice.cancels) == text.starts_with("cancel "));
  (void)check_numbers(text);
}

void check_explanation(const core::ClusterState& state, const core::Job& job) {
  const core::Explanation why = core::explain(state, job.id);
  INFO(job.id.text() << " is " << core::to_text(job.state()) << ", " << job.size() << ": " << why.summary);
  (void)check_numbers(why.summary);
  for (const std::string& line : why.evidence) (void)check_numbers(line);
  for (const core::Advice& advice : why.advice) check_advice(advice);
  if (job.state() == core::JobState::kRunning && !job.phase.transition()) {
    CHECK_FALSE(begins(why.summary, "growing"));
    CHECK_FALSE(begins(why.summary, "shrinking"));
  }
}

// All that a decision says. Returns how many comparisons it makes.
int check_decision(const core::ClusterState& state, const core::Decision& decision) {
  int compared = 0;
  const auto check = [&](const core::Reason& reason, JobId job) {
    compared += check_numbers(core::sentence(reason));
    for (const core::Advice& advice : core::advice_of(reason, job)) check_advice(advice);
  };
  for (const auto& planned : decision.plan) {
    check(planned.reason, core::job_of(planned.intent));
    check_intent(state, planned);
  }
  for (const auto& verdict : decision.verdicts) {
    check(verdict.reason, verdict.job);
    for (const auto& lost : verdict.lost) check(lost.reason, verdict.job);
  }
  if (!decision.replan) return compared;
  for (const auto& change : decision.replan->changes) {
    if (!change.now) continue;
    check(change.now->reason, change.job);
    for (const auto& lost : change.now->lost) check(lost.reason, change.job);
  }
  return compared;
}

int live_and_read(SimulatedWorld& world, int ticks) {
  int compared = 0;
  for (int i = 0; i < ticks; ++i) {
    world.tick();
    const core::Decision decision = world.engine().decide(world.now());
    compared += check_decision(world.state(), decision);
    for (const auto& event : world.engine().accept(decision)) world.see(event);
    for (const auto& [id, job] : world.state().jobs) {
      if (i % 10 == 0 && !core::is_final(job->state())) check_explanation(world.state(), *job);
    }
    world.carry_out(decision);
  }
  return compared;
}

core::Engine::Parts parts_under(const std::string& policy) {
  return {.policies = policies::make_policies(policy).value(),
          .stragglers = {std::make_shared<PlainDetector>()},
          .config = {.start_timeout = Duration::seconds(40), .switch_timeout = Duration::seconds(15)}};
}

}  // namespace

TEST_CASE("no sentence contradicts its decision, or compares two numbers that print alike") {
  int compared = 0;
  for_each_seed("sentences", 40, [&](std::uint64_t seed, Rng&) {
    for (const auto& policy : policies::known_policies()) {
      INFO(policy.name);
      SimulatedWorld world(seed, true, parts_under(policy.name));
      compared += live_and_read(world, 120);
    }
  });
  CHECK(compared > 0);
}

TEST_CASE("reasons with numbers drawn at random say nothing that they contradict") {
  constexpr std::array kNames = {"efficiency", "threshold",   "utility_gain", "cost_gain",  "worth",
                                 "price",      "rival_worth", "merit",        "asked",      "score",
                                 "cap",        "gain_s",      "stall_s",      "waited_s",   "cost_s",
                                 "share",      "was",         "own",          "bar",        "received",
                                 "target",     "goodput",     "next_goodput", "throughput", "next_throughput"};
  constexpr std::array kWords = {"", "speedup", "service", "time_left", "time_share", "shortening", "fitness", "lease"};
  for_each_seed("random reasons", 200, [&](std::uint64_t, Rng& rng) {
    for (const std::string_view code : core::reason_names()) {
      std::vector<core::ReasonNumber> numbers{{"from", 2},   {"to", 3},   {"size", 2}, {"next", 3},
                                              {"needed", 2}, {"free", 1}, {"rival", 4}};
      const bool falls = core::sentence(core::reason_from(code, "", numbers).value()).find("shrinking") == 0;
      if (falls) numbers[1].value = 1;
      const double near = rng.uniform();
      for (const char* name : kNames) {
        // Many nearly the same, some the very same, in several sizes.
        const double value = rng.chance(0.3) ? near : near * (1 + 1e-4 * rng.normal());
        numbers.push_back({name, rng.chance(0.1) ? rng.uniform() - 0.3 : value});
      }
      const core::Reason reason = core::reason_from(code, kWords[rng.below(kWords.size())], numbers).value();
      (void)check_numbers(core::sentence(reason));
      for (const core::Advice& advice : core::advice_of(reason, JobId(1))) check_advice(advice);
    }
  });
}

}  // namespace tidepool::test
