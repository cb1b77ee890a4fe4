#include "sim/daemon_model.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

constexpr std::size_t kRefusedKept = 100;
// The journal is our own and already decoded once; only damage could exceed this.
constexpr JsonLimits kRecordLimits{.bytes_max = std::size_t{1} << 30U, .depth_max = 64, .values_max = 100'000'000};

// The newest shares, if they are not even ones.
std::optional<ChangeShares> shares_of(const core::Job& job) {
  if (job.shares_told.number == 0) return std::nullopt;
  return ChangeShares{job.id, job.generation, job.shares_told.number, job.shares_told.weights};
}

// What is told to a whole job is told once in a turn.
void say_once(Outgoing message, std::vector<Outgoing>& out) {
  if (std::find(out.begin(), out.end(), message) == out.end()) out.push_back(std::move(message));
}

}  // namespace

DaemonModel::DaemonModel(Setup setup) : setup_(std::move(setup)) {
  engine_.emplace(setup_.ground.parts());
}

int DaemonModel::index_of(NodeId node) const {
  const core::Node* known = engine_->view().find_node(node);
  TP_CHECK(known != nullptr, "a plan speaks of nodes that have joined");
  return node_of_name(known->name);
}

std::string DaemonModel::name_of_job(JobId job) const {
  return engine_->view().find_job(job)->spec.name;
}

bool DaemonModel::learn_fact(core::Fact fact, Instant now, const std::string& key) {
  core::TimedFact timed{.at = now, .fact = std::move(fact)};
  const auto events = engine_->step(timed);
  if (!events) {
    if (refused_.size() == kRefusedKept) refused_.erase(refused_.begin());
    refused_.push_back(std::string(core::name_of(timed.fact)) + ": " + events.error().message);
    return false;
  }
  if (setup_.journaled) {
    json record{{"at", now.count_us()}, {"fact", core::to_json(timed.fact)}};
    if (!key.empty()) record["key"] = key;
    batch_.push_back(canonical_json(record));
  }
  return true;
}

void DaemonModel::learn_submit(const Submit& submit, Instant now, std::vector<Outgoing>& answers) {
  if (const auto known = keys_.find(submit.key); known != keys_.end()) {
    answers.emplace_back(Submitted{submit.key, known->second});
    return;
  }
  const JobId id = engine_->next_job_id();
  if (!learn_fact(core::JobSubmitted{.job = id, .spec = submit.spec}, now, submit.key)) return;
  keys_[submit.key] = id;
  answers.emplace_back(Submitted{submit.key, id});
}

void DaemonModel::learn_hello(const Hello& hello, Instant now, std::vector<Outgoing>& answers) {
  const std::string name = node_name(hello.node);
  const NodeId id = engine_->node_id_for(name);
  const NodeKind kind = setup_.ground.kind_of(hello.node);
  core::NodeJoined joined{.node = id,
                          .name = name,
                          .slots = kind.slots,
                          .slot_type = kind.slot_type,
                          .price_per_slot_hour = setup_.ground.price_per_slot_hour,
                          .running = hello.running};
  if (!learn_fact(std::move(joined), now, "")) return;
  connected_[id] = hello.node;
  say_again(id, hello.node, hello.running, answers);
}

// What the agent may have missed while it was away: starts and generations are safe to repeat, because it knows the
// ids and numbers it has seen; a worker that the state does not know has no business there.
void DaemonModel::say_again(NodeId node, int index, const std::vector<WorkerId>& running,
                            std::vector<Outgoing>& out) const {
  const core::ClusterState& state = engine_->view();
  for (const WorkerId id : running) {
    const core::Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->node != node) {
      out.emplace_back(StopWorker{.node = index, .worker = id, .grace = Duration()});
    }
  }
  for (const auto& [id, worker] : state.workers) {
    if (worker.node != node) continue;
    if (worker.phase != core::WorkerPhase::kStarting) {
      tell_generation(worker, out);
    } else if (!worker.kill_at) {
      out.emplace_back(StartWorker{
          .node = index, .worker = id, .job = worker.job, .slots = worker.slots, .job_name = name_of_job(worker.job)});
    }
  }
}

// Everything that a member or a leaver has to know of its job's newest generation.
void DaemonModel::tell_generation(const core::Worker& worker, std::vector<Outgoing>& out) const {
  const core::Job& job = *engine_->view().find_job(worker.job);
  const bool member = std::find(job.members.begin(), job.members.end(), worker.id) != job.members.end();
  const bool hears = member || worker.phase == core::WorkerPhase::kLeaving;
  if (!hears || (job.members.empty() && !job.parking)) return;
  say_once(CommitGeneration{job.id, job.generation, job.members, job.commit.after_failure, job.parking}, out);
  if (!member) return;
  tell_launch(job, out);
  if (auto shares = shares_of(job)) say_once(*std::move(shares), out);
}

void DaemonModel::tell_launch(const core::Job& job, std::vector<Outgoing>& out) {
  const bool restarts = job.spec.resize == core::ResizeMode::kRestart;
  if (restarts && job.incarnation.launched == job.generation) say_once(LaunchPrograms{job.id, job.generation}, out);
}

