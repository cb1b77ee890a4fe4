// The whole state as JSON: the journal's snapshot.
#include "base/codec/sparse.hpp"
#include "base/codec/text_writer.hpp"
#include "base/digest.hpp"
#include "base/json.hpp"
#include "core/codec/account_fields.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/codec_fields.hpp"
#include "core/codec/deployment_fields.hpp"
#include "core/codec/measurement_fields.hpp"
#include "core/codec/node_fields.hpp"
#include "core/codec/phase_fields.hpp"
#include "core/codec/pool_fields.hpp"
#include "core/codec/pool_ledger_fields.hpp"
#include "core/codec/price_fields.hpp"
#include "core/codec/recovery_fields.hpp"
#include "core/codec/state_rows.hpp"
#include "core/codec/tenant_fields.hpp"
#include "core/state/cluster_invariants.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/tenant_jobs.hpp"

namespace tidepool::core {

inline auto names_of(WorkerPhase) {
  const auto name = [](WorkerPhase phase) { return codec::EnumName<WorkerPhase>{phase, to_text(phase)}; };
  return std::array{name(WorkerPhase::kStarting), name(WorkerPhase::kReady), name(WorkerPhase::kMember),
                    name(WorkerPhase::kLeaving)};
}
inline auto names_of(NodeState) {
  using Name = codec::EnumName<NodeState>;
  return std::array{Name{NodeState::kUp, "up"}, Name{NodeState::kLost, "lost"}};
}

void fields(auto& archive, codec::Like<SlotHold> auto& hold) {
  archive("since", hold.since);
  archive("why", hold.why);
}

void fields(auto& archive, codec::Like<StuckNotice> auto& notice) {
  archive("step", notice.step);
  archive("lasted", notice.lasted);
}

void fields(auto& archive, codec::Like<StragglerTrack> auto& track) {
  archive("score", track.score);
  archive("bar", track.bar);
  archive("steps", track.steps);
  archive("slow_steps", track.slow_steps);
  archive("waited_s", track.waited_s);
  archive("told", track.told);
  archive("probed", track.probed);
  archive("detector", track.detector);
  archive("busy_us", track.busy_us);
  archive("busy_steps", track.busy_steps);
}

void fields(auto& archive, codec::Like<SampleWeights> auto& table) {
  archive("number", table.number);
  archive("weights", table.weights);
}

void fields(auto& archive, codec::Like<BatchRebalance> auto& rebalanced) {
  archive("weight", rebalanced.weight);
  archive("lost_s", rebalanced.lost_s);
  archive("idle_s", rebalanced.idle_s);
}

void fields(auto& archive, codec::Like<ShareTurns> auto& turns) {
  archive("grew", turns.grew);
  archive("count", turns.count);
}

void fields(auto& archive, codec::Like<NodeHealth> auto& health) {
  archive("devices", health.devices);
  archive("at", health.at);
  archive("best_gflops", health.best_gflops);
  archive("best_copy_gbps", health.best_copy_gbps);
}

void fields(auto& archive, codec::Like<Worker> auto& worker) {
  archive("id", worker.id);
  archive("job", worker.job);
  archive("node", worker.node);
  archive("slots", worker.slots);
  archive("phase", worker.phase);
  archive("started_at", worker.started_at);
  archive("stop_due", worker.stop_due);
  archive("kill_at", worker.kill_at);
  archive("stopped_for", worker.stopped_for);
  archive("notice", worker.notice);
  archive("joining", worker.joining);
  archive("stuck", worker.stuck);
  archive("launched", worker.launched);
  archive("program_ended", worker.program_ended);
  archive("node_lost", worker.node_lost);
  archive("boot_unseen", worker.boot_unseen);
  archive("held", worker.held);
  archive("track", worker.track);
  archive("replaced", worker.replaced);
  archive("replaced_on", worker.replaced_on);
}

void fields(auto& archive, codec::Like<Node> auto& node) {
  archive("id", node.id);
  archive("name", node.name);
  archive("state", node.state);
  archive("cordoned", node.cordoned);
  archive("slot_type", node.slot_type);
  archive("price_per_slot_hour", node.price_per_slot_hour);
  archive("owners", node.owners);
  archive("health", node.health);
  archive("data_address", node.data_address);
  archive("isolation", node.isolation);
  archive("labels_given", node.labels_given);
  archive("labels_set", node.labels_set);
  archive("moves_states", node.moves_states);
  archive("gives_notice", node.gives_notice);
  archive("memory_per_slot", node.memory_per_slot);
  archive("drain", node.drain);
  archive("faults", node.faults);
}

void fields(auto& archive, codec::Like<ProgramLength> auto& length) {
  archive("steps", length.steps);
  archive("samples", length.samples);
}

void fields(auto& archive, codec::Like<Commit> auto& commit) {
  archive("at", commit.at);
  archive("reason", commit.reason);
  archive("replaces", commit.replaces);
  archive("from_size", commit.from_size);
  archive("after_failure", commit.after_failure);
}

void fields(auto& archive, codec::Like<PlanInputs> auto& inputs) {
  archive("asked", inputs.asked);
  archive("frozen", inputs.resize_blocked);
  archive("step_seconds", inputs.step_seconds);
}

void fields(auto& archive, codec::Like<PlannedTarget> auto& planned) {
  archive("allotment", planned.target);
  archive("grounds", planned.inputs);
}

void fields(auto& archive, codec::Like<ClusterPlan> auto& plan) {
  archive("policy", plan.policy);
  archive("made_at", plan.made_at);
  archive("nodes", plan.nodes);
  archive("mark", plan.mark);
  archive("wake", plan.wake);
  archive("error", plan.error);
}

void fields(auto& archive, codec::Like<RestartState> auto& restart_state) {
  archive("launched", restart_state.launched);
  archive("launched_at", restart_state.launched_at);
  archive("failed", restart_state.failed);
  archive("home", restart_state.home);
}

namespace {

// A job is stored flat: the parts exist in the program, the names in the rows.
void part_fields(auto& archive, codec::Like<Membership> auto& membership) {
  archive("generation", membership.generation);
  archive("members", membership.members);
  archive("switched", membership.switched);
  archive("switch_step", membership.switch_step);
  archive("unused_state", membership.unused_state);
  archive("commit", membership.commit);
  archive("stepping_generation", membership.stepping_generation);
  archive("stepping_size", membership.stepping_size);
  archive("parking", membership.parking);
  archive("incarnation", membership.restart_state);
  archive("workers", membership.workers);
  archive("out_of_sight", membership.on_lost_nodes);
}

void part_fields(auto& archive, codec::Like<SampleShares> auto& shares) {
  archive("shares_told", shares.ordered);
  archive("shares_used", shares.used);
  archive("shares_ordered", shares.awaited);
  archive("eased", shares.rebalanced);
  archive("share_turns", shares.turns);
}

void part_fields(auto& archive, codec::Like<Requests> auto& requests) {
  archive("pinned_size", requests.pinned_size);
  archive("cancel_requested", requests.cancel);
  archive("suspend_requested", requests.suspend);
  archive("checkpoint_wanted", requests.checkpoint);
}

void part_fields(auto& archive, codec::Like<Progress> auto& progress) {
  archive("finished_training", progress.finished);
  archive("last_step", progress.step);
  archive("samples_done", progress.samples);
  archive("program_length", progress.length);
  archive("last_report_at", progress.reported_at);
  archive("late_at", progress.late_at);
  archive("epoch", progress.epoch);
  archive("first_loss", progress.first_loss);
  archive("last_loss", progress.last_loss);
  archive("global_batch", progress.global_batch);
  archive("noise_scale", progress.noise_scale);
  archive("audited_epoch", progress.audited_epoch);
  archive("audits_told_to", progress.audits_told_to);
  archive("audits_untold", progress.audits_untold);
}

void part_fields(auto& archive, codec::Like<Measurements> auto& measurements) {
  record_fields(archive, measurements);
  archive("slot_type", measurements.slot_type);
  archive("on_other_types", measurements.on_other_types);
  archive("steps_since_switch", measurements.steps_since_switch);
  archive("paces", measurements.detector_state);
}

void part_fields(auto& archive, codec::Like<Recovery> auto& recovery) {
  recovery_fields(archive, recovery);
}

void part_fields(auto& archive, codec::Like<PreemptionRecord> auto& preemption) {
  preemption_fields(archive, preemption);
}

void part_fields(auto& archive, codec::Like<Account> auto& account) {
  account_fields(archive, account);
}

}  // namespace

void fields(auto& archive, codec::Like<Job> auto& job) {
  archive("id", job.id);
  archive("spec", job.spec);
  archive("submitted_at", job.submitted_at);
  archive("started_at", job.started_at);
  phase_fields(archive, job);
  archive("last_start_at", job.last_start_at);
  archive("last_resize_at", job.last_resize_at);
  part_fields(archive, job.membership);
  part_fields(archive, job.shares);
  part_fields(archive, job.requests);
  archive("budget_hold", job.hold);
  part_fields(archive, job.progress);
  part_fields(archive, job.measurements);
  part_fields(archive, job.recovery);
  part_fields(archive, job.preemption);
  part_fields(archive, job.account);
  archive("verdict", job.verdict);
  archive("allotted", job.planned);
}

void fields(auto& archive, codec::Like<EndedCosts> auto& costs) {
  archive("boot_ms", costs.boot_ms);
  archive("start_ms", costs.start_ms);
  archive("grow_ms", costs.grow_ms);
  archive("shrink_ms", costs.shrink_ms);
  archive("replace_ms", costs.replace_ms);
  archive("restart_ms", costs.restart_ms);
}

void fields(auto& archive, codec::Like<EndedJob> auto& job) {
  archive("id", job.id);
  archive("state", job.state);
  archive("finished_at", job.finished_at);
  archive("slot_time", job.slot_time);
  archive("samples_done", job.samples_done);
  archive("global_batch", job.global_batch);
  archive("gpus_per_worker", job.gpus_per_worker);
  archive("kind", job.kind);
  archive("sizes", job.sizes);
  archive("slot_type", job.slot_type);
  archive("on_other_types", job.on_other_types);
  archive("tenant", job.tenant);
  archive("costs", job.costs);
}

void fields(auto& archive, codec::Like<EndedCounts> auto& counts) {
  archive("succeeded", counts.succeeded);
  archive("failed", counts.failed);
  archive("cancelled", counts.cancelled);
}

void fields(auto& archive, codec::Like<ClusterState> auto& state) {
  archive("now", state.now);
  archive("next_job", state.next_job);
  archive("next_node", state.next_node);
  archive("next_worker", state.next_worker);
  archive("next_decision", state.next_decision);
  archive("next_event", state.next_event);
  archive("ended_counts", state.ended_counts);
  archive("plan", state.plan);
}

namespace {

// Nodes, workers and jobs contain their names, so they are stored as lists; a duplicate name is an error.
template <class Take>
Status decode_list(nlohmann::json& document, const char* name, Take take) {
  const auto found = document.find(name);
  const std::string where = std::string("/") + name;
  if (found == document.end() || !found->is_array()) return codec::wrong(where, "a list");
  std::size_t index = 0;
  for (const auto& element : *found) TP_TRY(take(element, where + "/" + std::to_string(index++)));
  document.erase(found);
  return ok_status();
}

// The value that the element holds; its id must not be in the table.
template <class T, class Table>
Result<T> decode_named(const nlohmann::json& element, const std::string& where, const Table& table, T value) {
  TP_TRY(codec::decode(element, where, *value));
  if (!value->id || table.contains(value->id)) return codec::wrong(where + "/id", "an id of its own").error();
  return value;
}

Status take_node(nlohmann::json element, const std::string& where, ClusterState& state) {
  // States of earlier versions lack these fields.
  if (element.is_object()) {
    element.emplace("drain", nullptr);
    element.emplace("data_address", "");
    element.emplace("isolation", nullptr);
    element.emplace("labels_given", nlohmann::json::object());
    element.emplace("labels_set", nlohmann::json::object());
    element.emplace("moves_states", false);
    element.emplace("gives_notice", false);
    element.emplace("faults", nullptr);
    element.emplace("memory_per_slot", nullptr);
    add_missing_causes(element["drain"]);
  }
  auto node = decode_named(element, where, state.nodes, std::make_unique<Node>());
  if (!node.ok()) return node.error();
  const NodeId id = (*node)->id;
  state.nodes.emplace(id, std::move(**node));
  return ok_status();
}

Status take_worker(nlohmann::json element, const std::string& where, ClusterState& state) {
  if (element.is_object()) {  // likewise
    add_missing_refusal(element.emplace("notice", nullptr).first.value());
    element.emplace("held", nullptr);
    element.emplace("boot_unseen", false);
  }
  auto worker = decode_named(element, where, state.workers, std::make_unique<Worker>());
  if (!worker.ok()) return worker.error();
  const WorkerId id = (*worker)->id;
  state.workers.emplace(id, std::move(**worker));
  return ok_status();
}

Status take_job(nlohmann::json element, const std::string& where, ClusterState& state) {
  add_missing_types(element);
  add_missing_starts(element);
  add_missing_size_costs(element);
  add_missing_moves(element);
  add_missing_turns(element);
  add_missing_ends_audits_failures(element);
  add_missing_preemptions(element);
  add_missing_cleared_domain(element);
  add_missing_money(element);
  auto job = decode_named(element, where, state.jobs, std::make_shared<Job>());
  if (!job.ok()) return job.error();
  const JobId id = (*job)->id;
  state.jobs.emplace(id, *std::move(job));
  return ok_status();
}

Status take_ended(nlohmann::json element, const std::string& where, ClusterState& state) {
  add_missing_types(element);
  if (element.is_object()) {
    element.emplace("tenant", "");
    element.emplace("kind", 0U);
    element.emplace("costs", codec::encode(EndedCosts{}));
  }
  auto job = decode_named(element, where, state.ended, std::make_shared<EndedJob>());
  if (!job.ok()) return job.error();
  const JobId id = (*job)->id;
  state.ended.emplace(id, *std::move(job));
  return ok_status();
}

Status take_pool_day(const nlohmann::json& element, const std::string& where, ClusterState& state) {
  auto day = decode_named(element, where, state.pool_ledger.days, std::make_unique<PoolDay>());
  if (!day.ok()) return day.error();
  const PoolDayId id = (*day)->id;
  state.pool_ledger.days.emplace(id, std::move(**day));
  return ok_status();
}

// Everything except nodes, workers, jobs and days.
nlohmann::json encode_head(const ClusterState& state) {
  auto out = codec::encode(state);
  // Each is omitted while it is empty, as in the states of daemons that did not support it.
  if (state.deployment != PolicyDeployment{}) out["desk"] = codec::encode(state.deployment);
  if (state.pools != NodePools{}) out["pools"] = codec::encode(state.pools);
  if (*state.tenants != TenantTree{}) out["tenants"] = encode_tenants(state);
  if (!state.prices->list.empty()) out["prices"] = codec::encode(*state.prices);
  if (state.damping != NodeDamping{}) out["node_damping"] = codec::encode(state.damping);
  if (!state.straggler_detector.empty()) out["straggler_detector"] = state.straggler_detector;
  if (state.maintenance != Maintenance{}) out["maintenance"] = codec::encode(state.maintenance);
  if (!state.preempted_at.empty()) out["preempted_at"] = codec::encode(state.preempted_at);
  if (state.utc_us_at_zero != 0) out["utc_us_at_zero"] = state.utc_us_at_zero;
  if (!state.pool_ledger.types.empty()) out["pool_ledger"] = codec::encode(state.pool_ledger);
  return out;
}

Status take_head(nlohmann::json document, ClusterState& state) {
  const auto take = [&](const char* name, auto&& read) {
    const auto found = document.find(name);
    if (found == document.end()) return ok_status();
    Status taken = read(*found);
    document.erase(found);
    return taken;
  };
  const auto take_into = [&](const char* name, auto& value) {
    return take(name, [&](const auto& found) { return codec::decode(found, std::string("/") + name, value); });
  };
  TP_TRY(take("tenants", [&](const auto& found) { return take_tenants(found, state); }));
  TP_TRY(take("prices", [&](const auto& found) { return take_prices(found, state); }));
  TP_TRY(take_into("utc_us_at_zero", state.utc_us_at_zero));
  TP_TRY(take_into("preempted_at", state.preempted_at));
  TP_TRY(take_into("pool_ledger", state.pool_ledger));
  if (const auto pools = document.find("pools"); pools != document.end()) add_missing_fields_of_pools(*pools);
  TP_TRY(take_into("pools", state.pools));
  TP_TRY(take_into("node_damping", state.damping));
  TP_TRY(take_into("straggler_detector", state.straggler_detector));
  TP_TRY(take_into("maintenance", state.maintenance));
  TP_TRY(take("desk", [&](auto& found) {
    add_missing_fields_of_deployment(found);
    return codec::decode(found, "/desk", state.deployment);
  }));
  return codec::decode(document, "", state);
}

Result<ClusterState> checked(ClusterState state) {
  name_slot_types(state);
  state.tenant_jobs = count_jobs(state, *state.tenants);
  if (const auto broken = broken_invariant(state)) return invalid_argument("the state contradicts itself: " + *broken);
  return state;
}

}  // namespace

nlohmann::json to_json(const ClusterState& state) {
  auto out = encode_head(state);
  auto& nodes = out["nodes"] = nlohmann::json::array();
  for (const auto& [id, node] : state.nodes) nodes.push_back(codec::encode(node));
  auto& workers = out["workers"] = nlohmann::json::array();
  for (const auto& [id, worker] : state.workers) workers.push_back(codec::encode(worker));
  auto& jobs = out["jobs"] = nlohmann::json::array();
  for (const auto& [id, job] : state.jobs) jobs.push_back(codec::encode(*job));
  auto& ended = out["ended"] = nlohmann::json::array();
  for (const auto& [id, job] : state.ended) ended.push_back(codec::encode(*job));
  auto& days = out["pool_days"] = nlohmann::json::array();
  for (const auto& [id, day] : state.pool_ledger.days) days.push_back(codec::encode(day));
  return out;
}

Result<ClusterState> state_from_json(const nlohmann::json& value) {
  if (!value.is_object()) return invalid_argument("a state must be an object");
  auto document = value;
  ClusterState state;
  const auto list = [&](const char* name, auto take) {
    return decode_list(document, name,
                       [&](const auto& element, const std::string& where) { return take(element, where, state); });
  };
  TP_TRY(list("nodes", take_node));
  TP_TRY(list("workers", take_worker));
  TP_TRY(list("jobs", take_job));
  TP_TRY(list("ended", take_ended));
  if (document.contains("pool_days")) TP_TRY(list("pool_days", take_pool_day));
  TP_TRY(take_head(std::move(document), state));
  return checked(std::move(state));
}

std::vector<RowKey> rows_between(const ClusterState& before, const ClusterState& now) {
  std::vector<RowKey> keys;
  const auto add = [&](RowKind kind) { return [&keys, kind](auto id) { keys.push_back({kind, id.number()}); }; };
  SharedIdTable<NodeId, Node>::for_each_unshared(before.nodes, now.nodes, add(RowKind::kNode));
  SharedIdTable<WorkerId, Worker>::for_each_unshared(before.workers, now.workers, add(RowKind::kWorker));
  SharedIdTable<JobId, std::shared_ptr<const Job>>::for_each_unshared(before.jobs, now.jobs, [&](JobId id) {
    if (before.find_job(id) != now.find_job(id)) keys.push_back({RowKind::kJob, id.number()});
  });
  SharedIdTable<JobId, std::shared_ptr<const EndedJob>>::for_each_unshared(before.ended, now.ended, [&](JobId id) {
    if (before.find_ended(id) != now.find_ended(id)) keys.push_back({RowKind::kEnded, id.number()});
  });
  SharedIdTable<PoolDayId, PoolDay>::for_each_unshared(before.pool_ledger.days, now.pool_ledger.days,
                                                       add(RowKind::kPoolDay));
  return keys;
}

namespace {

// The blank value against which a row is encoded, so that the row contains only the differences.
template <class T>
const nlohmann::json& blank_of() {
  static const nlohmann::json blank = codec::encode(T{});
  return blank;
}

template <class T>
std::string sparse_text(const T& value) {
  std::string text;
  codec::append_as_row(text, value);
  return text;
}

template <class T>
Result<nlohmann::json> from_sparse_text(std::string_view text) {
  auto document = parse_json(text, kOwnJson);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return invalid_argument("must be an object");
  codec::fill_in(*document, blank_of<T>());
  return document;
}

}  // namespace

std::string job_text(const Job& job) {
  return sparse_text(job);
}

Result<std::shared_ptr<const Job>> job_from_text(std::string_view text) {
  auto document = parse_own_json(text);
  if (!document.ok()) return document.error();
  add_missing_starts(*document);
  add_missing_size_costs(*document);
  add_missing_moves(*document);
  auto job = std::make_shared<Job>();
  TP_TRY(codec::decode_sparse(*document, "", *job));
  return std::shared_ptr<const Job>(std::move(job));
}

std::string row_text(const ClusterState& state, RowKey key) {
  const auto text = [](const auto* value) { return value == nullptr ? "" : sparse_text(*value); };
  switch (key.kind) {
    case RowKind::kNode: return text(state.find_node(NodeId(key.id)));
    case RowKind::kWorker: return text(state.find_worker(WorkerId(key.id)));
    case RowKind::kJob: return text(state.find_job(JobId(key.id)));
    case RowKind::kEnded: return text(state.find_ended(JobId(key.id)));
    case RowKind::kPoolDay: {
      const auto day = state.pool_ledger.days.find(PoolDayId(key.id));
      return day == state.pool_ledger.days.end() ? "" : sparse_text(day->second);
    }
  }
  return "";
}

std::string head_text(const ClusterState& state) {
  return canonical_json(encode_head(state));
}

Status StateFromRows::put(RowKey key, std::string_view text) {
  const auto take = [&](const Result<nlohmann::json>& document, const char* where, auto take_in) {
    return document.ok() ? take_in(*document, where, state_) : Status(document.error());
  };
  switch (key.kind) {
    case RowKind::kNode: return take(from_sparse_text<Node>(text), "/node", take_node);
    case RowKind::kWorker: return take(from_sparse_text<Worker>(text), "/worker", take_worker);
    case RowKind::kJob: return take(from_sparse_text<Job>(text), "/job", take_job);
    case RowKind::kEnded: return take(from_sparse_text<EndedJob>(text), "/ended", take_ended);
    case RowKind::kPoolDay: return take(from_sparse_text<PoolDay>(text), "/pool_day", take_pool_day);
  }
  return invalid_argument("a row of no known kind");
}

Result<ClusterState> StateFromRows::finish(std::string_view head) && {
  auto document = parse_json(head, kOwnJson);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return invalid_argument("the head of a state must be an object");
  TP_TRY(take_head(*std::move(document), state_));
  return checked(std::move(state_));
}

std::uint64_t digest_of(const ClusterState& state) {
  return Digest().mix(canonical_json(to_json(state))).value();
}

}  // namespace tidepool::core
