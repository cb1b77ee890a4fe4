// A few words to tell a scheduling story in a test: nodes, jobs, what the workers do, and what the engine
// then decides. Time moves only when the story says so.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "core/engine/engine.hpp"
#include "core/state/cluster_invariants.hpp"

namespace tidepool::test {

// Ranks by id and wishes a given size for every job; the engine's own rules do the rest.
class WishPolicy final : public core::Policy, public core::JobRule {
 public:
  struct Wishes {
    int any = 0;                // for jobs not named below; 0 = their preferred size
    std::map<JobId, int> jobs;  // by job
    bool strict = true;
  };
  explicit WishPolicy(std::shared_ptr<const Wishes> job_answers) : wishes_(std::move(job_answers)) {}

  [[nodiscard]] std::string_view name() const override { return "wish"; }
  [[nodiscard]] const core::JobRule* rule() const override { return this; }
  [[nodiscard]] core::LineRule line_rule() const override {
    return wishes_->strict ? core::LineRule::kStrict : core::LineRule::kPassed;
  }
  [[nodiscard]] core::QueueRank rank(const core::Job&) const override { return {}; }
  [[nodiscard]] core::Target target(const core::ClusterView&, const core::Job& job,
                                    core::StepBudget& budget) const override {
    budget.spend();
    const auto named = wishes_->jobs.find(job.id);
    int wish = named != wishes_->jobs.end() ? named->second : wishes_->any;
    if (wish == 0) wish = job.spec.elastic.preferred;
    const core::reason::Change change{.from = job.size(), .to = wish};
    core::Target target{.size = wish, .reason = core::reason::FixedSize{{.size = wish}}, .lost = {}, .mark = {}};
    if (wish > job.size()) target.reason = core::reason::ExploreUp{change};
    if (wish < job.size()) target.reason = core::reason::ExploreDown{{change}};
    return target;
  }

 private:
  std::shared_ptr<const Wishes> wishes_;
};

// Speed over that of the slower median, half old and half new; a straggler after 3 steps below 0.8.
class PlainDetector final : public core::StragglerDetector {
 public:
  [[nodiscard]] std::string_view name() const override { return "plain"; }
  [[nodiscard]] std::vector<core::StragglerFinding> judge(
      const std::vector<std::int64_t>& compute_us, const std::vector<std::int64_t>&,
      const std::vector<std::vector<double>*>& memories) const override {
    std::vector<std::int64_t> sorted = compute_us;
    std::sort(sorted.begin(), sorted.end());
    const auto median = static_cast<double>(sorted[(sorted.size() - 1) / 2]);
    std::vector<core::StragglerFinding> findings;
    for (std::size_t rank = 0; rank < compute_us.size(); ++rank) {
      const double now = compute_us[rank] == 0 ? 1 : median / static_cast<double>(compute_us[rank]);
      std::vector<double>& memory = *memories[rank];  // score, steps, steps below the bar
      if (memory.empty()) memory = {now, 0, 0};
      memory[0] += 0.5 * (now - memory[0]);
      memory[1] += 1;
      const bool slow = memory[1] >= 3 && memory[0] < 0.8;
      memory[2] = slow ? memory[2] + 1 : 0;
      findings.push_back({memory[0], 0.8, slow, static_cast<std::int64_t>(memory[2])});
    }
    return findings;
  }
};

struct JobSketch {
  int min = 1;
  int max = 4;
  int preferred = 1;
  std::vector<int> sizes = {};  // empty = min..max
  int gpus = 1;
  bool pack = false;
  int priority = 0;
  int max_restarts = 3;
  std::int64_t batch = 1024;
  Duration cooldown = Duration::seconds(20);
  Duration min_runtime = {};
  Duration grace = Duration::seconds(30);
  std::optional<Money> price_cap = {};
  std::optional<Duration> max_duration = {};
  bool mixed = false;  // several types of slot at a time
  int group = 1;       // workers that come and go together
};

inline core::JobSpec job_spec(const JobSketch& sketch) {
  core::JobSpec spec;
  spec.name = "charlm";
  spec.tenant = "demo";
  spec.priority = sketch.priority;
  spec.gpus_per_worker = sketch.gpus;
  spec.pack_node = sketch.pack;
  spec.max_restarts = sketch.max_restarts;
  spec.max_duration = sketch.max_duration;
  spec.batch.global = sketch.batch;
  spec.elastic.min = sketch.min;
  spec.elastic.max = sketch.max;
  spec.elastic.preferred = std::max(sketch.preferred, sketch.min);
  spec.elastic.sizes = sketch.sizes;
  spec.elastic.group = sketch.group;
  for (int size = sketch.min; sketch.sizes.empty() && size <= sketch.max; size += sketch.group) {
    spec.elastic.sizes.push_back(size);
  }
  spec.elastic.cooldown = sketch.cooldown;
  spec.elastic.min_runtime = sketch.min_runtime;
  spec.elastic.grace = sketch.grace;
  spec.scaling.price_cap = sketch.price_cap;
  spec.mixed_types = sketch.mixed;
  return spec;
}

// Nodes of two slots that are worth more than they cost.
inline core::PoolSpec pool_spec(const std::string& name, int max = 4) {
  return {.name = name,
          .slot_type = "cpu",
          .slots_per_node = 2,
          .price_per_slot_hour = Money::micros(1'000'000),
          .worth_per_slot_hour = Money::micros(2'000'000),
          .min = 0,
          .max = max,
          .idle = Duration::seconds(60),
          .lead_time = Duration::seconds(30)};
}

inline core::Engine::Parts plain_parts(std::shared_ptr<const WishPolicy::Wishes> job_answers,
                                       core::EngineConfig config = {}) {
  return {
      {{"default", std::make_shared<WishPolicy>(std::move(job_answers))}}, {std::make_shared<PlainDetector>()}, config};
}

// Drives one engine. After every call all invariants are checked.
class Story {
 public:
  explicit Story(core::EngineConfig config = {})
      : wishes_(std::make_shared<WishPolicy::Wishes>()), engine_(plain_parts(wishes_, config)) {}

