// A pool in which tenants do whatever operators and the API let them do to keep slots: jobs that may not change for a
// while, with firm and pinned sizes, strict rules or nodes of their own; programs that are slow, ask for time, leave as
// late as they may, start again and again, or tell that they end soon; while operators drain nodes.
//
// Safe rule. What a daemon refuses does not happen, and a worker that is ended by force is gone.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/digest.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/state_move.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/random_wishes.hpp"

namespace tidepool::test {

// What comes up in one pool: each by chance, so that what goes wrong needs few of them.
struct Tricks {
  bool holds = false;      // minimum run times and cooldowns as long as tenants' limits
  bool pins = false;       // users resize
  bool firm = false;       // jobs with preemptible: false, or with policies of their own
  bool exclusive = false;  // nodes of their own
  bool rules = false;      // strategies, groups and selectors
  bool types = false;      // two types of slots, and jobs that mix them
  bool wide = false;       // workers of two slots
  bool restarts = false;   // programs that are started anew at each size
  bool fails = false;      // some of those fail as soon as they have started, or end while others of the job go on
  bool lengths = false;    // programs that always tell that they end soon
  bool late = false;       // workers that leave when they are forced to
  bool asks = false;       // programs that ask for time, and refuse to leave
  bool slow = false;       // workers that are slow
  bool stops = false;      // users suspend and resume
  bool drains = false;     // operators drain and cordon nodes
  bool limits = false;     // on preemption
  bool worth = false;      // deadlines and utilities, which change what jobs are worth over time
};

inline Tricks random_tricks(Rng& rng) {
  Tricks tricks;
  for (bool* trick : {&tricks.holds, &tricks.pins, &tricks.firm, &tricks.exclusive, &tricks.rules, &tricks.types,
                      &tricks.wide, &tricks.restarts, &tricks.fails, &tricks.lengths, &tricks.late, &tricks.asks,
                      &tricks.slow, &tricks.stops, &tricks.drains, &tricks.limits, &tricks.worth}) {
    *trick = rng.chance(0.3);
  }
  return tricks;
}

inline std::string names_of(const Tricks& tricks) {
  std::string names;
  const auto add = [&](bool is_set, const char* name) { names += is_set ? std::string(" ") + name : ""; };
  add(tricks.holds, "holds"), add(tricks.pins, "pins"), add(tricks.firm, "firm"), add(tricks.exclusive, "exclusive");
  add(tricks.rules, "rules"), add(tricks.types, "types"), add(tricks.wide, "wide");
  add(tricks.restarts, "restarts"), add(tricks.fails, "fails"), add(tricks.lengths, "lengths");
  add(tricks.late, "late"), add(tricks.asks, "asks"), add(tricks.slow, "slow"), add(tricks.stops, "stops");
  add(tricks.drains, "drains"), add(tricks.limits, "limits"), add(tricks.worth, "worth");
  return names;
}

class SelfishPool {
 public:
  static constexpr Duration kHoldMost = Duration::seconds(40);
  static constexpr Duration kGraceMost = Duration::seconds(5);
  static constexpr Duration kExtensionMost = Duration::seconds(12);
  static constexpr Duration kBootMost = Duration::seconds(4);

  SelfishPool(Rng& rng, core::Engine::Parts parts)
      : rng_(rng.fork()), tricks_(random_tricks(rng_)), engine_(std::move(parts)) {
    for (std::int64_t nodes = rng_.between(1, 4); nodes > 0; --nodes) add_node(static_cast<int>(rng_.between(2, 6)));
    draw_tree();
  }

  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }
  [[nodiscard]] core::Engine& engine() { return engine_; }
  [[nodiscard]] const Tricks& tricks() const { return tricks_; }
  [[nodiscard]] const core::TenantTree& tree() const { return tree_; }
  [[nodiscard]] Instant now() const { return now_; }
  // What the newest round's decisions have ordered.
  [[nodiscard]] const core::Plan& ordered() const { return ordered_; }
  // The tenant that has no job until it claims; empty: the tree has none.
  [[nodiscard]] const std::string& quiet() const { return quiet_; }
  [[nodiscard]] bool is_below_quiet(const std::string& tenant) const {
    const auto path = tree_.path_to(tenant);
    return std::any_of(path.begin(), path.end(), [&](const core::Tenant* any) { return any->name == quiet_; });
  }
  // Changes each decision before it is accepted, if it is lawful then.
  using Spoil = std::function<void(const SelfishPool&, core::Decision&)>;
  void spoil(Spoil spoil) { spoil_ = std::move(spoil); }

