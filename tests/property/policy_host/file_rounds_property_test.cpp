// Questions to a policy file about a cluster that lives on: what is kept of its jobs between them changes no answer,
// and jobs that ended long ago are not gone through again. The file runs in a real host.
#include <catch2/catch.hpp>

#include "policies/host/file_policy.hpp"
#include "policies/host/file_round.hpp"
#include "policies/registry.hpp"
#include "tests/integration/policy_host/hosts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::policies::host {
namespace {

const core::PolicyFileRef kFile{"by_goodput", std::string(64, 'a'), "{}"};

// Says all that it is shown of a job, so that two questions with one answer were one question.
constexpr const char* kTelling = R"(
local P = {}
function P.size(view, params)
  local sizes = {}
  for i = 1, view.n do
    local most = view.sizes[i][#view.sizes[i]] or 0
    sizes[i] = (math.floor(view.slot_seconds[i]) + i) % 3 == 0 and 0 or most
    view.why(i, "Shown", {slot_seconds = view.slot_seconds[i], expected = view.useful_expected[i] or -1,
                          goodput = most > 0 and view.goodput(i, most) or 0, held = view.size[i]})
  end
  return sizes
end
return P
)";

const core::PolicyFileRef kSharing{"by_wants", std::string(64, 'b'), "{}", true};

// Claims follow from all that it is shown of tenants that changes as they live on.
constexpr const char* kClaiming = R"(
local P = {}
function P.share(view, params)
  local claims = {}
  for t = 1, view.tenants do
    local seen = view.tenant_wanted[t] + 3 * view.tenant_held[t] + math.floor(1000 * view.tenant_loan[t])
    claims[t] = seen % 4 > 0 and seen % 7
  end
  return claims
end
return P
)";

core::Engine::Parts parts() {
  return {.policies = policies::make_policies("tidal").value(),
          .stragglers = {std::make_shared<test::PlainDetector>()},
          .config = {.start_timeout = Duration::seconds(40), .switch_timeout = Duration::seconds(15)},
          .file_policy = std::make_shared<const FilePolicy>(built_in_fallback())};
}

void require_same(const RoundComparison& one, const RoundComparison& other) {
  REQUIRE(one.fault == other.fault);
  REQUIRE(one.jobs == other.jobs);
  REQUIRE(one.slots_live == other.slots_live);
  REQUIRE(one.slots_candidate == other.slots_candidate);
  REQUIRE(one.differences.size() == other.differences.size());
  for (std::size_t i = 0; i < one.differences.size(); ++i) {
    REQUIRE(one.differences[i].job == other.differences[i].job);
    REQUIRE(one.differences[i].live == other.differences[i].live);
    REQUIRE(one.differences[i].candidate == other.differences[i].candidate);
    REQUIRE(one.differences[i].reason == other.differences[i].reason);
  }
}

}  // namespace

namespace {

// A cluster that lives on, and rounds asked about it: by rows kept from round to round, and by rows made anew.
struct Life {
  core::Engine::Parts engine_parts = parts();
  test::SimulatedWorld world;
  PolicyHost& host;
  core::PolicyFileRef file = kFile;
  FileRounds kept{engine_parts};
  std::int64_t differences = 0;
  std::int64_t expected = 0;  // jobs of which something was expected by what others did
  std::int64_t claims = 0;

  Life(std::uint64_t seed, bool faults, PolicyHost& asked) : world(seed, faults, parts()), host(asked) {}

  void go_on() {
    const core::Decision decision = world.engine().decide(world.now());
    for (const auto& event : world.engine().accept(decision)) world.see(event);
    world.carry_out(decision);
  }
  void ask(Rng& rng) {
    const RoundRequest asked{.state = world.state(), .now = world.now(), .file = file, .number = 1};
    FileRounds anew(engine_parts);
    const core::PolicyRound round = kept.ask(host, {}, asked);
    INFO(round.fault + " " + round.message);
    REQUIRE(round.fault.empty());
    REQUIRE(round == anew.ask(host, {}, asked));
    claims += static_cast<std::int64_t>(round.claims.size());
    for (const core::PolicyJobAnswer& wish : round.job_answers) {
      expected += std::any_of(wish.numbers.begin(), wish.numbers.end(), [](const core::ReasonNumber& number) {
        return std::string_view(number.name) == "expected" && number.value >= 0;
      });
    }
    if (rng.chance(0.5)) return;  // comparisons lag behind
    const RoundComparison comparison = kept.compare(round, asked);
    require_same(comparison, anew.compare(round, asked));
    differences += static_cast<std::int64_t>(comparison.differences.size());
  }
};

}  // namespace

