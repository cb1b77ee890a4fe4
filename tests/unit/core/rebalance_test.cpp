// A slow worker gets a smaller share before anything else is done about it: when, how much, and what follows.
#include "core/decide/rebalance_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/explain/explain.hpp"
#include "core/facts/shares.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

using Weights = std::vector<std::int64_t>;

// The one change of shares of a decision.
const core::RebalanceIntent& rebalance_of(const core::Decision& decision) {
  REQUIRE(names_of(decision) == "rebalance");
  return std::get<core::RebalanceIntent>(decision.plan[0].intent);
}

// Two workers of which the second computes half as fast, until its share has been cut and the members go by it.
JobId eased_job(Story& story, JobSketch sketch = {.min = 2, .max = 2, .cooldown = {}}) {
  const JobId job = story.running(sketch, 2);
  story.steps(job, 30, {50'000, 100'000});
  const auto decision = story.decide();
  CHECK(rebalance_of(decision).weights == Weights{1'000, 500});
  story.rebalanced(job);
  story.decide();
  return job;
}

TEST_CASE("The shares of a step are those that the data ledger cuts") {
  CHECK(core::shares_of(7, {1, 1, 1}) == Weights{2, 2, 3});
  CHECK(core::shares_of(8, {1'000, 1'000, 1'000, 1'000}) == Weights{2, 2, 2, 2});
  CHECK(core::shares_of(1, {1, 1}) == Weights{0, 1});
  const std::int64_t many = 1'000'000'000'000;  // whose product with the weights is no whole number of 64 bits
  CHECK(core::shares_of(many, Weights(4'000, 1'000'000)) == Weights(4'000, many / 4'000));
  CHECK(core::shares_of(100, {1'000, 500}) == Weights{66, 34});
}

TEST_CASE("A slow worker gets the share that it computes in the others' time, before a replacement is thought of") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.steps(job, 9, {50'000, 100'000});
  CHECK(names_of(story.decide()).empty());  // a name must stick
  story.steps(job, 10, {50'000, 100'000});
  const auto decision = story.decide();
  const auto& intent = rebalance_of(decision);
  CHECK(intent.worker == WorkerId(2));
  CHECK(intent.generation == story.job(job).membership.generation);
  CHECK(intent.number == 1);
  CHECK(intent.weights == Weights{1'000, 500});
  CHECK(test::says<core::reason::StragglerRebalanced>(decision.plan[0].reason));
  CHECK(test::number_in(decision.plan[0].reason, "share") == 0.5);
  CHECK(test::number_in(decision.plan[0].reason, "was") == 1);
  REQUIRE(story.count("worker.straggling") == 1);
  CHECK(story.last("worker.straggling").data["next_action"] == "rebalance");
  CHECK(core::sentence(decision.plan[0].reason).find("giving w-2 50 % of a full share") == 0);
}

TEST_CASE("A change of shares is told once the members go by it, and its cost is what it has cost") {
  Story story;
  story.node(4);
  const JobId job = eased_job(story);
  CHECK(story.job(job).shares.used == story.job(job).shares.ordered);
  const auto& told = story.last("job.rebalanced").data;
  CHECK(told["shares"][0]["share"] == 1);
  CHECK(told["shares"][1] == nlohmann::json({{"worker", "w-2"}, {"share", 0.5}}));
  CHECK(told["stall_ms"] == 2);
  CHECK(core::cost_of_rebalancing(story.job(job)) == Approx(2 * 0.002));
  // Said twice, by an older table, or for another generation: nothing changes.
  story.rebalanced(job);
  story.learn(core::SharesChanged{job, story.job(job).membership.generation, 9, 1, 50});
  story.learn(core::SharesChanged{job, story.job(job).membership.generation - 1, 1, 1, 50});
  CHECK(story.job(job).measurements.rebalance_cost.mean_stall_ms == 2);
}

TEST_CASE("What the members say of their shares in a report of steps counts, should the other word be lost") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.steps(job, 30, {50'000, 100'000});
  REQUIRE(names_of(story.decide()) == "rebalance");
  story.steps(job, 10, {50'000, 100'000});  // still by the old ones
  CHECK(names_of(story.decide()).empty());
  CHECK(story.job(job).shares.used.number == 0);
  const std::int64_t last = story.job(job).progress.step;
  core::StepsMeasured report{
      job, story.job(job).membership.generation, last + 1, 1, Duration::millis(100), 64, 1, 1, {70'000, 70'000}};
  report.shares = 1;
  story.learn(report);
  CHECK(story.job(job).shares.used.number == 1);
  CHECK(story.worker(WorkerId(2)).track.busy_steps == 1);  // what was measured before says nothing of these
  // Of a table that was never told nothing can be judged.
  report.last_step = last + 2;
  report.shares = 7;
  const auto seen = story.worker(WorkerId(2)).track.steps;
  story.learn(report);
  CHECK(story.worker(WorkerId(2)).track.steps == seen);
}

TEST_CASE("An eased worker's account goes on with what the others have taken over, until a replacement is cheaper") {
  Story story;
  story.node(4);
  const JobId job = eased_job(story);
  const double before = core::cost_so_far(story.job(job), story.worker(WorkerId(2)));
  CHECK(before == Approx(0.05 * 30).margin(0.3));  // what the other had waited by then
  // 64 samples, of which it takes 21 instead of 32: 10.7 at 67 ms / 42.7 each are 17 ms a step.
  story.steps(job, 10, {67'000, 67'000});
  story.decide();
  CHECK(test::says<core::reason::StragglerEased>(story.job(job).verdict.reason));
  CHECK(core::cost_so_far(story.job(job), story.worker(WorkerId(2))) - before == Approx(10 * 0.017).margin(0.02));
  CHECK(test::number_in(story.job(job).verdict.reason, "score") == Approx(0.5));
  CHECK(story.count("worker.straggling") == 1);
  for (int i = 0; i < 40 && names_of(story.decide()).empty(); ++i) story.steps(job, 10, {67'000, 67'000});
  CHECK(test::says<core::reason::StragglerReplaced>(story.job(job).verdict.reason));
  CHECK(test::number_in(story.job(job).verdict.reason, "waited_s") >= core::cost_of_replacing(story.job(job)));
  CHECK(story.count("worker.straggling") == 1);
}

TEST_CASE("An eased worker is not given up for lack of a free slot: it does more than nothing") {
  Story story;
  story.node(3);
  const JobId job = story.running({.min = 1, .max = 3, .cooldown = {}}, 3);
  story.steps(job, 30, {50'000, 200'000, 50'000});
  CHECK(rebalance_of(story.decide()).weights == Weights{1'000, 250, 1'000});
  story.rebalanced(job);
  for (int i = 0; i < 30; ++i) {
    story.steps(job, 20, {67'000, 67'000, 67'000});
    CHECK(names_of(story.decide()).empty());
  }
  // Why it is not replaced though its slowness has cost enough, and what would help.
  CHECK(test::says<core::reason::StragglerNoSpare>(story.job(job).verdict.reason));
  const auto why = core::explain(story.state(), story.job(job));
  CHECK(why.summary.find("w-2 computes at 25 % of the others' speed") != std::string::npos);
  CHECK(why.summary.ends_with("; no slot is free for a replacement"));
  const auto help = why.unblocks();
  CHECK(std::find(help.begin(), help.end(), "add a node with room for a worker") != help.end());
}

TEST_CASE("A worker that is still slow by its smaller share gets a smaller one") {
  Story story;
  story.node(2);
  const JobId job = eased_job(story);
  story.steps(job, 40, {60'000, 90'000});  // part of its time does not go with its samples
  CHECK(rebalance_of(story.decide()).weights == Weights{1'000, 333});
}

TEST_CASE("A worker that is fast again waits for the others, and gets its share back when that has cost enough") {
  Story story;
  story.node(2);
  const JobId job = eased_job(story);
  story.steps(job, 5, {67'000, 33'000});
  CHECK(names_of(story.decide()).empty());  // too few steps to weigh
  story.steps(job, 30, {67'000, 33'000});
  const auto decision = story.decide();
  CHECK(rebalance_of(decision).weights == Weights{1'000, 1'000});
  CHECK(test::says<core::reason::SharesRegained>(decision.plan[0].reason));
  CHECK(story.job(job).shares.rebalanced.empty());
  story.rebalanced(job);
  story.steps(job, 30);
  story.decide();
  CHECK(test::says<core::reason::FixedSize>(story.job(job).verdict.reason));
  CHECK(story.count("job.rebalanced") == 2);
}

// What the two take where the second is slower the larger its share is: as on a busy machine, where the late
// worker pays for what the early one goes on to do. By full shares it computes half as fast.
std::vector<std::int64_t> times_by_share(std::int64_t weight) {
  const double full = static_cast<double>(weight) / 1'000;
  const double part = 2 * full / (1 + full);  // of an even share
  return {std::llround(50'000 * (2 - part)), std::llround(50'000 * part * (0.1 + 1.9 * full))};
}

TEST_CASE("A share that would go to and fro comes to rest between") {
  Story story;
  story.node(2);
  const JobId job = eased_job(story);
  const auto weight = [&] { return core::share_of(story.job(job), WorkerId(2)); };
  std::vector<std::int64_t> weights;
  int quiet = 0;
  for (int round = 0; round < 100; ++round, ++quiet) {
    story.steps(job, 30, times_by_share(weight()));
    if (names_of(story.decide()) != "rebalance") continue;
    weights.push_back(weight());
    story.rebalanced(job);
    quiet = 0;
  }
  CAPTURE(weights);
  CHECK(weights.size() >= 2);
  CHECK(weights.size() <= 8);
  CHECK(quiet >= 80);
  CHECK(weight() > 600);
  CHECK(weight() < 850);
  // Fast again by any share, it comes back to a full one however often its share has turned.
  for (int round = 0; round < 40 && weight() < 1'000; ++round) {
    story.steps(job, 30, {67'000, 33'000});
    if (names_of(story.decide()) == "rebalance") story.rebalanced(job);
  }
  CHECK(story.job(job).shares.rebalanced.empty());
}

TEST_CASE("After the second turn a worker's share is changed half the way") {
  Story story;
  story.node(2);
  const JobId job = eased_job(story);
  story.steps(job, 40, {67'000, 33'000});
  CHECK(rebalance_of(story.decide()).weights == Weights{1'000, 1'000});
  story.rebalanced(job);
  story.steps(job, 40, {50'000, 100'000});
  CHECK(rebalance_of(story.decide()).weights == Weights{1'000, 750});
  story.rebalanced(job);
  story.steps(job, 40, {50'000, 100'000});  // on in the same direction
  CHECK(rebalance_of(story.decide()).weights == Weights{1'000, 375});
}

TEST_CASE("Noise of a few per cent moves no share") {
  Story story;
  story.node(2);
  const JobId job = eased_job(story);
  for (int i = 0; i < 20; ++i) {
    story.steps(job, 10, {67'000, i % 2 == 0 ? 64'500 : 69'500});
    CHECK(names_of(story.decide()).empty());
  }
}

TEST_CASE("A new generation begins with even shares, and a rebalanced worker is told so in it") {
  Story story;
  story.node(3);
  const JobId job = eased_job(story, {.min = 2, .max = 3, .sizes = {2, 3}, .cooldown = {}});
  const double lost = story.job(job).shares.rebalanced.at(WorkerId(2)).lost_s;
  story.wish(job, 3);
  story.steps(job, 1, {67'000, 67'000});
  REQUIRE(names_of(story.decide()) == "grow");
  story.ready(WorkerId(3));
  REQUIRE(names_of(story.decide()) == "switch");
  CHECK(story.job(job).shares.ordered.number == 1);
  CHECK(story.job(job).shares.ordered.weights == Weights{1'000, 500, 1'000});
  CHECK(story.job(job).shares.used.number == 0);
  CHECK(story.job(job).shares.rebalanced.at(WorkerId(2)).lost_s >= lost);
  story.switched(job);
  // The slow one dies: no member is rebalanced any more.
  story.exit(WorkerId(2), 1);
  REQUIRE(names_of(story.decide()) == "switch");
  CHECK(story.job(job).shares.rebalanced.empty());
  CHECK(story.job(job).shares.ordered.number == 0);
}

TEST_CASE("No worker is rebalanced that is too slow for any share, or where the batch is too small to be cut") {
  Story story;
  story.node(4);
  const JobId tiny = story.running({.min = 2, .max = 2, .batch = 2, .cooldown = {}}, 2);
  story.steps(tiny, 30, {50'000, 120'000});
  CHECK(names_of(story.decide()) == "replace");

  Story far;
  far.node(4);
  const JobId job = far.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  far.steps(job, 30, {50'000, 2'000'000});
  CHECK(names_of(far.decide()) == "replace");
}

TEST_CASE("A plan of shares that breaks a law is refused by its name") {
  Story story;
  story.node(4);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.steps(job, 30, {50'000, 100'000});
  const core::Decision good = story.engine().decide(story.now());
  const auto refusal = [&](const std::function<void(core::RebalanceIntent&)>& spoil) {
    core::Decision bad = good;
    spoil(std::get<core::RebalanceIntent>(bad.plan[0].intent));
    const auto answer = story.engine().validate(bad);
    return answer.ok() ? std::string() : answer.error().message;
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK(refusal([](auto& intent) { intent.number = 2; }).find("SharesAreNext") == 0);
  CHECK(refusal([](auto& intent) { ++intent.generation; }).find("SharesAreNext") == 0);
  CHECK(refusal([](auto& intent) { intent.weights = {1'000}; }).find("EveryMemberHasAShare") == 0);
  CHECK(refusal([](auto& intent) { intent.weights[1] = 0; }).find("SharesWithinBounds") == 0);
  CHECK(refusal([](auto& intent) { intent.weights[0] = 1'001; }).find("SharesWithinBounds") == 0);
  CHECK(refusal([](auto& intent) { intent.worker = WorkerId(9); }).find("EveryMemberHasAShare") == 0);
}

}  // namespace
}  // namespace tidepool::test