  core::Engine& engine() { return engine_; }
  const core::ClusterState& state() const { return engine_.view(); }
  // As it was when it left, if it has.
  const core::Job& job(JobId id) const {
    const core::Job* known = state().find_job(id);
    return known != nullptr ? *known : *ended_.at(id);
  }
  const core::Worker& worker(WorkerId id) const {
    REQUIRE(state().find_worker(id) != nullptr);
    return *state().find_worker(id);
  }
  // Of its workers, one entry each, in order.
  std::vector<NodeId> nodes_of(JobId id) const {
    std::vector<NodeId> nodes;
    for (const WorkerId each : job(id).membership.workers) nodes.push_back(worker(each).node);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }
  Instant now() const { return now_; }
  void pass(Duration time) { now_ = now_ + time; }
  void wish(int size) { wishes_->any = size; }
  void wish(JobId job, int size) { wishes_->jobs[job] = size; }
  void strict(bool strict) { wishes_->strict = strict; }

  // --- facts ------------------------------------------------------------------------------------

  // Learns a fact that must be welcome.
  std::vector<core::Event> learn(core::Fact fact) {
    auto events = engine_.step({now_, std::move(fact)});
    INFO((events.ok() ? std::string() : events.error().message));
    REQUIRE(events.ok());
    keep_ended();
    check_books();
    log(*events);
    return *events;
  }
  // Learns a fact that must be refused; returns why. Nothing may have changed.
  std::string refuses(core::Fact fact) {
    const auto before = core::digest_of(state());
    const auto events = engine_.step({now_, std::move(fact)});
    REQUIRE_FALSE(events.ok());
    CHECK(core::digest_of(state()) == before);
    return events.error().message;
  }

