// Facts as JSON: {"fact": name, field: value, ...}.
#include <map>
#include <string_view>
#include <variant>

#include "base/codec/text_writer.hpp"
#include "base/overloaded.hpp"
#include "base/process_end.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/codec_fields.hpp"
#include "core/codec/node_fields.hpp"
#include "core/codec/pool_fields.hpp"
#include "core/codec/price_fields.hpp"
#include "core/codec/row_texts.hpp"
#include "core/codec/tenant_fields.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<JobSubmitted> auto& fact) {
  archive("job", fact.job);
  archive("spec", fact.spec);
}
void fields(auto& archive, codec::Like<JobCancelRequested> auto& fact) {
  archive("job", fact.job);
}
void fields(auto& archive, codec::Like<JobResizeRequested> auto& fact) {
  archive("job", fact.job);
  archive("size", fact.size);
}
void fields(auto& archive, codec::Like<JobSuspendRequested> auto& fact) {
  archive("job", fact.job);
}
void fields(auto& archive, codec::Like<JobResumeRequested> auto& fact) {
  archive("job", fact.job);
}
void fields(auto& archive, codec::Like<JobCheckpointRequested> auto& fact) {
  archive("job", fact.job);
}
void fields(auto& archive, codec::Like<JobChanged> auto& fact) {
  archive("job", fact.job);
  archive("spec", fact.spec);
}
void fields(auto& archive, codec::Like<NodeJoined> auto& fact) {
  archive("node", fact.node);
  archive("name", fact.name);
  archive("slots", fact.slots);
  archive("slot_type", fact.slot_type);
  archive("price_per_slot_hour", fact.price_per_slot_hour);
  archive("running", fact.running);
  archive("data_address", fact.data_address);
  archive("isolation", fact.isolation);
  archive("labels", fact.labels);
  archive("moves_states", fact.moves_states);
  archive("gives_notice", fact.gives_notice);
  archive("memory_per_slot", fact.memory_per_slot);
}
void fields(auto& archive, codec::Like<NodeLost> auto& fact) {
  archive("node", fact.node);
  archive("why", fact.why);
  archive("given_back", fact.given_back);
  archive("stopped", fact.stopped);
}
void fields(auto& archive, codec::Like<NodeProbed> auto& fact) {
  archive("node", fact.node);
  archive("devices", fact.devices);
}
void fields(auto& archive, codec::Like<NodeCordonChanged> auto& fact) {
  archive("node", fact.node);
  archive("cordoned", fact.cordoned);
}
void fields(auto& archive, codec::Like<NodeLabelled> auto& fact) {
  archive("node", fact.node);
  archive("labels", fact.labels);
}
void fields(auto& archive, codec::Like<NodeDrainRequested> auto& fact) {
  archive("node", fact.node);
  archive("within", fact.within);
  archive("reason", fact.reason);
}
void fields(auto& archive, codec::Like<NodeDrainCancelled> auto& fact) {
  archive("node", fact.node);
}
void fields(auto& archive, codec::Like<NodeReclaimNoticed> auto& fact) {
  archive("node", fact.node);
  archive("within", fact.within);
}
void fields(auto& archive, codec::Like<NodeDampingConfigured> auto& fact) {
  archive("damping", fact.damping);
}
void fields(auto& archive, codec::Like<DetectorConfigured> auto& fact) {
  archive("name", fact.name);
}
void fields(auto& archive, codec::Like<NodeFaultsCleared> auto& fact) {
  archive("node", fact.node);
}
void fields(auto& archive, codec::Like<NodeRemoved> auto& fact) {
  archive("node", fact.node);
}
void fields(auto& archive, codec::Like<MaintenanceAdded> auto& fact) {
  archive("window", fact.window);
}
void fields(auto& archive, codec::Like<MaintenanceRemoved> auto& fact) {
  archive("window", fact.window);
}
void fields(auto& archive, codec::Like<WorkerReady> auto& fact) {
  archive("worker", fact.worker);
  archive("work_steps", fact.work_steps);
  archive("work_samples", fact.work_samples);
}
void fields(auto& archive, codec::Like<WorkerJoining> auto& fact) {
  archive("worker", fact.worker);
  archive("generation", fact.generation);
}
void fields(auto& archive, codec::Like<WorkerStuck> auto& fact) {
  archive("worker", fact.worker);
  archive("step", fact.step);
  archive("phase", fact.phase);
  archive("lasted", fact.lasted);
}
void fields(auto& archive, codec::Like<SlotsHeld> auto& fact) {
  archive("worker", fact.worker);
  archive("lasted", fact.lasted);
  archive("why", fact.why);
  archive("exit_code", fact.exit_code);
  archive("signal", fact.signal);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<SlotsReleased> auto& fact) {
  archive("node", fact.node);
}
void fields(auto& archive, codec::Like<ProgramStarted> auto& fact) {
  archive("worker", fact.worker);
  archive("generation", fact.generation);
}
void fields(auto& archive, codec::Like<ProgramEnded> auto& fact) {
  archive("worker", fact.worker);
  archive("generation", fact.generation);
  archive("exit_code", fact.exit_code);
  archive("signal", fact.signal);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<NoticeAnswered> auto& fact) {
  archive("worker", fact.worker);
  archive("decision", fact.decision);
  archive("number", fact.number);
  archive("answer", fact.answer);
  archive("needs", fact.needs);
}
void fields(auto& archive, codec::Like<WorkerExited> auto& fact) {
  archive("worker", fact.worker);
  archive("exit_code", fact.exit_code);
  archive("signal", fact.signal);
  archive("detail", fact.detail);
  archive("never_joined", fact.never_joined);
  archive("never_stepped", fact.never_stepped);
  archive("nothing_started", fact.nothing_started);
}
void fields(auto& archive, codec::Like<GenerationSwitched> auto& fact) {
  archive("job", fact.job);
  archive("generation", fact.generation);
  archive("switch_step", fact.switch_step);
  archive("stall_ms", fact.stall_ms);
  archive("build_ms", fact.build_ms);
  archive("steps_redone", fact.steps_redone);
  archive("samples_repeated", fact.samples_repeated);
  archive("bytes_moved", fact.bytes_moved);
  archive("unused", fact.unused);
}
void fields(auto& archive, codec::Like<StepsMeasured> auto& fact) {
  archive("job", fact.job);
  archive("generation", fact.generation);
  archive("last_step", fact.last_step);
  archive("steps", fact.steps);
  archive("elapsed", fact.elapsed);
  archive("samples", fact.samples);
  archive("loss", fact.loss);
  archive("epoch", fact.epoch);
  archive("compute_us", fact.compute_us);
  archive("samples_total", fact.samples_total);
  archive("global_batch", fact.global_batch);
  archive("noise_scale", fact.noise_scale);
  archive("shares", fact.shares);
}
void fields(auto& archive, codec::Like<SharesChanged> auto& fact) {
  archive("job", fact.job);
  archive("generation", fact.generation);
  archive("number", fact.number);
  archive("step", fact.step);
  archive("stall_ms", fact.stall_ms);
}
void fields(auto& archive, codec::Like<DataEpochAudited> auto& fact) {
  archive("job", fact.job);
  archive("epoch", fact.epoch);
  archive("expected", fact.expected);
  archive("used", fact.used);
  archive("checksum_ok", fact.checksum_ok);
}
void fields(auto& archive, codec::Like<TrainingFinished> auto& fact) {
  archive("job", fact.job);
  archive("last_step", fact.last_step);
  archive("loss", fact.loss);
  archive("samples_total", fact.samples_total);
}
void fields(auto& archive, codec::Like<StateParked> auto& fact) {
  archive("job", fact.job);
  archive("worker", fact.worker);
  archive("generation", fact.generation);
  archive("step", fact.step);
  archive("bytes", fact.bytes);
  archive("write_ms", fact.write_ms);
}
void fields(auto& archive, codec::Like<CheckpointTaken> auto& fact) {
  archive("job", fact.job);
  archive("worker", fact.worker);
  archive("generation", fact.generation);
  archive("step", fact.step);
  archive("bytes", fact.bytes);
  archive("write_ms", fact.write_ms);
  archive("path", fact.path);
}
void fields(auto& archive, codec::Like<CheckpointFailed> auto& fact) {
  archive("job", fact.job);
  archive("worker", fact.worker);
  archive("generation", fact.generation);
  archive("step", fact.step);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<StateRestored> auto& fact) {
  archive("job", fact.job);
  archive("generation", fact.generation);
  archive("step", fact.step);
  archive("bytes", fact.bytes);
  archive("path", fact.path);
}
void fields(auto& archive, codec::Like<StateBrought> auto& fact) {
  archive("job", fact.job);
  archive("node", fact.node);
  archive("step", fact.step);
  archive("bytes", fact.bytes);
  archive("took", fact.took);
}
void fields(auto& archive, codec::Like<StateLeft> auto& fact) {
  archive("job", fact.job);
  archive("node", fact.node);
  archive("step", fact.step);
  archive("why", fact.why);
}
void fields(auto& archive, codec::Like<PolicyActivated> auto& fact) {
  archive("file", fact.file);
}
void fields(auto& archive, codec::Like<PolicyRolledBack> auto& fact) {
  archive("why", fact.why);
}
void fields(auto& archive, codec::Like<PolicyShadowed> auto& fact) {
  archive("file", fact.file);
}
void fields(auto& archive, codec::Like<PolicyAnswered> auto& fact) {
  archive("round", fact.round);
}
void fields(auto& archive, codec::Like<PoolsConfigured> auto& fact) {
  archive("spot_share", fact.spot_share);
  archive("pools", fact.pools);
}
void fields(auto& archive, codec::Like<PoolNodeCreated> auto& fact) {
  archive("request", fact.request);
  archive("provider_id", fact.provider_id);
  archive("lifetime", fact.lifetime);
}
void fields(auto& archive, codec::Like<PoolNodeCreateFailed> auto& fact) {
  archive("request", fact.request);
  archive("fault", fact.fault);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<PoolNodeDeleted> auto& fact) {
  archive("request", fact.request);
}
void fields(auto& archive, codec::Like<PoolNodeDeleteFailed> auto& fact) {
  archive("request", fact.request);
  archive("fault", fact.fault);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<PoolListed::Entry> auto& entry) {
  archive("request", entry.request);
  archive("provider_id", entry.provider_id);
  archive("lifetime", entry.lifetime);
}
void fields(auto& archive, codec::Like<PoolListed> auto& fact) {
  archive("pool", fact.pool);
  archive("asked_before", fact.asked_before);
  archive("nodes", fact.nodes);
  archive("begun_at", fact.begun_at);
}
void fields(auto& archive, codec::Like<PoolListFailed> auto& fact) {
  archive("pool", fact.pool);
  archive("fault", fact.fault);
  archive("detail", fact.detail);
}
void fields(auto& archive, codec::Like<TenantsConfigured> auto& fact) {
  archive("tree", fact.tree);
}
void fields(auto& archive, codec::Like<PricesConfigured> auto& fact) {
  archive("list", fact.list);
}
void fields(auto& archive, codec::Like<UtcSet> auto& fact) {
  archive("unix_us_at_zero", fact.unix_us_at_zero);
}
void fields(auto&, codec::Like<ClockAdvanced> auto&) {}

