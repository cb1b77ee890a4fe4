#include "schedulerd/live/turn_log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "core/codec/reason_numbers.hpp"
#include "schedulerd/leader/report_facts.hpp"

namespace tidepool::live {
namespace {

void log_line(const leader::ReportRefusedNote& note) {
  using Of = leader::ReportRefusedNote::Of;
  switch (note.of) {
    case Of::kExit: return spdlog::error("event=exit_refused worker={} why={:?}", note.worker.text(), note.why);
    case Of::kMessage:
    case Of::kHeld:
    case Of::kStuck: return spdlog::info("event=report_refused worker={} why={:?}", note.worker.text(), note.why);
    case Of::kReclaim: return spdlog::info("event=reclaim_refused node={} why={:?}", note.node.text(), note.why);
    case Of::kProbe: return spdlog::info("event=probe_refused node={} why={:?}", note.node.text(), note.why);
  }
}

void log_line(const leader::AgentJoinedNote& joined) {
  spdlog::info("event=agent_joined node={} name={} workers={}", joined.node.text(), joined.name, joined.workers);
}

void log_line(const leader::AgentRefusedNote& refused) {
  spdlog::warn("event=agent_refused node={:?} why={:?}", leader::logged_name(refused.name), refused.why);
}

void log_line(const leader::JournalWentBackNote& told) {
  std::string workers;
  for (const WorkerId worker : told.lost) workers += (workers.empty() ? "" : ",") + worker.text();
  spdlog::warn(
      "event=workers_of_lost_timeline node={} workers={} why=\"the journal went back: an older copy of the "
      "state directory was restored; what was started since is ended there\"",
      told.name, workers);
}

void log_line(const leader::NodeLostNote& lost) {
  spdlog::warn("event=node_lost node={} name={} why={:?}", lost.node.text(), lost.name, lost.why);
}

void log_line(const leader::ReportIgnoredNote& ignored) {
  spdlog::debug("event=report_ignored worker={} why=\"not a worker of this node\"", ignored.worker.text());
}

void log_line(const leader::WorkerStuckNote& stuck) {
  spdlog::warn("event=worker_stuck worker={} step={} phase={} for_ms={}", stuck.report.worker.text(), stuck.report.step,
               api::to_text(stuck.report.phase), stuck.report.for_ms);
}

void log_line(const leader::SlotsHeldNote& held) {
  spdlog::warn("event=slots_quarantined worker={} why={:?}", held.report.worker.text(), held.report.why);
}

void log_line(const leader::PlanDroppedNote& dropped) {
  spdlog::error("event=plan_dropped policy={} why={:?}", dropped.policy, dropped.why);
}

void log_line(const leader::StartImpossibleNote& start) {
  spdlog::error("event=start_impossible worker={} why={:?}", start.worker.text(), start.why);
}

void log_line(const leader::PoolReportRefusedNote& refused) {
  spdlog::warn("event=pool_report_refused why={:?}", refused.why);
}

void log_line(const leader::PolicyAnswerLateNote& late) {
  spdlog::info("event=policy_answer_late round={} awaited={}", late.round, late.awaited);
}

void log_line(const leader::PolicyFailedNote& failed) {
  spdlog::warn("event=policy_failed policy={} code={} why={:?}", core::short_name(failed.policy), failed.code,
               failed.why);
}

void log_line(const leader::NodeCertifiedNote& made) {
  spdlog::info("event={} node={} token={}", made.token_id.empty() ? "node_renewed" : "node_certified", made.name,
               made.token_id);
}

void log_line(const leader::NodeJoinRefusedNote& refused) {
  spdlog::warn("event=node_join_refused node={:?} token={} why={:?}", leader::logged_name(refused.name),
               refused.token_id.substr(0, 32), refused.why);
}

void log_line(const leader::NodeRevokedNote& revoked) {
  spdlog::warn("event=node_revoked node={} reason={:?}", revoked.name, revoked.reason);
}

// What an operator has to see or to mend, and how; nothing else of these tells it in the log.
const std::map<std::string, const char*>& warned_events() {
  static const std::map<std::string, const char*> kNext = {
      {"node.reclaim_notice", "its jobs leave it; no action is needed"},
      {"node.unsteady", "look for the cause there; once it is mended: schedctl node clear-faults NAME"},
      {"policy.rolled_back",
       "see what failed: schedctl events --type policy.error; mend the policy and activate it again, or leave it off"},
      {"pool.bill_runs_on", "it costs money: find out why its provider does not end it, or end it by hand"},
      {"pool.create_failed",
       "compare its slots and memory with the pool's slots_per_node and memory_per_slot; see whether it still exists"},
      {"pool.node_released",
       "look at its agent's log, and whether it is started under this name (--node, or --name where it joins)"},
      {"pool.node_unknown", "it is ended; find out why its provider made it without being asked"},
  };
  return kNext;
}

// Some are told by what has called the provider, most nodes are given back because nothing needs them, and who asks for
// a rollback knows of it.
bool is_news(const core::Event& event) {
  if (event.type == "pool.create_failed") {
    const std::string fault = event.data.value("fault", "");
    return fault == "vanished" || fault == "too_few_slots" || fault == "too_little_memory";
  }
  if (event.type == "policy.rolled_back") return event.actor.empty();
  if (event.type == "pool.node_released") return core::tells_reason(event.data, "NodeNeverJoined");
  return true;
}

// " name=gpu-1 attempts=4"; what is no single value is left out.
std::string fields_of(const nlohmann::json& data) {
  std::string text;
  for (const auto& [key, value] : data.items()) {
    if (value.is_structured() || value.is_null()) continue;
    text += " " + key + "=" + (value.is_string() ? fmt::format("{:?}", value.get<std::string>()) : value.dump());
  }
  return text;
}

}  // namespace

void log_event(const core::Event& event) {
  const auto next = warned_events().find(event.type);
  if (next == warned_events().end() || !is_news(event)) return;
  std::string type = event.type;
  std::replace(type.begin(), type.end(), '.', '_');
  const std::string node = event.node ? " node=" + event.node->text() : "";
  spdlog::warn("event={}{}{} next={:?}", type, node, fields_of(event.data), next->second);
}

void log_note(const leader::TurnNote& note) {
  std::visit([](const auto& each) { log_line(each); }, note);
}

void log_intents(const core::Decision& decision) {
  for (const auto& planned : decision.plan) {
    spdlog::info("event=intent decision={} kind={} job={} reason={}", decision.id.text(), core::name_of(planned.intent),
                 core::job_of(planned.intent).text(), core::name_of(planned.reason));
  }
  for (const auto& planned : decision.nodes) {
    spdlog::info("event=intent decision={} kind={} node={} reason={}", decision.id.text(),
                 core::name_of(planned.intent), core::node_name_of(planned.intent), core::name_of(planned.reason));
  }
}

}  // namespace tidepool::live
