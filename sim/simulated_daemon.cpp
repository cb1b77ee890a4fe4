#include "sim/simulated_daemon.hpp"

#include <algorithm>
#include <array>
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
constexpr int kQuestionsAtOnce = 8;  // then the clock goes on before a policy file is asked again
// The journal is our own and already decoded once; only damage could exceed this.
constexpr JsonLimits kRecordLimits{.bytes_max = std::size_t{1} << 30U, .depth_max = 64, .values_max = 100'000'000};

// Nanoseconds in the place of microseconds: stages only subtract, and decisions are shorter than a microsecond is fine.
core::StageTimes::Clock clock_of(const std::function<std::int64_t()>& stopwatch_ns) {
  if (!stopwatch_ns) return [] { return Instant(); };
  return [stopwatch_ns] { return Instant::from_micros(stopwatch_ns()); };
}

std::int64_t decided_ns(const core::StageTimes& stages) {
  using core::Stage;
  constexpr std::array kDeciding{Stage::kTransitions, Stage::kPlan, Stage::kReconcile, Stage::kSize};
  std::int64_t sum = 0;
  for (const Stage stage : kDeciding) sum += stages.of(stage).count_us();
  return sum;
}

}  // namespace

// --- the turn -----------------------------------------------------------------------------------

SimulatedDaemon::SimulatedDaemon(Setup setup) : setup_(std::move(setup)), stages_(clock_of(setup_.stopwatch_ns)) {
  turn_.emplace(core::Engine(setup_.ground.parts()));
}

std::vector<Outgoing> SimulatedDaemon::receive(const std::vector<Incoming>& batch, Instant now) {
  TP_CHECK(alive(), "a dead daemon receives nothing");
  std::vector<Outgoing> out;
  std::vector<leader::TurnItem> items;
  std::vector<std::string> keys;
  for (const Incoming& incoming : batch) {
    auto item = item_of(incoming, ids_);
    if (loses(item, out)) continue;
    items.push_back(std::move(item));
    keys.push_back(key_of(incoming));
  }
  const bool lives = take_turn(std::move(items), keys, now, out) && ask_file(now, out);
  if (lives && setup_.bug == PlantedBug::kFreesLeavingSlots) free_leaving_slots(now, out);
  return out;
}

bool SimulatedDaemon::take_turn(std::vector<leader::TurnItem> items, const std::vector<std::string>& keys, Instant now,
                                std::vector<Outgoing>& out) {
  stages_.clear();
  ran_at_ = now;
  auto result = turn_->run(std::move(items), now, memory_, setup_.stopwatch_ns ? &stages_ : nullptr);
  TP_CHECK(result.ok(), "lookups in memory do not fail");
  if (setup_.stopwatch_ns) decide_ns_.push_back(decided_ns(stages_));
  question_ = result->policy_request;
  note(*result);
  if (setup_.bug == PlantedBug::kAcknowledgesBeforeCommit) tell(*result, keys, out);
  if (!write(result->rows)) return false;
  tell(*result, keys, out);
  for (const auto& row : result->rows) show(row);
  if (setup_.bug == PlantedBug::kLaunchesAtOnce) launch_at_once(result->rows, out);
  return true;
}

bool SimulatedDaemon::ask_file(Instant now, std::vector<Outgoing>& out) {
  for (int asked = 0; question_ && asked < kQuestionsAtOnce; ++asked) {
    const Instant at = std::max(now, state().now);
    std::vector<leader::TurnItem> items{leader::PolicyRoundItem{setup_.ground.ask_file(state(), at, *question_)}};
    if (!take_turn(std::move(items), {""}, now, out)) return false;
  }
  return true;
}

void SimulatedDaemon::show(const leader::TurnRow& row) const {
  const auto show_events = [&](const std::vector<core::Event>& events) {
    for (const core::Event& event : events) {
      if (setup_.ground.on_event) setup_.ground.on_event(event);
    }
  };
  if (const auto* learnt = std::get_if<leader::FactRow>(&row)) show_events(learnt->events);
  if (const auto* decided = std::get_if<leader::DecisionRow>(&row)) {
    if (setup_.ground.on_decision) setup_.ground.on_decision(decided->decision);
    show_events(decided->events);
  }
}

