// What a policy for the whole cluster sees of the engine's records, and what becomes of its answer.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "core/codec/codec.hpp"
#include "core/state/ended_job.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/reason_read.hpp"
#include "policies/engine/engine_rows.hpp"
#include "policies/engine/lawful_plan.hpp"
#include "policies/size/size_limits.hpp"
#include "policies/tidal/tidal_planner.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/job_records.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::JobWorld;

// One row that holds nothing, in a cluster of so many nodes of four slots.
View view_of(int nodes, std::vector<JobRow> jobs) {
  View view;
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = 4});
  view.jobs = std::move(jobs);
  return view;
}

JobRow row(std::uint64_t id, std::vector<int> sizes, int each = 1) {
  JobRow job;
  job.id = JobId(id);
  job.sizes = std::move(sizes);
  job.size_min = job.sizes.front();
  job.size_max = job.sizes.back();
  job.slots_per_worker = each;
  return job;
}

Allocation grants(std::vector<int> sizes) {
  Allocation allocation;
  for (const int size : sizes) {
    allocation.order.push_back(allocation.grants.size());
    allocation.grants.push_back({.size = size, .reason = core::reason::Started{{.size = size}}});
  }
  return allocation;
}

// Jobs of several programs, as records that are told one after the other; none declares how much work it is.
class Pool {
 public:
  Pool() {
    core::Node node{.id = NodeId(1), .name = "n"};
    node.owners.resize(8);
    state_.nodes[node.id] = std::move(node);
    state_.next_node = 2;
  }

  // It has done so many samples, of which a slot does so many a second.
  core::Job& at(std::uint64_t id, double samples_per_second, std::int64_t samples) {
    auto& known = state_.jobs[JobId(id)];
    auto job = std::make_shared<core::Job>(known ? *known : JobWorld({1, 2, 4}).job);
    job->id = JobId(id);
    job->progress.samples = samples;
    const double step_s = double(job->spec.batch.global) / samples_per_second;
    job->measurements.sizes[1] = {
        .steps = 100, .step_seconds = step_s, .samples_per_second = samples_per_second, .measured_at = {}};
    core::Job& changed = *job;
    state_.next_job = std::max(state_.next_job, id + 1);
    known = std::move(job);
    return changed;
  }
  // From now on it is on slots of this type, and was not measured there if it has never been.
  void move(std::uint64_t id, const std::string& slot_type) {
    core::measure_on(state_.mutable_job(JobId(id)).measurements, slot_type);
  }
  void end(std::uint64_t id, core::JobState how = core::JobState::kSucceeded) {
    core::Job& job = state_.mutable_job(JobId(id));
    now_ = now_ + Duration::seconds(1);
    job.phase = core::phase::Ended{how, now_};
  }
  // It has ended and leaves; what is remembered of it stays, or goes in its time.
  void leave(std::uint64_t id) {
    IdSet<JobId> forgotten;
    (void)core::take_out(state_, JobId(id), forgotten);
  }
  void forget(std::uint64_t id) { state_.ended.erase(JobId(id)); }
  // A job comes, does so much, and ends.
  void pass(std::uint64_t id, double samples_per_second, std::int64_t samples) {
    at(id, samples_per_second, samples);
    end(id);
  }

  // In samples, by job, of those that have not ended: what new rows say, and what kept ones do.
  using Expected = std::map<JobId, std::optional<double>>;
  [[nodiscard]] Expected expected(EngineRows& rows) const {
    Expected expected;
    rows.follow_nodes(state_);
    for (const auto& [id, job] : state_.jobs) {
      if (core::is_final(job->state())) continue;
      const auto steps = rows.row({state_, now_}, *job, {.room = 8}).useful_expected;
      expected[id] = steps ? std::optional(*steps * double(job->spec.batch.global)) : std::nullopt;
    }
    return expected;
  }
  [[nodiscard]] Expected expected_anew() const {
    EngineRows rows;
    for (const auto& [id, job] : state_.jobs) (void)rows.follow(state_, id);
    for (const auto& [id, job] : state_.ended) (void)rows.follow(state_, id);
    return expected(rows);
  }
  [[nodiscard]] core::ClusterState& state() { return state_; }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  core::ClusterState state_;
  Instant now_ = Instant::from_micros(1);
};

}  // namespace

