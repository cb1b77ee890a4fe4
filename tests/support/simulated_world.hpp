// A world for the engine to schedule: agents, processes and users that do random but possible things.
// Messages can be late, repeated or lost with a connection; the world itself never lies about a death.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "base/rng.hpp"
#include "core/place/placement.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/random_wishes.hpp"
#include "tests/support/restless_policy.hpp"
#include "tests/support/saved_states.hpp"

namespace tidepool::test {

// Three kinds of worlds, by the seed: in one slots are of two types, some jobs ask for one of them, and some have a
// deadline; in one all workers hold a slot each and no job has any of these; in one some workers hold two. What else a
// user may declare is drawn in all of them.
class SimulatedWorld {
 public:
  SimulatedWorld(std::uint64_t seed, bool faults)
      : rng_(seed),
        faults_(faults),
        typed_(seed % 3 == 0),
        plain_(seed % 3 == 1),
        engine_(restless_parts(rng_.chance(0.5))) {
    add_nodes();
  }
  // One job in five asks for one of the policies in `parts` by name, and one in ten may not be preempted.
  SimulatedWorld(std::uint64_t seed, bool faults, core::Engine::Parts parts)
      : rng_(seed),
        faults_(faults),
        typed_(seed % 3 == 0),
        plain_(seed % 3 == 1),
        policies_(policy_names(parts)),
        engine_(std::move(parts)) {
    add_nodes();
  }

  // More of what is rare: many jobs that wait, half of them for a type of slots where there are types, and workers that
  // are slow for as long as they live, in jobs that get further between two decisions.
  void strain() { strained_ = true; }
  // A decision followed another at once. How often one has.
  int note_following() { return ++followed_; }

  // Nodes have racks and disks, which operators change, and half of the jobs ask for some of these.
  void label_nodes() {
    labelled_ = true;
    for (const auto& [id, agent] : agents_) relabel(id);
  }

  // Nodes bring shares of memory that differ, and again when they rejoin, and half of the jobs ask for some.
  void share_memory() {
    shares_memory_ = true;
    for (const auto& [id, agent] : agents_) rejoin(id);
  }

  // Half of the jobs say how their workers lie among nodes, racks or disks, or want nodes of their own, and change
  // that. The workers of the part `grouped` of all jobs come and go in groups.
  void rule_jobs(double grouped = 0.2) {
    ruled_ = true;
    grouped_ = grouped;
  }

  // Nodes that fail again and again get no workers for a while, slots stay held after their worker's end, and operators
  // plan maintenance.
  void close_nodes() {
    closes_nodes_ = true;
    const Duration half_life = Duration::seconds(rng_.between(1, 20));
    learn(core::NodeDampingConfigured{{.half_life = half_life, .suppress = 1.3, .longest = half_life * 4}});
    learn(core::DetectorConfigured{"plain"});
  }

  // Tenants share the cluster; jobs are of its leaves. False: the engine refuses the tree.
  bool share_among(const core::TenantTree& tree) {
    if (!learn(core::TenantsConfigured{tree})) return false;
    tenants_ = leaves_of(tree);
    return true;
  }

  core::Engine& engine() { return engine_; }
  const core::ClusterState& state() const { return engine_.view(); }
  Instant now() const { return now_; }
  const std::vector<core::TimedFact>& facts() const { return history_; }

  // The jobs that have left the state since the last call; the world remembers them.
  std::vector<std::shared_ptr<const core::Job>> take_ended() {
    auto left = engine_.take_ended();
    for (const auto& job : left) ended_.emplace(job->id, job);
    return left;
  }

  // All that have.
  const std::map<JobId, std::shared_ptr<const core::Job>>& ended() const { return ended_; }

