// What a job is told of types of slot, prices, pools and the policy file that decides.
#include "core/explain/wait_bounds.hpp"

#include <catch2/catch.hpp>

#include "core/explain/current_reason.hpp"
#include "core/explain/explain.hpp"
#include "core/words/unblock.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

constexpr const char* kMix = "resources.gpu.mixed: true, so that its workers may be on slots of several types";

NodeId join_of_type(Story& story, const std::string& type, int slots) {
  const std::string name = "n" + std::to_string(story.state().next_node);
  const NodeId id = story.engine().node_id_for(name);
  story.learn(core::NodeJoined{id, name, slots, type, Money::micros(3'000'000), {}});
  return id;
}

core::PoolSpec pool_of(int max, double price = 1) {
  return {.name = "gpu",
          .slot_type = "cpu",
          .slots_per_node = 2,
          .price_per_slot_hour = Money::micros(static_cast<std::int64_t>(price * 1e6)),
          .worth_per_slot_hour = Money::micros(9'000'000),
          .max = max,
          .idle = Duration::seconds(60),
          .lead_time = Duration::seconds(30)};
}

bool tells(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(part) != std::string::npos; });
}

TEST_CASE("a gang that fits on two types only is told so, and that it may mix them") {
  Story story;
  join_of_type(story, "alpha", 6);
  join_of_type(story, "beta", 6);
  const JobId job = story.submit({.min = 12, .max = 12});
  story.decide();
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary ==
        "cannot start: it needs 12 slots of one type, and the cluster has room for 6 of type alpha at most");
  CHECK(tells(why.unblocks(), kMix));
  CHECK(tells(why.unblocks(), "add a node with 6 slots of type alpha"));
  CHECK(tells(why.evidence, "there are 6 slots of alpha, 6 slots of beta"));
}

TEST_CASE("a job whose workers need more slots than any node has is told so") {
  Story story;
  join_of_type(story, "alpha", 4);
  join_of_type(story, "alpha", 2);
  const JobId several = story.submit({.min = 2, .max = 2, .gpus = 5});
  const JobId one = story.submit({.min = 1, .max = 1, .gpus = 5});
  const JobId fits = story.submit({.min = 2, .max = 2, .gpus = 4});
  story.decide();
  const auto told = [&](JobId job) { return core::explain(story.state(), job).summary; };
  CHECK(told(several) == "cannot start: each of its workers needs 5 slots on one node, and the largest node has 4");
  CHECK(told(one) == "cannot start: its worker needs 5 slots on one node, and the largest node has 4");
  CHECK(told(fits) == "cannot start: it needs 8 slots, and the whole cluster has room for 4");
  core::ClusterState state = story.state();
  state.mutable_job(one).spec.slot_types = {"alpha"};
  CHECK(core::explain(state, one).summary ==
        "cannot start: its worker needs 5 slots on one node, and the largest node of a type that it asks for has 4");
}

TEST_CASE("a job that would grow is told of the free slots of its own type") {
  Story story;
  join_of_type(story, "alpha", 1);
  const JobId job = story.running({.max = 2, .cooldown = {}}, 1);
  join_of_type(story, "beta", 4);
  story.wish(job, 2);
  story.steps(job, 1);
  story.decide();
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary == "would take 1 slot more; none of type alpha is free, and 4 of other types are");
  CHECK(tells(why.unblocks(), "add a node with 1 free slot of type alpha"));
}

TEST_CASE("that jobs in the queue come first is said with the first one's name, and not where none waits") {
  Story story;
  story.node(3);
  const JobId job = story.running({.max = 4, .cooldown = {}}, 2);
  const JobId first = story.submit({.min = 2, .max = 2});
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  CHECK(core::explain(story.state(), job).summary ==
        "would take 1 slot more, but " + first.text() + " in the queue comes first");
  core::ClusterState state = story.state();
  state.mutable_job(first).verdict.reason = core::reason::SuspendedByUser{};
  CHECK(core::explain(state, job).summary.find("queue") == std::string::npos);
}

