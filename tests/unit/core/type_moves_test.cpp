// A job that waits for a type of slot, and jobs that hold such slots without need.
#include "core/decide/type_moves.hpp"

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

NodeId typed_node(Story& story, const std::string& type, int slots, Money price = Money::micros(1'000'000)) {
  const std::string name = "n" + std::to_string(story.state().next_node);
  const NodeId id = story.engine().node_id_for(name);
  story.learn(core::NodeJoined{id, name, slots, type, price, {}});
  return id;
}

JobId submit_typed(Story& story, JobSketch sketch, const std::vector<std::string>& types) {
  core::JobSpec spec = job_spec(sketch);
  spec.slot_types = types;
  const JobId id = story.engine().next_job_id();
  story.learn(core::JobSubmitted{id, std::move(spec)});
  return id;
}

// The only slots of a type are held by a job that takes any; then others come.
struct Scene {
  Story story;
  NodeId scarce;
  NodeId common;
  JobId any;

  explicit Scene(int size = 1, JobSketch sketch = {.min = 1, .max = 4, .cooldown = Duration()}) {
    scarce = typed_node(story, "new", size);
    any = story.running(sketch, size);
    common = typed_node(story, "old", 2);
  }
};

// The job of any type moves for a typed one, and its last joining worker dies after the first of the two switches.
void lose_one_between_switches(Scene& scene) {
  Story& story = scene.story;
  (void)submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  story.pass(Duration::seconds(3'600));
  story.decide();
  const std::vector<WorkerId> joining = story.job(scene.any).phase.transition()->joining_workers;
  for (const WorkerId worker : joining) story.ready(worker);
  story.decide();
  story.switched(scene.any);
  story.exit(joining[1], 1);
}

}  // namespace

TEST_CASE("a job that takes any type of slot is placed away from a type that another job asks for") {
  Story story;
  (void)typed_node(story, "new", 1);  // the smallest hole, which is filled first otherwise
  const NodeId common = typed_node(story, "old", 4);
  (void)submit_typed(story, {.min = 2, .max = 2}, {"new"});
  story.decide();
  const JobId any = story.running({.min = 1, .max = 1}, 1);
  CHECK(story.nodes_of(any) == std::vector<NodeId>{common});
}

TEST_CASE("while no job asks for a type the smallest hole is filled first") {
  Story story;
  const NodeId small = typed_node(story, "new", 1);
  (void)typed_node(story, "old", 4);
  const JobId any = story.running({.min = 1, .max = 1}, 1);
  CHECK(story.nodes_of(any) == std::vector<NodeId>{small});
}

TEST_CASE("a worker that may be elsewhere moves for a job that has waited for as long as the move costs") {
  Scene scene;
  Story& story = scene.story;
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(typed).verdict.reason;
  REQUIRE(test::says<core::reason::WaitingForSlots>(waits));
  CHECK(test::number_in(waits, "movers") == 1);
  CHECK(core::sentence(waits) ==
        "waits for 1 slot of a type that it asks for; none is free; 1 worker that may be elsewhere holds such slots, "
        "and moves when there is room elsewhere and waiting has cost as much as moving: " +
            core::sentence(waits).substr(core::sentence(waits).rfind(": ") + 2));
  const double cost_s = test::number_in(waits, "cost_s");
  REQUIRE(cost_s > 0);
  story.pass(Duration::from_seconds(cost_s * 0.9));
  CHECK(names_of(story.decide()).empty());
  story.pass(Duration::from_seconds(cost_s * 0.2));
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "move");
  CHECK(test::says<core::reason::MovedForType>(decision.plan.front().reason));
  CHECK(test::number_in(decision.plan.front().reason, "for_job") == static_cast<double>(typed.number()));
  story.settle(scene.any);
  CHECK(story.nodes_of(scene.any) == std::vector<NodeId>{scene.common});
  CHECK(story.job(scene.any).measurements.slot_type == "old");
  CHECK(story.job(scene.any).recovery.replacements == 0);  // it was no straggler
  CHECK(story.count("worker.replaced") == 1);
  CHECK(story.last("worker.replaced").data["straggler"] == false);
  story.settle(typed);
  CHECK(story.nodes_of(typed) == std::vector<NodeId>{scene.scarce});
}