  // A machine comes up, or comes anew under a name that an earlier one had.
  void boot(const std::string& name, int slots) {
    const NodeId id = engine_.node_id_for(name);
    agents_[id] = {.name = name, .slots = slots, .connected = true, .slot_type = "fast", .unsent = {}};
    REQUIRE(learn(joined(id, name, slots, "fast", Money::micros(1'000'000), {})));
  }
  // It ends with all that runs there, and its agent is missed.
  void end_machine(const std::string& name) {
    for (auto& [id, agent] : agents_) {
      if (agent.name != name || agent.has_ended) continue;
      std::erase_if(processes_, [&](const auto& any) { return any.second.node == id; });
      agent.connected = false;
      agent.has_ended = true;
      agent.unsent.clear();
      learn(core::NodeLost{id, "no heartbeat", state().pools.gives_back(id)});
    }
  }

  // One random thing happens.
  void tick() {
    if (rng_.chance(0.3)) pass(Duration::millis(rng_.between(1, 4000)));
    if (strained_ && rng_.chance(0.2)) submit();
    if (labelled_ && rng_.chance(0.04)) relabel_one();
    const auto draw = rng_.below(100);
    if (draw < 12) {
      submit();
    } else if (draw < 20) {
      user_acts();
    } else if (faults_ && draw < 26) {
      process_dies();
    } else if (faults_ && draw < 32) {
      node_acts();
    } else if (faults_ && draw < 36) {
      repeat_an_old_fact();
    } else if (faults_ && draw < 38) {
      process_hangs();
    } else {
      work();
    }
  }

  // A node is lost, comes back, or is gone for less time than it would take to miss it.
  void node_acts() {
    const NodeId id = pick(agents_);
    Agent& agent = agents_.at(id);
    if (agent.has_ended) return;
    if (!agent.connected) return rejoin(id);
    if (rng_.chance(0.3)) return rejoin(id);  // a blip: back before it was missed
    agent.connected = false;
    learn(core::NodeLost{id, "no heartbeat", state().pools.gives_back(id)});
  }

  // A lost node is removed, and another machine takes its name.
  void exchange_machine(NodeId id) {
    const Agent old = agents_.at(id);
    if (!old.connected && !old.has_ended && learn(core::NodeRemoved{id})) replace_machine(old);
  }

  // A window of a node, or of those in a rack; or one is taken away.
  void plan_maintenance() {
    const auto& known = state().maintenance;
    if (!known.windows.empty() && rng_.chance(0.3)) {
      learn(core::MaintenanceRemoved{pick(known.windows)});
      return;
    }
    core::Selector selector{{"node", {agents_.at(pick(agents_)).name}}};
    if (labelled_ && rng_.chance(0.5)) selector = {{"rack", {rng_.chance(0.5) ? "r1" : "r2"}}};
    learn(core::MaintenanceAdded{random_window(state(), now_, std::move(selector), rng_)});
  }

  // No more faults and wishes of users: everything that is away comes back, everything parked goes on.
  void calm_down() {
    faults_ = false;
    for (auto& [id, agent] : agents_) {
      if (agent.has_ended) continue;
      if (!agent.connected) rejoin(id);
      learn(core::NodeCordonChanged{id, false});
      learn(core::NodeReclaimNoticed{id, {}});
      learn(core::NodeDrainCancelled{id});
    }
    learn(core::NodeDampingConfigured{});
    while (!state().maintenance.windows.empty()) {
      learn(core::MaintenanceRemoved{state().maintenance.windows.begin()->first});
    }
    // An agent sees sooner or later that a worker makes no progress.
    for (const auto& [id, process] : std::map(processes_)) {
      if (process.held && state().find_worker(id) != nullptr) die(id, 1);
      if (process.hangs && !process.held) learn(core::WorkerStuck{id, 0, "computing", Duration::seconds(90)});
    }
    for (const auto& [id, job] : IdTable(state().jobs)) {
      if (core::is_final(job->state())) continue;
      if (job->requests.suspend) learn(core::JobResumeRequested{id});
      // The smallest world has one node with two slots; a job that needs more or pays less may never fit.
      const bool may_not_fit = job->spec.elastic.min * job->spec.gpus_per_worker > 2 || job->spec.scaling.price_cap ||
                               !job->spec.slot_types.empty() || lacks_nodes(*job);
      if (may_not_fit) learn(core::JobCancelRequested{id});
    }
  }

