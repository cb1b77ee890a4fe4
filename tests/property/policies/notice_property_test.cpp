// Programs that answer the notices to leave of their workers as they like, over random lives of a cluster: every law of
// decisions holds, no answer wins more than the tenant's limit, no promise is broken, and a job that parks gives its
// slots back in time.
#include <catch2/catch.hpp>

#include <map>

#include "core/words/sentence.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

core::TenantTree with_extensions(Rng& rng, core::TenantTree tree) {
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.7)) tenant.notice_extension = Duration::millis(rng.between(0, 9'000));
  }
  return tree;
}

// Some are late, repeated or about another notice.
void answer_some(SimulatedWorld& world, Rng& rng) {
  std::map<WorkerId, core::LeaveNotice> standing;
  for (const auto& [id, worker] : world.state().workers) {
    if (worker.notice && !worker.is_gone() && rng.chance(0.3)) standing.emplace(id, *worker.notice);
  }
  for (const auto& [id, notice] : standing) {
    const DecisionId decision = rng.chance(0.9) ? notice.decision : DecisionId(1 + rng.below(50));
    (void)world.learn(core::NoticeAnswered{.worker = id,
                                           .decision = decision,
                                           .number = notice.answers + rng.between(0, 2),
                                           .answer = static_cast<core::NoticeAnswer>(rng.between(0, 4)),
                                           .needs = Duration::millis(rng.between(-1, 20'000))});
  }
}

// What notices have promised, and what has been granted.
class Promises {
 public:
  void require_kept(const SimulatedWorld& world) {
    std::map<WorkerId, Promise> now;
    for (const auto& [id, worker] : world.state().workers) {
      if (!worker.notice) continue;
      INFO(id.text());
      const core::LeaveNotice& notice = *worker.notice;
      const core::Job& job = *world.state().find_job(worker.job);
      const Duration most = world.state().tenants->notice_extension_of(job.spec.tenant);
      REQUIRE(notice.by >= notice.due);
      REQUIRE(notice.by <= notice.due + most);
      if (notice.by > notice.due) ++granted_;
      const auto before = promises_.find(id);
      if (before != promises_.end()) REQUIRE(notice.by >= before->second.by);
      const bool is_stopped = worker.kill_at && (before == promises_.end() || !before->second.stopped);
      // Its job may have gone on without one whose node was away.
      const bool was_away = worker.is_gone() || (before != promises_.end() && before->second.was_away);
      if (is_stopped && !was_away && *worker.kill_at < notice.by) require_excused(world.state(), worker);
      now.emplace(id, Promise{notice.by, worker.kill_at.has_value(), was_away});
      if (!job.membership.parking || !worker.stop_due || worker.is_gone()) continue;
      ++parking_;
      REQUIRE(*worker.stop_due <= job.membership.commit.at + job.spec.elastic.grace + most);
      if (world.now() >= *worker.stop_due) REQUIRE(worker.kill_at);
    }
    promises_ = std::move(now);
  }
  [[nodiscard]] std::size_t granted() const { return granted_; }
  [[nodiscard]] std::size_t parking() const { return parking_; }

 private:
  struct Promise {
    Instant by;
    bool stopped = false;
    bool was_away = false;
  };
  // It may be stopped sooner than it was promised.
  static void require_excused(const core::ClusterState& state, const core::Worker& worker) {
    INFO(core::sentence(*worker.stopped_for));
    const bool done = worker.notice->answer == core::NoticeAnswer::kDone;
    const bool node_goes = state.find_node(worker.node)->drain.has_value();
    REQUIRE((done || node_goes || worker.stuck));
  }

  std::map<WorkerId, Promise> promises_;
  std::size_t granted_ = 0;
  std::size_t parking_ = 0;
};

}  // namespace

TEST_CASE("whatever programs answer to their notices, no limit is passed and no promise broken") {
  std::size_t granted = 0;
  std::size_t parking = 0;
  for_each_seed("notices", 30, [&](std::uint64_t seed, Rng& rng) {
    for (const policies::KnownPolicy& policy : policies::known_policies()) {
      INFO(policy.name);
      SimulatedWorld world(seed, true, parts_of(policy.name));
      Promises promises;
      REQUIRE(world.share_among(with_extensions(rng, random_tenants(rng, static_cast<int>(rng.between(0, 20))))));
      const core::TenantTree tree = *world.state().tenants;
      for (int i = 0; i < 150; ++i) {
        world.tick();
        answer_some(world, rng);
        // An old fact may have brought another tree.
        if (*world.state().tenants != tree) break;
        require_books(world.state());
        decide_and_check(world);
        promises.require_kept(world);
      }
      granted += promises.granted();
      parking += promises.parking();
    }
  });
  if (all_seeds_run()) REQUIRE(granted > 500);
  if (all_seeds_run()) REQUIRE(parking > 500);
}

TEST_CASE("a state with notices that is written and read back goes on as the engine that wrote it") {
  for_each_seed("notices recovered", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(with_extensions(rng, random_tenants(rng, 8))));
    for (int i = 0; i < 80; ++i) {
      world.tick();
      answer_some(world, rng);
      decide_and_check(world);
    }
    const auto read = core::state_from_json(nlohmann::json::parse(core::to_json(world.state()).dump()));
    INFO((read.ok() ? std::string() : read.error().message));
    REQUIRE(read.ok());
    REQUIRE(core::digest_of(*read) == core::digest_of(world.state()));
    for (const auto& [id, worker] : world.state().workers) {
      const auto& notice = read->find_worker(id)->notice;
      REQUIRE(notice.has_value() == worker.notice.has_value());
      if (!notice) continue;
      REQUIRE(notice->due == worker.notice->due);
      REQUIRE(notice->by == worker.notice->by);
      REQUIRE(notice->answers == worker.notice->answers);
    }
    core::Engine again(parts_of("tidal"), *read);
    REQUIRE(again.clock_due() == world.engine().clock_due());
    REQUIRE(Story::text_of(again.decide(world.now())) == Story::text_of(world.engine().decide(world.now())));
  });
}

}  // namespace tidepool::test
