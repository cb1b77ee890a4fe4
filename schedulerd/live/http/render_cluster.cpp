#include <algorithm>
#include <map>

#include "api/worker_protocol.hpp"
#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "base/timestamp.hpp"
#include "core/codec/codec.hpp"
#include "core/decide/rebalance_planner.hpp"
#include "core/decide/straggler_planner.hpp"
#include "core/explain/explain.hpp"
#include "core/state/measured/node_speed.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/unblock.hpp"
#include "schedulerd/leader/token_validity.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/settings/price_view.hpp"
#include "schedulerd/live/http/tenant_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

template <class Id>
json id_or_null(const std::optional<Id>& id) {
  return id ? json(id->text()) : json(nullptr);
}

std::vector<std::string> workers_of(const core::Intent& intent) {
  std::vector<std::string> workers;
  const auto place = [&](const std::vector<core::WorkerPlacement>& joining_workers) {
    for (const auto& joining_worker : joining_workers) workers.push_back(joining_worker.worker.text());
  };
  const auto list = [&](const std::vector<WorkerId>& ids) {
    for (const WorkerId id : ids) workers.push_back(id.text());
  };
  std::visit(Overloaded{[&](const core::StartIntent& i) { place(i.joining_workers); },
                        [&](const core::GrowIntent& i) { place(i.joining_workers); },
                        [&](const core::ShrinkIntent& i) { list(i.leaving_workers); },
                        [&](const core::RebalanceIntent& i) { list({i.worker}); },
                        [&](const core::ProbeIntent& i) { list({i.worker}); },
                        [&](const core::ReplaceIntent& i) { list({i.joining_worker.worker, i.leaving_worker}); },
                        [&](const core::MoveIntent& i) {
                          place(i.joining_workers);
                          list(i.leaving_workers);
                        },
                        [&](const core::SwitchIntent& i) { list(i.members); }, [](const core::LaunchIntent&) {},
                        [](const core::PreemptIntent&) {}, [](const core::AskIntent&) {},
                        [&](const core::StopWorkerIntent& i) { list({i.worker}); }, [](const core::EndJobIntent&) {}},
             intent);
  return workers;
}

json render_intent(const Published& seen, const core::PlannedIntent& planned, const core::Job& job) {
  json intent = {{"kind", core::name_of(planned.intent)},
                 {"job", job.id.text()},
                 {"job_name", job.spec.name},
                 {"workers", workers_of(planned.intent)},
                 {"reason", render_reason(planned.reason)},
                 {"text", core::sentence(planned, seen.state)}};
  core::visit_reason(
      [&](const auto& told) {
        if constexpr (requires { told.from, told.to; }) intent.update({{"from", told.from}, {"to", told.to}});
      },
      planned.reason);
  return intent;
}

json render_verdict(const core::Verdict& verdict) {
  return {{"job", verdict.job.text()},
          {"reason", render_reason(verdict.reason)},
          {"chosen", verdict.chosen ? render_alternative(*verdict.chosen) : json(nullptr)},
          {"lost", render_alternatives(verdict.lost)},
          {"unblocks", core::unblocks_of(verdict.reason, verdict.job)}};
}

// What a plan for the whole cluster gives a job from this decision on.
json render_target(JobId job, const core::Target& target) {
  return {{"job", job.text()},
          {"size", target.size},
          {"score", target.score},
          {"reason", render_reason(target.reason)},
          {"lost", render_alternatives(target.lost)},
          {"unblocks", core::unblocks_of(target.reason, job)}};
}

json render_targets(const core::Decision& decision, const auto& visible) {
  json targets = json::array();
  if (!decision.replan) return targets;
  for (const auto& [job, now, words_only] : decision.replan->changes) {
    if (now && visible(job) != nullptr) targets.push_back(render_target(job, *now));
  }
  return targets;
}

// Of a decision event only the intents for the caller's own jobs; false if none is left.
bool keep_own_intents(json& data, const auto& visible) {
  if (!data.contains("intents") || !data["intents"].is_array()) return false;
  json own = json::array();
  for (const auto& intent : data["intents"]) {
    const auto id = intent.contains("job") && intent["job"].is_string()
                        ? JobId::parse(intent["job"].get_ref<const std::string&>())
                        : std::nullopt;
    if (id && visible(*id) != nullptr) own.push_back(intent);
  }
  data["intents"] = std::move(own);
  return !data["intents"].empty();
}