  // Everything that can go on goes on a bit. False if every job has ended.
  bool work_a_round() {
    pass(Duration::millis(500));
    for (const auto& [id, job] : IdTable(state().jobs)) {
      if (!core::is_final(job->state())) advance(id);
    }
    for (const auto& [id, process] : std::map(processes_)) live_on(id);
    return std::any_of(state().jobs.begin(), state().jobs.end(),
                       [](const auto& entry) { return !core::is_final(entry.second->state()); });
  }

  // Carries out what was decided: messages to agents whose connection stands.
  void carry_out(const core::Decision& decision) {
    for (const auto& planned : decision.plan) {
      std::visit(Overloaded{[&](const core::StartIntent& intent) { start(intent.joining_workers); },
                            [&](const core::GrowIntent& intent) { start(intent.joining_workers); },
                            [&](const core::ReplaceIntent& intent) { start({intent.joining_worker}); },
                            [&](const core::MoveIntent& intent) { start(intent.joining_workers); },
                            [&](const core::StopWorkerIntent& intent) { stop(intent.worker); }, [](const auto&) {}},
                 planned.intent);
    }
  }

  // Learns a fact; whatever the engine answers, the books must stay right.
  bool learn(core::Fact fact) {
    const core::TimedFact timed{now_, std::move(fact)};
    const auto before = rng_.chance(0.05) ? std::optional(core::digest_of(state())) : std::nullopt;
    const auto answer = engine_.step(timed);
    if (!answer.ok() && before) REQUIRE(core::digest_of(state()) == *before);
    if (answer.ok()) {
      history_.push_back(timed);
      for (const auto& event : *answer) see(event);
    }
    return answer.ok();
  }
  void see(const core::Event& event) {
    REQUIRE(event.seq > last_event_);  // sound audits that are not told leave gaps
    last_event_ = event.seq;
  }

 private:
  struct Agent {
    std::string name;
    int slots = 0;
    bool connected = true;
    std::string slot_type;
    std::vector<core::Fact> unsent;  // exits to report once the connection is back
    bool has_ended = false;          // its machine is no more
  };
  struct Process {
    NodeId node;
    JobId job;
    bool told_to_stop = false;
    bool hangs = false;  // does nothing more until it is killed
    bool held = false;   // it has ended, and its slots are not free
  };

  void pass(Duration time) { now_ = now_ + time; }

  template <class Map>
  typename Map::key_type pick(const Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(rng_.below(map.size())))->first;
  }

  void add_nodes() {
    const auto nodes = rng_.between(1, 5);
    for (std::int64_t i = 0; i < nodes; ++i) add_node();
  }

  void add_node() {
    const std::string name = "n" + std::to_string(agents_.size() + 1);
    const NodeId id = engine_.node_id_for(name);
    const int slots = static_cast<int>(rng_.between(2, 6));
    const std::string type = typed_ && rng_.chance(0.5) ? "slow" : "fast";
    agents_[id] = {name, slots, true, type, {}};
    learn(joined(id, name, slots, type, Money::micros(rng_.between(1, 3'000'000)), {}));
  }

  // Users ask things of jobs that have ended, too.
  std::uint64_t submitted() const { return state().next_job - 1; }
  JobId pick_job() { return JobId(1 + rng_.below(submitted())); }
  const core::Job& job_of(JobId id) {
    (void)take_ended();
    const core::Job* known = state().find_job(id);
    return known != nullptr ? *known : *ended_.at(id);
  }

