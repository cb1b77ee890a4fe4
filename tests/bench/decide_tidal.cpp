#include "tests/bench/decide_tidal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/bench/decide_figures.hpp"

namespace tidepool {
namespace {

namespace cluster = policies::cluster;
namespace tidal = policies::tidal;

constexpr int kSlotsPerNode = 8;
constexpr std::int64_t kEnough = 1'000'000'000;

struct Scale {
  int nodes;
  int jobs;  // half of them find slots
};
constexpr Scale kFull{1'250, 20'000};
constexpr Scale kHalf{625, 10'000};

// Amdahl's law with a price for leaving a node.
class Curve final : public cluster::SpeedModel {
 public:
  explicit Curve(Rng& rng) : serial_(0.02 + rng.uniform() * 0.3), hop_(rng.uniform() * 0.1) {}
  [[nodiscard]] double step_seconds(cluster::Shape shape) const override {
    return serial_ + (1 - serial_) / shape.size + (shape.nodes > 1 ? hop_ : 0);
  }

 private:
  double serial_;
  double hop_;
};

struct World {
  cluster::View view;
  std::deque<Curve> curves;
};

World busy_world(Scale scale) {
  World world;
  Rng rng(1);
  world.view.now = Instant::from_micros(86'400'000'000);
  for (int i = 1; i <= scale.nodes; ++i) {
    world.view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = kSlotsPerNode});
  }
  for (int i = 1; i <= scale.jobs; ++i) {
    cluster::JobRow job;
    job.id = JobId(static_cast<std::uint64_t>(i));
    job.submitted = Instant::from_micros(rng.between(0, 86'400) * 1'000'000);
    job.speed = &world.curves.emplace_back(rng);
    job.size_max = static_cast<int>(rng.between(1, 32));
    job.largest_seen = job.size_max;
    job.slot_seconds = rng.exponential(20'000);
    if (rng.chance(0.5)) job.useful_left = rng.exponential(10'000);
    job.transition = Duration::seconds(10);
    world.view.jobs.push_back(std::move(job));
  }
  return world;
}

// Decides and lets the answer hold.
void carry_out(World& world) {
  core::StepBudget budget(kEnough);
  const cluster::Allocation allocation = tidal::Tidal().allocate(world.view, budget);
  TP_CHECK(cluster::check_placements(world.view, allocation, allocation.placements).ok(), "no slot is given twice");
  for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
    world.view.jobs[row].placement = allocation.placements[row];
  }
}

double replan(const World& world) {
  core::StepBudget budget(kEnough);
  const double begin = now_us();
  const cluster::Allocation allocation = tidal::Tidal().allocate(world.view, budget);
  const double took = now_us() - begin;
  TP_CHECK(cluster::check_allocation(world.view, allocation).ok(), "no slot is given twice");
  return took;
}

// The market over the jobs of a world, which change one by one.
class Market {
 public:
  explicit Market(World& world) : world_(world), state_(tidal::pool_of(world.view)) {
    for (const cluster::JobRow& job : world.view.jobs) state_.put(job, world.view.now);
    (void)state_.settle(world.view.now, budget_);
  }
  // A job has trained on, or has ended and another has come.
  double event() {
    cluster::JobRow& job = world_.view.jobs[rng_.below(world_.view.jobs.size())];
    job.slot_seconds += rng_.exponential(1'000);
    if (job.useful_left) job.useful_left = rng_.chance(0.2) ? rng_.exponential(10'000) : *job.useful_left * 0.9;
    const double begin = now_us();
    state_.put(job, world_.view.now);
    (void)state_.settle(world_.view.now, budget_);
    return now_us() - begin;
  }

 private:
  World& world_;
  tidal::MarketState state_;
  core::StepBudget budget_{kEnough};
  Rng rng_{7};
};

}  // namespace

void print_tidal_decisions() {
  World half = busy_world(kHalf);
  World full = busy_world(kFull);
  for (World* any : {&half, &full}) carry_out(*any);
  print_growth("tidal_replan", "1250x8_20000_jobs_vs_half", in_turns({.turns = 30}, half, full, replan));
  Market half_market(half);
  Market full_market(full);
  print_growth(
      "tidal_event", "1250x8_20000_jobs_vs_half",
      in_turns({.turns = 50, .samples = 100}, half_market, full_market, [](Market& any) { return any.event(); }));
}

}  // namespace tidepool