bool may_see(const core::Event& event, const Caller& caller) {
  if (caller.tenant.empty()) return true;
  if (!event.tenant.empty()) return caller.sees(event.tenant);
  return event.type.starts_with("node.") || event.type.starts_with("prices.") || event.type == "decision.made";
}

json render_health(const Published& seen, const core::Node& node) {
  const auto speed = core::speed_of(seen.state, node);
  if (!speed) return nullptr;
  json devices = json::array();
  for (const core::DeviceSpeed& each : node.health->devices) {
    devices.push_back({{"device", each.device}, {"matmul_gflops", each.matmul_gflops}, {"copy_gbps", each.copy_gbps}});
  }
  return {{"at", seen.clock.text(node.health->at)},
          {"speed", *speed},
          {"slow", *speed < core::kSlowNode},
          {"devices", std::move(devices)}};
}

}  // namespace

json render_worker(const Published& seen, const core::Worker& worker) {
  json rank = nullptr;
  double share = 1;
  double speed = worker.track.score;
  if (const core::Job* job = seen.state.find_job(worker.job)) {
    const auto place = std::find(job->membership.members.begin(), job->membership.members.end(), worker.id);
    if (place != job->membership.members.end()) rank = place - job->membership.members.begin();
    share = static_cast<double>(core::share_of(*job, worker.id)) / static_cast<double>(core::kFullShare);
    speed = core::speed_of(seen.state, *job, worker);
  }
  const core::Node* node = seen.state.find_node(worker.node);
  const auto compute = seen.compute_ms.find(worker.id);
  return {{"id", worker.id.text()},
          {"job", worker.job.text()},
          {"node", worker.node.text()},
          {"node_name", node == nullptr ? "" : node->name},
          {"slots", worker.slots},
          {"rank", rank},
          {"phase", core::to_text(worker.phase)},
          {"started_at", seen.clock.text(worker.started_at)},
          {"compute_ms", compute == seen.compute_ms.end() ? json(nullptr) : json(compute->second)},
          {"straggler_score", worker.track.steps > 0 ? json(speed) : json(nullptr)},
          {"straggler", worker.track.slow_steps > 0},
          {"share", share}};
}

namespace {

json render_isolation(const core::Node& node) {
  if (!node.isolation) return nullptr;
  json missing = json::array();
  for (const char* part : api::kIsolationParts) {
    const auto& kept = *node.isolation;
    if (std::find(kept.begin(), kept.end(), part) == kept.end()) missing.push_back(part);
  }
  return {{"kept", *node.isolation}, {"missing", std::move(missing)}};
}

json render_drain(const Published& seen, const core::Node& node) {
  if (!node.drain) return nullptr;
  const core::NodeDrain& drain = *node.drain;
  std::string reason = drain.reason;
  if (drain.reclaim) {
    const std::string at = seen.clock.text(drain.reclaim->at);  // 2026-11-20T22:03:20.100Z
    reason = "the node will be reclaimed at " + at.substr(at.find('T') + 1, 8) + " UTC" +
             (reason.empty() ? "" : "; " + reason);
  }
  json window = nullptr;
  if (drain.maintenance) {
    const auto known = seen.state.maintenance.windows.find(drain.maintenance->window);
    if (drain.only_window() && known != seen.state.maintenance.windows.end()) reason = known->second.reason;
    window = {{"window", core::window_name(drain.maintenance->window)},
              {"begins", seen.clock.text(drain.maintenance->begins)},
              {"ends", seen.clock.text(drain.maintenance->ends)},
              {"begun", drain.maintenance->begins <= seen.now}};
  }
  return {{"since", seen.clock.text(drain.since)},
          {"deadline", seen.clock.text(drain.deadline)},
          {"reason", reason},
          {"cause", drain.reclaim         ? "reclaim"
                    : drain.only_window() ? "maintenance"
                                          : "operator"},
          {"maintenance", std::move(window)},
          {"drained", node.is_drained()}};
}

// Those that count now.
json render_faults(const Published& seen, const core::Node& node) {
  if (!node.faults) return nullptr;
  const core::NodeFaults& faults = *node.faults;
  return {{"losses", faults.losses},
          {"failed_starts", faults.failed_starts},
          {"first_at", seen.clock.text(faults.first_at)},
          {"newest_at", seen.clock.text(faults.newest_at)},
          {"unsteady_until", faults.until ? json(seen.clock.text(*faults.until)) : json(nullptr)}};
}

}  // namespace

