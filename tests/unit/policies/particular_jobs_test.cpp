// Jobs that ask for a type of slot and jobs with a deadline, inside the engine under policies for the whole cluster.
#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/words/unblock.hpp"
#include "policies/engine/lawful_plan.hpp"
#include "policies/engine/type_shares.hpp"
#include "policies/registry.hpp"
#include "studies/baselines/registry.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::cluster {
namespace {

// An engine under one policy, at one time after another; every decision is lawful, and is carried out as far as the
// engine's own books go.
class Scene {
 public:
  explicit Scene(const std::string& policy)
      : engine_({studies::make_policies(policy).value(), {std::make_shared<test::PlainDetector>()}, {}}) {}

  void node(const std::string& type, int slots) {
    const std::string name = "n" + std::to_string(state().next_node);
    learn(core::NodeJoined{engine_.node_id_for(name), name, slots, type, Money(), {}});
  }
  JobId submit(std::vector<int> sizes, const std::function<void(core::JobSpec&)>& change = {}) {
    core::JobSpec spec = test::job_spec({.min = sizes.front(), .max = sizes.back(), .sizes = sizes});
    spec.elastic.preferred = sizes.back();
    if (change) change(spec);
    const JobId id = engine_.next_job_id();
    learn(core::JobSubmitted{id, std::move(spec)});
    return id;
  }
  void learn(core::Fact fact) {
    const auto events = engine_.step({now_, std::move(fact)});
    INFO((events.ok() ? std::string() : events.error().message));
    REQUIRE(events.ok());
  }
  void decide() {
    const core::Decision decision = engine_.decide(now_);
    REQUIRE(test::Story::text_of(decision) == test::Story::text_of(engine_.decide_from_scratch(now_)));
    const Status valid = engine_.validate(decision);
    INFO((valid.ok() ? "" : valid.error().message));
    REQUIRE(valid.ok());
    (void)engine_.accept(decision);
    REQUIRE(test::Story::text_of(engine_.decide(now_)) == "");
  }
  void pass(Duration time) { now_ = now_ + time; }

  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }
  [[nodiscard]] const core::Job& job(JobId id) const { return *state().find_job(id); }
  [[nodiscard]] const core::Reason& why(JobId id) const { return job(id).verdict.reason; }
  // The types of the slots that the job holds, one entry per worker.
  [[nodiscard]] std::vector<std::string> types(JobId id) const {
    std::vector<std::string> types;
    for (const WorkerId worker : job(id).membership.workers) {
      types.push_back(state().find_node(state().find_worker(worker)->node)->slot_type);
    }
    return types;
  }

 private:
  core::Engine engine_;
  Instant now_ = Instant::from_micros(1);
};

const auto kWantsNew = [](core::JobSpec& spec) { spec.slot_types = {"new"}; };

std::vector<std::string> live_policies() {
  std::vector<std::string> names = {"fixed", "autoscaling_engine"};
  for (const AllocationPreset& preset : studies::all_presets()) {
    if (runs_live(preset)) names.emplace_back(preset.name);
  }
  return names;
}

// So many steps of the job's batch; before anything is measured, one worker is taken to do one a second.
auto due(std::int64_t steps, std::int64_t seconds) {
  return [=](core::JobSpec& spec) {
    spec.work_samples = steps * spec.batch.global;
    spec.deadline = Duration::seconds(seconds);
  };
}

}  // namespace

TEST_CASE("under every policy a job that asks for a type of slot is on such slots or waits") {
  for (const std::string& policy : live_policies()) {
    INFO(policy);
    Scene scene(policy);
    scene.node("old", 4);
    scene.node("new", 2);
    const JobId picky = scene.submit({1, 2}, kWantsNew);
    const JobId any = scene.submit({1, 2});
    const JobId also = scene.submit({2}, kWantsNew);
    const JobId never = scene.submit({4}, kWantsNew);
    for (int round = 0; round < 5; ++round) {
      scene.decide();
      scene.pass(Duration::seconds(61));
    }
    CHECK(scene.types(any).size() > 0);
    int on_new = 0;
    for (const JobId id : {picky, also, never}) {
      for (const std::string& type : scene.types(id)) {
        CHECK(type == "new");
        ++on_new;
      }
    }
    CHECK(on_new > 0);
    CHECK(scene.types(never).empty());
    CHECK(test::says<core::reason::NeverFits>(scene.why(never)));
    CHECK(test::number_in(scene.job(never).verdict.reason, "cluster") == 2);
  }
}

TEST_CASE("a job that prefers more than there is of its type starts with what there is") {
  const auto wants_new_and_restarts = [](core::JobSpec& spec) {
    spec.slot_types = {"new"};
    spec.resize = core::ResizeMode::kRestart;  // nothing is learnt of it, so it has one size
  };
  for (const std::string& policy : live_policies()) {
    INFO(policy);
    Scene scene(policy);
    scene.node("old", 4);
    scene.node("new", 2);
    const JobId job = scene.submit({1, 2, 3}, wants_new_and_restarts);
    scene.decide();
    CHECK(scene.types(job) == std::vector<std::string>{"new", "new"});
  }
}

