// Policy files that use all the time they may: what becomes of those that wait beside or behind them. Real hosts, real
// threads.
#include <catch2/catch.hpp>
#include <future>

#include "base/json.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/policies/recorded_rounds.hpp"
#include "tests/integration/policy_host/hosts.hpp"
#include "tests/support/loop_world.hpp"
#include "tests/support/patience.hpp"

namespace tidepool::test {
namespace {

// Each call copies an argument list that grows: few instructions, much copying, no end.
constexpr const char* kEndless =
    "local P = {} function P.size(view) local function f(...) return f(1, ...) end f() end return P";
constexpr const char* kQuick =
    "local P = {} function P.size(view) local s = {} for i = 1, view.n do s[i] = view.size_min[i] end return s end "
    "return P";

live::PolicyVersion version_of(const std::string& name, const char* text, Duration wall,
                               const nlohmann::json& tests = nlohmann::json::object()) {
  policies::host::PolicyFile file;
  file.manifest.name = name;
  file.manifest.budgets.instructions = 100'000'000;
  file.manifest.budgets.wall = wall;
  file.source = text;
  return live::version_from(file, tests);
}

live::RunnablePolicy runnable(const std::string& name, const char* text, Duration wall) {
  auto made = live::make_runnable(version_of(name, text, wall), nlohmann::json::object());
  INFO((made.ok() ? "" : made.error().message));
  REQUIRE(made.ok());
  return *std::move(made);
}

std::vector<live::InboxItem> take_one(live::Inbox& inbox) {
  return inbox.take(1, std::chrono::seconds(30 * patience()));
}

// A journal with rounds: a node, then jobs that come one after the other.
void record_rounds(const std::string& path, int jobs) {
  auto journal = live::Journal::open(path, {});
  REQUIRE(journal.ok());
  core::Engine engine(engine_parts());
  Instant now;
  const auto learn = [&](const core::Fact& fact) {
    now = now + Duration::seconds(1);
    REQUIRE(journal->append(core::TimedFact{now, fact}).ok());
    REQUIRE(engine.step({now, fact}).ok());
    for (auto decision = engine.decide(now); !decision.empty(); decision = engine.decide(now)) {
      REQUIRE(journal->append(decision).ok());
      engine.accept(decision);
    }
  };
  learn(core::NodeJoined{engine.node_id_for("n"), "n", 4, "cpu", Money::micros(1'000'000), {}});
  for (int i = 0; i < jobs; ++i) {
    learn(core::JobSubmitted{engine.next_job_id(), elastic_job("job-" + std::to_string(i))});
  }
  REQUIRE(journal->commit({{"boot", 1, 1}, now, 0}).ok());
}

}  // namespace

TEST_CASE("a candidate that is at its deadline delays no round of the file that decides") {
  core::Engine engine(engine_parts());
  const Instant now = Instant::from_micros(1'000'000);
  REQUIRE(engine.step({now, core::NodeJoined{engine.node_id_for("n"), "n", 4, "cpu", Money(), {}}}).ok());
  REQUIRE(engine.step({now, core::JobSubmitted{engine.next_job_id(), elastic_job("a-job")}}).ok());
  const auto candidate =
      std::make_shared<const live::RunnablePolicy>(runnable("endless", kEndless, Duration::seconds(5)));
  const auto decides = std::make_shared<const live::RunnablePolicy>(runnable("quick", kQuick, Duration::seconds(5)));

  live::Inbox inbox(10);
  live::PolicyAsker asker({.parts = engine_parts(), .host_program = host_program()}, inbox);
  REQUIRE(asker.compare(candidate, {.state = engine.view(), .now = now, .file = candidate->ref, .number = 1}));
  REQUIRE(asker.ask(decides, {.state = engine.view(), .now = now, .file = decides->ref, .number = 1}));
  const auto first = take_one(inbox);
  REQUIRE(first.size() == 1);
  REQUIRE(std::holds_alternative<live::PolicyRoundItem>(first.front()));
  CHECK(std::get<live::PolicyRoundItem>(first.front()).round.fault.empty());
  const auto second = take_one(inbox);
  REQUIRE(second.size() == 1);
  REQUIRE(std::holds_alternative<live::PolicyComparedItem>(second.front()));
  CHECK(std::get<live::PolicyComparedItem>(second.front()).comparison.fault == "policy.deadline");
}

TEST_CASE("a shadow that was at its deadline rests, whatever is decided meanwhile") {
  LoopWorld world;
  world.policy_files = {.parts = engine_parts(), .host_program = host_program()};
  REQUIRE(world.boot(world.dir / "life"));
  const live::PolicyVersion version = version_of("endless", kEndless, Duration::millis(50));
  const auto command = [&](live::CommandBody body) {
    bool done = false;
    std::vector<live::InboxItem> items;
    items.emplace_back(live::CommandItem{{.body = std::move(body), .actor = "t"},
                                         [&](const Result<live::Receipt>& receipt) { done = receipt.ok(); }});
    REQUIRE(world.turn(std::move(items)));
    REQUIRE(done);
  };
  const auto rounds = [&]() -> std::int64_t {
    const auto report = world.publisher.picture()->shadow;
    const auto found = report ? report->faults.find("policy.deadline") : decltype(report->faults.find("")){};
    return report && found != report->faults.end() ? found->second : 0;
  };
  // Something is decided at each turn, in which the shadow could be asked.
  const auto turns_until = [&](std::int64_t wanted, std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (rounds() < wanted && std::chrono::steady_clock::now() < end) {
      command(leader::SubmitJob{elastic_job("job")});
      REQUIRE(world.turn({}, std::chrono::milliseconds(5)));
    }
    return rounds();
  };
  REQUIRE(world.turn({world.node.hello()}));
  command(leader::StorePolicyVersion{version});
  command(leader::ShadowPolicy{core::PolicyFileRef{version.name, version.version, "{}"}});
  CHECK(turns_until(1, std::chrono::seconds(20 * patience())) == 1);
  CHECK(turns_until(2, std::chrono::milliseconds(500)) == 1);  // ten times what a round takes; the clock stands still
  world.clock.pass(Duration::seconds(30));
  CHECK(turns_until(2, std::chrono::seconds(20 * patience())) == 2);
}

TEST_CASE("a replay under a policy that is always at its deadline is given up, and says so") {
  const TemporaryFolder folder;
  const std::string path = (folder / "journal.db").string();
  record_rounds(path, 6);
  const live::PolicyEvaluator::Setup setup{
      .parts = engine_parts(), .host_program = host_program(), .journal = path, .patience = Duration::millis(150)};
  const std::stop_source stop;
  const auto given_up = live::replay_rounds(
      {.policy = runnable("endless", kEndless, Duration::millis(100)), .since = Instant()}, setup, stop.get_token());
  REQUIRE(!given_up.ok());
  CHECK(given_up.error().message.find("took 150ms for ") != std::string::npos);
  CHECK(given_up.error().message.find("ask for fewer rounds") != std::string::npos);
  const auto one = live::replay_rounds(
      {.policy = runnable("endless", kEndless, Duration::millis(100)), .since = Instant(), .rounds_max = 1}, setup,
      stop.get_token());
  REQUIRE(one.ok());  // as it is told to ask for
  CHECK(one->report.faults.at("policy.deadline") == 1);
}

TEST_CASE("a replay under a policy that is always at its deadline delays no look at another version") {
  const TemporaryFolder folder;
  const std::string path = (folder / "journal.db").string();
  record_rounds(path, 1);
  std::promise<void> replayed;
  std::promise<Result<live::PolicyExamined>> examined;
  live::PolicyEvaluator evaluator({.parts = engine_parts(), .host_program = host_program(), .journal = path});
  const Duration wall = Duration::seconds(10);  // the most that a file may have
  evaluator.replay({.policy = runnable("endless", kEndless, wall), .since = Instant(), .rounds_max = 1},
                   [&](const Result<live::PolicyReplay>&) { replayed.set_value(); });
  evaluator.examine(version_of("quick", kQuick, Duration::seconds(5)), false,
                    [&](Result<live::PolicyExamined> done) { examined.set_value(std::move(done)); });
  auto end_of_replay = replayed.get_future();
  const auto looked_over = examined.get_future().get();
  CHECK(end_of_replay.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  REQUIRE(looked_over.ok());
  CHECK(looked_over->checks.runs);
  end_of_replay.wait();
}

TEST_CASE("tests of a policy that is always at its deadline are given up, and say so") {
  nlohmann::json tests = nlohmann::json::array();
  for (int i = 0; i < 6; ++i) {
    tests.push_back({{"name", "test " + std::to_string(i)},
                     {"cluster", {{"nodes", 1}, {"slots_per_node", 4}}},
                     {"jobs", nlohmann::json::array({{{"name", "a"}, {"wanted", 1}}})},
                     {"expect", {{"sizes", {{"a", 1}}}}}});
  }
  live::PolicyEvaluator evaluator(
      {.parts = engine_parts(), .host_program = host_program(), .journal = "", .patience = Duration::millis(150)});
  std::promise<Result<live::PolicyExamined>> promise;
  evaluator.examine(version_of("endless", kEndless, Duration::millis(100), {{"some.yaml", tests}}), true,
                    [&](Result<live::PolicyExamined> done) { promise.set_value(std::move(done)); });
  auto future = promise.get_future();
  REQUIRE(future.wait_for(std::chrono::seconds(30 * patience())) == std::future_status::ready);
  const auto examined = future.get();
  REQUIRE(examined.ok());
  INFO(examined->checks.fault);
  REQUIRE(examined->tests.size() == 6);
  for (const auto& test : examined->tests) {
    INFO(test.test);
    for (const auto& difference : test.differences) UNSCOPED_INFO(difference);
    CHECK(!test.differences.empty());
  }
  CHECK(examined->tests.back().differences == std::vector<std::string>{"not run: those before it took 150ms"});
}

}  // namespace tidepool::test