TEST_CASE("a job's speed is what was measured, and a stated guess where nothing was") {
  JobWorld world({1, 2, 4, 8});
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 4}) == Approx(4 / 1.15));  // nothing seen
  world.measured(1, 100).measured(2, 180);
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 2}) == Approx(180.0 / 4'096));
  CHECK(speed.step_seconds({.nodes = 1, .size = 1}) == Approx(40.96));
  const double four = speed.goodput({.nodes = 1, .size = 4}) * 4'096;
  CHECK(four > 180);
  CHECK(four <= 360);  // no job scales better than without loss
  CHECK(speed.largest_measured() == 2);
}

TEST_CASE("a job that has had one size is expected to lose less than half its speed on half the slots") {
  JobWorld world({1, 2, 4, 8});
  world.measured(8, 800);
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 8}) * 4'096 == Approx(800));
  CHECK(speed.goodput({.nodes = 1, .size = 4}) * 4'096 == Approx(800 * (4 / 1.15) / (8 / 1.35)));
  CHECK(speed.goodput({.nodes = 1, .size = 1}) * 4'096 == Approx(800 / (8 / 1.35)));
}

TEST_CASE("noise makes a larger batch worth less, and a worker of two slots counts as one") {
  JobWorld world({1, 2});
  world.job.spec.gpus_per_worker = 2;
  world.job.spec.batch.global = 100;
  world.measured(1, 100).measured(2, 200);
  world.job.measurements.sizes[2].step_seconds = 1;  // a batch of 200
  world.job.spec.batch.on_resize = core::OnResize::kLinear;
  world.job.progress.noise_scale = 100;
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 2}) == Approx(1));
  CHECK(speed.goodput({.nodes = 1, .size = 4}) == Approx(2 * 200.0 / 300));
}

TEST_CASE("a program that chooses its batch is judged at each size by the batch that would teach most there now") {
  JobWorld world({1, 4});
  world.job.spec.batch = {.global = 100, .on_resize = core::OnResize::kCallback, .global_max = 1'000'000};
  world.measured(1, 100);  // a sample takes 10 ms
  world.measured(4, 240);  // a step of 300 on four workers computes for 0.75 s, and exchanges gradients for 1 s
  world.job.measurements.sizes[4].step_seconds = 1.25;
  world.job.progress.noise_scale = 50'000;
  // cbrt(50,000 x (1 s x 4 / 10 ms)^2) = 2,000 samples: 5 s beside 1 s, each worth 50,100 / 52,000 of a declared one
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 4}) ==
        Approx(2'000 / std::hypot(5.0, 1.0) * 50'100 / 52'000 / 100));
  world.job.spec.batch.global_max = 400;
  const double most = 400 / std::hypot(1.0, 1.0) * 50'100 / 50'400 / 100;
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 4}) == Approx(most));
  // What it gave last says how far the model is off, at all sizes.
  world.job.measurements.sizes[1].measured_at = world.now - Duration::seconds(60);
  const double gave = 2.4 * 50'100 / 50'300;
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 4}) == Approx(gave));
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 1}) == Approx(gave / most));
  world.job.spec.batch.on_resize = core::OnResize::kConstant;
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 1}) == Approx(1));
}

TEST_CASE("a job whose batch follows its size has as many sizes as its largest batch has samples") {
  JobWorld world({1, 2, 4, 8, 16, 32});
  world.job.spec.batch = {.global = 8, .on_resize = core::OnResize::kCallback, .global_max = 16};
  CHECK(ladder_of(world.state, world.job).sizes.back() == 16);
  world.job.spec.batch.on_resize = core::OnResize::kConstant;
  CHECK(ladder_of(world.state, world.job).sizes.back() == 8);
}

TEST_CASE("sizes are cut to allowed ones, and slots go in the policy's order") {
  const View view = view_of(1, {row(1, {2, 4}), row(2, {1, 2, 3})});
  CHECK(lawful_plan(view, grants({3, 1}), 4)[0].size == 2);
  CHECK(lawful_plan(view, grants({1, 3}), 4)[0].size == 0);
  Allocation later = grants({2, 2});
  later.order = {1, 0};
  const auto plan = lawful_plan(view, later, 4);
  CHECK(plan[1].size == 2);
  CHECK(plan[1].place == 0);
  CHECK(plan[0].size == 2);
}

TEST_CASE("a job that may not be preempted keeps its least size, and the others share the rest") {
  View view = view_of(1, {row(1, {2, 4}), row(2, {1, 2, 3, 4})});
  view.jobs[0].placement = {{.node = 0, .slots = 4}};
  view.jobs[0].preemptible = false;
  const auto plan = lawful_plan(view, grants({0, 4}), 4);
  CHECK(plan[0].size == 2);
  CHECK(plan[1].size == 2);
}