// Answers and orders leave once, whenever that is.
void SimulatedDaemon::tell(leader::TurnResult& result, const std::vector<std::string>& keys,
                           std::vector<Outgoing>& out) {
  for (const auto& answer : std::exchange(result.answers, {})) {
    const std::string& key = keys[answer.item];
    if (answer.receipt.ok() && !key.empty()) out.emplace_back(Submitted{key, *answer.receipt->job});
  }
  for (auto& order : std::exchange(result.orders, {})) pass_on(std::move(order), ids_, out);
}

void SimulatedDaemon::note(const leader::TurnResult& result) {
  const auto refuse = [&](const std::string& why) {
    if (refused_.size() == kRefusedKept) refused_.erase(refused_.begin());
    refused_.push_back(why);
  };
  for (const auto& answer : result.answers) {
    if (!answer.receipt.ok()) refuse("a command: " + answer.receipt.error().message);
  }
  for (const auto& note : result.notes) {
    std::visit(Overloaded{
                   [&](const leader::ReportRefusedNote& refused) {
                     refuse("a report of " + refused.worker.text() + ": " + refused.why);
                   },
                   [&](const leader::AgentRefusedNote& refused) { refuse(refused.name + ": " + refused.why); },
                   [&](const leader::PlanDroppedNote& dropped) { invalid_decision_ = dropped.why; },
                   [&](const leader::StartImpossibleNote& start) {
                     TP_CHECK(false, ("a simulated job says what it runs: " + start.why).c_str());
                   },
                   [](const auto&) {},
               },
               note);
  }
}

// After a turn that ran out of rounds, or has more to ask, there is more to do at once.
std::optional<Instant> SimulatedDaemon::next_due() const {
  return ran_at_ && (turn_->has_more_to_decide() || question_) ? ran_at_ : turn_->next_due();
}

std::shared_ptr<const core::Job> SimulatedDaemon::ended(JobId job) const {
  const auto found = memory_.ended_jobs.find(job);
  return found == memory_.ended_jobs.end() ? nullptr : found->second;
}

// --- the journal --------------------------------------------------------------------------------

bool SimulatedDaemon::write(const std::vector<leader::TurnRow>& rows) {
  if (rows.empty() || !setup_.journaled) {
    keep(rows);
    return true;
  }
  ++writes_;
  const auto crash = setup_.crash_plan ? setup_.crash_plan(writes_) : std::nullopt;
  if (crash == CrashPoint::kBeforeWrite) {
    die();
    return false;
  }
  for (const auto& row : rows) append(row);
  if (crash == CrashPoint::kBeforeCommit) {
    die();
    return false;
  }
  journal_.commit();
  keep(rows);
  // Costly, so only where recovery will ask for it: the state is compared after a crash here or at the next write.
  const bool is_asked_for = crash.has_value() || (setup_.crash_plan && setup_.crash_plan(writes_ + 1).has_value());
  committed_digest_ = is_asked_for ? core::digest_of(state()) : 0;
  if (crash == CrashPoint::kAfterCommit) {
    for (const auto& row : rows) show(row);  // whoever follows the journal reads them when the daemon is back
    die();
    return false;
  }
  if (journal_.records().size() >= setup_.records_per_snapshot) snapshot();
  return true;
}

// What only readers ask for is not kept here.
void SimulatedDaemon::append(const leader::TurnRow& row) {
  std::visit(Overloaded{
                 [&](const leader::FactRow& learnt) {
                   journal_.append(canonical_json(
                       json{{"at", learnt.fact.at.count_us()}, {"fact", core::to_json(learnt.fact.fact)}}));
                 },
                 [&](const leader::DecisionRow& decided) {
                   journal_.append(canonical_json(
                       json{{"at", decided.decision.at.count_us()}, {"decision", core::to_json(decided.decision)}}));
                 },
                 [&](const leader::ReceiptRow& answered) {
                   journal_.append(
                       canonical_json(json{{"key", answered.request.key}, {"job", answered.receipt.job->number()}}));
                 },
                 [](const auto&) {},
             },
             row);
}

void SimulatedDaemon::keep(const std::vector<leader::TurnRow>& rows) {
  for (const auto& row : rows) {
    if (const auto* ended = std::get_if<leader::EndedJobRow>(&row)) {
      memory_.ended_jobs.insert_or_assign(ended->job->id, ended->job);
    } else if (const auto* answered = std::get_if<leader::ReceiptRow>(&row)) {
      memory_.keys[answered->request.key] = *answered->receipt.job;
    }
  }
}