TEST_CASE("while a job waits for a type of slot, jobs that take any go on") {
  Scene scene("las");
  scene.node("old", 4);
  scene.node("new", 2);
  const JobId first = scene.submit({1}, kWantsNew);
  scene.decide();
  const JobId picky = scene.submit({2}, kWantsNew);
  const JobId behind = scene.submit({1}, kWantsNew);
  const JobId elsewhere = scene.submit({2});
  scene.decide();
  CHECK(scene.types(first) == std::vector<std::string>{"new"});
  CHECK(scene.types(picky).empty());
  CHECK(test::says<core::reason::TurnWait>(scene.why(picky)));  // the holder comes first by the policy's rule
  for (const std::string& type : scene.types(behind)) CHECK(type == "new");
  CHECK(scene.types(elsewhere).size() == 2);
}

TEST_CASE("a plan gives jobs that are bound to nodes no more than there is room for on these") {
  View view;
  for (int i = 1; i <= 2; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = 4});
  Allocation allocation;
  for (int i = 1; i <= 3; ++i) {
    JobRow row;
    row.id = JobId(static_cast<std::uint64_t>(i));
    row.size_max = 4;
    if (i > 1) row.nodes = {1};
    view.jobs.push_back(row);
    allocation.order.push_back(allocation.grants.size());
    allocation.grants.push_back({.size = i == 1 ? 2 : 3, .reason = core::reason::Started{}});
  }
  const auto plan = lawful_plan(view, allocation, 8);
  CHECK(plan[0].size == 2);
  CHECK(plan[1].size == 3);
  CHECK(plan[2].size == 1);
}

TEST_CASE("a plan counts on jobs that may be anywhere to leave the nodes that another is bound to") {
  View view;
  view.nodes = {{.id = NodeId(1), .slots = 2}, {.id = NodeId(2), .slots = 2}};
  JobRow any;
  any.id = JobId(1);
  any.size_max = 2;
  any.placement = {{.node = 0, .slots = 2}};
  JobRow bound;
  bound.id = JobId(2);
  bound.size_max = 2;
  bound.nodes = {0};
  view.jobs = {any, bound};
  const Allocation both{
      .grants = {{.size = 2, .reason = {}, .lost = {}, .mark = {}}, {.size = 2, .reason = {}, .lost = {}, .mark = {}}},
      .order = {0, 1}};
  CHECK(lawful_plan(view, both, 4)[1].size == 2);
  // Workers of two slots do not move for it.
  view.jobs[0].slots_per_worker = 2;
  CHECK(lawful_plan(view, both, 4)[1].size == 0);
}

namespace {

struct FlatSpeed final : SpeedModel {
  [[nodiscard]] double step_seconds(Shape shape) const override { return 1.0 / shape.size; }
};

JobRow bound_row(std::uint64_t id, double served, const std::vector<int>& nodes) {
  static const FlatSpeed speed;
  JobRow row;
  row.id = JobId(id);
  row.size_wanted = row.size_max = 2;
  row.sizes = {1, 2};
  row.slot_seconds = served;
  row.speed = &speed;
  if (!nodes.empty()) row.nodes = nodes;
  return row;
}

}  // namespace

TEST_CASE("jobs that ask for the same type share it by their policy's own rule, before any other is asked") {
  const auto las = studies::find_preset("las").value().policy();
  const auto ask = [&](const View& view) {
    core::StepBudget budget(1'000'000);
    return las->allocate(view, budget);
  };
  View view;
  view.nodes = {{.id = NodeId(1), .slots = 2}, {.id = NodeId(2), .slots = 4}, {.id = NodeId(3), .slots = 1}};
  view.jobs = {bound_row(1, 9'000, {0}), bound_row(2, 10, {0}), bound_row(3, 5, {}), bound_row(4, 7'000, {0, 2})};
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[3].size_wanted = 1;
  const auto without = share_types(view, ask);
  // The least served has both slots of the first node; the other of its type has nothing, whatever is free elsewhere.
  REQUIRE(without.size() == 1);
  CHECK(without.contains(JobId(1)));
  CHECK(without.at(JobId(1)).size == 0);
  CHECK(without.at(JobId(1)).place >= 4);
  // The job that may be on the third node, too, has its only slot; one that may be anywhere is not asked about.
  REQUIRE(view.jobs.size() == 3);
  CHECK(view.jobs[0].size_max == 2);
  CHECK(view.jobs[1].size_max == 2);
  CHECK(view.jobs[2].id == JobId(4));
  CHECK(view.jobs[2].size_max == 1);
  CHECK(view.jobs[2].sizes == std::vector<int>{1});
}