TEST_CASE("workers of several slots get no more than nodes have room for") {
  View view = view_of(2, {row(1, {3}, 3), row(2, {3, 6}, 3), row(3, {1, 2}, 1)});
  const auto plan = lawful_plan(view, grants({3, 3, 2}), 8);
  CHECK(plan[0].size == 1);
  CHECK(plan[1].size == 1);
  CHECK(plan[2].size == 2);
  view.jobs[0].placement = {{.node = 0, .slots = 2}, {.node = 1, .slots = 2}};  // in the way of any gang of three
  view.jobs[0] = row(1, {4}, 1);
  view.jobs[0].placement = {{.node = 0, .slots = 2}, {.node = 1, .slots = 2}};
  const auto cut = lawful_plan(view, grants({4, 3, 1}), 8);
  CHECK(cut[0].size == 4);
  CHECK(cut[1].size == 0);
  CHECK(test::says<core::reason::WaitingForSlots>(cut[1].reason));
}

TEST_CASE("numbers that are not finite never leave the policy, and sizes in reasons are workers") {
  const View view = view_of(1, {row(1, {2, 4}, 2)});
  Allocation allocation = grants({4});
  allocation.grants[0].reason = core::reason::PriceHold{{.size = 4}, core::reason::Market{.price = HUGE_VAL}};
  allocation.grants[0].lost = {{.size = 2, .score = std::nan(""), .reason = {}}};
  allocation.grants[0].mark.numbers = {1, std::nan("")};
  const auto plan = lawful_plan(view, allocation, 4);
  CHECK(plan[0].size == 2);
  CHECK(test::number_in(plan[0].reason, "size") == 2);
  CHECK(test::number_in(plan[0].reason, "price") == 0);
  CHECK(plan[0].lost[0].size == 1);
  CHECK(plan[0].lost[0].score == 0);
  CHECK(plan[0].mark.numbers == std::vector<double>{1});
}

TEST_CASE("a job that needs more than the cluster has never fits; one that needs what fixed claims hold waits") {
  const View view = view_of(1, {row(1, {8})});
  CHECK(test::says<core::reason::NeverFits>(lawful_plan(view, grants({0}), 4)[0].reason));
  CHECK(test::says<core::reason::WaitingForSlots>(lawful_plan(view, grants({0}), 8)[0].reason));
}