TEST_CASE("what is kept between questions changes neither an answer nor what comes of comparing it") {
  PolicyHost host = test::lua_host(kTelling);
  std::int64_t differences = 0;
  std::int64_t expected = 0;
  test::for_each_seed("file rounds", 30, [&](std::uint64_t seed, Rng& rng) {
    // Some where all slots are alike and no job has a deadline, so that jobs tell of each other.
    Life life(seed % 3 == 0 ? seed : 3 * seed + 1, seed % 3 == 0, host);
    for (int i = 0; i < 250; ++i) {
      life.world.tick();
      if (i % 3 == 0) life.go_on();
      if (rng.chance(0.2)) life.ask(rng);
    }
    // Then jobs end, one after the other.
    life.world.calm_down();
    for (int i = 0; i < 300 && life.world.work_a_round(); ++i) {
      life.go_on();
      life.ask(rng);
    }
    differences += life.differences;
    expected += life.expected;
  });
  if (!test::all_seeds_run()) return;
  CHECK(differences > 0);
  CHECK(expected > 0);
}

TEST_CASE("likewise where the file divides the pool between tenants, and the next one does not") {
  PolicyHost sharing = test::lua_host(kClaiming);
  PolicyHost telling = test::lua_host(kTelling);
  std::int64_t differences = 0;
  std::int64_t claims = 0;
  test::for_each_seed("file rounds of tenants", 10, [&](std::uint64_t seed, Rng& rng) {
    Life life(seed, true, sharing);
    life.file = kSharing;
    REQUIRE(life.world.share_among(test::random_tenants(rng, 6)));
    for (int i = 0; i < 120; ++i) {
      life.world.tick();
      if (i % 3 == 0) life.go_on();
      if (rng.chance(0.03)) (void)life.world.share_among(test::random_tenants(rng, 6));
      if (rng.chance(0.3)) life.ask(rng);
      if (rng.chance(0.05)) {
        // One asker serves one version after another.
        const RoundRequest asked{.state = life.world.state(), .now = life.world.now(), .file = kFile, .number = 1};
        FileRounds anew(life.engine_parts);
        const core::PolicyRound round = life.kept.ask(telling, {}, asked);
        REQUIRE(round.claims.empty());
        require_same(life.kept.compare(round, asked), anew.compare(round, asked));
      }
    }
    differences += life.differences;
    claims += life.claims;
  });
  if (!test::all_seeds_run()) return;
  CHECK(differences > 0);
  CHECK(claims > 0);
}

TEST_CASE("a job that has left is followed once, and again where something else is remembered of it") {
  core::ClusterState state;
  const auto put = [&](std::uint64_t id) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(id);
    state.jobs[JobId(id)] = job;
  };
  const auto end = [&](std::uint64_t id) {
    state.jobs.erase(JobId(id));
    state.ended[JobId(id)] = std::make_shared<core::EndedJob>(core::EndedJob{.id = JobId(id), .sizes = {}});
  };
  put(2);
  put(5);
  end(1);
  end(3);
  FollowedJobs followed;
  FollowedJobs::News news = followed.catch_up(state);
  CHECK(news.going_on == IdSet<JobId>{JobId(2), JobId(5)});
  CHECK(news.ended == std::vector{JobId(1), JobId(3)});
  put(4);
  news = followed.catch_up(state);
  CHECK(news.going_on == IdSet<JobId>{JobId(2), JobId(4), JobId(5)});
  CHECK(news.ended.empty());
  end(2);
  state.jobs.erase(JobId(5));  // nothing is remembered of it
  CHECK(followed.catch_up(state).ended == std::vector{JobId(2), JobId(5)});
  state.ended.erase(JobId(1));
  CHECK(followed.catch_up(state).ended == std::vector{JobId(1)});
  // As in the state of another past.
  end(3);
  state.ended.erase(JobId(2));
  put(2);
  news = followed.catch_up(state);
  CHECK(news.ended == std::vector{JobId(2), JobId(3)});
  CHECK(news.going_on == IdSet<JobId>{JobId(2), JobId(4)});
}

}  // namespace tidepool::policies::host