std::string_view name_of(const Fact& fact) {
  return std::visit(Overloaded{
                        [](const JobSubmitted&) { return "job_submitted"; },
                        [](const JobCancelRequested&) { return "job_cancel_requested"; },
                        [](const JobResizeRequested&) { return "job_resize_requested"; },
                        [](const JobSuspendRequested&) { return "job_suspend_requested"; },
                        [](const JobResumeRequested&) { return "job_resume_requested"; },
                        [](const JobCheckpointRequested&) { return "job_checkpoint_requested"; },
                        [](const JobChanged&) { return "job_changed"; },
                        [](const NodeJoined&) { return "node_joined"; },
                        [](const NodeLost&) { return "node_lost"; },
                        [](const NodeProbed&) { return "node_probed"; },
                        [](const NodeCordonChanged&) { return "node_cordon_changed"; },
                        [](const NodeLabelled&) { return "node_labelled"; },
                        [](const NodeDrainRequested&) { return "node_drain_requested"; },
                        [](const NodeDrainCancelled&) { return "node_drain_cancelled"; },
                        [](const NodeReclaimNoticed&) { return "node_reclaim_noticed"; },
                        [](const NodeDampingConfigured&) { return "node_damping_configured"; },
                        [](const DetectorConfigured&) { return "detector_configured"; },
                        [](const NodeFaultsCleared&) { return "node_faults_cleared"; },
                        [](const NodeRemoved&) { return "node_removed"; },
                        [](const MaintenanceAdded&) { return "maintenance_added"; },
                        [](const MaintenanceRemoved&) { return "maintenance_removed"; },
                        [](const WorkerReady&) { return "worker_ready"; },
                        [](const WorkerJoining&) { return "worker_joining"; },
                        [](const WorkerStuck&) { return "worker_stuck"; },
                        [](const ProgramStarted&) { return "program_started"; },
                        [](const ProgramEnded&) { return "program_ended"; },
                        [](const NoticeAnswered&) { return "notice_answered"; },
                        [](const SlotsHeld&) { return "slots_held"; },
                        [](const SlotsReleased&) { return "slots_released"; },
                        [](const WorkerExited&) { return "worker_exited"; },
                        [](const GenerationSwitched&) { return "generation_switched"; },
                        [](const StepsMeasured&) { return "steps_measured"; },
                        [](const SharesChanged&) { return "shares_changed"; },
                        [](const DataEpochAudited&) { return "data_epoch_audited"; },
                        [](const TrainingFinished&) { return "training_finished"; },
                        [](const StateParked&) { return "state_parked"; },
                        [](const CheckpointTaken&) { return "checkpoint_taken"; },
                        [](const CheckpointFailed&) { return "checkpoint_failed"; },
                        [](const StateRestored&) { return "state_restored"; },
                        [](const StateBrought&) { return "state_brought"; },
                        [](const StateLeft&) { return "state_left"; },
                        [](const PolicyActivated&) { return "policy_activated"; },
                        [](const PolicyRolledBack&) { return "policy_rolled_back"; },
                        [](const PolicyShadowed&) { return "policy_shadowed"; },
                        [](const PolicyAnswered&) { return "policy_answered"; },
                        [](const PoolsConfigured&) { return "pools_configured"; },
                        [](const PoolNodeCreated&) { return "pool_node_created"; },
                        [](const PoolNodeCreateFailed&) { return "pool_node_create_failed"; },
                        [](const PoolNodeDeleted&) { return "pool_node_deleted"; },
                        [](const PoolNodeDeleteFailed&) { return "pool_node_delete_failed"; },
                        [](const PoolListed&) { return "pool_listed"; },
                        [](const PoolListFailed&) { return "pool_list_failed"; },
                        [](const TenantsConfigured&) { return "tenants_configured"; },
                        [](const PricesConfigured&) { return "prices_configured"; },
                        [](const UtcSet&) { return "utc_set"; },
                        [](const ClockAdvanced&) { return "clock_advanced"; },
                    },
                    fact);
}