TEST_CASE("a job that declares nothing is expected to take what jobs as fast took, once paces have told of work") {
  Pool pool;
  pool.at(1, 100, 1'000);  // measured, and goes on
  pool.at(2, 5'000, 1'000);
  for (std::uint64_t id = 11; id <= 19; ++id) pool.pass(id, 90, 40'000);
  CHECK(pool.expected_anew() == Pool::Expected{{JobId(1), 39'000}, {JobId(2), 1'000}});
  pool.state().mutable_job(JobId(1)).measurements.sizes.clear();  // not measured yet
  CHECK(!pool.expected_anew()[JobId(1)]);
}

TEST_CASE("what a user declares counts, whatever kin let expect") {
  Pool pool;
  for (std::uint64_t id = 11; id <= 19; ++id) pool.pass(id, 90, 40'000);
  pool.at(1, 100, 4'096).spec.work_samples = 3 * 4'096;
  EngineRows rows;
  for (const auto& [id, job] : pool.state().jobs) (void)rows.follow(pool.state(), id);
  rows.follow_nodes(pool.state());
  const JobRow row = rows.row({pool.state(), Instant()}, *pool.state().find_job(JobId(1)), {.room = 8});
  CHECK(row.useful_left == 2.0);
  CHECK(!row.useful_expected);
}

TEST_CASE("the length that a program tells counts before its speed was measured only if that never is") {
  for (const bool restarts : {false, true}) {
    Pool pool;
    core::Job& job = pool.at(1, 100, 0);
    job.measurements.sizes.clear();
    job.progress.length.steps = 300;
    if (restarts) job.spec.resize = core::ResizeMode::kRestart;
    EngineRows rows;
    (void)rows.follow(pool.state(), JobId(1));
    rows.follow_nodes(pool.state());
    const JobRow row = rows.row({pool.state(), Instant()}, *pool.state().find_job(JobId(1)), {.room = 8});
    CHECK(row.steps_left == (restarts ? std::optional(300.0) : std::nullopt));
  }
}

TEST_CASE("a job that was cancelled or has failed does not count as ended; it tells how far it came") {
  for (const auto how : {core::JobState::kCancelled, core::JobState::kFailed}) {
    Pool pool;
    for (std::uint64_t id = 11; id <= 19; ++id) pool.pass(id, 90, 40'000);
    pool.at(1, 100, 1'000);
    pool.at(2, 5'000, 1'000);
    for (std::uint64_t id = 21; id <= 24; ++id) {
      pool.at(id, 100, 2'000);
      pool.end(id, how);
    }
    pool.at(25, 5'000, 4'096);
    pool.end(25, how);
    CHECK(pool.expected_anew() == Pool::Expected{{JobId(1), 39'000}, {JobId(2), 7'192}});
  }
}

TEST_CASE("rows say whose a job is and which types it asks for, nodes their type and price") {
  Pool pool;
  core::Node& node = pool.state().nodes[NodeId(1)];
  node.slot_type = "h100";
  node.price_per_slot_hour = Money::micros(2'500'000);
  core::Job& job = pool.at(1, 100, 1'000);
  job.spec.tenant = "research/vision";
  job.spec.slot_types = {"h100", "h200"};
  const std::function<bool(const core::Job&)> counts = [](const core::Job&) { return true; };
  const std::function<bool(const core::Job&)> has_own_policy = [](const core::Job&) { return false; };
  EngineRows rows;
  (void)rows.follow(pool.state(), JobId(1));
  const IdSet<JobId> jobs{JobId(1)};
  const View view = rows.rows({{pool.state(), pool.now()}, jobs, jobs, counts, has_own_policy, 1}).view;
  CHECK(view.nodes.at(0).slot_type == "h100");
  CHECK(view.nodes.at(0).price_per_hour == 2.5);
  CHECK(view.jobs.at(0).slot_price == 2.5);
  CHECK(view.jobs.at(0).tenant == "research/vision");
  CHECK(view.jobs.at(0).types_asked == job.spec.slot_types);
  CHECK(view.types.empty());  // all count as equally fast
}

TEST_CASE("a row tells what changes cost at the sizes where that was another than in the mean") {
  Pool pool;
  core::Job& job = pool.at(1, 100, 1'000);
  job.spec.elastic.cooldown = Duration();
  core::note_cost(job.measurements.grow_cost, 2, 1'000);
  core::note_cost(job.measurements.boot_cost, 2, 4'000);
  EngineRows rows;
  rows.follow_nodes(pool.state());
  const auto made = [&] {
    (void)rows.follow(pool.state(), JobId(1));
    return rows.row({pool.state(), pool.now()}, *pool.state().find_job(JobId(1)), {.room = 8});
  };
  CHECK(made().costs_by_size.empty());  // one size is the mean
  core::note_cost(job.measurements.grow_cost, 4, 9'000);
  const JobRow row = made();
  CHECK(row.costs.grow == Duration::seconds(5));
  REQUIRE(row.costs_by_size.size() == 2);
  CHECK(costs_at(row, 1).grow == Duration::seconds(5));
  CHECK(costs_at(row, 2).grow == Duration::seconds(1));
  CHECK(costs_at(row, 3).grow == Duration::seconds(1));
  CHECK(costs_at(row, 4).grow == Duration::seconds(9));
  CHECK(costs_at(row, 4).boot == Duration::seconds(4));
}

TEST_CASE("a row tells what a slot costs in the mean of those that take jobs") {
  Pool pool;
  pool.state().nodes[NodeId(1)].price_per_slot_hour = Money::micros(2'000'000);  // of eight
  core::Node dear{.id = NodeId(2), .name = "dear"};
  dear.owners.resize(2);
  dear.price_per_slot_hour = Money::micros(7'000'000);
  pool.state().nodes[dear.id] = dear;
  core::Node cordoned{.id = NodeId(3), .name = "cordoned"};
  cordoned.owners.resize(8);
  cordoned.cordoned = true;
  cordoned.price_per_slot_hour = Money::micros(90'000'000);
  pool.state().nodes[cordoned.id] = cordoned;
  EngineRows rows;
  rows.follow_nodes(pool.state());
  const core::Job& job = pool.at(1, 100, 1'000);
  CHECK(rows.row({pool.state(), pool.now()}, job, {.room = 10}).slot_price == 3);
}

TEST_CASE("a row has no size beyond what its price cap leaves on nodes that the job may be on") {
  const bool is_in_reach = GENERATE(true, false);  // at its smallest size, not beside what it holds
  CAPTURE(is_in_reach);
  test::Story story;
  story.node(2);  // a slot costs a dollar
  story.wish(2);
  const JobId id =
      story.running({.min = 1, .max = 4, .preferred = 2, .cooldown = {}, .price_cap = Money::micros(4'000'000)}, 2);
  story.node(4, "dear", {}, Money::micros(is_in_reach ? 4'000'000 : 9'000'000));
  EngineRows rows;
  rows.follow_nodes(story.state());
  const JobRow made = rows.row({story.state(), story.now()}, story.job(id), {.room = 6});
  CHECK(made.sizes == std::vector<int>{1, 2});
  CHECK(made.size_beyond == 3);
  CHECK(made.nodes == (is_in_reach ? std::nullopt : std::optional(std::vector<int>{0})));
  REQUIRE(made.bound);
  CHECK(test::says<core::reason::PriceCap>(*made.bound) == is_in_reach);
}

TEST_CASE("a job that its price cap leaves no size is told what the next one would cost, and not what it has") {
  test::Story story;
  story.node(2);  // a slot costs a dollar
  story.wish(1);
  const JobId id =
      story.running({.min = 1, .max = 2, .preferred = 1, .cooldown = {}, .price_cap = Money::micros(4'000'000)}, 1);
  story.learn(core::PricesConfigured{
      {{{.name = "all", .entries = {{.from_us = story.now().count_us(), .price = Money::micros(5'000'000)}}}}}});
  EngineRows rows;
  rows.follow_nodes(story.state());
  const JobRow made = rows.row({story.state(), story.now()}, story.job(id), {.room = 2});
  CHECK(made.sizes == std::vector<int>{1});
  CHECK(made.size_beyond == 2);
  REQUIRE(made.bound);
  const auto* cap = core::reason_as<core::reason::PriceCap>(*made.bound);
  REQUIRE(cap != nullptr);
  CHECK(cap->price == Money::micros(10'000'000));
}

TEST_CASE("when a job ends, the rows of its kin are made anew, and no others") {
  Pool pool;
  for (std::uint64_t id = 11; id <= 19; ++id) pool.pass(id, 90, 40'000);
  pool.at(1, 100, 1'000);
  pool.at(2, 5'000, 1'000);
  pool.at(3, 95, 30'000);
  EngineRows rows;
  for (const auto& [id, job] : pool.state().jobs) (void)rows.follow(pool.state(), id);
  (void)pool.expected(rows);
  pool.pass(20, 100, 80'000);
  CHECK(rows.follow(pool.state(), JobId(20)) == std::vector{JobId(1), JobId(3)});
  CHECK(pool.expected(rows).at(JobId(1)) == 44'000 - 1'000);
  CHECK(pool.expected(rows) == pool.expected_anew());
  CHECK(rows.follow(pool.state(), JobId(20)).empty());  // it tells once
}

TEST_CASE("a market that is kept weighs the kin of a job that ends anew") {
  Pool pool;
  for (std::uint64_t id = 11; id <= 19; ++id) pool.pass(id, 90, 40'000);
  pool.at(1, 100, 1'000).phase = core::phase::Pending{};         // preempted, with 390 s left
  pool.at(2, 5'000, 10'000'000).phase = core::phase::Pending{};  // 2,000 s or so
  const std::function<bool(const core::Job&)> counts = [](const core::Job& job) {
    return !core::is_final(job.state());
  };
  const std::function<bool(const core::Job&)> has_own_policy = [](const core::Job&) { return false; };
  // The score of the first job's size.
  const auto score = [&](tidal::TidalPlanner& planner, const IdSet<JobId>& followed) {
    for (const JobId id : followed) planner.follow(pool.state(), id);
    core::StepBudget budget(1'000'000);
    const IdSet<JobId> jobs{JobId(1), JobId(2)};
    auto answer = planner.plan({{pool.state(), pool.now()}, jobs, followed, counts, has_own_policy, 1}, budget);
    REQUIRE(answer.ok());
    return answer->targets.at(JobId(1)).score;
  };
  const auto all_jobs = [&] {
    IdSet<JobId> ids;
    for (const auto& [id, job] : pool.state().jobs) ids.insert(id);
    return ids;
  };
  tidal::TidalPlanner kept;
  const double before = score(kept, all_jobs());
  pool.pass(20, 100, 9'000'000);
  const double after = score(kept, {JobId(20)});
  tidal::TidalPlanner anew;
  CHECK(after == score(anew, all_jobs()));
  CHECK(after < before);  // the other one has less left now
}

TEST_CASE("what jobs tell survives a daemon: the state that it writes gives the same rows") {
  Pool pool;
  for (std::uint64_t id = 11; id <= 40; ++id) pool.pass(51 - id, 90, 40'000 + 100 * std::int64_t(id));  // not by id
  pool.at(60, 100, 1'000);
  pool.at(61, 100, 42'500);
  const Pool::Expected before = pool.expected_anew();
  CHECK(before.at(JobId(61)).has_value());
  auto read = core::state_from_json(nlohmann::json::parse(core::to_json(pool.state()).dump()));
  INFO((read.ok() ? std::string() : read.error().message));
  REQUIRE(read.ok());
  pool.state() = *std::move(read);
  CHECK(pool.expected_anew() == before);
}

namespace {

// Whether rows that are kept over a history expect what new ones do; returns how often something was expected.
int expectations_over_a_history(Rng& rng, const std::vector<std::string>& types) {
  int told = 0;
  Pool pool;
  EngineRows kept;
  const double scatter = rng.chance(0.7) ? 0.1 : 1;  // whether paces tell of work
  std::vector<std::uint64_t> live;
  std::vector<std::uint64_t> left;
  std::uint64_t next = 1;
  for (int i = 0; i < 200; ++i) {
    if (live.empty() || rng.chance(0.3)) live.push_back(next++);
    const std::size_t which = rng.below(live.size());
    const std::uint64_t id = live[which];
    const double program = double(id % 3);  // three programs
    const double rate = 100 * std::pow(4, program) * std::exp(0.05 * rng.normal());
    const auto work = std::int64_t(1'000 * std::pow(10, program) * std::exp(scatter * rng.normal()));
    pool.at(id, rate, rng.chance(0.05) ? 0 : rng.between(1, work));
    if (!types.empty() && rng.chance(0.3)) {
      pool.move(id, types[rng.below(types.size())]);
      if (rng.chance(0.7)) pool.at(id, rate * (1 + double(rng.below(3))), rng.between(1, work));
    }
    if (rng.chance(0.35)) {
      pool.at(id, rate, work);
      pool.end(id, rng.chance(0.8) ? core::JobState::kSucceeded : core::JobState::kCancelled);
      live.erase(live.begin() + std::ptrdiff_t(which));
      if (rng.chance(0.5)) (void)kept.follow(pool.state(), JobId(id));  // its workers have still to go
      pool.leave(id);
      left.push_back(id);
    }
    (void)kept.follow(pool.state(), JobId(id));
    if (!left.empty() && rng.chance(0.1)) {
      const std::size_t first = rng.below(left.size());
      pool.forget(left[first]);
      (void)kept.follow(pool.state(), JobId(left[first]));
      left.erase(left.begin() + std::ptrdiff_t(first));
    }
    if (rng.chance(0.5)) continue;  // several facts between two plans
    const Pool::Expected expected = pool.expected(kept);
    REQUIRE(expected == pool.expected_anew());
    for (const auto& [job, samples] : expected) told += samples ? 1 : 0;
  }
  return told;
}

}  // namespace

TEST_CASE("rows that are kept over any history expect what rows made a moment ago expect") {
  int told = 0;
  test::for_each_seed("kin of jobs", 40,
                      [&](std::uint64_t, Rng& rng) { told += expectations_over_a_history(rng, {}); });
  if (test::all_seeds_run()) CHECK(told > 1'000);
}

TEST_CASE("over any history, rows that were kept know the kin of each type of slot as rows made a moment ago do") {
  int told = 0;
  test::for_each_seed("kin of jobs by type", 40,
                      [&](std::uint64_t, Rng& rng) { told += expectations_over_a_history(rng, {"a", "b"}); });
  if (test::all_seeds_run()) CHECK(told > 100);
}

TEST_CASE("what is remembered of ended jobs is bounded, and the newest stay") {
  Pool pool;
  const std::uint64_t most = 2 * core::kEndedJobsRemembered;
  for (std::uint64_t id = 1; id <= most + 10; ++id) {
    pool.pass(id, 100, 1'000);
    pool.leave(id);
    REQUIRE(pool.state().ended.size() < most);
  }
  CHECK(pool.state().ended.size() == core::kEndedJobsRemembered + 10);
  CHECK(pool.state().find_ended(JobId(most + 10)) != nullptr);
  CHECK(pool.state().find_ended(JobId(core::kEndedJobsRemembered)) == nullptr);
  CHECK(pool.state().ended_counts.succeeded == std::int64_t(most) + 10);
}

}  // namespace tidepool::policies::cluster
