// What it costs to share a pool between tenants, under tidal: whole decisions of an engine, with every fact that leads
// to them. The shapes are those of the scale tests of KAI-Scheduler (500 nodes of 8 GPUs, 4,000 jobs of one queue that
// run and 4,000 of another that wait; 41 gangs for which jobs have to be brought together), and a tree of 1,000
// tenants. Each figure stands beside the same one at half the size, measured in the same call.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "core/engine/engine.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/registry.hpp"
#include "straggler/change_point_detector.hpp"
#include "tests/bench/decide_figures.hpp"
#include "tests/bench/percentiles.hpp"

namespace tidepool {
namespace {

constexpr int kSlotsPerNode = 8;

class SharedCluster {
 public:
  SharedCluster(int nodes, std::vector<core::Tenant> tenants)
      : engine_({.policies = policies::make_policies("tidal").value(),
                 .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()}}) {
    for (int i = 1; i <= nodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      learn(core::NodeJoined{
          .node = engine_.node_id_for(name), .name = name, .slots = kSlotsPerNode, .slot_type = "gpu"});
    }
    learn(core::TenantsConfigured{{.tenants = std::move(tenants)}});
  }

  struct Asks {
    int slots_of_worker = 1;
    int priority = 0;
  };
  JobId submit(const std::string& tenant, int workers, Asks asks) {
    core::JobSpec spec;
    spec.name = "train";
    spec.tenant = tenant;
    spec.batch.global = 8'192;
    spec.gpus_per_worker = asks.slots_of_worker;
    spec.priority = asks.priority;
    spec.elastic.min = spec.elastic.max = spec.elastic.preferred = workers;
    spec.elastic.sizes = {workers};
    const JobId job = engine_.next_job_id();
    learn(core::JobSubmitted{.job = job, .spec = std::move(spec)});
    return job;
  }
  JobId submit(const std::string& tenant, int workers) { return submit(tenant, workers, {}); }
  // In microseconds: one decision, recorded.
  double decide() {
    const double begin = now_us();
    const core::Decision decision = engine_.decide(now_);
    TP_CHECK(engine_.validate(decision).ok(), "every plan passes the validator");
    (void)engine_.accept(decision);
    newest_intents_ = decision.plan.size();
    return now_us() - begin;
  }
  // Every worker that was started comes up, and its job steps and is measured. In microseconds: the decisions.
  double bring_up() {
    double took = decide();
    std::vector<WorkerId> booting;
    for (const auto& [id, worker] : engine_.view().workers) {
      if (worker.phase == core::WorkerPhase::kStarting) booting.push_back(id);
    }
    for (const WorkerId worker : booting) learn(core::WorkerReady{worker});
    took += decide();
    std::vector<JobId> starting;
    for (const auto& [id, job] : engine_.view().jobs) {
      if (!job->membership.members.empty() && !job->membership.switched) starting.push_back(id);
    }
    for (const JobId job : starting) {
      learn(core::GenerationSwitched{
          .job = job, .generation = engine_.view().find_job(job)->membership.generation, .switch_step = 1});
    }
    for (const JobId job : starting) learn(report_of(*engine_.view().find_job(job)));
    pass(Duration::seconds(60));
    return took + decide();
  }
  // Workers that were told to go are gone.
  void let_go() {
    std::vector<WorkerId> leaving;
    for (const auto& [id, worker] : engine_.view().workers) {
      if (worker.phase == core::WorkerPhase::kLeaving) leaving.push_back(id);
    }
    for (const WorkerId worker : leaving) learn(core::WorkerExited{worker, 0, 0, {}});
  }
  void cancel(JobId job) { learn(core::JobCancelRequested{job}); }
  // So many of the jobs with a worker on it.
  void cancel_on_each_node(int jobs) {
    std::vector<JobId> ending;
    for (const auto& [id, node] : engine_.view().nodes) {
      for (int slot = 0; slot < jobs; ++slot) {
        ending.push_back(engine_.view().find_worker(node.owners[static_cast<std::size_t>(slot)])->job);
      }
    }
    for (const JobId job : ending) cancel(job);
    decide();
  }
  void pass(Duration time) { now_ = now_ + time; }
  void learn(core::Fact fact) {
    now_ = now_ + Duration::micros(100);
    const auto events = engine_.step({.at = now_, .fact = std::move(fact)});
    TP_CHECK(events.ok(), "the benchmark tells the engine only what is so");
  }
  [[nodiscard]] std::size_t newest_intents() const { return newest_intents_; }
  [[nodiscard]] int held_by(const std::string& tenant) const {
    int slots = 0;
    for (const auto& [id, job] : engine_.view().jobs) slots += job->spec.tenant == tenant ? job->size() : 0;
    return slots;
  }
  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }

 private:
  core::Engine engine_;
  Instant now_;
  std::size_t newest_intents_ = 0;
};

std::vector<core::Tenant> two_halves(int slots) {
  return {{.name = "vision", .guarantee = slots / 2}, {.name = "speech", .guarantee = slots / 2}};
}

// One tenant runs jobs of one slot everywhere, and as many of another come at once: what it takes until that has its
// guarantee.
double reclaim_many(int nodes) {
  const int slots = nodes * kSlotsPerNode;
  SharedCluster cluster(nodes, two_halves(slots));
  for (int i = 0; i < slots; ++i) (void)cluster.submit("vision", 1);
  cluster.bring_up();
  TP_CHECK(cluster.held_by("vision") == slots, "a tenant alone has all slots");
  for (int i = 0; i < slots; ++i) (void)cluster.submit("speech", 1);
  double took = cluster.decide();
  TP_CHECK(cluster.newest_intents() == static_cast<std::size_t>(slots) / 2, "half of the jobs are preempted");
  cluster.let_go();
  took += cluster.decide();
  cluster.bring_up();
  TP_CHECK(cluster.held_by("speech") == slots / 2, "the guarantee has been had back");
  return took;
}

// The verdict on a gang that needs more than its tenant may ever have beside others.
double hopeless_gang(int nodes) {
  const int slots = nodes * kSlotsPerNode;
  SharedCluster cluster(nodes, two_halves(slots));
  for (int i = 0; i < slots / 2; ++i) (void)cluster.submit("vision", 1);
  for (int i = 0; i < slots / 2; ++i) (void)cluster.submit("speech", 1);
  cluster.bring_up();
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const JobId gang = cluster.submit("speech", slots / 2 + 1);
    times.push_back(cluster.decide());
    const core::Verdict& verdict = cluster.state().find_job(gang)->verdict;
    TP_CHECK(verdict.job == gang && cluster.newest_intents() == 0, "it waits, and is told why");
    cluster.cancel(gang);
    cluster.decide();
  }
  return percentiles(std::move(times)).p50;
}

// One job that needs all slots, all guaranteed to its tenant, and jobs of one slot of another on each of them.
double reclaim_for_one(int nodes) {
  const int slots = nodes * kSlotsPerNode;
  SharedCluster cluster(nodes, {{.name = "vision"}, {.name = "speech", .guarantee = slots}});
  for (int i = 0; i < slots; ++i) (void)cluster.submit("vision", 1);
  cluster.bring_up();
  (void)cluster.submit("speech", slots);
  const double took = cluster.decide();
  TP_CHECK(cluster.newest_intents() == static_cast<std::size_t>(slots), "all jobs are preempted");
  return took;
}

// Gangs with workers of six slots, and five slots free on each node beside three jobs of one slot: on some nodes jobs
// have to leave before the gangs, of a higher priority, can start; then all run. What all decisions take from the
// moment at which the gangs come until then; a gang is served at a time, when the workers that left for it are gone.
double consolidate(int nodes) {
  constexpr int kWorkers = 10;
  constexpr int kSlotsOfWorker = 6;
  constexpr int kFree = 5;  // on each node
  SharedCluster cluster(nodes, {});
  for (int i = 0; i < nodes * kSlotsPerNode; ++i) (void)cluster.submit("speech", 1);
  cluster.bring_up();
  cluster.cancel_on_each_node(kFree);
  cluster.let_go();
  cluster.decide();
  const int gangs = nodes * kFree / (kWorkers * kSlotsOfWorker);
  for (int i = 0; i < gangs; ++i) {
    (void)cluster.submit("vision", kWorkers, {.slots_of_worker = kSlotsOfWorker, .priority = 100});
  }
  const auto all_run = [&] {
    return cluster.held_by("vision") == gangs * kWorkers &&
           cluster.held_by("speech") == nodes * (kSlotsPerNode - kFree);
  };
  double took = cluster.decide();
  for (int round = 0; round < 2 * gangs && !all_run(); ++round) {
    cluster.let_go();
    took += cluster.bring_up();
  }
  TP_CHECK(all_run(), "all gangs have started, and the jobs that left run elsewhere");
  return took;
}