  NodeId node(int slots, const std::string& name = "", std::vector<WorkerId> running = {}, Money price = kDollar) {
    const std::string called = name.empty() ? "n" + std::to_string(state().next_node) : name;
    const NodeId id = engine_.node_id_for(called);
    learn(core::NodeJoined{id, called, slots, "cpu", price, std::move(running)});
    return id;
  }
  JobId submit(const JobSketch& sketch = {}) {
    const JobId id = engine_.next_job_id();
    learn(core::JobSubmitted{id, job_spec(sketch)});
    return id;
  }
  void ready(WorkerId worker) { learn(core::WorkerReady{worker}); }
  void exit(WorkerId worker, int code = 0, std::string detail = "") {
    learn(core::WorkerExited{worker, code, 0, std::move(detail)});
  }
  void switched(JobId id, double stall_ms = 12) {
    learn(core::GenerationSwitched{id, job(id).membership.generation, job(id).progress.step + 1, stall_ms, 3, 0, 0,
                                   1000});
  }
  // `steps` more steps of 100 ms and 64 samples each; compute times by rank (empty = equal).
  void steps(JobId id, std::int64_t steps, std::vector<std::int64_t> compute_us = {}) {
    compute_us.resize(job(id).membership.members.size(), 50'000);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < steps; ++i) all.insert(all.end(), compute_us.begin(), compute_us.end());
    pass(Duration::millis(100 * steps));
    core::StepsMeasured report{id,
                               job(id).membership.generation,
                               job(id).progress.step + steps,
                               steps,
                               Duration::millis(100 * steps),
                               64 * steps,
                               2.5,
                               1,
                               std::move(all)};
    report.shares = job(id).shares.used.number;
    learn(std::move(report));
  }
  // The members go by the newest shares that they were told.
  void rebalanced(JobId id, double stall_ms = 2) {
    learn(core::SharesChanged{id, job(id).membership.generation, job(id).shares.ordered.number,
                              job(id).progress.step + 1, stall_ms});
  }

  // --- decisions --------------------------------------------------------------------------------

  // Decides, checks what must hold of every decision, accepts.
  core::Decision decide() {
    const core::Decision decision = engine_.decide(now_);
    CHECK(text_of(decision) == text_of(engine_.decide(now_)));
    CHECK(text_of(decision) == text_of(engine_.decide_from_scratch(now_)));
    const auto valid = engine_.validate(decision);
    INFO((valid.ok() ? std::string() : valid.error().message));
    REQUIRE(valid.ok());
    log(engine_.accept(decision));
    keep_ended();
    check_books();
    CHECK(text_of(engine_.decide(now_)) == "");
    CHECK(text_of(engine_.decide_from_scratch(now_)) == "");
    return decision;
  }
  // Brings every worker that boots to ready, switches and takes a first step, until nothing follows.
  void settle(JobId id) {
    for (int round = 0; round < 8; ++round) {
      decide();
      bool moved = false;
      for (const WorkerId worker : std::vector<WorkerId>(job(id).membership.workers)) {
        if (this->worker(worker).phase != core::WorkerPhase::kStarting) continue;
        ready(worker);
        moved = true;
      }
      if (!job(id).membership.members.empty() && !job(id).membership.switched) {
        switched(id);
        steps(id, 2);
        moved = true;
      }
      for (const WorkerId worker : std::vector<WorkerId>(job(id).membership.workers)) {
        const auto& seen = this->worker(worker);
        if (seen.phase != core::WorkerPhase::kLeaving || !(seen.stop_due || seen.kill_at)) continue;
        exit(worker);
        moved = true;
      }
      if (!moved) return;
    }
    FAIL("the job does not settle");
  }
  // A job that runs at `size`, just switched.
  JobId running(JobSketch sketch, int size) {
    sketch.preferred = size;
    const JobId id = submit(sketch);
    wish(id, size);
    settle(id);
    REQUIRE(job(id).size() == size);
    REQUIRE(job(id).state() == core::JobState::kRunning);
    return id;
  }

  // A running job is suspended: its first worker keeps the state of the newest step, and all of them leave.
  void park(JobId id) {
    learn(core::JobSuspendRequested{id});
    decide();
    const std::vector<WorkerId> workers = job(id).membership.workers;
    learn(core::StateParked{id, workers.front(), job(id).membership.generation, job(id).progress.step, 1000, 2});
    for (const WorkerId worker : workers) exit(worker);
    decide();
    REQUIRE(job(id).state() == core::JobState::kSuspended);
  }

  const std::vector<core::Event>& events() const { return events_; }
  int count(const std::string& type) const {
    return static_cast<int>(
        std::count_if(events_.begin(), events_.end(), [&](const core::Event& event) { return event.type == type; }));
  }
  const core::Event& last(const std::string& type) const {
    const auto found =
        std::find_if(events_.rbegin(), events_.rend(), [&](const core::Event& event) { return event.type == type; });
    REQUIRE(found != events_.rend());
    return *found;
  }

  // The plan and the verdicts as canonical text; "" if there are none.
  static std::string text_of(const core::Decision& decision) {
    if (decision.empty()) return "";
    auto document = core::to_json(decision);
    document.erase("steps_counted");
    return document.dump();
  }

  void check_books() const {
    const auto broken = core::broken_invariant(state());
    INFO(broken.value_or(""));
    REQUIRE_FALSE(broken);
  }

  void log(const std::vector<core::Event>& events) {
    for (const auto& event : events) {
      if (!events_.empty()) CHECK(event.seq > events_.back().seq);  // sound audits that are not told leave gaps
      events_.push_back(event);
    }
  }

 private:
  static constexpr Money kDollar = Money::micros(1'000'000);

  void keep_ended() {
    for (auto& job : engine_.take_ended()) ended_.emplace(job->id, std::move(job));
  }

  std::shared_ptr<WishPolicy::Wishes> wishes_;
  core::Engine engine_;
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;  // that have left the state
  Instant now_ = Instant::from_micros(1'000'000);
  std::vector<core::Event> events_;
};

// The intents of a decision by name, "grow switch".
inline std::string names_of(const core::Decision& decision) {
  std::string names;
  for (const auto& planned : decision.plan) {
    names += (names.empty() ? "" : " ") + std::string(core::name_of(planned.intent));
  }
  return names;
}

}  // namespace tidepool::test