void SimulatedDaemon::snapshot() {
  json keys = json::object();
  for (const auto& [key, job] : memory_.keys) keys[key] = job.number();
  journal_.compact(canonical_json(json{{"state", core::to_json(state())}, {"keys", std::move(keys)}}));
}

void SimulatedDaemon::die() {
  journal_.lose_uncommitted();
  memory_.keys.clear();
  ran_at_.reset();
  question_.reset();
  turn_.reset();
}

Status SimulatedDaemon::replay(core::Engine& engine, const std::string& text) {
  const auto record = parse_json(text, kRecordLimits);
  if (!record) return record.error();
  if (const auto key = record->find("key"); key != record->end()) {
    memory_.keys[key->get<std::string>()] = JobId(record->at("job").get<std::uint64_t>());
    return ok_status();
  }
  if (const auto decision = record->find("decision"); decision != record->end()) {
    auto decoded = core::decision_from_json(*decision);
    if (!decoded) return decoded.error();
    TP_TRY(engine.validate(*decoded));
    (void)engine.accept(*decoded);
    return ok_status();
  }
  auto fact = core::fact_from_json(record->at("fact"));
  if (!fact) return fact.error();
  const Instant at = Instant::from_micros(record->at("at").get<std::int64_t>());
  const auto events = engine.step({.at = at, .fact = std::move(*fact)});
  return events ? ok_status() : Status(events.error());
}

Status SimulatedDaemon::recover() {
  std::optional<core::Engine> engine;
  if (journal_.snapshot()) {
    const auto snapshot = parse_json(*journal_.snapshot(), kRecordLimits);
    if (!snapshot) return snapshot.error();
    auto state = core::state_from_json(snapshot->at("state"));
    if (!state) return state.error();
    for (const auto& [key, job] : snapshot->at("keys").items()) memory_.keys[key] = JobId(job.get<std::uint64_t>());
    engine.emplace(setup_.ground.parts(), std::move(*state));
  } else {
    engine.emplace(setup_.ground.parts());
  }
  for (const std::string& record : journal_.records()) TP_TRY(replay(*engine, record));
  (void)engine->take_ended();  // kept when they left
  if (committed_digest_ != 0 && core::digest_of(engine->view()) != committed_digest_) {
    return Error{ErrorCode::kInternal, "replaying the journal gives another state than the one that was committed"};
  }
  turn_.emplace(*std::move(engine));
  return ok_status();
}

// --- planted faults -----------------------------------------------------------------------------

bool SimulatedDaemon::loses(const leader::TurnItem& item, std::vector<Outgoing>& out) {
  const auto* exited = std::get_if<leader::WorkerExitedItem>(&item);
  if (setup_.bug != PlantedBug::kLosesExits || exited == nullptr || ++exits_seen_ % 3 != 0) return false;
  pass_on(leader::NodeMessage{exited->node, api::ReportAck{exited->report.report}}, ids_, out);
  return true;
}

// Programs are told to start before the older ones of all ranks have ended.
void SimulatedDaemon::launch_at_once(const std::vector<leader::TurnRow>& rows, std::vector<Outgoing>& out) {
  for (const auto& row : rows) {
    const auto* decided = std::get_if<leader::DecisionRow>(&row);
    if (decided == nullptr) continue;
    for (const auto& planned : decided->decision.plan) {
      const auto* intent = std::get_if<core::SwitchIntent>(&planned.intent);
      if (intent == nullptr) continue;
      api::AddressesMessage addresses{.generation = intent->number, .blobs = {}};
      for (const WorkerId member : intent->members) addresses.blobs.push_back(member.text());
      for (const WorkerId member : intent->members) {
        const NodeId node = state().find_worker(member)->node;
        pass_on(leader::NodeMessage{node, api::ToWorkerOrder{member, addresses}}, ids_, out);
      }
    }
  }
}

// Workers that have been told to leave are taken to be gone.
void SimulatedDaemon::free_leaving_slots(Instant now, std::vector<Outgoing>& out) {
  for (bool lives = true; lives;) {
    std::vector<leader::TurnItem> exits;
    for (const auto& [id, worker] : state().workers) {
      const bool leaves = worker.phase == core::WorkerPhase::kLeaving && !worker.is_gone();
      if (leaves) exits.emplace_back(leader::WorkerExitedItem{worker.node, {.report = 0, .worker = id}});
    }
    if (exits.empty()) return;
    lives = take_turn(std::move(exits), {}, now, out);
  }
}

}  // namespace tidepool::sim