// A worker that introduces itself, or says where it listens, though it is known: its agent was away, or it was.
void DaemonModel::answer(const core::Fact& fact, std::vector<Outgoing>& out) const {
  if (const auto* ready = std::get_if<core::WorkerReady>(&fact)) {
    const core::Worker* worker = engine_->view().find_worker(ready->worker);
    if (worker != nullptr && worker->phase != core::WorkerPhase::kStarting) tell_generation(*worker, out);
  } else if (const auto* joining = std::get_if<core::WorkerJoining>(&fact)) {
    const core::Worker* worker = engine_->view().find_worker(joining->worker);
    if (worker == nullptr) return;
    const core::Job& job = *engine_->view().find_job(worker->job);
    const bool member = std::find(job.members.begin(), job.members.end(), worker->id) != job.members.end();
    if (member && joining->generation == job.generation) tell_launch(job, out);
  }
}

void DaemonModel::learn_cordon(const CordonNode& cordon, Instant now) {
  const NodeId id = engine_->node_id_for(node_name(cordon.node));
  const core::Node* node = engine_->view().find_node(id);
  if (node == nullptr || node->cordoned == cordon.cordoned) return;
  (void)learn_fact(core::NodeCordonChanged{.node = id, .cordoned = cordon.cordoned}, now, "");
}

void DaemonModel::learn(const Incoming& incoming, Instant now, std::vector<Outgoing>& answers) {
  std::visit(
      Overloaded{
          [&](const Submit& submit) { learn_submit(submit, now, answers); },
          [&](const Hello& hello) { learn_hello(hello, now, answers); },
          [&](const AgentReport& report) {
            const bool exited = std::holds_alternative<core::WorkerExited>(report.fact);
            const bool dropped = setup_.bug == PlantedBug::kLosesExits && exited && ++exits_seen_ % 3 == 0;
            // A refused report is answered too: repeating it would not make it true.
            if (!dropped) (void)learn_fact(report.fact, now, "");
            answer(report.fact, answers);
            if (report.report != 0) answers.emplace_back(AckReport{report.node, report.report});
          },
          [&](const AgentSilent& silent) {
            const NodeId id = engine_->node_id_for(node_name(silent.node));
            if (engine_->view().find_node(id) == nullptr) return;
            connected_.erase(id);
            (void)learn_fact(core::NodeLost{.node = id, .why = "no sign of life"}, now, "");
          },
          [&](const CordonNode& cordon) { learn_cordon(cordon, now); },
          [&](const UserWish& wish) { std::visit([&](const auto& fact) { (void)learn_fact(fact, now, ""); }, wish); },
      },
      incoming);
}

std::vector<Outgoing> DaemonModel::receive(const std::vector<Incoming>& batch, Instant now) {
  TP_CHECK(alive(), "a dead daemon receives nothing");
  std::vector<Outgoing> out;
  std::vector<Outgoing> answers;
  for (const Incoming& incoming : batch) learn(incoming, now, answers);
  if (setup_.bug == PlantedBug::kAcknowledgesBeforeCommit) std::swap(out, answers);
  if (!write()) return out;
  out.insert(out.end(), answers.begin(), answers.end());
  decide(now, out);
  return out;
}

void DaemonModel::decide(Instant now, std::vector<Outgoing>& out) {
  const std::int64_t begin = setup_.stopwatch_ns ? setup_.stopwatch_ns() : 0;
  const core::Decision decision = engine_->decide(now);
  if (setup_.stopwatch_ns) decide_ns_.push_back(setup_.stopwatch_ns() - begin);
  if (const Status valid = engine_->validate(decision); !valid.ok()) {
    invalid_decision_ = valid.error().message;
    return;
  }
  if (decision.empty()) {
    (void)engine_->accept(decision);
    return;
  }
  if (setup_.journaled) {
    batch_.push_back(canonical_json(json{{"at", now.count_us()}, {"decision", core::to_json(decision)}}));
  }
  (void)engine_->accept(decision);
  if (!write()) return;
  if (setup_.ground.on_decision) setup_.ground.on_decision(decision);
  act(decision, out);
}

