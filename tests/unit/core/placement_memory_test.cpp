// Nodes that bring memory with their slots, and jobs that ask for some.
#include "core/decide/plan_inputs.hpp"
#include "core/explain/explain.hpp"
#include "core/provision/node_room.hpp"
#include "core/state/node_constraints.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30U;

// A story of nodes with shares of memory.
struct SharedMemory {
  Story story;

  NodeId node(const std::string& name, std::optional<std::int64_t> share, int slots = 4) {
    core::NodeJoined joined{story.engine().node_id_for(name), name, slots, "cpu", Money::micros(1'000'000), {}};
    joined.memory_per_slot = share;
    story.learn(joined);
    return joined.node;
  }
  JobId submit(std::int64_t memory, JobSketch sketch = {}) {
    const JobId id = story.engine().next_job_id();
    core::JobSpec spec = job_spec(sketch);
    spec.memory = memory;
    story.learn(core::JobSubmitted{id, std::move(spec)});
    return id;
  }
  [[nodiscard]] std::set<NodeId> nodes_of(JobId job) const {
    std::set<NodeId> nodes;
    for (const WorkerId worker : story.job(job).membership.workers) nodes.insert(story.worker(worker).node);
    return nodes;
  }
  [[nodiscard]] std::string why(JobId job) const { return core::explain(story.state(), job).summary; }
};

TEST_CASE("A worker's slots together bring the memory that its job asks for, to the byte") {
  core::JobSpec spec;
  core::Node node;
  node.memory_per_slot = 10;
  const auto fits = [&](std::int64_t memory, int slots) {
    spec.memory = memory;
    spec.gpus_per_worker = slots;
    return core::may_run_on(spec, node);
  };
  CHECK(fits(10, 1));
  CHECK_FALSE(fits(11, 1));
  CHECK(fits(30, 3));
  CHECK_FALSE(fits(31, 3));
  CHECK(fits(29, 3));
  node.memory_per_slot = 0;
  CHECK(fits(1'000, 1));
  node.memory_per_slot.reset();
  CHECK(fits(1'000, 1));
}

TEST_CASE("A job that asks for memory is choosy, and one that asks for none is not") {
  core::JobSpec spec;
  CHECK_FALSE(core::is_choosy(spec));
  spec.memory = 1;
  CHECK(core::is_choosy(spec));
}

TEST_CASE("A job starts only on nodes whose slots bring its memory") {
  SharedMemory shared;
  shared.node("small", 16 * kGib);
  const NodeId large = shared.node("large", 64 * kGib);
  const JobId job = shared.submit(64 * kGib, {.min = 2, .max = 2, .preferred = 2});
  shared.story.decide();
  CHECK(shared.nodes_of(job) == std::set{large});
}

TEST_CASE("Jobs that differ in their memory alone are not taken for one another") {
  SharedMemory shared;
  const NodeId small = shared.node("small", 16 * kGib);
  const NodeId large = shared.node("large", 64 * kGib, 1);
  const JobId none = shared.submit(65 * kGib);
  const JobId one = shared.submit(64 * kGib);
  const JobId two = shared.submit(8 * kGib, {.min = 4, .max = 4, .preferred = 4});
  shared.story.decide();
  CHECK(shared.nodes_of(none).empty());
  CHECK(shared.nodes_of(one) == std::set{large});
  CHECK(shared.nodes_of(two) == std::set{small});
}

TEST_CASE("A job that finds its memory nowhere says so, and starts when a node brings it") {
  SharedMemory shared;
  shared.node("small", 16 * kGib);
  const JobId job = shared.submit(100 * kGib, {.gpus = 2});
  shared.story.decide();
  CHECK(shared.why(job) == "cannot start: no node that is up gives 50GiB of memory per slot");
  const auto told = core::explain(shared.story.state(), job);
  CHECK(told.unblocks().front() == "a node that gives 50GiB of memory per slot");
  CHECK(told.evidence.front() ==
        "a worker asks for 100GiB of memory with 2 slots, 50GiB of each; of the nodes that give less, the largest "
        "gives 16GiB per slot");
  const NodeId large = shared.node("large", 50 * kGib);
  shared.story.decide();
  CHECK(shared.nodes_of(job) == std::set{large});
}

TEST_CASE("A job that waits for nodes with its memory says which jobs hold them") {
  SharedMemory shared;
  shared.node("small", 16 * kGib);
  shared.node("large", 64 * kGib);
  const JobId holder = shared.submit(64 * kGib, {.min = 4, .max = 4, .preferred = 4});
  shared.story.settle(holder);
  const JobId waiting = shared.submit(32 * kGib);
  shared.story.decide();
  CHECK(shared.why(waiting) ==
        "waits for 1 slot: 1 node gives 32GiB of memory per slot, and all 4 of its slots are held by " + holder.text());
  const JobId wide = shared.submit(32 * kGib, {.min = 6, .max = 6, .preferred = 6});
  shared.story.decide();
  CHECK(shared.why(wide) ==
        "cannot start: it needs 6 slots, and the 1 node that gives 32GiB of memory per slot has room for 4");
}

TEST_CASE("A plan that places a worker where its slots bring too little breaks the law of memory") {
  SharedMemory shared;
  const NodeId small = shared.node("small", 16 * kGib);
  shared.node("large", 64 * kGib);
  const JobId job = shared.submit(64 * kGib);
  core::Decision decision = shared.story.engine().decide(shared.story.now());
  auto& start = std::get<core::StartIntent>(decision.plan.front().intent);
  REQUIRE(start.job == job);
  start.joining_workers.front().node = small;
  const auto refused = shared.story.engine().validate(decision);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.starts_with("SlotsBringTheMemoryAskedFor: job-1 on node-1, 16GiB of memory per slot"));
}

TEST_CASE("What is asked and what is brought are part of what a plan follows from") {
  SharedMemory shared;
  shared.node("one", 16 * kGib);
  const JobId job = shared.submit(kGib);
  const auto nodes = core::digest_of_nodes(shared.story.state());
  shared.node("one", 17 * kGib);
  CHECK(core::digest_of_nodes(shared.story.state()) != nodes);
  core::Job other = shared.story.job(job);
  const auto job_answers = core::digest_of_request(other);
  other.spec.memory = 2 * kGib;
  CHECK(core::digest_of_request(other) != job_answers);
}

TEST_CASE("A node of a pool is made for a job only if the pool tells that it has the memory") {
  core::Job job;
  job.spec.memory = 64 * kGib;
  job.spec.elastic.sizes = {1};
  core::PoolSpec pool{.name = "gpu", .slots_per_node = 2};
  CHECK_FALSE(core::suits(job, pool));
  pool.memory_per_slot = 32 * kGib;
  CHECK_FALSE(core::suits(job, pool));
  job.spec.gpus_per_worker = 2;
  CHECK(core::suits(job, pool));
  job.spec.memory.reset();
  pool.memory_per_slot.reset();
  CHECK(core::suits(job, pool));
}

}  // namespace
}  // namespace tidepool::test