// The same shape between two tenants without priorities: each gang has its guarantee back, while the jobs of the other
// tenant go on elsewhere and stay within theirs.
double consolidate_between_tenants(int nodes) {
  constexpr int kWorkers = 10;
  constexpr int kSlotsOfWorker = 6;
  constexpr int kFree = 5;  // on each node
  const int held = nodes * (kSlotsPerNode - kFree);
  SharedCluster cluster(nodes, {{.name = "speech", .guarantee = nodes * kSlotsPerNode}});
  for (int i = 0; i < nodes * kSlotsPerNode; ++i) (void)cluster.submit("speech", 1);
  cluster.bring_up();
  cluster.cancel_on_each_node(kFree);
  cluster.let_go();
  cluster.learn(core::TenantsConfigured{
      {.tenants = {{.name = "vision", .guarantee = nodes * kFree}, {.name = "speech", .guarantee = held}}}});
  cluster.decide();
  const int gangs = nodes * kFree / (kWorkers * kSlotsOfWorker);
  for (int i = 0; i < gangs; ++i) (void)cluster.submit("vision", kWorkers, {.slots_of_worker = kSlotsOfWorker});
  double took = cluster.decide();
  const std::size_t told_to_leave = cluster.newest_intents();
  cluster.let_go();
  took += cluster.bring_up();
  TP_CHECK(told_to_leave == static_cast<std::size_t>(gangs * kWorkers), "one job leaves for each worker, at once");
  TP_CHECK(cluster.held_by("vision") == gangs * kWorkers && cluster.held_by("speech") == held, "all jobs run");
  return took;
}

// Four levels: 10 x 10 x 10 leaves under as many that have others below them.
std::vector<core::Tenant> wide_tree(int first_level, std::vector<std::string>& leaves) {
  std::vector<core::Tenant> tenants{{.name = "all", .guarantee = 0}};
  for (int a = 0; a < first_level; ++a) {
    const std::string top = "t" + std::to_string(a);
    tenants.push_back({.name = top, .parent = "all"});
    for (int b = 0; b < 10; ++b) {
      const std::string middle = top + "-" + std::to_string(b);
      tenants.push_back({.name = middle, .parent = top});
      for (int c = 0; c < 10; ++c) {
        leaves.push_back(middle + "-" + std::to_string(c));
        tenants.push_back({.name = leaves.back(), .parent = middle, .weight = 1 + c % 3});
      }
    }
  }
  return tenants;
}

// Arrivals and ends of jobs, each with the decision that follows.
Times events_of_many_tenants(int nodes, int first_level) {
  std::vector<std::string> leaves;
  SharedCluster cluster(nodes, wide_tree(first_level, leaves));
  Rng rng(3);
  std::vector<JobId> jobs;
  const auto any_size = [&] { return static_cast<int>(rng.between(1, 8)); };
  for (int i = 0; i < nodes * 2; ++i) jobs.push_back(cluster.submit(leaves[rng.below(leaves.size())], any_size()));
  cluster.bring_up();
  std::vector<double> times;
  for (int i = 0; i < 400; ++i) {
    const double begin = now_us();
    if (i % 2 == 0) {
      jobs.push_back(cluster.submit(leaves[rng.below(leaves.size())], any_size()));
    } else {
      const std::size_t at = rng.below(jobs.size());
      cluster.cancel(jobs[at]);
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(at));
    }
    cluster.decide();
    times.push_back(now_us() - begin);
    cluster.let_go();
    cluster.decide();
  }
  return percentiles(std::move(times));
}

}  // namespace
}  // namespace tidepool

// Which figures: "many", "gang", "one", "consolidate", "tree"; none = all.
int main(int argc, char** argv) {
  using namespace tidepool;
  const std::vector<std::string> asked(argv + 1, argv + argc);
  const auto is_asked = [&](const std::string& name) {
    return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  if (is_asked("many")) print("tenancy_reclaim_4000_jobs_500x8_vs_half", reclaim_many(500), reclaim_many(250));
  if (is_asked("gang")) print("tenancy_hopeless_gang_500x8_vs_half", hopeless_gang(500), hopeless_gang(250));
  if (is_asked("one"))
    print("tenancy_reclaim_for_one_job_of_4000_slots_vs_half", reclaim_for_one(500), reclaim_for_one(250));
  if (is_asked("consolidate")) {
    print("tenancy_consolidate_41_gangs_500x8_vs_half", consolidate(500), consolidate(250));
    print("tenancy_consolidate_41_gangs_of_another_tenant_500x8_vs_half", consolidate_between_tenants(500),
          consolidate_between_tenants(250));
  }
  if (is_asked("tree")) {
    const Times full = events_of_many_tenants(1'250, 10);
    const Times half = events_of_many_tenants(625, 5);
    print("tenancy_event_p50_1250x8_1000_tenants_vs_half", full.p50, half.p50);
    print("tenancy_event_p99_1250x8_1000_tenants_vs_half", full.p99, half.p99);
  }
  return 0;
}