TEST_CASE("a job that lists several types moves to another of them for one that takes none else") {
  Story story;
  (void)typed_node(story, "new", 2);
  const JobId lists = submit_typed(story, {.min = 2, .max = 2, .cooldown = Duration()}, {"new", "old"});
  story.settle(lists);
  const NodeId common = typed_node(story, "old", 2);
  const JobId typed = submit_typed(story, {.min = 2, .max = 2}, {"new"});
  story.decide();
  story.pass(Duration::seconds(600));
  story.settle(lists);
  CHECK(story.nodes_of(lists) == std::vector<NodeId>{common, common});
  story.settle(typed);
  CHECK(story.job(typed).size() == 2);
}

TEST_CASE("slots that a job cannot use, too dear for its price cap, keep no other job from moving for it") {
  Story story;
  (void)typed_node(story, "new", 1);
  const JobId any = story.running({.min = 1, .max = 4, .cooldown = Duration()}, 1);
  const NodeId dear = typed_node(story, "old", 2, Money::micros(9'000'000));
  const JobId typed = submit_typed(story, {.min = 1, .max = 1, .price_cap = Money::micros(2'000'000)}, {"new"});
  story.decide();
  REQUIRE(test::says<core::reason::WaitingForSlots>(story.job(typed).verdict.reason));
  CHECK(test::number_in(story.job(typed).verdict.reason, "movers") == 1);
  story.pass(Duration::seconds(600));
  story.settle(any);
  CHECK(story.nodes_of(any) == std::vector<NodeId>{dear});
  story.settle(typed);
  CHECK(story.job(typed).size() == 1);
}

TEST_CASE("the price at which a job is above its cap is that of slots that it may have") {
  Story story;
  (void)typed_node(story, "new", 1, Money::micros(9'000'000));
  (void)typed_node(story, "old", 1);
  const JobId typed = submit_typed(story, {.min = 1, .max = 1, .price_cap = Money::micros(2'000'000)}, {"new"});
  story.decide();
  REQUIRE(test::says<core::reason::PriceCap>(story.job(typed).verdict.reason));
  CHECK(core::unblocks_of(story.job(typed).verdict.reason, typed).front() == "raise scaling.price_cap to 9.00");
}

TEST_CASE("time alone has an engine look again at a job that waits for a type, each time its waiting has doubled") {
  Scene scene;
  Story& story = scene.story;
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  const core::Job& job = story.job(typed);
  CHECK(core::next_look_for_room(job, story.now()) == job.submitted_at + Duration::seconds(1));
  CHECK(core::next_look_for_room(job, job.submitted_at + Duration::seconds(5)) ==
        job.submitted_at + Duration::seconds(8));
  for (int look = 0; look < 12 && !names_of(story.decide()).starts_with("move"); ++look) {
    const auto due = story.engine().next_due();
    REQUIRE(due.has_value());
    story.pass(*due - story.now());
  }
  CHECK(story.job(scene.any).phase.transition() != nullptr);
}

