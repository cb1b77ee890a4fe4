#include "sim/daemon_model.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "schedulerd/leader/report_facts.hpp"
#include "schedulerd/leader/start_order.hpp"

namespace tidepool::sim {
namespace {

using nlohmann::json;

constexpr std::size_t kRefusedKept = 100;
// The journal is our own and already decoded once; only damage could exceed this.
constexpr JsonLimits kRecordLimits{.bytes_max = std::size_t{1} << 30U, .depth_max = 64, .values_max = 100'000'000};

}  // namespace

DaemonModel::DaemonModel(Setup setup) : setup_(std::move(setup)) {
  engine_.emplace(setup_.ground.parts());
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

void DaemonModel::learn_hello(int node, const api::AgentHello& hello, Instant now, std::vector<Outgoing>& answers) {
  const NodeId id = engine_->node_id_for(hello.node);
  auto joined = leader::fact_of_hello(hello, id);
  if (!joined.ok() || !learn_fact(*std::move(joined), now, "")) {
    answers.emplace_back(ToNode{node, api::AgentRefuse{"it is not let in"}});
    return;
  }
  connected_[id] = node;
  answers.emplace_back(ToNode{node, welcome(id)});
  std::vector<leader::NodeOrder> missed;
  for (leader::Order& order : executor_.catch_up(id, hello.running, engine_->view())) {
    missed.push_back({id, std::move(order)});
  }
  tell(missed, answers);
}

// An order to a node that is not there is lost; it is said again when the node is back.
void DaemonModel::tell(const std::vector<leader::NodeOrder>& orders, std::vector<Outgoing>& out) const {
  for (const leader::NodeOrder& order : orders) {
    const auto node = connected_.find(order.node);
    if (node == connected_.end()) continue;
    auto message = leader::write_message(order.what, engine_->view());
    TP_CHECK(message.ok(), "a simulated job says what it runs");
    if (*message) out.emplace_back(ToNode{node->second, **std::move(message)});
  }
}

const core::Worker* DaemonModel::worker_of(int node, WorkerId id) const {
  const core::Worker* worker = engine_->view().find_worker(id);
  if (worker == nullptr) return nullptr;
  const auto place = connected_.find(worker->node);
  return place == connected_.end() || place->second != node ? nullptr : worker;
}

// A worker that introduces itself, or says where it listens, may have missed something, or wait for the others.
void DaemonModel::learn_said(int node, const api::FromWorkerReport& report, Instant now,
                             std::vector<Outgoing>& answers) {
  const core::Worker* worker = worker_of(node, report.worker);
  if (worker == nullptr) return;
  if (auto fact = leader::fact_of_worker(report.message, *worker)) (void)learn_fact(*std::move(fact), now, "");
  const core::ClusterState& state = engine_->view();
  if (const auto* address = std::get_if<api::AddressMessage>(&report.message)) {
    tell(executor_.on_address(report.worker, *address, state), answers);
  } else if (const auto* ready = std::get_if<api::ReadyMessage>(&report.message)) {
    tell(executor_.on_relink(report.worker, ready->generation, state), answers);
  }
}

// Of an unknown worker everything is known already; repeating its exit would not make it true.
void DaemonModel::learn_exit(int node, const api::WorkerExitedReport& report, Instant now,
                             std::vector<Outgoing>& answers) {
  const bool dropped = setup_.bug == PlantedBug::kLosesExits && ++exits_seen_ % 3 == 0;
  const bool known = worker_of(node, report.worker) != nullptr;
  if (known && !dropped) (void)learn_fact(leader::fact_of_exit(report), now, "");
  answers.emplace_back(ToNode{node, api::ReportAck{report.report}});
}

void DaemonModel::learn_stuck(int node, const api::WorkerStuckReport& report, Instant now) {
  if (worker_of(node, report.worker) == nullptr) return;
  (void)learn_fact(leader::fact_of_stuck(report), now, "");
}

void DaemonModel::learn_message(const FromNode& from, Instant now, std::vector<Outgoing>& answers) {
  std::visit(Overloaded{
                 [&](const api::AgentHello& hello) { learn_hello(from.node, hello, now, answers); },
                 [&](const api::FromWorkerReport& report) { learn_said(from.node, report, now, answers); },
                 [&](const api::WorkerExitedReport& report) { learn_exit(from.node, report, now, answers); },
                 [&](const api::WorkerStuckReport& report) { learn_stuck(from.node, report, now); },
                 [](const auto&) { TP_CHECK(false, "a simulated node says no such thing"); },
             },
             from.message);
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
          [&](const FromNode& from) { learn_message(from, now, answers); },
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
  tell(executor_.carry_out(decision, engine_->view()).orders, out);
  if (setup_.bug == PlantedBug::kLaunchesAtOnce) launch_at_once(decision, out);
  if (setup_.bug == PlantedBug::kFreesSlotsOfLeavers) free_leavers(decision.at, out);
}

// The planted fault: programs are told to start before the restartable workers of all ranks are empty.
void DaemonModel::launch_at_once(const core::Decision& decision, std::vector<Outgoing>& out) const {
  for (const auto& planned : decision.plan) {
    const auto* intent = std::get_if<core::SwitchIntent>(&planned.intent);
    if (intent == nullptr) continue;
    api::AddressesMessage addresses{.generation = intent->number, .blobs = {}};
    for (const WorkerId member : intent->members) addresses.blobs.push_back(member.text());
    for (const WorkerId member : intent->members) {
      const auto node = connected_.find(engine_->view().find_worker(member)->node);
      if (node != connected_.end()) out.emplace_back(ToNode{node->second, api::ToWorkerOrder{member, addresses}});
    }
  }
}

// The planted fault: workers that have been told to leave are taken to be gone.
void DaemonModel::free_leavers(Instant now, std::vector<Outgoing>& out) {
  std::vector<WorkerId> leaving_workers;
  for (const auto& [id, worker] : engine_->view().workers) {
    if (worker.phase == core::WorkerPhase::kLeaving && !worker.node_lost) leaving_workers.push_back(id);
  }
  for (const WorkerId worker : leaving_workers) (void)learn_fact(core::WorkerExited{.worker = worker}, now, "");
  if (!leaving_workers.empty() && write()) decide(now, out);
}

bool DaemonModel::write() {
  auto ended = engine_->take_ended();
  std::move(ended.begin(), ended.end(), std::back_inserter(ended_batch_));
  if (batch_.empty() || !setup_.journaled) {
    keep_ended();
    return true;
  }
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
  keep_ended();
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

void DaemonModel::keep_ended() {
  for (auto& job : ended_batch_) ended_.insert_or_assign(job->id, std::move(job));
  ended_batch_.clear();
}

std::shared_ptr<const core::Job> DaemonModel::ended(JobId job) const {
  const auto found = ended_.find(job);
  return found == ended_.end() ? nullptr : found->second;
}

void DaemonModel::die() {
  journal_.lose_uncommitted();
  batch_.clear();
  ended_batch_.clear();
  keys_.clear();
  connected_.clear();
  executor_ = {};
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
  (void)engine_->take_ended();  // kept when they left
  if (committed_digest_ != 0 && core::digest_of(engine_->view()) != committed_digest_) {
    return Error{ErrorCode::kInternal, "replaying the journal gives another state than the one that was committed"};
  }
  return ok_status();
}

}  // namespace tidepool::sim
