// Sentences, evidence and what would help.
#include "core/explain/explain.hpp"
#include "core/explain/current_reason.hpp"
#include "core/explain/suggestions.hpp"
#include "core/explain/waiting_together.hpp"
#include "core/words/unblock.hpp"
#include "core/words/wording.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("Every reason is a sentence without holes") {
  for (const core::Reason& reason : test::one_reason_of_each()) {
    const auto text = core::sentence(reason);
    INFO(core::name_of(reason));
    CHECK(text.size() > 10);
    CHECK(text.find("does not know") == std::string::npos);
  }
}

TEST_CASE("Sentences carry their numbers as people read them") {
  const core::reason::Efficiency much{.efficiency = 0.62, .threshold = 0.1};
  const core::reason::Efficiency little{.efficiency = 0.04, .threshold = 0.1};
  CHECK(core::sentence(core::reason::EfficientUp{{{.from = 2, .to = 3}, much}}) ==
        "growing 2 -> 3: the last worker added 62 % of a worker's throughput, more than the 10 % asked for");
  CHECK(core::sentence(core::reason::EfficiencySettled{{.size = 2, .next = 3}, little}) ==
        "keeps 2 workers: a third worker would add 4 % of a worker's throughput, less than the 10 % asked for");
  CHECK(core::sentence(core::reason::Cooldown{{.left = Duration::millis(11'200)}}) ==
        "keeps its size for now: the cooldown ends in 12 s");
  CHECK(core::sentence(core::reason::WorkerLost{{.worker = WorkerId(2)}, 1}) == "w-2 was lost; 1 worker goes on");
  CHECK(core::sentence(core::reason::WorkerLost{{.worker = WorkerId(2)}, 3, 2}) ==
        "w-2 and 2 more of its workers were lost; 3 workers go on");
}

TEST_CASE("A job that is preempted and waits again is told to give up its slots, and why") {
  const auto told = [](const core::Reason& reason) {
    return core::sentence(core::PlannedIntent{core::PreemptIntent{.job = JobId(1), .number = 2}, reason}, {});
  };
  const core::reason::BudgetSpent spent{{.limit = Money::micros(8'000'000), .word = "lab"}};
  CHECK_THAT(told(spent), Catch::StartsWith("job-1: releases its slots: tenant lab has spent "));
  CHECK(told(core::reason::WaitingForSlots{.needed = 2}) ==
        "job-1: releases its slots and waits for 2 slots; none is free");
  CHECK(told(core::reason::Preempted{.for_job = JobId(2)}) == "job-1: preempted for job-2");
}

TEST_CASE("Numbers read well") {
  CHECK(core::grouped(9121.4) == "9,121");
  CHECK(core::grouped(1'234'567) == "1,234,567");
  CHECK(core::grouped(-0.2) == "0");
  CHECK(core::decimal(0.5) == "0.5");
  CHECK(core::decimal(-0.001) == "0");
  CHECK(core::percent(0.042) == "4.2 %");
  CHECK(core::percent(0.625) == "63 %");
  CHECK(core::waiting_time(300) == "5 min");
  CHECK(core::waiting_time(7200) == "2 h");
  CHECK(core::an_ordinal(3) == "a third");
  CHECK(core::an_ordinal(8) == "an 8th");
  CHECK(core::an_ordinal(22) == "a 22nd");
  CHECK(core::an_ordinal(112) == "a 112th");
  CHECK(core::thousands(26'430) == "26.4 k");
}

TEST_CASE("Two numbers that are held against each other have as many digits as tell them apart") {
  using core::NumberStyle;
  const auto close = core::compared(4.861, 4.857, NumberStyle::kDecimal);
  CHECK((close.left == "4.861" && close.right == "4.857" && !close.alike));
  const auto shares = core::compared(0.7961, 0.8, NumberStyle::kPercent);
  CHECK((shares.left == "79.61 %" && shares.right == "80.00 %" && !shares.alike));
  CHECK(core::compared(12, 12, NumberStyle::kTime).alike);
  CHECK(core::compared(1, 1 + 1e-9, NumberStyle::kThreeDigits).alike);
}

TEST_CASE("A sentence does not bear out numbers that speak against it") {
  const auto grow = [](double worth, double price) {
    return core::sentence(core::reason::PriceGrow{{{.from = 1, .to = 2}, {.worth = worth, .price = price}}});
  };
  CHECK(grow(2.46, 5) == "growing 1 -> 2: its share of the slots has grown");
  CHECK(grow(5, 2.46) == "growing 1 -> 2: no other job would gain more from the slots");
  CHECK(grow(1, 0) == "growing 1 -> 2: no other job would gain more from the slots");
  CHECK(core::sentence(core::reason::EfficiencySettled{
            {.size = 2, .next = 3},
            {.efficiency = -0.1, .threshold = 0.1, .throughput = 26'400, .next_throughput = 25'100}}) ==
        "keeps 2 workers: a third worker would lower throughput (26.4 k -> 25.1 k samples/s)");
}

TEST_CASE("A waiting job is told what would start it, and which jobs go first") {
  Story story;
  story.node(4);
  const JobId holder = story.running({.min = 3, .max = 3}, 3);
  const JobId first = story.submit({.min = 2, .max = 2});
  const JobId second = story.submit({.min = 2, .max = 2});
  story.decide();
  const auto why = core::explain(story.state(), first);
  CHECK(why.summary == "waits for 2 slots; 1 is free");
  CHECK(has(why.unblocks(), "cancel " + holder.text() + ", which holds 3 slots"));
  CHECK(has(why.unblocks(), "lower elastic.min to 1"));
  CHECK(has(why.unblocks(), "add a node with 1 free slot"));
  CHECK(core::explain(story.state(), second).ahead == std::vector{first});
}

TEST_CASE("Only jobs whose end would let a job start are named as ones to cancel") {
  Story story;
  story.node(2);
  story.node(2);
  const JobId one = story.running({.min = 2, .max = 2}, 2);
  const JobId other = story.running({.min = 2, .max = 2}, 2);
  const JobId whole = story.submit({.min = 1, .max = 1, .gpus = 2});
  const JobId large = story.submit({.min = 3, .max = 3});
  story.decide();
  const auto cancels = [&](JobId job) {
    std::vector<std::string> lines = core::explain(story.state(), job).unblocks();
    std::erase_if(lines, [](const auto& line) { return !line.starts_with("cancel"); });
    return lines;
  };
  CHECK(cancels(whole).size() == 2);
  CHECK(cancels(large).empty());  // either leaves it one slot short
  story.learn(core::JobCancelRequested{one});
  CHECK(cancels(whole) == std::vector<std::string>{"cancel " + other.text() + ", which holds 2 slots"});
  const core::Worker& worker = *story.state().find_worker(story.job(other).membership.members.front());
  story.learn(core::NodeCordonChanged{worker.node, true});
  CHECK(cancels(whole).empty());
}

TEST_CASE("Jobs of the waiting job's own tenant are named before those of others as ones to cancel") {
  Story story;
  story.node(6);
  const auto submit = [&](const std::string& tenant, int size) {
    core::JobSpec spec = job_spec({.min = size, .max = size});
    spec.tenant = tenant;
    const JobId id = story.engine().next_job_id();
    story.learn(core::JobSubmitted{id, spec});
    story.settle(id);
    return id;
  };
  const JobId foreign = submit("speech", 2);
  const JobId own = submit("vision", 4);
  const JobId waits = submit("vision", 1);
  const auto unblocks = core::explain(story.state(), waits).unblocks();
  CHECK(unblocks.at(0) == "cancel " + own.text() + ", which holds 4 slots");
  CHECK(unblocks.at(1) == "cancel " + foreign.text() + ", which holds 2 slots");
}

TEST_CASE("A worker of several slots needs them on one node, whichever job is cancelled") {
  Story story;
  story.node(2);
  story.node(2);
  const JobId wide = story.submit({.min = 2, .max = 2});
  story.settle(wide);
  const JobId left = story.running({.min = 1, .max = 1}, 1);
  const JobId right = story.running({.min = 1, .max = 1}, 1);
  const JobId whole = story.submit({.min = 1, .max = 1, .gpus = 2});
  story.decide();
  const auto unblocks = core::explain(story.state(), whole).unblocks();
  CHECK(has(unblocks, "cancel " + wide.text() + ", which holds 2 slots"));
  for (const JobId one : {left, right}) {
    CHECK_FALSE(has(unblocks, "cancel " + one.text() + ", which holds 1 slot"));
  }
}

TEST_CASE("What the pool has too little of is told as it is now") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.min = 8, .max = 8});
  story.decide();
  CHECK_THAT(core::explain(story.state(), job).summary, Catch::EndsWith("has room for 2"));
  story.node(4);
  CHECK_THAT(core::explain(story.state(), job).summary, Catch::EndsWith("has room for 6"));
  CHECK(has(core::explain(story.state(), job).unblocks(), "add a node with 2 slots"));
}

TEST_CASE("A price cap that would do is told exactly") {
  const core::reason::PriceCap why{.cap = Money::micros(1'000'000), .price = Money::micros(1'234'567), .slots = 1};
  CHECK(core::unblocks_of(why, JobId(1)).front() == "raise scaling.price_cap to 1.234567");
}

TEST_CASE("A job that cannot fit is told by how much") {
  Story story;
  story.node(2);
  const JobId job = story.submit({.min = 4, .max = 4});
  story.decide();
  const auto why = core::explain(story.state(), job);
  CHECK(has(why.unblocks(), "lower elastic.min to 2"));
  CHECK(has(why.unblocks(), "add a node with 2 slots"));
}

TEST_CASE("A running job shows what was measured and a failed one its error") {
  Story story;
  story.node(2);
  const JobId job = story.running({.max = 2, .max_restarts = 0}, 1);
  story.steps(job, 40);
  CHECK(has(core::explain(story.state(), job).evidence, "1 worker: 640 samples/s over 41 steps"));
  story.exit(WorkerId(1), 1, "cuda error");
  story.decide();
  const auto why = core::explain(story.state(), story.job(job));
  CHECK(why.summary.find("failed: it lost workers 1 time, and 0 are allowed") == 0);
  CHECK(why.summary.find("cuda error") != std::string::npos);
  CHECK(why.unblocks().empty());
}

TEST_CASE("What a change of size has shown is told where the means of all steps contradict it") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 2);
  core::ClusterState state = story.state();
  auto& sizes = state.mutable_job(job).measurements.sizes;
  sizes[1] = {.steps = 40, .samples_per_second = 32'700};
  sizes[2] = {.steps = 90, .samples_per_second = 35'900};
  sizes[2].entered = {.from = 1, .from_rate = 32'670, .rate = 24'657};
  CHECK(has(
      core::explain(state, job).evidence,
      "2 workers: 35,900 samples/s over 90 steps, but 24,657 samples/s right after 32,670 samples/s with 1 worker"));
  sizes[2].samples_per_second = 25'000;
  CHECK(has(core::explain(state, job).evidence, "2 workers: 25,000 samples/s over 90 steps"));
}

TEST_CASE("A change is told as done, or as given up, once nothing is under way") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 2);
  core::ClusterState state = story.state();
  const core::reason::Efficiency much{.efficiency = 0.62, .threshold = 0.1};
  state.mutable_job(job).verdict.reason = core::reason::EfficientUp{{{.from = 1, .to = 2}, much}};
  CHECK(core::explain(state, job).summary.find("grew 1 -> 2: ") == 0);
  state.mutable_job(job).verdict.reason = core::reason::EfficientUp{{{.from = 2, .to = 3}, much}};
  CHECK(core::explain(state, job).summary ==
        "keeps 2 workers: its change to 3 workers was abandoned before it was done");
}

TEST_CASE("Numbers that change by the second are told as they are now") {
  Story story;
  story.node(4);
  const JobId job = story.running({.max = 4}, 1);
  story.wish(job, 2);
  story.steps(job, 1);
  story.settle(job);
  story.wish(job, 3);
  story.steps(job, 1);
  story.decide();
  REQUIRE(test::says<core::reason::Cooldown>(story.job(job).verdict.reason));
  story.pass(Duration::seconds(15));
  story.learn(core::ClockAdvanced{});
  const Duration left = *story.job(job).last_resize_at + Duration::seconds(20) - story.now();
  CHECK(test::number_in(core::current_reason(story.state(), story.job(job)), "seconds_left") ==
        Approx(left.to_seconds()));
  CHECK(has(core::explain(story.state(), job).unblocks(),
            "wait " + core::waiting_time(left.to_seconds()) + " for the cooldown"));
}

TEST_CASE("What helps is told once, with the type of slots where one is known") {
  std::vector<std::string> lines = {"add a node with 1 free slot"};
  core::append_new({"add a node with 1 free slot of type a100", "add a node with 2 free slots"}, lines);
  core::append_new({"add a node with 2 free slots"}, lines);
  CHECK(lines == std::vector<std::string>{"add a node with 1 free slot of type a100", "add a node with 2 free slots"});
  lines = {"add a node with 1 free slot of type a100"};
  core::append_new({"add a node with 1 free slot"}, lines);
  CHECK(lines.size() == 1);
}

TEST_CASE("Jobs that wait for the same are told together, whatever their places in line") {
  Story story;
  story.node(4);
  const JobId runs = story.running({.min = 4, .max = 4}, 4);
  core::ClusterState state = story.state();
  std::vector<JobId> jobs = {runs};
  const auto add = [&](const JobSketch& sketch, const core::Reason& why) {
    core::Job job;
    job.id = JobId(100 + jobs.size());
    job.spec = job_spec(sketch);
    job.verdict.job = job.id;
    job.verdict.reason = why;
    state.jobs.emplace(job.id, std::make_shared<const core::Job>(std::move(job)));
    jobs.emplace_back(100 + jobs.size());
    return jobs.back();
  };
  const auto behind = [](int ahead) { return core::reason::BehindOlderJob{.ahead = ahead, .needed = 2}; };
  const core::reason::NeverFits never{.needed = 9, .cluster = 4};
  const JobId first = add({.min = 2, .max = 2}, behind(1));
  const JobId large = add({.min = 9, .max = 9}, never);
  const JobId next = add({.min = 2, .max = 2}, behind(2));
  const JobId wide = add({.min = 1, .max = 1, .gpus = 9}, never);  // the same number, and another obstacle
  const JobId also_large = add({.min = 9, .max = 9}, never);
  jobs.emplace_back(9'999);  // has left the state
  std::vector<std::vector<JobId>> together;
  std::vector<std::string> told;
  for (const core::WaitingTogether& each : core::waiting_together(state, jobs)) {
    together.push_back(each.jobs);
    told.push_back(core::sentence(each.reason));
    CHECK(each.reason == core::current_reason(state, *state.find_job(each.jobs.front())));
  }
  CHECK(together == std::vector<std::vector<JobId>>{{first, next}, {large, also_large}, {wide}});
  CHECK(told ==
        std::vector<std::string>{"waits behind 1 job in the queue; it needs 2 slots, none is free",
                                 "cannot start: it needs 9 slots, and the whole cluster has room for 4",
                                 "cannot start: its worker needs 9 slots on one node, and the largest node has 4"});
}

TEST_CASE("A planned intent names the job and the places") {
  Story story;
  story.node(2);
  story.submit({.max = 2});
  const auto decision = story.decide();
  CHECK(core::sentence(decision.plan.at(0), story.state()) == "charlm: started with 1 worker (w-1 on node-1)");
  CHECK(story.last("decision.made").data["intents"][0]["kind"] == "start");
}

}  // namespace
}  // namespace tidepool::test