  void submit() {
    if (submitted() >= (strained_ ? 50U : 25U)) return;
    core::JobSpec spec = job_spec(random_sketch(plain_, rng_));
    if (!policies_.empty()) {
      if (rng_.chance(0.2)) spec.scaling.policy = policies_[rng_.below(policies_.size())];
      spec.preemptible = !rng_.chance(0.1);
    }
    if (!tenants_.empty()) spec.tenant = tenants_[rng_.below(tenants_.size())];
    if (typed_ && rng_.chance(strained_ ? 0.5 : 0.3)) spec.slot_types = {rng_.chance(0.5) ? "slow" : "fast"};
    spec.mixed_types = typed_ && rng_.chance(strained_ ? 0.5 : 0.2);
    if (labelled_ && rng_.chance(0.5)) spec.placement.selector = random_selector(rng_);
    if (shares_memory_ && rng_.chance(0.5)) spec.memory = rng_.between(1, 6) * 1'000;
    if (ruled_ && rng_.chance(0.5)) draw_rules(spec.placement, rng_);
    if (ruled_ && rng_.chance(grouped_)) draw_groups(spec, rng_);
    declare(spec, plain_, rng_);
    if (rng_.chance(0.15)) spec.resize = core::ResizeMode::kRestart;
    learn(core::JobSubmitted{engine_.next_job_id(), std::move(spec)});
  }

  void relabel_one() { relabel(pick(agents_)); }
  void relabel(NodeId id) { learn(core::NodeLabelled{id, random_labels(rng_)}); }

  [[nodiscard]] bool lacks_nodes(const core::Job& job) const {
    const bool asks = !job.spec.placement.selector.empty() || job.spec.memory || core::has_gang_rule(job.spec);
    return asks && core::empty_cluster_capacity(state(), job) < job.spec.elastic.min;
  }

  void user_acts() {
    if (submitted() == 0) return;
    const JobId job = pick_job();
    const auto& sizes = job_of(job).spec.elastic.sizes;
    switch (rng_.below(closes_nodes_ ? 11 : 9)) {
      case 10: plan_maintenance(); break;
      case 9:
        if (rng_.chance(0.3)) return exchange_machine(pick(agents_));
        if (!rng_.chance(0.2) || !learn(core::SlotsReleased{pick(agents_)}))
          learn(core::NodeFaultsCleared{pick(agents_)});
        break;
      case 8: drain(pick(agents_)); break;
      case 6: learn(core::JobCheckpointRequested{job}); break;
      case 7: change(job); break;
      case 0: learn(core::JobCancelRequested{job}); break;
      case 1: learn(core::JobSuspendRequested{job}); break;
      case 2: learn(core::JobResumeRequested{job}); break;
      case 3: learn(core::JobResizeRequested{job, sizes[rng_.below(sizes.size())]}); break;
      case 4: learn(core::JobResizeRequested{job, static_cast<int>(rng_.below(9))}); break;
      default: learn(core::NodeCordonChanged{pick(agents_), rng_.chance(0.4)}); break;
    }
  }

