#include "tests/bench/decide_sia.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "studies/baselines/sia.hpp"
#include "tests/bench/decide_figures.hpp"

namespace tidepool {
namespace {

namespace cluster = policies::cluster;

constexpr int kSlotsPerNode = 4;
constexpr int kDecisions = 20;

// Useful steps a second grow as a power of the size, and suffer across nodes.
class PowerLaw final : public cluster::SpeedModel {
 public:
  PowerLaw(double power, double across) : power_(power), across_(across) {}
  [[nodiscard]] double step_seconds(cluster::Shape shape) const override { return 1 / goodput(shape); }
  [[nodiscard]] double goodput(cluster::Shape shape) const override {
    return std::pow(shape.size, power_) * (shape.nodes > 1 ? across_ : 1);
  }

 private:
  double power_;
  double across_;
};

void print(const std::string& metric, double value) {
  const nlohmann::ordered_json line{{"bench", "decide"}, {"metric", metric}, {"value", value}, {"unit", "us"}};
  std::printf("%s\n", line.dump().c_str());
}

struct World {
  cluster::View view;
  std::vector<std::unique_ptr<PowerLaw>> speeds;
};

World busy_world(int slots, Rng& rng) {
  World world;
  world.view.now = Instant::from_micros(86'400'000'000);
  for (int node = 1; node <= slots / kSlotsPerNode; ++node) {
    world.view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(node)), .slots = kSlotsPerNode});
  }
  int node = 0;
  for (int i = 1; i <= slots / 2; ++i) {
    world.speeds.push_back(std::make_unique<PowerLaw>(0.4 + 0.5 * rng.uniform(), 0.7 + 0.3 * rng.uniform()));
    cluster::JobRow job;
    job.id = JobId(static_cast<std::uint64_t>(i));
    job.submitted = Instant::from_micros(rng.between(0, 86'000'000'000));
    job.size_max = 64;
    job.largest_seen = static_cast<int>(rng.between(0, 5)) * 2;
    job.resizes = static_cast<int>(rng.below(6));
    job.transition = Duration::seconds(30);
    job.speed = world.speeds.back().get();
    if (i % 5 != 0 && node < slots / kSlotsPerNode) {
      job.placement = {{.node = node, .slots = i % 2 == 0 ? 1 : 2}};
      node += i % 2;
    }
    world.view.jobs.push_back(std::move(job));
  }
  return world;
}

}  // namespace

void print_sia_decisions() {
  for (const int slots : {64, 256, 1'024}) {
    Rng rng(static_cast<std::uint64_t>(slots));
    std::vector<double> took;
    for (int i = 0; i < kDecisions; ++i) {
      const World world = busy_world(slots, rng);
      core::StepBudget budget(1'000'000'000);
      const double begin = now_us();
      const cluster::Allocation allocation = cluster::Sia().allocate(world.view, budget);
      took.push_back(now_us() - begin);
      TP_CHECK(cluster::check_allocation(world.view, allocation).ok(), "the baseline's answers are lawful");
    }
    std::sort(took.begin(), took.end());
    const std::string metric = "sia_" + std::to_string(slots) + "_slots_" + std::to_string(slots / 2) + "_jobs_";
    print(metric + "p50", took[took.size() / 2]);
    print(metric + "max", took.back());
  }
}

}  // namespace tidepool