TEST_CASE("a job is told how many nodes of a type are within its price cap, where not all are") {
  Story story;
  story.node(2, "cheap");
  story.node(2, "dear", {}, Money::micros(9'000'000));
  const JobId capped = story.submit({.min = 1, .max = 1, .price_cap = Money::micros(2'500'000)});
  const JobId rich = story.submit({.min = 1, .max = 1, .price_cap = Money::micros(9'000'000)});
  story.decide();
  const auto told = [&](JobId job) { return core::explain(story.state(), job).evidence; };
  CHECK(tells(told(capped),
              "1 of 2 nodes of type cpu is within its price cap of 2.50 an hour, which leaves 2.50 for "
              "each slot at its smallest size"));
  for (const std::string& line : told(rich)) CHECK(line.find("price cap") == std::string::npos);
}

TEST_CASE("a job whose price cap is below all that suits it is told what that costs") {
  Story story;
  join_of_type(story, "alpha", 4);
  const JobId job = story.submit({.min = 2, .max = 2, .price_cap = Money::micros(5'000'000)});
  story.decide();
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary == "waits: 2 slots of the cheapest type that it takes cost 6 an hour, above its price cap of 5");
  CHECK(why.unblocks() == std::vector<std::string>{"raise scaling.price_cap to 6.00"});
}

// Takes one decision, which may ask for nodes.
class StoryWithPool : public Story {
 public:
  explicit StoryWithPool(core::PoolSpec pool) { learn(core::PoolsConfigured{1, {std::move(pool)}}); }
  void decide_once() { log(engine().accept(engine().decide(now()))); }
};

TEST_CASE("a job that waits beside a cordoned node is told of its free slots, and of no end that frees none") {
  Story story;
  const NodeId node = story.node(4);
  const JobId holder = story.running({.min = 2, .max = 2}, 2);
  const JobId job = story.submit({});
  story.learn(core::NodeCordonChanged{node, true});
  core::ClusterState state = story.state();
  const core::reason::Market market{.worth = 1, .price = 2, .rival = holder, .rival_worth = 2};
  const auto explained = [&](const core::Reason& reason) {
    state.mutable_job(job).verdict = {.job = job, .reason = reason};
    return core::explain(state, job);
  };
  const std::string closed =
      "2 free slots are on a node that takes no new workers: " + state.find_node(node)->name + " (cordoned)";
  for (const core::Reason& reason : {core::Reason(core::reason::PriceWait{.needed = 1, .market = market}),
                                     core::Reason(core::reason::WaitingForSlots{.needed = 1, .market = market})}) {
    const auto why = explained(reason);
    CHECK(why.summary == "waits for 1 slot; none is free");
    CHECK(tells(why.evidence, closed));
    CHECK(tells(why.unblocks(), "uncordon " + state.find_node(node)->name));
    CHECK_FALSE(tells(why.unblocks(), "the end of"));
    CHECK_FALSE(tells(why.unblocks(), "a higher priority"));
  }
  const core::reason::TurnWait turn{.needed = 1, .by = core::reason::ByTurn{.rival = holder}};
  CHECK_FALSE(tells(explained(turn).unblocks(), "the end of"));
  state.nodes.edit(node).cordoned = false;
  CHECK(tells(explained(turn).unblocks(), "the end of " + holder.text() + ", the last that is served before it"));
  CHECK(explained(core::reason::PriceWait{.needed = 1, .market = market}).summary ==
        "waits for 1 slot: the jobs that hold slots gain more from them, " + holder.text() + " the least");
  CHECK(tells(core::explain(state, job).unblocks(), "the end of " + holder.text()));
  CHECK_FALSE(tells(core::explain(state, job).evidence, "no new workers"));
}