  void drain(NodeId node) {
    if (agents_.at(node).has_ended) return;
    if (rng_.chance(0.4)) {
      learn(core::NodeDrainCancelled{node});
    } else if (rng_.chance(0.3)) {
      learn(core::NodeReclaimNoticed{node, {}});
    } else if (rng_.chance(0.5)) {
      learn(core::NodeReclaimNoticed{node, Duration::millis(rng_.between(0, 30'000))});
    } else {
      learn(core::NodeDrainRequested{node, Duration::millis(rng_.between(0, 30'000)), "maintenance"});
    }
  }

  // New bounds, most of them impossible.
  void change(JobId job) {
    core::JobSpec spec = job_of(job).spec;
    const int group = spec.elastic.group;
    spec.elastic.min = group * static_cast<int>(rng_.between(1, 3));
    spec.elastic.max = group * static_cast<int>(rng_.between(1, 6));
    spec.elastic.preferred = spec.elastic.min;
    spec.elastic.sizes.clear();
    for (int size = spec.elastic.min; size <= spec.elastic.max; size += group) spec.elastic.sizes.push_back(size);
    spec.priority = static_cast<int>(rng_.between(-1, 1));
    if (ruled_ && rng_.chance(0.5)) draw_rules(spec.placement, rng_);
    learn(core::JobChanged{job, std::move(spec)});
  }

  void process_dies() {
    if (processes_.empty()) return;
    if (closes_nodes_ && rng_.chance(0.3)) return hold(pick(processes_));
    const auto draw = rng_.below(10);
    die(pick(processes_), draw == 0 ? 2 : draw < 4 ? 0 : 1);
    if (draw > 7 && !processes_.empty()) die(pick(processes_), 1);
  }

  // Its agent notices, or only the deadlines do.
  void process_hangs() {
    if (processes_.empty()) return;
    const WorkerId id = pick(processes_);
    processes_.at(id).hangs = true;
    if (!agents_.at(processes_.at(id).node).connected || rng_.chance(0.3)) return;
    learn(core::WorkerStuck{id, rng_.between(0, 50), "computing", Duration::seconds(rng_.between(0, 90))});
  }

  // Its program ends, and something of it stays.
  void hold(WorkerId id) {
    processes_.at(id).hangs = processes_.at(id).held = true;
    if (agents_.at(processes_.at(id).node).connected) tell_held(id);
  }
  void tell_held(WorkerId id) {
    const int code = static_cast<int>(id.number() % 3);
    learn(core::SlotsHeld{id, Duration::millis(rng_.between(0, 9'000)), "memory of GPU-1 is still held", code, 0,
                          "died"});
  }

  void die(WorkerId id, int code) {
    const Process process = processes_.at(id);
    processes_.erase(id);
    core::Fact exit = core::WorkerExited{id, code, 0, "died"};
    Agent& agent = agents_.at(process.node);
    if (agent.connected) {
      learn(std::move(exit));
    } else {
      agent.unsent.push_back(std::move(exit));
    }
  }

  // Two thirds of the agents bring saved states, and most tell programs that they are to leave.
  core::NodeJoined joined(NodeId id, const std::string& name, int slots, const std::string& type, Money price,
                          const std::vector<WorkerId>& running) {
    return {.node = id,
            .name = name,
            .slots = slots,
            .slot_type = type,
            .price_per_slot_hour = price,
            .running = running,
            .moves_states = id.number() % 3 != 0,
            .gives_notice = id.number() % 4 != 0,
            .memory_per_slot = shares_memory_ ? random_share(rng_) : std::nullopt};
  }

  void rejoin(NodeId id) {
    if (state().find_node(id) == nullptr) return replace_machine(agents_.at(id));
    Agent& agent = agents_.at(id);
    agent.connected = true;
    std::vector<WorkerId> running;
    for (const auto& [worker, process] : processes_) {
      if (process.node == id) running.push_back(worker);
    }
    REQUIRE(learn(joined(id, agent.name, agent.slots, agent.slot_type, Money::micros(1'000'000), running)));
    for (const WorkerId unknown : core::unknown_workers(state(), id, running)) processes_.erase(unknown);
    // Starts that had not arrived are sent again.
    std::vector<core::WorkerPlacement> again;
    for (const auto& [worker, seen] : state().workers) {
      const bool never_came = seen.node == id && seen.phase == core::WorkerPhase::kStarting && !seen.kill_at;
      if (never_came && !processes_.contains(worker)) again.push_back({worker, id, seen.slots});
    }
    start(again);
    for (auto& exit : std::exchange(agent.unsent, {})) learn(std::move(exit));
    for (const auto& [worker, process] : processes_) {
      if (process.node == id && process.held) tell_held(worker);
    }
  }

  void start(const std::vector<core::WorkerPlacement>& placements) {
    for (const auto& placement : placements) {
      if (!agents_.at(placement.node).connected || (faults_ && rng_.chance(0.03))) continue;
      processes_[placement.worker] = {placement.node, state().find_worker(placement.worker)->job};
    }
  }

  void stop(WorkerId id) {
    const auto found = processes_.find(id);
    if (found != processes_.end()) {
      if (agents_.at(found->second.node).connected) found->second.told_to_stop = true;
      return;
    }
    // An agent that never got the start says so.
    const core::Worker* worker = state().find_worker(id);
    if (worker != nullptr && agents_.at(worker->node).connected) learn(core::WorkerExited{id, -1, 0, "never started"});
  }

  void repeat_an_old_fact() {
    const core::Fact fact = history_[rng_.below(history_.size())].fact;
    // What only one party can say, and says once, is not repeated by accident.
    if (std::holds_alternative<core::JobSubmitted>(fact) || std::holds_alternative<core::NodeJoined>(fact)) return;
    if (std::holds_alternative<core::NodeLost>(fact) || std::holds_alternative<core::TrainingFinished>(fact)) return;
    learn(fact);
  }

  void work() {
    for (int i = 0; i < (strained_ ? 4 : 1); ++i) {
      if (submitted() > 0 && rng_.chance(0.5)) advance(pick_job());
      if (!processes_.empty()) live_on(pick(processes_));
    }
  }

  // Its node has left the state.
  void replace_machine(const Agent& machine) {
    const std::string name = machine.name;
    end_machine(name);
    boot(name, machine.slots);
  }

  [[nodiscard]] bool is_slow(WorkerId id) const { return strained_ && Digest().mix(id.number()).value() % 6 == 0; }

  bool all_reachable(const core::Job& job) const {
    return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
      const auto found = processes_.find(id);
      return found != processes_.end() && !found->second.hangs && agents_.at(found->second.node).connected;
    });
  }

  // The members of a job do what they do: switch, step, finish.
  void advance(JobId id) {
    if (state().has_ended(id)) return;
    const core::Job& job = *state().find_job(id);
    if (job.membership.members.empty() || !all_reachable(job) || core::is_final(job.state()) || job.progress.finished)
      return;
    for (const WorkerId member : std::vector<WorkerId>(job.membership.members)) {
      const bool silent = state().find_worker(member)->joining < job.membership.generation;
      if (silent && rng_.chance(0.7)) learn(core::WorkerJoining{member, job.membership.generation});
    }
    if (job.spec.resize == core::ResizeMode::kRestart) return run_programs(job);
    const bool first = !job.membership.switched && job.membership.commit.from_size == 0;
    if (first && rng_.chance(0.5)) learn(restored(job, rng_));
    if (job.membership.switched && rng_.chance(0.1)) learn(checkpoint_report(job, rng_));
    if (!job.membership.switched && rng_.chance(0.9)) {
      const core::UnusedState unused{job.progress.step + 9, core::UnusedWhy::kDamaged};
      learn(core::GenerationSwitched{id, job.membership.generation, job.progress.step + 1, rng_.uniform() * 100, 5, 0,
                                     0, 10, first ? std::optional(unused) : std::nullopt});
      return;
    }
    const std::int64_t steps = rng_.between(1, strained_ ? 12 : 6);
    std::vector<std::int64_t> compute_us;
    for (std::int64_t i = 0; i < steps * job.size(); ++i) {
      const WorkerId member = job.membership.members[static_cast<std::size_t>(i) % job.membership.members.size()];
      compute_us.push_back(rng_.between(10'000, 40'000) * (is_slow(member) ? 40 : 1));
    }
    core::StepsMeasured report{id,
                               job.membership.generation,
                               job.progress.step + steps,
                               steps,
                               Duration::millis(100 * steps),
                               64 * steps,
                               rng_.uniform(),
                               1,
                               std::move(compute_us)};
    // The report of a change of shares may be late or lost.
    const bool changed = job.shares.ordered.number > job.shares.used.number && rng_.chance(0.7);
    report.shares = changed ? job.shares.ordered.number : job.shares.used.number;
    if (changed && rng_.chance(0.7)) {
      learn(core::SharesChanged{id, job.membership.generation, report.shares, job.progress.step + 1, rng_.uniform()});
    }
    learn(std::move(report));
    const core::Job& after = *state().find_job(id);
    if (after.progress.step >= 60) learn(core::TrainingFinished{id, after.progress.step, 0.5});
  }

  // The programs of a generation start, all or some of them, and end: well in the end, badly now and then.
  void run_programs(const core::Job& job) {
    const JobId id = job.id;
    const GenerationNumber generation = job.membership.generation;
    if (job.membership.restart_state.launched != generation) return;
    for (const WorkerId member : std::vector<WorkerId>(job.membership.members)) {
      const core::Worker* seen = state().find_worker(member);
      if (seen == nullptr) continue;
      if (seen->launched < generation) {
        if (rng_.chance(0.8)) learn(core::ProgramStarted{member, generation});
      } else if (state().find_job(id)->membership.switched && rng_.chance(0.2)) {
        learn(core::ProgramEnded{member, generation, faults_ && rng_.chance(0.2) ? 1 : 0, 0, "ended"});
      }
    }
  }

  // A process boots, leaves when it was told to, or goes on.
  void live_on(WorkerId id) {
    if (!processes_.contains(id)) return;
    const Process process = processes_.at(id);
    const core::Worker* seen = state().find_worker(id);
    if (seen == nullptr || !agents_.at(process.node).connected) return;
    const core::Job& job = *state().find_job(process.job);
    if (process.held) {
      if (rng_.chance(0.1)) die(id, 1);
      return;
    }
    if (process.hangs && !(process.told_to_stop && seen->kill_at && now_ >= *seen->kill_at)) return;
    const bool restarts = job.spec.resize == core::ResizeMode::kRestart;
    const bool parks = job.membership.parking && seen->stop_due && !restarts && rng_.chance(0.8);
    if (parks) learn(core::StateParked{job.id, id, job.membership.generation, job.progress.step, 1000, 2});
    const bool left_out =
        seen->phase == core::WorkerPhase::kLeaving && (seen->stop_due || job.progress.finished || restarts);
    if (process.told_to_stop || (left_out && rng_.chance(0.7))) return die(id, 0);
    const auto& moving = job.recovery.moving;
    if (moving && core::awaits(*moving, *seen) && !rng_.chance(0.02)) return wait_for_state(job.id, *moving);
    if (seen->phase == core::WorkerPhase::kStarting) learn(random_ready(id, rng_));
  }

  // It comes, or it does not; what was said before is said again. Without faults it comes in the end.
  void wait_for_state(JobId job, const core::StateMove& move) {
    if (rng_.chance(0.3)) learn(core::StateBrought{job, move.to, move.step, 1000, Duration::millis(20)});
    if (faults_ && rng_.chance(0.1)) learn(core::StateLeft{job, move.to, move.step, "no byte came"});
  }

  Rng rng_;
  bool faults_, typed_, plain_;
  int followed_ = 0;
  bool strained_ = false, labelled_ = false, shares_memory_ = false, ruled_ = false, closes_nodes_ = false;
  double grouped_ = 0;
  std::vector<std::string> policies_;  // what jobs may ask for by name
  std::vector<std::string> tenants_;   // that jobs are drawn for; empty = of the default one
  core::Engine engine_;
  Instant now_ = Instant::from_micros(1);
  std::map<NodeId, Agent> agents_;
  std::map<WorkerId, Process> processes_;
  std::vector<core::TimedFact> history_;
  EventSeq last_event_ = 0;
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;  // that have left the state
};

}  // namespace tidepool::test
