#include "tests/bench/decide_engine.hpp"

#include <algorithm>
#include <cstdio>
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
#include "tests/bench/decide_figures.hpp"

namespace tidepool {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr std::int64_t kEveryUs = 1'000;  // simulated time between two facts
const std::vector<std::string> kTypes{"h100", "a100", "v100"};
constexpr int kMinutes = 120;   // with a plan each
constexpr int kRoundsMax = 20;  // until all workers that were told to start or leave have done so

struct Scale {
  int nodes;
  int jobs;            // half of them find slots
  bool typed = false;  // three types of slot; a fifth of the jobs asks for one of them, a tenth has a deadline
};
constexpr Scale kTyped{1'250, 20'000, true};
constexpr Scale kTypedHalf{625, 10'000, true};
constexpr Scale kFull{1'250, 20'000};
constexpr Scale kHalf{625, 10'000};

// A cluster without a free slot, with about as many jobs that wait as jobs that run and have been measured.
class FullCluster {
 public:
  explicit FullCluster(Scale scale)
      : scale_(scale),
        engine_({.policies = policies::make_policies("tidal").value(),
                 .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()}}),
        arrivals_(sim::generate_workload({.seed = 2, .jobs = 20'000, .size_max = 8}).jobs) {
    for (int i = 1; i <= scale.nodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      learn(core::NodeJoined{.node = engine_.node_id_for(name),
                             .name = name,
                             .slots = kSlotsPerNode,
                             .slot_type = scale.typed ? kTypes[static_cast<std::size_t>(i) % kTypes.size()] : "gpu",
                             .price_per_slot_hour = Money::micros(1'000'000)});
    }
    const auto workload = sim::generate_workload({.seed = 1, .jobs = scale.jobs, .size_max = 8});
    for (const auto& job : workload.jobs) learn(core::JobSubmitted{engine_.next_job_id(), asking(job.spec)});
    settle();
    come_to_rest();
    std::fprintf(stderr, "%zu of %d jobs run\n", running_.size(), scale.jobs);
  }

  // Until no worker is on the way any more: those told to start are ready, switch and are measured, and those told to
  // leave go.
  void come_to_rest() {
    for (int round = 0; work_a_round() && round < kRoundsMax; ++round) settle();
  }

  // A report of eight steps, which says nothing new.
  double report() {
    const JobId job = pick();
    return timed([&] { learn(report_of(*engine_.view().find_job(job))); });
  }
  double arrival() {
    return timed([&] { learn(core::JobSubmitted{engine_.next_job_id(), asking(arrivals_.at(next_++).spec)}); });
  }
  // The last worker of a job exits: its slots are given to the jobs that the plan chooses, and those boot.
  double end() {
    const JobId job = pick();
    learn(core::TrainingFinished{.job = job, .last_step = engine_.view().find_job(job)->progress.step});
    settle();
    const std::vector<WorkerId> workers = engine_.view().find_job(job)->membership.workers;
    for (std::size_t i = 0; i + 1 < workers.size(); ++i) {
      learn(core::WorkerExited{.worker = workers[i], .exit_code = 0});
      settle();
    }
    std::erase(running_, job);
    const double took = timed([&] { learn(core::WorkerExited{.worker = workers.back(), .exit_code = 0}); });
    settle();
    come_to_rest();
    return took;
  }
  [[nodiscard]] double plan_anew() const {
    const double begin = now_us();
    const core::Decision decision = engine_.decide_from_scratch(now_ + Duration::seconds(60));  // it is due by then
    const double took = now_us() - begin;
    TP_CHECK(decision.replan.has_value(), "a plan that is due is made");
    return took;
  }
  // The plan that is due though nothing has happened but reports.
  double regular_plan() {
    for (int i = 0; i < scale_.jobs / 20; ++i) (void)report();
    now_ = now_ + Duration::seconds(60);
    const double took = timed([] {});
    come_to_rest();
    return took;
  }

 private:
  template <typename Learn>
  double timed(Learn learn_it) {
    const double begin = now_us();
    learn_it();
    accept(engine_.decide(now_));
    return now_us() - begin;
  }
  // A job that steps now; one that has been preempted does not.
  JobId pick() {
    for (;;) {
      const JobId job = running_[rng_.below(running_.size())];
      if (engine_.view().find_job(job)->membership.switched) return job;
    }
  }
  void learn(core::Fact fact) {
    now_ = now_ + Duration::micros(kEveryUs);
    TP_CHECK(engine_.step({.at = now_, .fact = std::move(fact)}).ok(), "the benchmark tells the engine what is so");
  }
  void accept(const core::Decision& decision) {
    TP_CHECK(engine_.validate(decision).ok(), "every plan passes the validator");
    (void)engine_.accept(decision);
  }
  void settle() { accept(engine_.decide(now_)); }

  bool work_a_round() {
    std::vector<WorkerId> booting;
    std::vector<WorkerId> leaving;
    for (const auto& [id, worker] : engine_.view().workers) {
      if (worker.phase == core::WorkerPhase::kStarting) booting.push_back(id);
      if (worker.phase == core::WorkerPhase::kLeaving && (worker.stop_due || worker.kill_at)) leaving.push_back(id);
    }
    for (const WorkerId worker : booting) learn(core::WorkerReady{worker});
    for (const WorkerId worker : leaving) learn(core::WorkerExited{.worker = worker, .exit_code = 0});
    std::vector<JobId> switching;
    for (const auto& [id, job] : engine_.view().jobs) {
      if (!job->membership.members.empty() && !job->membership.switched) switching.push_back(id);
    }
    for (const JobId id : switching) {
      const core::Job& job = *engine_.view().find_job(id);
      const bool first = job.progress.step == 0;
      learn(core::GenerationSwitched{
          .job = id, .generation = job.membership.generation, .switch_step = job.progress.step + 1});
      for (int i = 0; i < 4; ++i) learn(report_of(*engine_.view().find_job(id)));
      if (first) running_.push_back(id);
    }
    return !booting.empty() || !leaving.empty() || !switching.empty();
  }

  core::JobSpec asking(core::JobSpec spec) {
    const std::size_t turn = turn_++;
    if (!scale_.typed) return spec;
    if (turn % 5 == 0) spec.slot_types = {kTypes[turn / 5 % kTypes.size()]};
    if (turn % 10 == 3) {
      spec.work_samples = spec.work_samples.value_or(100'000 * spec.batch.global);
      spec.deadline = Duration::seconds(24 * 3'600);
    }
    return spec;
  }

  Scale scale_;
  std::size_t turn_ = 0;
  core::Engine engine_;
  std::vector<sim::SimJob> arrivals_;
  std::size_t next_ = 0;
  Instant now_;
  std::vector<JobId> running_;
  Rng rng_{7};
};

void print_all(const std::string& kind, Scale half_scale, Scale full_scale) {
  FullCluster half(half_scale);
  FullCluster full(full_scale);
  const auto print_one = [&](const std::string& metric, Turns turns, double (*sample)(FullCluster&)) {
    print_growth("engine_" + kind + "_" + metric, "1250x8_20000_jobs_vs_half", in_turns(turns, half, full, sample));
    for (FullCluster* any : {&half, &full}) any->come_to_rest();
  };
  print_one("plan_anew", {.turns = 20}, [](FullCluster& any) { return any.plan_anew(); });
  print_one("report", {.turns = 50, .samples = 100}, [](FullCluster& any) { return any.report(); });
  print_one("arrival", {.turns = 50, .samples = 10}, [](FullCluster& any) { return any.arrival(); });
  print_one("end", {.turns = 50, .samples = 4}, [](FullCluster& any) { return any.end(); });
  print_one("regular_plan", {.turns = kMinutes}, [](FullCluster& any) { return any.regular_plan(); });
}

}  // namespace

void print_engine_decisions() {
  print_all("tidal", kHalf, kFull);
}

void print_typed_decisions() {
  print_all("typed", kTypedHalf, kTyped);
}

}  // namespace tidepool