TEST_CASE("what pools may still bring counts, and nodes that are on their way are told") {
  StoryWithPool story(pool_of(4));
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide_once();
  auto why = core::explain(story.state(), job);
  CHECK(why.summary == "waits for a node of pool gpu, which is on the way");
  CHECK_FALSE(tells(why.unblocks(), "agent"));
  const JobId large = story.submit({.min = 10, .max = 10});
  story.node(2, "plain");
  story.decide_once();
  core::ClusterState state = story.state();
  state.mutable_job(large).verdict.reason = core::reason::NeverFits{.needed = 10, .cluster = 2};
  CHECK(core::explain(state, large).summary.find("with all that its pools may have there is room for 10") !=
        std::string::npos);
  core::Job wider = *state.find_job(large);
  wider.spec.elastic.sizes = {12};
  wider.verdict.reason = core::reason::NeverFits{.needed = 12, .cluster = 2};
  why = core::explain(state, wider);
  CHECK(why.summary ==
        "cannot start: it needs 12 slots, and the whole cluster has room for 2, and for 10 with all nodes that its "
        "pools may have");
  CHECK(tells(why.unblocks(), "raise max of pool gpu, which is 4 nodes"));
  CHECK(tells(why.unblocks(), "lower elastic.min to 10"));
}

TEST_CASE("a job that all pools together cannot hold is told so before any node has joined") {
  StoryWithPool story(pool_of(4));
  const JobId job = story.submit({.min = 10, .max = 10});
  story.decide_once();
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary ==
        "cannot start: it needs 10 slots, and the whole cluster has room for 0, and for 8 with all nodes that its "
        "pools may have");
  CHECK(tells(why.unblocks(), "raise max of pool gpu, which is 4 nodes"));
  CHECK_FALSE(tells(why.unblocks(), "agentd"));
}

TEST_CASE("a job that waits for a pool that fails is told so, and nodes that leave count as those to come") {
  StoryWithPool story(pool_of(4));
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide_once();
  story.learn(core::PoolNodeCreateFailed{1, core::ProviderFault::kTimeout, "no answer"});
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary == "waits for a node of pool gpu, which has failed to make one");
  CHECK(tells(why.unblocks(), "fix the error of pool gpu"));
  CHECK_FALSE(tells(why.unblocks(), "agentd"));
  REQUIRE(story.state().pools.find_node(1)->is_leaving());
  core::ClusterState state = story.state();
  state.mutable_job(job).spec.elastic.sizes = {8};
  CHECK(core::explain(state, job).summary == why.summary);
  state.mutable_job(job).spec.elastic.sizes = {9};
  CHECK_THAT(core::explain(state, job).summary, Catch::StartsWith("cannot start: it needs 9 slots"));
}