void DaemonModel::act(const core::Decision& decision, std::vector<Outgoing>& out) {
  const auto start = [&](JobId job, const core::WorkerPlacement& place) {
    if (!connected_.contains(place.node)) return;  // said again when the agent is back
    out.emplace_back(StartWorker{index_of(place.node), place.worker, job, place.slots, name_of_job(job)});
  };
  const auto start_all = [&](const auto& intent) {
    for (const auto& place : intent.newcomers) start(intent.job, place);
  };
  const auto tell_shares = [&](JobId job) {
    if (auto shares = shares_of(*engine_->view().find_job(job))) say_once(*std::move(shares), out);
  };
  for (const auto& planned : decision.plan) {
    std::visit(Overloaded{
                   [&](const core::StartIntent& intent) { start_all(intent); },
                   [&](const core::GrowIntent& intent) { start_all(intent); },
                   [&](const core::ReplaceIntent& intent) { start(intent.job, intent.newcomer); },
                   [&](const core::SwitchIntent& intent) {
                     say_once(CommitGeneration{intent.job, intent.number, intent.members, intent.after_failure}, out);
                     tell_shares(intent.job);
                     if (setup_.bug == PlantedBug::kLaunchesAtOnce)
                       out.emplace_back(LaunchPrograms{intent.job, intent.number});
                   },
                   [&](const core::RebalanceIntent& intent) { tell_shares(intent.job); },
                   [&](const core::StopWorkerIntent& intent) {
                     const core::Worker* worker = engine_->view().find_worker(intent.worker);
                     if (worker == nullptr || !connected_.contains(worker->node)) return;
                     out.emplace_back(StopWorker{index_of(worker->node), intent.worker, intent.grace});
                   },
                   [&](const core::LaunchIntent& intent) { say_once(LaunchPrograms{intent.job, intent.number}, out); },
                   // Their workers wait for the switch, or are stopped by intents of their own.
                   [](const core::ShrinkIntent&) {},
                   [&](const core::PreemptIntent& intent) {
                     if (intent.number == 0) return;
                     say_once(CommitGeneration{intent.job, intent.number, {}, intent.after_failure, true}, out);
                   },
                   [](const core::ProbeIntent&) {},  // no devices to measure
                   [](const core::EndJobIntent&) {},
               },
               planned.intent);
  }
  if (setup_.bug == PlantedBug::kFreesSlotsOfLeavers) free_leavers(decision.at, out);
}

// The planted fault: who has been told to leave is taken to be gone.
void DaemonModel::free_leavers(Instant now, std::vector<Outgoing>& out) {
  std::vector<WorkerId> leavers;
  for (const auto& [id, worker] : engine_->view().workers) {
    if (worker.phase == core::WorkerPhase::kLeaving && !worker.node_lost) leavers.push_back(id);
  }
  for (const WorkerId worker : leavers) (void)learn_fact(core::WorkerExited{.worker = worker}, now, "");
  if (!leavers.empty() && write()) decide(now, out);
}

bool DaemonModel::write() {
  if (batch_.empty() || !setup_.journaled) return true;
  ++writes_;
  const auto crash = setup_.crash_plan ? setup_.crash_plan(writes_) : std::nullopt;
  if (crash == CrashPoint::kBeforeWrite) {
    die();
    return false;
  }
  for (auto& record : batch_) journal_.append(std::move(record));
  batch_.clear();
  if (crash == CrashPoint::kBeforeCommit) {
    die();
    return false;
  }
  journal_.commit();
  // Costly, so only where recovery will ask for it: the state is compared after a crash here or at the next write.
  const bool is_asked_for = crash.has_value() || (setup_.crash_plan && setup_.crash_plan(writes_ + 1).has_value());
  committed_digest_ = is_asked_for ? core::digest_of(engine_->view()) : 0;
  if (crash == CrashPoint::kAfterCommit) {
    die();
    return false;
  }
  if (journal_.records().size() >= setup_.records_per_snapshot) {
    json keys = json::object();
    for (const auto& [key, job] : keys_) keys[key] = job.number();
    journal_.compact(canonical_json(json{{"state", core::to_json(engine_->view())}, {"keys", std::move(keys)}}));
  }
  return true;
}

void DaemonModel::die() {
  journal_.lose_uncommitted();
  batch_.clear();
  keys_.clear();
  connected_.clear();
  engine_.reset();
}

Status DaemonModel::replay(const std::string& text) {
  const auto record = parse_json(text, kRecordLimits);
  if (!record) return record.error();
  const Instant at = Instant::from_micros(record->at("at").get<std::int64_t>());
  if (const auto decision = record->find("decision"); decision != record->end()) {
    auto decoded = core::decision_from_json(*decision);
    if (!decoded) return decoded.error();
    TP_TRY(engine_->validate(*decoded));
    (void)engine_->accept(*decoded);
    return ok_status();
  }
  auto fact = core::fact_from_json(record->at("fact"));
  if (!fact) return fact.error();
  if (const auto key = record->find("key"); key != record->end()) {
    keys_[key->get<std::string>()] = std::get<core::JobSubmitted>(*fact).job;
  }
  const auto events = engine_->step({.at = at, .fact = std::move(*fact)});
  return events ? ok_status() : Status(events.error());
}

Status DaemonModel::recover() {
  if (journal_.snapshot()) {
    const auto snapshot = parse_json(*journal_.snapshot(), kRecordLimits);
    if (!snapshot) return snapshot.error();
    auto state = core::state_from_json(snapshot->at("state"));
    if (!state) return state.error();
    for (const auto& [key, job] : snapshot->at("keys").items()) keys_[key] = JobId(job.get<std::uint64_t>());
    engine_.emplace(setup_.ground.parts(), std::move(*state));
  } else {
    engine_.emplace(setup_.ground.parts());
  }
  for (const std::string& record : journal_.records()) TP_TRY(replay(record));
  if (committed_digest_ != 0 && core::digest_of(engine_->view()) != committed_digest_) {
    return Error{ErrorCode::kInternal, "replaying the journal gives another state than the one that was committed"};
  }
  return ok_status();
}

}  // namespace tidepool::sim