json render_access(const Published& seen, const NodeCredential* known) {
  json access{{"by", known == nullptr ? "shared_token" : "certificate"},
              {"valid_until", nullptr},
              {"node_token", nullptr},
              {"revoked_at", nullptr},
              {"reason", nullptr}};
  if (known == nullptr) return access;
  access["valid_until"] = seen.clock.text(known->valid_until);
  access["node_token"] = known->token_id;
  if (!known->revoked_at) return access;
  access["revoked_at"] = seen.clock.text(*known->revoked_at);
  access["reason"] = known->revoke_reason;
  return access;
}

json render_node_token(const Published& seen, const NodeToken& token) {
  const auto& price = token.terms.price_per_slot_hour;
  return {{"id", token.id},
          {"uses", token.uses},
          {"uses_max", token.uses_max},
          {"name_prefix", token.name_prefix},
          {"labels", token.terms.labels},
          {"slot_type", token.terms.slot_type},
          {"price_per_slot_hour", price ? json(to_text(*price)) : json(nullptr)},
          {"created_at", seen.clock.text(token.created_at)},
          {"created_by", token.created_by},
          {"expires_at", seen.clock.text(token.expires_at)},
          {"state", token.revoked                  ? "revoked"
                    : seen.now >= token.expires_at ? "expired"
                    : token.uses >= token.uses_max ? "used_up"
                                                   : "valid"}};
}

json render_quarantine(const Published& seen, const core::Worker* worker) {
  if (worker == nullptr || !worker->held) return nullptr;
  return {{"since", seen.clock.text(worker->held->since)}, {"why", worker->held->why}};
}

json render_node(const SeenBy& seen_by, const core::Node& node) {
  const Published& seen = seen_by.seen;
  const auto known = seen_by.past.node_credentials(node.name);
  const NodeCredential* credential = known.empty() ? nullptr : &known.front();
  json slots = json::array();
  for (std::size_t index = 0; index < node.owners.size(); ++index) {
    const WorkerId owner = node.owners[index];
    const core::Worker* worker = owner ? seen.state.find_worker(owner) : nullptr;
    const core::Job* job = worker == nullptr ? nullptr : seen.state.find_job(worker->job);
    const bool named = job != nullptr && seen_by.caller.sees(job->spec.tenant);
    slots.push_back({{"index", index},
                     {"job", named ? json(worker->job.text()) : json(nullptr)},
                     {"worker", named ? json(owner.text()) : json(nullptr)},
                     {"busy", static_cast<bool>(owner)},
                     {"quarantine", render_quarantine(seen, worker)}});
  }
  json out = {{"id", node.id.text()},
              {"name", node.name},
              {"state", node.state == core::NodeState::kUp ? "up" : "lost"},
              {"cordoned", node.cordoned},
              {"drain", render_drain(seen, node)},
              {"faults", render_faults(seen, node)},
              {"slot_type", node.slot_type},
              {"price_per_slot_hour", to_text(node.price_per_slot_hour)},
              {"data_address", node.data_address.empty() ? json(nullptr) : json(node.data_address)},
              {"labels", core::labels_of(node)},
              {"access", render_access(seen, credential)},
              {"isolation", render_isolation(node)},
              {"memory_per_slot", node.memory_per_slot ? json(*node.memory_per_slot) : json(nullptr)},
              {"slots", std::move(slots)},
              {"health", render_health(seen, node)}};
  add_price_source(seen.state, node, out);
  return out;
}