  // Users and operators do something, programs go on, and the daemon decides.
  void live(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      for (std::uint64_t acts = rng_.below(3); acts > 0; --acts) act();
      if (tricks_.drains && rng_.chance(0.1)) operate();
      round(Duration::millis(rng_.between(500, 4'000)));
    }
  }
  // Users alone do something.
  void annoy() {
    for (std::uint64_t acts = rng_.below(3); acts > 0; --acts) act();
  }
  void round(Duration length) {
    now_ = now_ + length;
    go_on();
    decide();
  }

  JobId submit(core::JobSpec spec) {
    const JobId id = engine_.next_job_id();
    return learn(core::JobSubmitted{id, std::move(spec)}) ? id : JobId();
  }

  // Slots that jobs of the tenant, and of those below it, hold or are about to.
  [[nodiscard]] int kept_by(const std::string& tenant) const {
    int slots = 0;
    for (const auto& [id, job] : state().jobs) {
      const auto path = tree_.path_to(job->spec.tenant);
      const bool is_below = std::any_of(path.begin(), path.end(), [&](const auto* any) { return any->name == tenant; });
      if (is_below) slots += core::slots_kept(state(), *job);
    }
    return slots;
  }
  // Of nodes that take workers, but for what is free on those that jobs have to themselves.
  [[nodiscard]] int open_slots() const {
    int slots = 0;
    for (const auto& [id, node] : state().nodes) {
      if (node.state != core::NodeState::kUp || node.is_closed()) continue;
      slots += is_exclusive(node) ? node.slots_held() : static_cast<int>(node.owners.size());
    }
    return slots;
  }
  [[nodiscard]] int promised() const {
    int slots = 0;
    for (const core::Tenant& tenant : tree_.tenants) slots += tenant.parent.empty() ? tenant.guarantee : 0;
    return slots;
  }

 private:
  bool learn(core::Fact fact) {
    const auto answer = engine_.step({now_, std::move(fact)});
    for (auto& job : engine_.take_ended()) (void)job;
    return answer.ok();
  }
  void tell(core::Fact fact) { (void)learn(std::move(fact)); }

  // --- operators --------------------------------------------------------------------------------

  void add_node(int slots) {
    const std::string name = "n" + std::to_string(state().next_node);
    const std::string type = tricks_.types && rng_.chance(0.5) ? "slow" : "fast";
    core::NodeJoined fact{engine_.node_id_for(name), name, slots, type, Money::micros(1'000'000), {}};
    fact.gives_notice = true;
    fact.moves_states = true;
    REQUIRE(learn(fact));
    if (tricks_.rules) learn(core::NodeLabelled{fact.node, random_labels(rng_)});
  }

  // At most the largest node is gone at a time, and guarantees hold without it.
  void draw_tree() {
    int slots = 0;
    int largest = 0;
    for (const auto& [id, node] : state().nodes) {
      slots += static_cast<int>(node.owners.size());
      largest = std::max(largest, static_cast<int>(node.owners.size()));
    }
    const bool may_lack = tricks_.drains || tricks_.exclusive;
    tree_ = random_tenants(rng_, slots - (may_lack ? std::min(largest, slots - 1) : 0));
    tree_.rebalance_every = Duration::seconds(std::int64_t{365} * 86'400);
    for (core::Tenant& tenant : tree_.tenants) limit(tenant);
    if (tricks_.limits) {
      tree_.preempt_after = Duration::seconds(rng_.between(0, 15));
      tree_.churn = core::ChurnLimit{.per_job = 1, .pool = static_cast<int>(rng_.between(1, 3))};
    }
    REQUIRE(learn(core::TenantsConfigured{tree_}));
    choose_quiet();
  }
  void limit(core::Tenant& tenant) {
    if (rng_.chance(0.4)) tenant.job_hold_max = Duration::seconds(rng_.between(0, 40));
    if (rng_.chance(0.3)) tenant.job_grace_max = Duration::seconds(rng_.between(0, 5));
    tenant.exclusive_nodes = tricks_.exclusive;
    if (tricks_.asks && rng_.chance(0.5)) tenant.notice_extension = Duration::seconds(rng_.between(0, 12));
    if (tricks_.asks && rng_.chance(0.5)) tenant.notice_refusal = Duration::seconds(rng_.between(0, 600));
  }
  void choose_quiet() {
    std::vector<std::string> found;
    for (const core::Tenant& tenant : tree_.tenants) {
      quiet_ = tenant.name;
      const auto leaves = leaves_of(tree_);
      const bool has_others =
          std::any_of(leaves.begin(), leaves.end(), [&](const auto& leaf) { return !is_below_quiet(leaf); });
      if (tenant.guarantee > 0 && has_others) found.push_back(tenant.name);
    }
    quiet_ = found.empty() ? "" : found[rng_.below(found.size())];
    for (const std::string& leaf : leaves_of(tree_)) {
      if (!is_below_quiet(leaf)) selfish_.push_back(leaf);
    }
  }

  void operate() {
    const NodeId node = NodeId(1 + rng_.below(state().nodes.size()));
    for (const auto& [id, any] : state().nodes) {
      if (!any.is_closed()) continue;
      learn(core::NodeDrainCancelled{id});
      learn(core::NodeCordonChanged{id, false});
      return;
    }
    if (rng_.chance(0.3)) return void(learn(core::NodeCordonChanged{node, true}));
    learn(core::NodeDrainRequested{node, Duration::seconds(rng_.between(0, 3'600)), "maintenance"});
  }
  [[nodiscard]] bool is_exclusive(const core::Node& node) const {
    return std::any_of(node.owners.begin(), node.owners.end(), [&](WorkerId owner) {
      return owner && state().find_job(state().find_worker(owner)->job)->spec.placement.exclusive;
    });
  }

  // --- users ------------------------------------------------------------------------------------

  void act() {
    const auto draw = rng_.below(10);
    const JobId job = pick_job();
    if (draw < 4 || !job) {
      for (std::uint64_t jobs = 1 + rng_.below(3); jobs > 0 && state().jobs.size() < 16; --jobs) submit(selfish_spec());
    } else if (draw < 6 && tricks_.pins) {
      const auto& sizes = state().find_job(job)->spec.elastic.sizes;
      learn(core::JobResizeRequested{job, rng_.chance(0.3) ? 0 : sizes[rng_.below(sizes.size())]});
    } else if (draw < 7 && tricks_.stops) {
      if (!learn(core::JobResumeRequested{job})) learn(core::JobSuspendRequested{job});
    } else if (draw < 9) {
      change(job);
    } else if (rng_.chance(0.5)) {
      learn(core::JobCancelRequested{job});
    }
  }
  [[nodiscard]] JobId pick_job() {
    std::vector<JobId> jobs;
    for (const auto& [id, job] : state().jobs) {
      if (!is_below_quiet(job->spec.tenant)) jobs.push_back(id);
    }
    return jobs.empty() ? JobId() : jobs[rng_.below(jobs.size())];
  }
  core::JobSpec selfish_spec() {
    JobSketch sketch = random_sketch(!tricks_.wide, rng_);
    sketch.max_restarts = 1'000;
    sketch.price_cap.reset();
    sketch.max_duration.reset();
    if (sketch.batch == 2) sketch.batch = 64;
    core::JobSpec spec = job_spec(sketch);
    spec.tenant = selfish_[rng_.below(selfish_.size())];
    draw_times(spec.elastic);
    if (tricks_.types && rng_.chance(0.5)) spec.slot_types = {rng_.chance(0.5) ? "slow" : "fast"};
    spec.mixed_types = tricks_.types && rng_.chance(0.3);
    if (tricks_.rules && rng_.chance(0.5)) draw_rules(spec.placement, rng_);
    if (tricks_.rules && rng_.chance(0.2)) spec.placement.selector = random_selector(rng_);
    spec.placement.exclusive = tricks_.exclusive && rng_.chance(0.3);
    if (tricks_.rules && rng_.chance(0.2)) draw_groups(spec, rng_);
    if (tricks_.worth) declare(spec, false, rng_);
    if (tricks_.restarts && rng_.chance(0.5)) spec.resize = core::ResizeMode::kRestart;
    if (tricks_.firm && rng_.chance(0.3)) spec.preemptible = false;
    if (tricks_.firm && rng_.chance(0.2)) spec.scaling.policy = "autoscaling_engine";
    return spec;
  }
  void draw_times(core::ElasticSpec& elastic) {
    elastic.min_runtime = elastic.cooldown = Duration();
    elastic.grace = Duration::millis(rng_.between(0, kGraceMost.count_us() / 1'000));
    if (!tricks_.holds) return;
    if (rng_.chance(0.5)) elastic.min_runtime = Duration::seconds(rng_.between(0, 40));
    if (rng_.chance(0.5)) elastic.cooldown = Duration::seconds(rng_.between(0, 40));
  }
  // As the daemon does, which refuses a change by which a job would keep too much.
  void change(JobId id) {
    core::JobSpec spec = state().find_job(id)->spec;
    if (rng_.chance(0.5)) draw_times(spec.elastic);
    if (rng_.chance(0.5)) spec.priority = static_cast<int>(rng_.between(-1, 1));
    if (tricks_.firm && rng_.chance(0.5)) spec.preemptible = !spec.preemptible;
    if (tricks_.rules && spec.elastic.group == 1 && rng_.chance(0.3)) draw_rules(spec.placement, rng_);
    spec.placement.exclusive = tricks_.exclusive && rng_.chance(0.3);
    if (tricks_.lengths) spec.work_samples = state().find_job(id)->progress.samples + rng_.between(1, 200);
    if (!core::check_kept_after(state(), *state().find_job(id), spec).ok()) return;
    learn(core::JobChanged{id, std::move(spec)});
  }

  // --- programs ---------------------------------------------------------------------------------

  [[nodiscard]] static std::uint64_t nature(std::uint64_t id) { return Digest().mix(id).value(); }
  // Programs of the tenant that claims do as they should.
  [[nodiscard]] bool has_habit(const core::Job& job, bool trick, std::uint64_t habit) const {
    return trick && !is_below_quiet(job.spec.tenant) && nature(job.id.number() * 31 + habit) % 2 == 0;
  }

  void go_on() {
    answer_notices();
    for (const auto& [id, job] : IdTable(state().jobs)) park(*job);
    for (const auto& [id, worker] : IdTable(state().workers)) boot_or_leave(id);
    for (const auto& [id, job] : IdTable(state().jobs)) train(id);
  }
  void answer_notices() {
    for (const auto& [id, worker] : IdTable(state().workers)) {
      const core::Job& job = *state().find_job(worker.job);
      if (!worker.notice || !has_habit(job, tricks_.asks, 1)) continue;
      const bool is_asked = job.preemption.asked && job.preemption.asked->decision == worker.notice->decision;
      learn(core::NoticeAnswered{.worker = id,
                                 .decision = worker.notice->decision,
                                 .number = worker.notice->answers + 1,
                                 .answer = is_asked ? core::NoticeAnswer::kRefuse : core::NoticeAnswer::kUntil,
                                 .needs = is_asked ? Duration() : Duration::seconds(3'600)});
    }
  }
  void park(const core::Job& job) {
    const bool is_due = job.membership.parking && job.spec.resize == core::ResizeMode::kLive &&
                        !(job.recovery.suspended && job.recovery.suspended->at >= job.membership.commit.at);
    if (!is_due || job.membership.workers.empty() || has_habit(job, tricks_.late, 2)) return;
    learn(core::StateParked{job.id, job.membership.workers.front(), job.membership.generation, job.progress.step, 1'000,
                            2});
  }
  void boot_or_leave(WorkerId id) {
    if (state().find_worker(id) == nullptr) return;
    const core::Worker worker = *state().find_worker(id);
    const core::Job& job = *state().find_job(worker.job);
    if (worker.kill_at && now_ >= *worker.kill_at) return tell(core::WorkerExited{id, -1, 9, "killed"});
    const bool is_left = worker.phase == core::WorkerPhase::kLeaving &&
                         (worker.stop_due || job.spec.resize == core::ResizeMode::kRestart);
    if (worker.kill_at || is_left) {
      if (!has_habit(job, tricks_.late, 2)) tell(core::WorkerExited{id, 0, 0, "left"});
      return;
    }
    if (worker.phase != core::WorkerPhase::kStarting) return;
    if (job.recovery.moving && core::awaits(*job.recovery.moving, worker)) {
      const core::StateMove move = *job.recovery.moving;
      return tell(core::StateBrought{job.id, move.to, move.step, 1'000, Duration::millis(20)});
    }
    if (now_ < worker.started_at + Duration::seconds(static_cast<std::int64_t>(nature(id.number()) % 4))) return;
    tell(core::WorkerReady{id, length_of(job)});
  }
  [[nodiscard]] std::optional<std::int64_t> length_of(const core::Job& job) const {
    if (!has_habit(job, tricks_.lengths, 3)) return std::nullopt;
    return job.progress.step + 20;
  }
  void train(JobId id) {
    const core::Job* job = state().find_job(id);
    if (job == nullptr || core::is_final(job->state()) || job->membership.members.empty()) return;
    for (const WorkerId member : std::vector<WorkerId>(job->membership.members)) {
      const core::Worker* worker = state().find_worker(member);
      if (worker == nullptr || worker->kill_at) return;
      if (worker->joining < job->membership.generation) {
        learn(core::WorkerJoining{member, job->membership.generation});
      }
    }
    if (state().find_job(id)->spec.resize == core::ResizeMode::kRestart) return run_programs(id);
    if (!state().find_job(id)->membership.switched) {
      return tell(core::GenerationSwitched{id, state().find_job(id)->membership.generation,
                                           state().find_job(id)->progress.step + 1, 12, 3, 0, 0, 1'000});
    }
    take_steps(*state().find_job(id));
  }
  void take_steps(const core::Job& job) {
    constexpr std::int64_t kSteps = 12;
    std::vector<std::int64_t> compute_us;
    for (std::int64_t i = 0; i < kSteps; ++i) {
      for (const WorkerId member : job.membership.members) {
        const bool is_slow = tricks_.slow && nature(member.number() * 7) % 3 == 0;
        compute_us.push_back(is_slow ? 2'000'000 : 50'000);
      }
    }
    core::StepsMeasured report{.job = job.id,
                               .generation = job.membership.generation,
                               .last_step = job.progress.step + kSteps,
                               .steps = kSteps,
                               .elapsed = Duration::millis(100 * kSteps),
                               .samples = 64 * kSteps,
                               .loss = 2.5,
                               .epoch = 1,
                               .compute_us = std::move(compute_us)};
    report.shares = job.shares.ordered.number;
    learn(std::move(report));
  }
  // Of one generation, as soon as they are launched.
  void run_programs(JobId id) {
    const core::Job job = *state().find_job(id);
    if (job.membership.restart_state.launched != job.membership.generation) return;
    bool have_started = false;
    for (const WorkerId member : job.membership.members) {
      const core::Worker* worker = state().find_worker(member);
      if (worker == nullptr || worker->launched >= job.membership.generation) continue;
      have_started = learn(core::ProgramStarted{member, job.membership.generation}) || have_started;
      if (const auto length = length_of(job)) learn(core::WorkerReady{member, length});
    }
    if (!have_started || !has_habit(job, tricks_.fails, 4)) return;
    // All but one go on, or all are started again.
    const int code = job.size() > 1 && nature(id.number()) % 2 == 0 ? 0 : 1;
    learn(core::ProgramEnded{job.membership.members.front(), job.membership.generation, code, 0, "ended"});
  }

  // --- the daemon -------------------------------------------------------------------------------

  void decide() {
    ordered_.clear();
    if (const auto due = engine_.clock_due(); due && *due <= now_) learn(core::ClockAdvanced{});
    for (int follows = 0;; ++follows) {
      core::Decision decision = engine_.decide(now_);
      if (spoil_) spoil_lawfully(decision);
      if (decision.empty() && follows > 0) break;
      const auto valid = engine_.validate(decision);
      INFO((valid.ok() ? std::string() : valid.error().message + " in " + core::to_json(decision)["plan"].dump()));
      REQUIRE(valid.ok());
      (void)engine_.accept(decision);
      for (auto& job : engine_.take_ended()) (void)job;
      ordered_.insert(ordered_.end(), decision.plan.begin(), decision.plan.end());
      if (spoil_ && follows == 8) break;
      REQUIRE(follows < 8);
    }
    const auto broken = core::broken_invariant(state());
    INFO(broken.value_or(""));
    REQUIRE_FALSE(broken);
  }

  void spoil_lawfully(core::Decision& decision) {
    core::Decision other = decision;
    spoil_(*this, other);
    if (engine_.validate(other).ok()) decision = std::move(other);
  }

  Rng rng_;
  Tricks tricks_;
  core::Engine engine_;
  Instant now_ = Instant::from_micros(1'000'000);
  core::TenantTree tree_;
  std::string quiet_;
  std::vector<std::string> selfish_;  // leaves whose users act
  core::Plan ordered_;
  Spoil spoil_;
};

}  // namespace tidepool::test