TEST_CASE("a job that mixes types moves one worker at a time, and no more of them than are needed") {
  Scene scene(3, {.min = 1, .max = 4, .cooldown = Duration(), .mixed = true});
  Story& story = scene.story;
  const JobId typed = submit_typed(story, {.min = 2, .max = 3, .preferred = 3}, {"new"});
  story.wish(typed, 3);
  story.decide();
  CHECK(test::number_in(story.job(typed).verdict.reason, "movers") == 2);
  story.pass(Duration::seconds(3'600));
  CHECK(names_of(story.decide()) == "replace");
  story.settle(scene.any);
  CHECK(story.nodes_of(scene.any) == std::vector<NodeId>{scene.scarce, scene.common, scene.common});
  CHECK(story.job(scene.any).size() == 3);
  story.settle(typed);
  CHECK(story.job(typed).size() == 2);
}

TEST_CASE("while others move, no job behind it takes slots of its type or those that the movers lack") {
  Scene scene;
  Story& story = scene.story;
  story.strict(false);
  const JobId filler = story.running({.min = 2, .max = 2}, 2);  // all that is elsewhere
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  story.pass(Duration::seconds(3'600));
  const JobId behind = story.submit({.min = 1, .max = 1});
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(filler).membership.workers)) story.exit(worker, 0);
  story.learn(core::JobCancelRequested{filler});
  const core::Decision decision = story.decide();
  INFO(Story::text_of(decision));
  CHECK(names_of(decision).find("move") != std::string::npos);
  story.settle(scene.any);
  story.settle(typed);
  CHECK(story.nodes_of(typed) == std::vector<NodeId>{scene.scarce});
  story.settle(behind);
  CHECK(story.nodes_of(behind) == std::vector<NodeId>{scene.common});
}

TEST_CASE("no job moves that asks for the same type, and the waiting job is told which one holds most of it") {
  Story story;
  (void)typed_node(story, "new", 2);
  (void)typed_node(story, "old", 4);
  const JobId holder = submit_typed(story, {.min = 2, .max = 2, .preferred = 2}, {"new"});
  story.settle(holder);
  REQUIRE(story.job(holder).size() == 2);
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.pass(Duration::seconds(3'600));
  CHECK(names_of(story.decide()).empty());
  const core::Reason waits = story.job(typed).verdict.reason;
  CHECK(test::number_in(waits, "movers") == 0);
  CHECK(core::sentence(waits).ends_with(holder.text() + " holds most of the others"));
  CHECK(core::unblocks_of(waits, typed).front() == "the end of " + holder.text());
}

TEST_CASE("a job that shrinks gives up slots of a type that another asks for first, but keeps rank 0") {
  Story story;
  const NodeId scarce = typed_node(story, "new", 2);
  const JobId any = story.running({.min = 1, .max = 4, .cooldown = Duration(), .mixed = true}, 2);
  const NodeId common = typed_node(story, "old", 2);
  story.wish(any, 4);
  story.steps(any, 2);
  story.settle(any);
  REQUIRE(story.nodes_of(any) == std::vector<NodeId>{scarce, scarce, common, common});
  const WorkerId first = story.job(any).membership.members.front();
  (void)submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.wish(any, 2);
  story.steps(any, 2);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision) == "shrink switch");
  std::vector<NodeId> stay;
  for (const WorkerId id : std::get<core::SwitchIntent>(decision.plan[1].intent).members) {
    stay.push_back(story.worker(id).node);
  }
  CHECK(stay == std::vector<NodeId>{scarce, common});
  CHECK(std::get<core::SwitchIntent>(decision.plan[1].intent).members.front() == first);
}

TEST_CASE("the only worker of a live job leaves once another one has its state") {
  Scene scene;
  Story& story = scene.story;
  const WorkerId old_worker = story.job(scene.any).membership.members.front();
  (void)submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  story.pass(Duration::seconds(3'600));
  REQUIRE(names_of(story.decide()) == "move");
  const WorkerId new_worker = story.job(scene.any).membership.workers.back();
  story.ready(new_worker);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(scene.any).membership.members == std::vector<WorkerId>{old_worker, new_worker});
  story.switched(scene.any);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(scene.any).membership.members == std::vector<WorkerId>{new_worker});
  story.switched(scene.any);
  CHECK(story.job(scene.any).state() == core::JobState::kRunning);
  CHECK(story.job(scene.any).membership.generation == 3);
}

TEST_CASE("the only worker of a live job that may not have two stays where it is") {
  Scene scene(1, {.min = 1, .max = 1, .cooldown = Duration()});
  Story& story = scene.story;
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.pass(Duration::seconds(3'600));
  CHECK(names_of(story.decide()).empty());
  CHECK(test::number_in(story.job(typed).verdict.reason, "movers") == 0);
}

TEST_CASE("a job on one type moves as a whole: its first worker stays until the others have its state") {
  Scene scene(2);
  Story& story = scene.story;
  const std::vector<WorkerId> before = story.job(scene.any).membership.members;
  const JobId typed = submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  CHECK(test::number_in(story.job(typed).verdict.reason, "movers") == 2);
  story.pass(Duration::seconds(3'600));
  REQUIRE(names_of(story.decide()) == "move");
  std::vector<WorkerId> joining = story.job(scene.any).phase.transition()->joining_workers;
  REQUIRE(joining.size() == 2);
  for (const WorkerId worker : joining) story.ready(worker);
  CHECK(names_of(story.decide()) == "switch");
  CHECK(story.job(scene.any).membership.members == std::vector<WorkerId>{before[0], joining[0]});
  story.switched(scene.any);
  story.decide();
  CHECK(story.job(scene.any).membership.members == joining);
  story.settle(scene.any);
  CHECK(story.nodes_of(scene.any) == std::vector<NodeId>{scene.common, scene.common});
  CHECK(story.count("worker.replaced") == 2);
  story.settle(typed);
  CHECK(story.nodes_of(typed) == std::vector<NodeId>{scene.scarce});
}

TEST_CASE("a joining worker that dies between the two switches of a move leaves the job running on the new type") {
  Scene scene(2);
  Story& story = scene.story;
  lose_one_between_switches(scene);
  story.wish(scene.any, 2);
  story.settle(scene.any);
  CHECK(story.job(scene.any).state() == core::JobState::kRunning);
  const std::vector<NodeId> nodes = story.nodes_of(scene.any);
  CHECK_FALSE(nodes.empty());
  CHECK(std::count(nodes.begin(), nodes.end(), scene.common) == static_cast<std::ptrdiff_t>(nodes.size()));
}

TEST_CASE("a job that is too small for a move's second switch saves its state and waits") {
  Scene scene(2, {.min = 2, .max = 4, .cooldown = Duration()});
  Story& story = scene.story;
  lose_one_between_switches(scene);
  const core::Decision decision = story.decide();
  REQUIRE(names_of(decision).starts_with("preempt"));
  CHECK(test::says<core::reason::BelowMinimum>(decision.plan.front().reason));
  CHECK(story.job(scene.any).state() == core::JobState::kSuspending);
}

TEST_CASE("a move that would leave a job too small is given up when a joining worker dies") {
  Scene scene(2, {.min = 2, .max = 4, .cooldown = Duration()});
  Story& story = scene.story;
  const std::vector<WorkerId> before = story.job(scene.any).membership.members;
  (void)submit_typed(story, {.min = 1, .max = 1}, {"new"});
  story.decide();
  story.pass(Duration::seconds(3'600));
  REQUIRE(names_of(story.decide()) == "move");
  const std::vector<WorkerId> joining = story.job(scene.any).phase.transition()->joining_workers;
  REQUIRE(joining.size() == 2);
  story.ready(joining[0]);
  story.exit(joining[1], 1);
  CHECK(story.job(scene.any).phase.transition() == nullptr);
  CHECK(story.worker(joining[0]).phase == core::WorkerPhase::kLeaving);
  story.decide();
  CHECK(story.worker(joining[0]).kill_at.has_value());
  CHECK(story.job(scene.any).membership.members == before);
  CHECK(story.job(scene.any).state() == core::JobState::kRunning);
}

TEST_CASE("slots that are quarantined are none that come free for a waiting job: others move for it at once") {
  Story story;
  (void)typed_node(story, "new", 4);
  const JobId large = story.running({.min = 3, .max = 3, .cooldown = Duration()}, 3);
  const JobId any = story.running({.min = 1, .max = 2, .cooldown = Duration()}, 1);
  (void)typed_node(story, "old", 2);
  (void)submit_typed(story, {.min = 3, .max = 3}, {"new"});
  story.decide();
  story.pass(Duration::seconds(3'600));
  story.learn(core::SlotsHeld{.worker = story.job(large).membership.members.back(),
                              .lasted = Duration::seconds(5),
                              .why = "memory of GPU-1 is still held",
                              .exit_code = 1});
  story.decide();
  const core::Transition* move = story.job(any).phase.transition();
  REQUIRE(move != nullptr);
  CHECK(move->leaving_workers == story.job(any).membership.members);
}

TEST_CASE("all workers of a job are on one type of slot, unless it says that it mixes them") {
  for (const bool mixed : {false, true}) {
    Story story;
    const NodeId first = typed_node(story, "new", 3);
    const NodeId second = typed_node(story, "old", 2);
    const JobId job = story.running({.min = 1, .max = 5, .cooldown = Duration(), .mixed = mixed}, 2);
    story.wish(job, 5);
    story.steps(job, 2);
    story.settle(job);
    const std::vector<NodeId> nodes = story.nodes_of(job);
    if (mixed) {
      CHECK(nodes.size() == 5);
      CHECK(story.job(job).measurements.slot_type == core::kMixedTypes);
    } else {
      CHECK((nodes == std::vector<NodeId>{first, first, first} || nodes == std::vector<NodeId>{second, second}));
    }
    const JobId wide = story.submit({.min = 4, .max = 4, .mixed = mixed});
    story.decide();
    CHECK(test::says<core::reason::NeverFits>(story.job(wide).verdict.reason) == !mixed);
  }
}

TEST_CASE("a gang that fits on no type of slot by itself is not split, and one that does is not made smaller") {
  Story story;
  (void)typed_node(story, "new", 2);
  const NodeId roomy = typed_node(story, "old", 4);
  const JobId gang = story.submit({.min = 3, .max = 3, .preferred = 3});
  story.settle(gang);
  CHECK(story.nodes_of(gang) == std::vector<NodeId>{roomy, roomy, roomy});
  const JobId next = story.submit({.min = 3, .max = 3, .preferred = 3});
  story.decide();
  CHECK(story.job(next).state() == core::JobState::kPending);  // three are free, on two types
}

}  // namespace tidepool::test
