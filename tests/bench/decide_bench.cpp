// How long decisions take on a large cluster: a full re-plan over all jobs, and what one event costs (step, decide
// and accept together). Each figure stands beside the same one on a cluster of half the size, measured in turns with
// it: ratio = t(2n) / t(n). Work that grows with the cluster shows 2, work that follows the change shows 1.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "core/engine/engine.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/registry.hpp"
#include "sim/workload.hpp"
#include "straggler/change_point_detector.hpp"
#include "tests/bench/decide_engine.hpp"
#include "tests/bench/decide_figures.hpp"
#include "tests/bench/decide_place.hpp"
#include "tests/bench/decide_sia.hpp"
#include "tests/bench/decide_tidal.hpp"

namespace tidepool {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr std::int64_t kEveryUs = 1'000;  // simulated time between two facts

struct Scale {
  int nodes;
  int jobs;
};
constexpr Scale kFull{1'000, 5'000};
constexpr Scale kHalf{500, 2'500};

// An engine on a busy cluster: most jobs run and have been measured, the rest wait for slots.
class BusyCluster {
 public:
  explicit BusyCluster(Scale scale)
      : engine_({.policies = policies::make_policies("autoscaling_engine").value(),
                 .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()}}) {
    for (int i = 1; i <= scale.nodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      learn(core::NodeJoined{.node = engine_.node_id_for(name),
                             .name = name,
                             .slots = kSlotsPerNode,
                             .slot_type = "gpu",
                             .price_per_slot_hour = Money::micros(1'000'000)});
    }
    const auto workload = sim::generate_workload({.seed = 1, .jobs = scale.jobs, .size_max = 8});
    for (const auto& job : workload.jobs) learn(core::JobSubmitted{engine_.next_job_id(), job.spec});
    settle();
    std::vector<WorkerId> booting;
    for (const auto& [id, worker] : engine_.view().workers) booting.push_back(id);
    for (const WorkerId worker : booting) learn(core::WorkerReady{worker});
    settle();
    for (const auto& [id, job] : engine_.view().jobs) {
      if (!job->membership.members.empty()) running_.push_back(id);
    }
    for (const JobId job : running_) learn(core::GenerationSwitched{.job = job, .generation = 1, .switch_step = 1});
    for (const JobId job : running_) measure(job);
    settle();
  }

  // A report of eight steps of one job, and what follows from it, in microseconds.
  double one_event() {
    const JobId job = running_[rng_.below(running_.size())];
    const core::StepsMeasured report = report_of(*engine_.view().find_job(job));
    const double begin = now_us();
    learn(report);
    accept(engine_.decide(now_));
    return now_us() - begin;
  }

  double full_replan() const {
    const double begin = now_us();
    const core::Decision decision = engine_.decide_from_scratch(now_);
    const double took = now_us() - begin;
    TP_CHECK(decision.steps_counted > 0, "a full re-plan looks at jobs");
    return took;
  }

 private:
  void learn(core::Fact fact) {
    now_ = now_ + Duration::micros(kEveryUs);
    const auto events = engine_.step({.at = now_, .fact = std::move(fact)});
    TP_CHECK(events.ok(), "the benchmark tells the engine only what is so");
  }
  void accept(const core::Decision& decision) {
    TP_CHECK(engine_.validate(decision).ok(), "every plan passes the validator");
    (void)engine_.accept(decision);
  }
  void settle() { accept(engine_.decide(now_)); }
  void measure(JobId job) { learn(report_of(*engine_.view().find_job(job))); }

  core::Engine engine_;
  Instant now_;
  std::vector<JobId> running_;
  Rng rng_{7};
};

void print_single_job_decisions() {
  BusyCluster half(kHalf);
  BusyCluster full(kFull);
  const Growth replan = in_turns({.turns = 200}, half, full, [](const BusyCluster& any) { return any.full_replan(); });
  const Growth event =
      in_turns({.turns = 50, .samples = 100}, half, full, [](BusyCluster& any) { return any.one_event(); });
  print_growth("full_replan", "1000x8_5000_jobs_vs_half", replan);
  print_growth("single_event", "1000x8_5000_jobs_vs_half", event);
  print("single_event_p50_vs_full_replan_p50", event.full.p50, replan.full.p50);
}

}  // namespace
}  // namespace tidepool

// Which figures: "job" (autoscaling_engine, which sizes one job at a time), "tidal", "engine", "typed", "place", "sia";
// none = all.
int main(int argc, char** argv) {
  using namespace tidepool;
  const std::vector<std::string> asked(argv + 1, argv + argc);
  const std::vector<std::pair<std::string, void (*)()>> parts{
      {"job", print_single_job_decisions}, {"tidal", print_tidal_decisions}, {"engine", print_engine_decisions},
      {"typed", print_typed_decisions},    {"place", print_placements},      {"sia", print_sia_decisions}};
  for (const auto& [name, print_part] : parts) {
    if (asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end()) print_part();
  }
  return 0;
}