nlohmann::json to_json(const Fact& fact) {
  auto out = std::visit([](const auto& any) { return codec::encode(any); }, fact);
  out["fact"] = name_of(fact);
  return out;
}

namespace {

// A fact as a row of the journal: its specification omits the values of a blank one.
class FactRow {
 public:
  explicit FactRow(codec::TextWriter& writer) : writer_(writer) {}
  template <class T>
  void operator()(const char* name, const T& value) {
    writer_(name, value);
  }
  void operator()(const char* name, const JobSpec& spec) {
    writer_.with(name, [&](std::string& out) { codec::append_as_row(out, spec); });
  }

 private:
  codec::TextWriter& writer_;
};

}  // namespace

std::string fact_text(const Fact& fact) {
  std::string text;
  codec::TextWriter writer(text);
  FactRow row(writer);
  std::visit([&](const auto& any) { fields(row, any); }, fact);
  row("fact", std::string(name_of(fact)));
  writer.finish();
  return text;
}

namespace {

using DecodeFact = Result<Fact> (*)(const nlohmann::json& body);

template <class F>
Result<Fact> decode_fact(const nlohmann::json& body) {
  F fact;
  TP_TRY(codec::decode(body, "", fact));
  return Fact(std::move(fact));
}

// By the name of the fact.
template <class... Facts>
std::map<std::string_view, DecodeFact> decoders_of(const std::variant<Facts...>*) {
  return {{name_of(Facts{}), &decode_fact<Facts>}...};
}

Result<Fact> decode_named(std::string_view name, const nlohmann::json& body) {
  static const auto decoders = decoders_of(static_cast<const Fact*>(nullptr));
  const auto found = decoders.find(name);
  if (found != decoders.end()) return found->second(body);
  return invalid_argument("/fact \"" + std::string(name) + "\" is not a fact that this version knows");
}

// Fills in the fields as versions without them interpreted the exit.
void tell_no_later_fields_of_exits(nlohmann::json& body) {
  const auto number = [&](const char* name) {
    const auto found = body.find(name);
    return found != body.end() && found->is_number_integer() ? found->get<int>() : 0;
  };
  body.emplace("never_joined", false);
  body.emplace("never_stepped", false);
  body.emplace("nothing_started", is_end_unknown(number("exit_code"), number("signal")));
}

}  // namespace