TEST_CASE("where no pool makes nodes for a job its evidence says why") {
  StoryWithPool story(pool_of(4));
  const JobId job = story.submit({.min = 1, .max = 1});
  const auto told = [&](const auto& change) {
    core::ClusterState state = story.state();
    change(state.mutable_job(job).spec);
    const auto evidence = core::explain(state, job).evidence;
    return std::count_if(evidence.begin(), evidence.end(),
                         [](const auto& line) { return line.starts_with("pool gpu "); }) == 1
               ? evidence.back()
               : "";
  };
  const std::string none = "pool gpu creates no node for it: ";
  CHECK(told([](core::JobSpec&) {}) == "pool gpu has 0 nodes of 2 slots and may have 4 nodes");
  CHECK(told([](core::JobSpec& spec) { spec.placement.exclusive = true; }) ==
        none + "it creates none for jobs with placement.exclusive");
  CHECK(told([](core::JobSpec& spec) { spec.placement.strategy = core::TopologyStrategy::kStrictSpread; }) ==
        none + "it creates none for jobs with a strict topology.strategy");
  CHECK(told([](core::JobSpec& spec) { spec.slot_types = {"H100"}; }) == none + "its slots are of type cpu");
  CHECK(told([](core::JobSpec& spec) { spec.memory = 4'000; }) == none + "its configuration has no memory_per_slot");
  CHECK(told([](core::JobSpec& spec) { spec.placement.selector = {{"rack", {"r1"}}}; }) ==
        none + "what labels its nodes have is known once they have joined");
  CHECK(told([](core::JobSpec& spec) { spec.gpus_per_worker = 4; }) ==
        none + "its nodes have 2 slots, and a worker needs 4");
  CHECK(told([](core::JobSpec& spec) { spec.scaling.price_cap = Money::micros(500'000); }) ==
        none + "its price is above scaling.price_cap");
  core::ClusterState state = story.state();
  state.pools.pools.at("gpu").retired = true;
  CHECK(core::explain(state, job).evidence.back() == "pool gpu is no longer configured, so it creates no more nodes");
}

TEST_CASE("a job that only spot nodes would suit is told of their share") {
  core::PoolSpec spot = pool_of(4);
  spot.spot = true;
  StoryWithPool story(spot);
  story.learn(core::PoolsConfigured{0.5, {spot}});
  const JobId job = story.submit({.min = 2, .max = 2});
  story.decide_once();
  REQUIRE(story.state().pools.nodes.empty());
  const auto why = core::explain(story.state(), job);
  CHECK(tells(why.evidence,
              "pool gpu gets no node alone: spot_share is 0.5, and 0 of 0 nodes of pools are of spot pools"));
  CHECK(tells(why.unblocks(), "raise spot_share of the pools, which is 0.5"));
}

TEST_CASE("nodes of a pool that names no type count beside those that are there") {
  core::PoolSpec untyped = pool_of(4);
  untyped.slot_type = "";
  StoryWithPool story(untyped);
  story.node(2, "plain");
  const JobId job = story.submit({.min = 10, .max = 10});
  story.decide_once();
  core::ClusterState state = story.state();
  state.mutable_job(job).verdict.reason = core::reason::NeverFits{.needed = 10, .cluster = 2};
  const auto why = core::explain(state, job);
  CHECK(why.summary ==
        "waits for nodes: it needs 10 slots, and those that are there have room for 2; with all that its pools may "
        "have there is room for 10");
  CHECK_FALSE(tells(why.unblocks(), "raise max of pool"));
  CHECK_FALSE(core::cannot_start(*state.find_job(job), core::current_reason(state, *state.find_job(job))));
}

TEST_CASE("without any node the way to start an agent is one that agentd takes") {
  Story story;
  const JobId job = story.submit({});
  story.decide();
  CHECK(tells(core::explain(story.state(), job).unblocks(), "agentd join --daemon HOST:PORT --token TOKEN"));
}

TEST_CASE("a job whose nodes are out of sight is not told that it would begin anew") {
  Story story;
  const NodeId node = story.node(2, "far");
  const JobId job = story.running({.min = 1, .max = 2, .cooldown = {}}, 2);
  story.learn(core::NodeLost{node, "no heartbeat"});
  story.decide();
  const auto why = core::explain(story.state(), job);
  CHECK_FALSE(tells(why.evidence, "begin anew"));
  CHECK(tells(why.evidence, "2 workers of it may still train on nodes that are away; it continues with them"));
  CHECK(tells(why.unblocks(), "bring back far"));
}

TEST_CASE("a job that was resumed while it leaves its slots is told that it goes on") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2, .cooldown = {}}, 2);
  story.learn(core::JobSuspendRequested{job});
  story.decide();
  CHECK(core::explain(story.state(), job).summary.find("suspended on request") == 0);
  story.learn(core::JobResumeRequested{job});
  const auto why = core::explain(story.state(), job);
  CHECK(why.summary ==
        "is still releasing its slots after a suspend and was resumed since: it continues once they are released");
  CHECK_FALSE(tells(why.unblocks(), "resume"));
}

TEST_CASE("a job to which the policy file in charge gives nothing is told which file it is") {
  Story story;
  story.node(2);
  const JobId job = story.submit({});
  core::ClusterState state = story.state();
  state.deployment.active = core::PolicyFileRef{.name = "capped", .version = std::string(64, 'a')};
  state.mutable_job(job).verdict = {.job = job, .reason = core::reason::FixedSize{{.size = 0}}};
  const auto why = core::explain(state, job);
  CHECK(why.summary == "waits: policy capped@aaaaaaaaaaaa, which decides, gives it no slots");
  CHECK(tells(why.unblocks(), "schedctl policy rollback"));
  CHECK(core::sentence(core::reason::FixedSize{{.size = 0}}) == "waits: its policy gives it no slots");
}

TEST_CASE("a job that keeps slots which the policy file gives it no more is told the file's word, and no priority") {
  Story story;
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2}, 2);
  core::ClusterState state = story.state();
  core::Job& keeps = state.mutable_job(job);
  keeps.verdict = {.job = job, .reason = core::reason::Unclaimed{{.size = 2}}};
  CHECK(tells(core::explain(state, job).unblocks(), "a higher priority"));
  state.deployment.active = core::PolicyFileRef{.name = "mine", .version = std::string(64, 'a')};
  keeps.planned.emplace();
  keeps.planned->target.reason = core::reason::PolicyWord{.from = 2, .word = "Capped", .numbers = {{"most", 1}}};
  const auto why = core::explain(state, job);
  CHECK(why.summary ==
        "keeps 2 workers: policy mine@aaaaaaaaaaaa gives it none and says Capped (most 1), but no other "
        "job takes its slots now");
  CHECK_FALSE(tells(why.unblocks(), "a higher priority"));
  CHECK(tells(why.unblocks(), "schedctl policy activate PATH"));
}

TEST_CASE("a state is said to lie in the checkpoint folder only where that may be") {
  Story story;
  const NodeId node = story.node(1);
  const JobId job = story.submit({});
  core::ClusterState state = story.state();
  core::Job& kept = state.mutable_job(job);
  const std::string name = state.find_node(node)->name;
  kept.recovery.checkpoint = core::SavedState{.step = 31, .node = node};
  CHECK(tells(core::explain(state, job).evidence, "its state of step 31 is kept on node " + name));
  kept.spec.checkpoint.dir = "/shared";
  CHECK(tells(core::explain(state, job).evidence,
              "is kept in its checkpoint folder, or by node " + name + " until it is there"));
}

TEST_CASE("a deadline that has passed is told") {
  Story story;
  story.node(1);
  core::JobSpec spec = job_spec({});
  spec.deadline = Duration::seconds(60);
  const JobId job = story.engine().next_job_id();
  story.learn(core::JobSubmitted{job, spec});
  story.decide();
  CHECK_FALSE(tells(core::explain(story.state(), job).evidence, "deadline"));
  story.pass(Duration::seconds(90));
  story.learn(core::ClockAdvanced{});
  CHECK(tells(core::explain(story.state(), job).evidence, "its deadline has passed: it was "));
}

TEST_CASE("a step within the margin for noise is told with the threshold that the user has set") {
  const core::reason::EfficiencySettled noisy{{.size = 2, .next = 3},
                                              {.efficiency = 0.12, .threshold = 0.1, .margin = 0.04}};
  CHECK(core::sentence(noisy) ==
        "keeps 2 workers: a third worker would add 12 % of a worker's throughput: more than the 10 % asked for, but "
        "within the margin for measurement noise, 4 %");
  CHECK(core::unblocks_of(noisy, JobId(1)) ==
        std::vector<std::string>{"lower scaling.efficiency_threshold below 0.08"});
  // Rounded to two decimals it would be 0.11, and a threshold between the two would change nothing.
  const core::reason::EfficiencySettled close{{.size = 2, .next = 3}, {.efficiency = 0.1058, .threshold = 0.11}};
  CHECK(core::unblocks_of(close, JobId(1)) ==
        std::vector<std::string>{"lower scaling.efficiency_threshold below 0.105"});
}

}  // namespace
}  // namespace tidepool::test