TEST_CASE("a job whose size cannot change now keeps it while its type is shared out") {
  View view;
  view.nodes = {{.id = NodeId(1), .slots = 2}};
  view.jobs = {bound_row(1, 9'000, {0}), bound_row(2, 10, {0})};
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[0].resize_blocked = true;
  const auto nothing = [](const View& part) {
    Allocation allocation{.grants = std::vector<Grant>(part.jobs.size()), .order = {0, 1}};
    return allocation;
  };
  const auto without = share_types(view, nothing);
  REQUIRE(view.jobs.size() == 1);
  CHECK(view.jobs[0].id == JobId(1));
  CHECK(view.jobs[0].size_max == 2);
  CHECK(without.contains(JobId(2)));
}

TEST_CASE(
    "a job whose deadline cannot be promised waits as best effort, and says how late it would be and what helps") {
  Scene scene("tidal");
  scene.node("any", 4);
  const JobId promised = scene.submit({4}, due(1900, 600));  // 546 s on four workers
  scene.decide();
  REQUIRE(scene.job(promised).membership.workers.size() == 4);
  const JobId late = scene.submit({1, 2}, due(500, 300));  // 262 s on two
  scene.decide();
  CHECK(scene.job(late).state() == core::JobState::kPending);
  const core::Reason why = scene.job(late).verdict.reason;
  REQUIRE(test::says<core::reason::DeadlineLost>(why));
  CHECK(test::number_in(why, "late_s") > 300);
  CHECK(test::number_in(why, "late_s") < 900);
  CHECK(test::number_in(why, "alone_late_s") == 0);
  CHECK(core::sentence(why).find("with the slots promised to other jobs it cannot end by its deadline, but") !=
        std::string::npos);
  CHECK(core::unblocks_of(why, late).front().find("set work.deadline at least") == 0);
  // With a deadline that can be kept it is promised, and waits for its turn.
  core::JobSpec spec = scene.job(late).spec;
  spec.deadline = Duration::seconds(3'600);
  scene.learn(core::JobChanged{late, spec});
  scene.decide();
  CHECK(scene.job(late).state() == core::JobState::kPending);
  CHECK_FALSE(test::says<core::reason::DeadlineLost>(scene.why(late)));
  CHECK(scene.job(late).planned->target.mark.level == 1);
}

TEST_CASE("a job whose deadline is lost runs at once where no other needs the slots") {
  Scene scene("tidal");
  scene.node("any", 4);
  const JobId late = scene.submit({1, 2, 4}, due(10'000, 60));
  scene.decide();
  CHECK(scene.job(late).membership.workers.size() > 0);
  CHECK(scene.job(late).planned->target.mark.level == 0);
}

TEST_CASE("a job that is declined and fits nowhere else says whether the cluster or its own length is in the way") {
  Scene scene("tidal");
  scene.node("any", 4);
  (void)scene.submit({4}, due(1900, 600));
  scene.decide();
  const JobId hopeless = scene.submit({1, 2}, due(10'000, 60));
  scene.decide();
  const core::Reason why = scene.job(hopeless).verdict.reason;
  REQUIRE(test::says<core::reason::DeadlineLost>(why));
  CHECK(test::number_in(why, "alone_late_s") > 5'000);
  CHECK(test::number_in(why, "late_s") >= test::number_in(why, "alone_late_s"));
  CHECK(core::sentence(why).find("can no longer end by its deadline, but") != std::string::npos);
}

TEST_CASE("a policy that needs to know what no daemon knows is refused as such") {
  for (const std::string name : {"shockwave", "elasticflow", "gavel_las"}) {
    const auto policies = studies::make_policies(name);
    REQUIRE_FALSE(policies.ok());
    CHECK(policies.error().message.starts_with("the policy \"" + name + "\" reads the true speed of every job"));
  }
}

TEST_CASE("what is left of a job that has fewer workers than its least is no size for it") {
  View view;
  view.nodes = {{.id = NodeId(1), .slots = 3}, {.id = NodeId(2), .slots = 1}};
  JobRow job;
  job.id = JobId(1);
  job.placement = {{.node = 0, .slots = 2}};
  job.sizes = {4, 8};
  job.size_wanted = job.size_min = 4;
  job.size_max = 8;
  job.slots_per_worker = 2;
  Allocation allocation;
  allocation.order = {0};
  allocation.grants = {Grant{.size = 4}};
  view.jobs = {job};
  CHECK(lawful_plan(view, allocation, 4).front().size == 0);  // no node has room for the second worker
  view.nodes = {{.id = NodeId(1), .slots = 2}};
  view.jobs.front().preemptible = false;
  CHECK(lawful_plan(view, allocation, 4).front().size == 0);
}

}  // namespace tidepool::policies::cluster
