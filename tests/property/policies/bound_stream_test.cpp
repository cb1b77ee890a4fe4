// A job that needs more slots than are free at a time does not wait for ever behind a stream of small jobs of lower
// priorities that may not be preempted for some time after each start: it starts as soon as those that held slots when
// it came may be preempted, at the latest.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/seeds.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

constexpr int kPriority = 12;

// Small jobs of priorities from 0 to 3, of which some always wait; each runs for a while, mostly for longer than it is
// bound.
class Stream {
 public:
  Stream(SharedPool& pool, Rng& rng, std::string tenant) : pool_(pool), rng_(rng), tenant_(std::move(tenant)) {}

  void submit_some() {
    while (waiting() < 3) jobs_.push_back(pool_.submit(random_spec()));
  }
  void end_some() {
    for (const JobId id : jobs_) {
      if (pool_.story.job(id).size() > 0 && rng_.chance(0.15)) pool_.end(id);
    }
    std::erase_if(jobs_, [&](JobId id) { return core::is_final(pool_.story.job(id).state()); });
    pool_.settle_all();
  }
  // Those that start, too.
  [[nodiscard]] std::vector<JobId> running() const {
    std::vector<JobId> running;
    for (const JobId id : jobs_) {
      if (!pool_.story.job(id).membership.workers.empty()) running.push_back(id);
    }
    return running;
  }
  // The last moment at which one that holds slots is bound.
  [[nodiscard]] Instant bound_until() const {
    Instant until = pool_.story.now();
    for (const JobId id : running()) {
      const core::Job& job = pool_.story.job(id);
      until = std::max(until, *job.last_start_at + job.spec.elastic.min_runtime);
    }
    return until;
  }

 private:
  [[nodiscard]] core::JobSpec random_spec() {
    core::JobSpec spec = SharedPool::spec(tenant_, rng_.chance(0.8) ? 1 : 2);
    spec.priority = static_cast<int>(rng_.between(0, 3));
    spec.elastic.min_runtime = Duration::seconds(rng_.between(60, 900));
    return spec;
  }
  [[nodiscard]] std::ptrdiff_t waiting() const {
    return std::count_if(jobs_.begin(), jobs_.end(),
                         [&](JobId id) { return pool_.story.job(id).state() == core::JobState::kPending; });
  }

  SharedPool& pool_;
  Rng& rng_;
  std::string tenant_;
  std::vector<JobId> jobs_;
};

// All that run step, so that none is taken for stuck, and then all that can change has done so.
void go_on(SharedPool& pool, Duration time) {
  pool.story.pass(time);
  for (const auto& [id, job] : IdTable(pool.story.state().jobs)) {
    if (job->membership.switched && !job->membership.members.empty()) pool.story.steps(id, 1);
  }
  pool.settle_all();
}

// How long the gang has waited behind jobs that were bound.
Duration wait_of_gang(SharedPool& pool, Rng& rng, const std::string& tenant, int slots) {
  Stream stream(pool, rng, tenant);
  for (int round = 0; round < 6; ++round) {
    stream.submit_some();
    go_on(pool, Duration::seconds(rng.between(5, 60)));
    stream.end_some();
  }
  core::JobSpec spec = SharedPool::spec(tenant, static_cast<int>(rng.between(slots / 2, slots)));
  spec.priority = kPriority;
  const JobId gang = pool.submit(spec);
  const Instant since = pool.story.now();
  const Instant bound = stream.bound_until();
  const std::vector<JobId> before = stream.running();
  while (pool.story.job(gang).size() == 0) {
    stream.submit_some();
    // It waits for them alone: none of those that came later has started since.
    pool.settle_all();
    for (const JobId id : stream.running()) {
      const bool ran_before = std::find(before.begin(), before.end(), id) != before.end();
      if (pool.story.job(gang).size() == 0) REQUIRE(ran_before);
    }
    if (pool.story.job(gang).size() > 0) break;
    REQUIRE(pool.story.now() < bound);
    const Duration left = bound - pool.story.now();
    go_on(pool, std::min(left, Duration::seconds(rng.between(5, 60))));
    stream.end_some();
  }
  return std::min(pool.story.now(), bound) - since;
}

}  // namespace

TEST_CASE("a gang of the highest priority starts once those that held slots when it came may be preempted") {
  Duration waited;
  for_each_seed("bound stream", 30, [&](std::uint64_t, Rng& rng) {
    const int slots = static_cast<int>(rng.between(4, 10));
    SharedPool pool({}, slots);
    waited += wait_of_gang(pool, rng, "", slots);
  });
  if (all_seeds_run()) CHECK(waited > Duration::seconds(600));
}

TEST_CASE("so does one within its tenant's guarantee, though another tenant wants all slots") {
  Duration waited;
  for_each_seed("bound stream of a tenant", 20, [&](std::uint64_t, Rng& rng) {
    const int slots = static_cast<int>(rng.between(4, 8));
    SharedPool pool({{.name = "vision", .guarantee = slots}, {.name = "speech", .weight = 100}}, slots + 4);
    for (int i = 0; i < slots + 4; ++i) (void)pool.submit(SharedPool::spec("speech", 1));
    waited += wait_of_gang(pool, rng, "vision", slots);
  });
  if (all_seeds_run()) CHECK(waited > Duration::seconds(600));
}

}  // namespace tidepool::test