json render_metric_point(const Published& seen, const MetricPoint& point) {
  return {{"at", seen.clock.text(point.at)},
          {"step", point.step},
          {"size", point.size},
          {"generation", point.generation},
          {"samples_per_second", point.samples_per_second},
          {"step_ms", point.step_ms},
          {"loss", point.loss},
          {"compute_ms", point.compute_ms},
          {"global_batch", point.global_batch > 0 ? json(point.global_batch) : json(nullptr)},
          {"noise_scale", point.noise_scale ? json(*point.noise_scale) : json(nullptr)}};
}

namespace {

json render_nodes_of(const core::Decision& decision) {
  json nodes = json::array();
  for (const auto& planned : decision.nodes) {
    nodes.push_back({{"kind", core::name_of(planned.intent)},
                     {"name", core::node_name_of(planned.intent)},
                     {"reason", render_reason(planned.reason)}});
  }
  return nodes;
}

}  // namespace

Result<json> render_decision(const SeenBy& seen_by, const StoredDecision& stored) {
  const Published& seen = seen_by.seen;
  const auto visible = [&](JobId job) { return visible_job(seen_by, job); };
  auto decoded = core::decision_from_json(stored.body);
  if (!decoded) return decoded.error();
  const core::Decision& decision = decoded.value();
  json intents = json::array();
  for (const auto& planned : decision.plan) {
    const auto job = visible(core::job_of(planned.intent));
    if (job != nullptr) intents.push_back(render_intent(seen, planned, *job));
  }
  json verdicts = json::array();
  for (const auto& verdict : decision.verdicts) {
    if (visible(verdict.job) != nullptr) verdicts.push_back(render_verdict(verdict));
  }
  json targets = render_targets(decision, visible);
  if (!seen_by.caller.tenant.empty() && intents.empty() && verdicts.empty() && targets.empty()) return json(nullptr);
  json rendered = {{"id", stored.id.text()},
                   {"at", seen.clock.text(stored.at)},
                   {"policy", decision.policy},
                   {"inputs_digest", hex_of(decision.inputs_digest)},
                   {"steps_counted", decision.steps_counted},
                   {"intents", std::move(intents)},
                   {"verdicts", std::move(verdicts)},
                   {"targets", std::move(targets)}};
  if (!decision.nodes.empty() && seen_by.caller.tenant.empty()) rendered["nodes"] = render_nodes_of(decision);
  return without_foreign_jobs(std::move(rendered), seen_by);
}

namespace {

// Null: none, or one of another tenant or of the whole pool, which is not named to this caller.
json render_actor(const SeenBy& seen_by, const std::string& actor) {
  if (actor.empty()) return nullptr;
  const auto record = seen_by.past.token(actor);
  if (!seen_by.caller.sees(record ? record->tenant : "")) return nullptr;
  return {{"token", actor}, {"name", record ? json(record->name) : json(nullptr)}};
}

}  // namespace

json render_event(const SeenBy& seen_by, const core::Event& event) {
  const auto visible = [&](JobId job) { return visible_job(seen_by, job); };
  if (!may_see(event, seen_by.caller)) return nullptr;
  json data = event.data;
  const bool shared = event.tenant.empty() && !seen_by.caller.tenant.empty();
  if (shared && event.type == "decision.made" && !keep_own_intents(data, visible)) return nullptr;
  return {{"seq", event.seq},
          {"at", seen_by.seen.clock.text(event.at)},
          {"type", event.type},
          {"job", id_or_null(event.job)},
          {"node", id_or_null(event.node)},
          {"tenant", event.tenant.empty() ? json(nullptr) : json(event.tenant)},
          {"decision", id_or_null(event.decision)},
          {"actor", render_actor(seen_by, event.actor)},
          {"data", without_foreign_jobs(std::move(data), seen_by)}};
}

json render_token(const TokenRecord& token, std::int64_t unix_s) {
  const bool expired = leader::has_expired(token.expires_unix_s, unix_s);
  return {{"id", token.id},
          {"name", token.name},
          {"role", token.role},
          {"tenant", token.tenant.empty() ? json(nullptr) : json(token.tenant)},
          {"created_at", token.created_at},
          {"expires_at", token.expires_unix_s ? json(timestamp_text(*token.expires_unix_s)) : json(nullptr)},
          {"state", token.revoked ? "revoked"
                    : expired     ? "expired"
                                  : "valid"},
          {"revoked", token.revoked}};
}

}  // namespace tidepool::live::http