Result<Fact> fact_from_json(const nlohmann::json& value) {
  if (!value.is_object()) return invalid_argument("a fact must be an object");
  const auto name = value.find("fact");
  if (name == value.end() || !name->is_string()) return invalid_argument("/fact is missing");
  auto body = value;
  body.erase("fact");
  // In facts of earlier versions agents reported none.
  if (*name == name_of(NodeJoined{})) body.emplace("data_address", "");
  if (*name == name_of(NodeJoined{})) body.emplace("isolation", nullptr);
  if (*name == name_of(NodeJoined{})) body.emplace("labels", nlohmann::json::object());
  if (*name == name_of(NodeJoined{})) body.emplace("moves_states", false);
  if (*name == name_of(NodeJoined{})) body.emplace("gives_notice", false);
  if (*name == name_of(NodeJoined{})) body.emplace("memory_per_slot", nullptr);
  if (*name == name_of(NodeLost{})) body.emplace("given_back", false);
  if (*name == name_of(NodeLost{})) body.emplace("stopped", false);
  if (*name == name_of(WorkerExited{})) tell_no_later_fields_of_exits(body);
  if (*name == name_of(GenerationSwitched{})) body.emplace("unused", nullptr);
  if (*name == name_of(PoolsConfigured{})) add_missing_fields_of_specs(body);
  if (*name == name_of(PoolListed{})) body.emplace("begun_at", nullptr);
  if (*name == name_of(TenantsConfigured{}) && body.contains("tree")) add_missing_fields(body["tree"]);
  const bool names_file = *name == name_of(PolicyActivated{}) || *name == name_of(PolicyShadowed{});
  if (names_file && body.contains("file")) add_missing_hooks(body["file"]);
  if (*name == name_of(PolicyAnswered{}) && body.contains("round")) add_missing_answers(body["round"]);
  return decode_named(name->get_ref<const std::string&>(), body);
}

}  // namespace tidepool::core
