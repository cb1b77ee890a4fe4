// Nodes that come and go in the simulator: what their providers do and fail to do, under the daemon's own turn.
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "studies/baselines/threshold_nodes.hpp"
#include "studies/replay/pool_text.hpp"
#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

constexpr double kExactS = 1e-9;

sim::PoolModel small_pool(const std::string& name, int max) {
  sim::PoolModel pool{.spec = {.name = name,
                               .slots_per_node = 2,
                               .price_per_slot_hour = Money::micros(1'000'000),
                               .worth_per_slot_hour = Money::micros(2'000'000),
                               .max = max,
                               .idle = Duration::seconds(15),
                               .lead_time = Duration::seconds(6)},
                      .lead_spread = 0.5};
  return pool;
}

// One to three small jobs, and nodes of a pool alone.
sim::SimSetup pool_world(std::uint64_t seed) {
  Rng rng(seed);
  sim::SimSetup setup{.seed = seed};
  setup.parts = [policy = small_policy(rng)] { return engine_parts(policy); };
  setup.cluster = {.nodes = 3, .slots_per_node = 2};
  draw_small_jobs(setup, rng);
  setup.limit = Duration::seconds(100'000);
  setup.cluster.nodes = 0;
  setup.pools.pools = {small_pool("gpu", 4)};
  return setup;
}

// Beside it a cheaper pool of spot nodes; creations fail, machines do not join and are taken back.
sim::SimSetup faulty_pool_world(std::uint64_t seed) {
  sim::SimSetup setup = pool_world(seed);
  sim::PoolModel spot = small_pool("spot", 4);
  spot.spec.spot = true;
  spot.reclaim_every = Duration::seconds(40);
  spot.reclaim_notice = Duration::seconds(static_cast<std::int64_t>(seed % 3) * 4);
  setup.pools.pools.push_back(spot);
  for (sim::PoolModel& pool : setup.pools.pools) {
    pool.create_fails = 0.3;
    pool.never_joins = 0.2;
  }
  return setup;
}

// What the journal's events tell of nodes of pools.
struct Told {
  std::map<std::uint64_t, Instant> asked;
  std::map<std::uint64_t, Instant> gone;
  std::map<std::string, int> count;
};

std::shared_ptr<Told> listen(sim::SimSetup& setup) {
  auto told = std::make_shared<Told>();
  setup.on_event = [told](const core::Event& event) {
    if (!event.type.starts_with("pool.")) return;
    ++told->count[event.type];
    if (!event.data.contains("request")) return;
    const auto request = event.data.at("request").get<std::uint64_t>();
    if (event.type == "pool.node_asked") told->asked[request] = event.at;
    if (event.type == "pool.node_gone") told->gone[request] = event.at;
  };
  return told;
}

std::string all_lines(const sim::SimResult& result) {
  std::string text;
  for (const std::string& line : result.decision_lines) text += line + "\n";
  for (const sim::NodeLife& life : *result.nodes) {
    text += life.name + " " + std::to_string(life.request) + " " + std::to_string(life.asked.count_us()) + " " +
            std::to_string(life.gone.count_us()) + "\n";
  }
  return text;
}

TEST_CASE("The same seed gives the same bytes with nodes that come and go, fail and are taken back") {
  std::set<std::string> runs;
  for_each_seed("pool bytes", 12, [&](std::uint64_t seed, Rng&) {
    sim::SimSetup setup = faulty_pool_world(seed);
    setup.keep_decisions = true;
    const std::string first = all_lines(run(setup));
    REQUIRE(first == all_lines(run(setup)));
    runs.insert(first);
  });
  if (all_seeds_run()) REQUIRE(runs.size() > 1);
}

TEST_CASE("The account of node hours is the sum of the lifetimes that the journal tells, to the microsecond") {
  for_each_seed("pool account", 40, [](std::uint64_t seed, Rng&) {
    sim::SimSetup setup = pool_world(seed);
    setup.pools.pools.front().never_joins = 0.3;
    const auto told = listen(setup);
    const sim::SimResult result = run_soundly(setup);
    double hours = 0;
    REQUIRE(result.nodes->size() == told->asked.size());
    for (const sim::NodeLife& life : *result.nodes) hours += life.hours();
    double told_hours = 0;
    for (const auto& [request, asked] : told->asked)
      told_hours += (told->gone.at(request) - asked).to_seconds() / 3'600;
    REQUIRE(hours > 0);
    REQUIRE(std::abs(hours - told_hours) * 3'600 < kExactS * static_cast<double>(told->asked.size() + 1) * 1'000);
  });
}

TEST_CASE("Faults of providers end in events, every job completes, and no machine is left or made twice") {
  std::map<std::string, int> count;
  std::size_t never_joined = 0;
  for_each_seed("pool faults", 60, [&](std::uint64_t seed, Rng&) {
    sim::SimSetup setup = faulty_pool_world(seed);
    if (seed % 2 == 0) setup.crash_plan = often(seed);
    if (seed % 3 == 0) setup.faults = faults(seed);
    const auto told = listen(setup);
    const sim::SimResult result = run_soundly(setup);
    std::set<core::NodeRequest> requests;
    for (const sim::NodeLife& life : *result.nodes) {
      REQUIRE(requests.insert(life.request).second);
      never_joined += life.joined ? 0 : 1;
    }
    REQUIRE(result.state.pools.nodes.empty());
    for (const auto& [type, times] : told->count) count[type] += times;
  });
  if (!all_seeds_run()) return;
  for (const char* type : {"pool.node_asked", "pool.node_created", "pool.node_joined", "pool.create_failed",
                           "pool.node_released", "pool.node_gone"}) {
    INFO(type);
    REQUIRE(count[type] > 0);
  }
  REQUIRE(never_joined > 0);
}

TEST_CASE("A minimum is there from the beginning and is billed to the end; nothing else is when all jobs have ended") {
  sim::SimSetup setup = pool_world(7);
  setup.pools.pools.front().spec.min = 2;
  const sim::SimResult result = run_soundly(setup);
  REQUIRE(result.state.pools.nodes.size() == 2);
  REQUIRE(result.nodes->at(0).asked == Instant());
  REQUIRE(result.nodes->at(0).gone == Instant() + result.end);
  REQUIRE(result.nodes->at(1).cost() == Approx(result.end.to_seconds() / 3'600 * 2));
}

TEST_CASE("The threshold rule asks for nodes after a job has waited and gives an idle one back after the idle time") {
  sim::SimSetup setup = pool_world(3);
  setup.workload.jobs.resize(1);
  const Instant submitted = Instant() + setup.workload.jobs.front().arrives;
  const auto told_with = [&](Duration patience) {
    setup.parts = [patience] {
      auto parts = engine_parts("fifo");
      parts.provision = std::make_shared<studies::ThresholdNodes>(patience);
      return parts;
    };
    const auto told = listen(setup);
    const sim::SimResult result = run_soundly(setup);
    REQUIRE(told->count["pool.node_emptying"] == 0);
    const Instant ended = Instant() + Duration::from_seconds(*result.rows.front().finished_s);
    for (const auto& [request, gone] : told->gone) REQUIRE(gone - ended >= Duration::seconds(15));
    return told->asked.begin()->second - submitted;
  };
  REQUIRE(told_with(Duration()) < Duration::seconds(1));
  REQUIRE(told_with(Duration::seconds(30)) >= Duration::seconds(30));
  REQUIRE(told_with(Duration::seconds(30)) < Duration::seconds(31));
}

TEST_CASE("The threshold rule survives the same faults") {
  for_each_seed("threshold faults", 30, [](std::uint64_t seed, Rng& rng) {
    sim::SimSetup setup = faulty_pool_world(seed);
    const Duration patience = Duration::seconds(rng.between(0, 20));
    setup.parts = [parts = setup.parts, patience] {
      auto made = parts();
      made.provision = std::make_shared<studies::ThresholdNodes>(patience);
      return made;
    };
    REQUIRE(run_soundly(setup).state.pools.nodes.empty());
  });
}

TEST_CASE("A pool is described by settings, and what is wrong with one is said with what it may be") {
  const auto pool = sim::parse_pool("name=a100,slots=8,max=4,min=1,price=2.50,idle=5m,lead=90s,spread=0.2,spot");
  REQUIRE(pool.ok());
  REQUIRE(pool->spec.name == "a100");
  REQUIRE(pool->spec.worth_per_slot_hour == Money::micros(5'000'000));
  REQUIRE(pool->spec.lead_time == Duration::seconds(90));
  REQUIRE(pool->spec.spot);
  const std::map<std::string, std::string> wrong = {
      {"max=4", "slots=8"},
      {"slots=8", "max=16"},
      {"slots=8,max=4,min=5", "min must not be above max"},
      {"slots=8,max=4,price=2,worth=1", "worth must not be below price"},
      {"slots=0,max=4", "from 1 to 1024"},
      {"slots=8,max=4,idle=soon", "a time of at least 1s"},
      {"slots=8,max=4,create-fails=1", "from 0 to 0.9"},
      {"slots=8,max=4,reclaim-every=1h", "spot pool"},
      {"slots=8,max=4,spot,notice=1m", "reclaim-every=12h"},
      {"slots=8,max=4,max=5", "given twice"},
      {"slots=8,max=4,size=5", "there is no setting \"size\""},
      {"slots=8,max=4,name=node", "and not \"node\""},
      {"slots=8,max=4,spot=yes", "without a value"},
  };
  for (const auto& [text, why] : wrong) {
    const auto read = sim::parse_pool(text);
    INFO(text);
    REQUIRE_FALSE(read.ok());
    REQUIRE(read.error().message.find(why) != std::string::npos);
  }
  REQUIRE(studies::provision_rule_of("built-in").value() == nullptr);
  REQUIRE(studies::provision_rule_of("threshold:60s").value() != nullptr);
  REQUIRE_FALSE(studies::provision_rule_of("threshold").ok());
}

}  // namespace
}  // namespace tidepool::test
