#include "schedctl/progress.hpp"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "core/state/routine_event.hpp"
#include "schedctl/node_events.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

void take_number(std::optional<double>& into, const json& value, const std::string& pointer) {
  if (const auto number = number_at(value, pointer)) into = number;
}

std::string ended_how(const json& data) {
  const auto signal = number_at(data, "/signal").value_or(0);
  if (signal > 0) return ", ended by signal " + whole(signal);
  const auto code = number_at(data, "/exit_code").value_or(-1);
  return code < 0 ? "" : ", exit code " + whole(code);
}

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : std::move(text) + ": " + detail;
}

std::string finished_sentence(const json& data) {
  const double steps = number_at(data, "/steps").value_or(0);
  std::string text = text_at(data, "/state", "finished");
  if (steps > 0) text += " after " + count_of(steps, "step");  // 0: none, or its program tells no steps
  const auto last = number_at(data, "/loss");
  if (last && steps > 0) text += ", loss " + loss(last);
  return with_detail(text, text_at(data, "/error"));
}

// What its slowness goes with, and what comes next; older events say neither.
std::string straggling_sentence(const json& d) {
  std::string text = "worker " + text_at(d, "/worker") + " is slow: " + percent(number_at(d, "/score").value_or(0)) +
                     " of the others' speed, below " + percent(number_at(d, "/threshold").value_or(0));
  const std::string follows = text_at(d, "/follows");
  if (!follows.empty()) text += follows == "unknown" ? "; worker or node" : "; the cause is the " + follows;
  const auto waited = number_at(d, "/waited_s");
  if (waited) text += "; waiting for it has cost " + quantity(*waited) + " slot-seconds";
  const std::string action = text_at(d, "/next_action");
  const auto cost = number_at(d, "/action_cost_s");
  // "replace" -> "replacing", "shrink" -> "shrinking"
  const std::string stem = action.substr(0, action.size() - (action.ends_with('e') ? 1 : 0));
  if (!action.empty() && cost) text += "; " + stem + "ing costs " + quantity(*cost);
  return text;
}

std::string switched_sentence(const json& data) {
  const auto from = number_at(data, "/from_size").value_or(0);
  const auto to = number_at(data, "/to_size").value_or(0);
  std::string text =
      from == to ? "still " + count_of(to, "worker") : "now " + count_of(to, "worker") + " (was " + whole(from) + ")";
  if (text_at(data, "/kind") == "restart") text = "restarted: " + text;
  const auto step = number_at(data, "/switch_step").value_or(0);  // 0: its program tells no steps
  if (step > 0) text += ", from step " + whole(step) + " on";
  const auto stall = number_at(data, "/stall_ms");
  if (stall && *stall > 0) text += ", training paused for " + rate(stall) + " ms";
  const auto redone = number_at(data, "/steps_redone").value_or(0);
  if (redone > 0) text += ", " + count_of(redone, "step") + " redone";
  const std::string unused = text_at(data, "/unused/text");  // a saved state that a start did not use
  return unused.empty() ? text : text + "; " + unused;
}

std::string audited_sentence(const json& data) {
  const std::string counts = integer_at(data, "/used") + " of " + integer_at(data, "/expected") + " samples used";
  if (core::audit_is_sound(data)) {
    const auto epochs = number_at(data, "/epochs").value_or(1);
    return "epoch " + integer_at(data, "/epoch") + " audited: " + counts + ", each exactly once" +
           (epochs > 1 ? ", as in the " + count_of(epochs - 1, "epoch") + " before it" : "");
  }
  return "epoch " + integer_at(data, "/epoch") + " audit FAILED: " + counts;
}

std::string decision_sentence(const json& data) {
  std::string text;
  for (const auto& intent : list_at(data, "/intents")) {
    text += (text.empty() ? "" : "; ") + with_detail(text_at(intent, "/kind"), text_at(intent, "/text"));
  }
  return text;
}

std::string resizing_sentence(const json& data) {
  const std::string why = text_at(data, "/reason/text");
  if (number_at(data, "/from") == number_at(data, "/to")) return why.empty() ? "replacing a worker" : why;
  const std::string sizes = integer_at(data, "/from") + " -> " + integer_at(data, "/to");
  if (why.find(" " + sizes) != std::string::npos) return why;  // it tells them: "growing 2 -> 3: ..."
  if (why.find(": ") != std::string::npos) return "resizing " + sizes + "; " + why;
  return with_detail("resizing " + sizes, why);
}

// "releases its 4 workers and waits for 4 slots; none is free": the reason says how the job goes on, or why.
std::string requeued_sentence(const json& data) {
  constexpr std::string_view kWaits = "waits: ";
  constexpr std::string_view kSaves = "saving its state and releasing its slots: ";
  const std::string why = text_at(data, "/reason/text");
  const double size = number_at(data, "/size").value_or(0);
  const std::string gives_up = "releases its " + (size > 0 ? count_of(size, "worker") : std::string("workers"));
  if (why.starts_with(kSaves)) return "saves its state and " + gives_up + ": " + why.substr(kSaves.size());
  if (why.starts_with(kWaits)) return gives_up + ": " + why.substr(kWaits.size());
  const bool goes_on = why.starts_with("waits ") || why.starts_with("returns ") || why.starts_with("is still ");
  return goes_on ? gives_up + " and " + why : with_detail(gives_up, why);
}

std::string progressed_sentence(const json& data) {
  return "step " + integer_at(data, "/step") + ", loss " + loss(number_at(data, "/loss")) + ", " +
         rate(number_at(data, "/samples_per_second")) + " samples/s, " +
         count_of(number_at(data, "/size").value_or(0), "worker");
}

// The workers with less than a full share; none: the shares are even again.
std::string state_brought_sentence(const json& d) {
  return "its state of step " + integer_at(d, "/step") + " is transferred from " + text_at(d, "/from") + " to " +
         text_at(d, "/to");
}

std::string suspended_sentence(const json& d) {
  const auto kept = number_at(d, "/kept_step");
  const double step = number_at(d, "/step").value_or(0);
  if (kept && *kept >= step) return "suspended; its state of step " + integer_at(d, "/kept_step") + " is saved";
  if (kept) {
    return "suspended after step " + integer_at(d, "/step") + "; its newest saved state is of step " +
           integer_at(d, "/kept_step");
  }
  if (step > 0) return "suspended after step " + integer_at(d, "/step") + "; Tidepool has saved no state of it";
  return "suspended";
}

std::string state_left_sentence(const json& d) {
  return with_detail("starts without its state of step " + integer_at(d, "/step"), text_at(d, "/why"));
}

std::string rebalanced_sentence(const json& data) {
  std::string rebalanced;
  for (const auto& each : list_at(data, "/shares")) {
    const double share = number_at(each, "/share").value_or(1);
    if (share < 1) rebalanced += (rebalanced.empty() ? "" : ", ") + text_at(each, "/worker") + " at " + percent(share);
  }
  return "from step " + integer_at(data, "/step") + " on " +
         (rebalanced.empty() ? std::string("all workers have full shares again") : "smaller shares: " + rebalanced);
}

// A policy file's failed round, or a built-in policy's plan that the engine refused.
std::string policy_error_sentence(const json& data) {
  const std::string policy = text_at(data, "/policy");
  const std::string error = text_at(data, "/error");
  if (text_at(data, "/code").empty()) {
    return "the plan of policy " + policy + " broke a rule, the previous plan stays in force: " + error;
  }
  return "policy " + policy + " failed, so the built-in default decided: " + error;
}

std::string with_version(const json& data, const char* name, const char* version) {
  const std::string policy = text_at(data, name);
  if (policy.empty()) return "the daemon's own policy";
  const std::string hash = text_at(data, version);
  return "policy " + policy + (hash.empty() ? "" : ", version " + hash.substr(0, 12));
}

std::string a_policy(const json& data) {
  return with_version(data, "/policy", "/version");
}

std::string activated_sentence(const json& data) {
  return a_policy(data) + " decides from now on";
}

std::string rolled_back_sentence(const json& data) {
  return with_detail(a_policy(data) + " was replaced by " + with_version(data, "/to", "/to_version"),
                     text_at(data, "/why"));
}

using Sentence = std::string (*)(const json& data);

std::string checkpointed_sentence(const json& d) {
  return "checkpoint of step " + integer_at(d, "/step") + " written in " + rate(number_at(d, "/write_ms")) + " ms";
}

std::string checkpoint_failed_sentence(const json& d) {
  const double times = number_at(d, "/times").value_or(1);
  return "no checkpoint of step " + integer_at(d, "/step") + (times > 1 ? " (" + whole(times) + " in a row)" : "") +
         ": " + text_at(d, "/error");
}

std::string restored_sentence(const json& d) {
  const double lost = number_at(d, "/steps_lost").value_or(0);
  if (lost > 0 && number_at(d, "/step") == 0) {
    return "starts again from step 0, " + count_of(lost, "step") + " lost: it has no saved state that it can use";
  }
  return "continues from step " + integer_at(d, "/step") + (lost > 0 ? ", " + count_of(lost, "step") + " lost" : "");
}

const std::map<std::string, Sentence>& policy_sentences() {
  static const std::map<std::string, Sentence> sentences = {
      {"policy.error", policy_error_sentence},
      {"policy.activated", activated_sentence},
      {"policy.rolled_back", rolled_back_sentence},
      {"policy.shadow_started", [](const json& d) { return a_policy(d) + " runs as a shadow of the active policy"; }},
      {"policy.shadow_stopped", [](const json& d) { return a_policy(d) + " no longer runs as a shadow"; }},
  };
  return sentences;
}

std::string submitted_sentence(const json& d) {
  const auto min = number_at(d, "/min");
  if (min && min == number_at(d, "/max")) return "submitted: " + count_of(*min, "worker");
  return "submitted: " + integer_at(d, "/min") + " to " + integer_at(d, "/max") + " workers, " +
         integer_at(d, "/preferred") + " preferred";
}

std::string started_sentence(const json& d) {
  return "training with " + count_of(number_at(d, "/size").value_or(0), "worker");
}

std::string resize_requested_sentence(const json& d) {
  const auto size = number_at(d, "/size").value_or(0);
  return size > 0 ? "a user asks for " + count_of(size, "worker") : std::string("a user leaves the size to the engine");
}

std::string resized_sentence(const json& d) {
  return "has " + count_of(number_at(d, "/to").value_or(0), "worker") + ", had " + integer_at(d, "/from");
}

std::string job_changed_sentence(const json& d) {
  return "its job file was changed; it now has elastic.min " + integer_at(d, "/min") + ", preferred " +
         integer_at(d, "/preferred") + ", max " + integer_at(d, "/max") + " and priority " + integer_at(d, "/priority");
}

std::string parked_sentence(const json& d) {
  return "state of step " + integer_at(d, "/step") + " saved in " + rate(number_at(d, "/write_ms")) + " ms";
}

std::string resumed_sentence(const json& d) {
  return "resumed with " + count_of(number_at(d, "/size").value_or(0), "worker");
}

std::string stuck_sentence(const json& d) {
  return "worker " + text_at(d, "/worker") + " made no progress at step " + integer_at(d, "/step") + " for " +
         seconds_in_words(number_at(d, "/seconds").value_or(0));
}

std::string worker_lost_sentence(const json& d) {
  return with_detail("worker " + text_at(d, "/worker") + " lost" + ended_how(d), text_at(d, "/detail"));
}

std::string worker_killed_sentence(const json& d) {
  return with_detail("worker " + text_at(d, "/worker") + " was killed before it had saved", text_at(d, "/detail"));
}

std::string worker_replaced_sentence(const json& d) {
  const std::string slow = text_at(d, "/because_of");
  return "worker " + text_at(d, "/worker") + " replaced by " + text_at(d, "/by") +
         (slow.empty() ? "" : ", as " + slow + " of its group is slow");
}

const std::map<std::string, Sentence>& job_sentences() {
  static const std::map<std::string, Sentence> sentences = {
      {"job.submitted", submitted_sentence},
      {"job.started", started_sentence},
      {"job.resize_requested", resize_requested_sentence},
      {"job.resizing", resizing_sentence},
      {"job.resized", resized_sentence},
      {"job.progressed", progressed_sentence},
      {"decision.made", decision_sentence},
      {"job.rebalanced", rebalanced_sentence},
      {"job.changed", job_changed_sentence},
      {"job.requeued", requeued_sentence},
      {"job.parked", parked_sentence},
      {"job.notice_answered", [](const json& d) { return text_at(d, "/text"); }},
      {"job.checkpointed", checkpointed_sentence},
      {"job.checkpoint_failed", checkpoint_failed_sentence},
      {"job.restored", restored_sentence},
      {"job.state_brought", state_brought_sentence},
      {"job.state_left", state_left_sentence},
      {"job.suspended", suspended_sentence},
      {"job.resume_requested", [](const json&) { return std::string("will continue when slots are free"); }},
      {"job.resumed", resumed_sentence},
      {"job.finished", finished_sentence},
      {"generation.switched", switched_sentence},
      {"worker.stuck", stuck_sentence},
      {"worker.lost", worker_lost_sentence},
      {"worker.killed", worker_killed_sentence},
      {"worker.straggling", straggling_sentence},
      {"worker.replaced", worker_replaced_sentence},
      {"data.epoch_audited", audited_sentence},
  };
  return sentences;
}

// "worker w-2 on node-3 lost": which node is a link of the event, beside its data.
std::string on_its_node(std::string text, const json& event) {
  const std::string worker = "worker " + text_at(event, "/data/worker");
  const std::string node = text_at(event, "/node");
  if (!node.empty() && text.starts_with(worker + " ")) text.insert(worker.size(), " on " + node);
  return text;
}

}  // namespace

bool is_routine(const json& event) {
  const auto data = event.find("data");
  return core::is_routine(text_at(event, "/type"), data == event.end() ? json() : *data);
}

void take_job(Progress& progress, const json& job) {
  progress.state = text_at(job, "/state", progress.state);
  progress.step = std::max(progress.step, number_at(job, "/progress/step").value_or(0));
  take_number(progress.steps_total, job, "/progress/steps_total");
  take_number(progress.fraction, job, "/progress/fraction");
  take_number(progress.loss, job, "/progress/loss");
  take_number(progress.samples_per_second, job, "/progress/samples_per_second");
  progress.size = number_at(job, "/size").value_or(progress.size);
  progress.cost = text_at(job, "/cost/amount", progress.cost);
  progress.currency = text_at(job, "/cost/currency", progress.currency);
}

void take_event(Progress& progress, const json& event) {
  if (text_at(event, "/type") != "job.progressed") return;
  progress.step = number_at(event, "/data/step").value_or(progress.step);
  take_number(progress.loss, event, "/data/loss");
  take_number(progress.samples_per_second, event, "/data/samples_per_second");
  progress.size = number_at(event, "/data/size").value_or(progress.size);
  progress.cost = text_at(event, "/data/cost", progress.cost);
  if (progress.steps_total && *progress.steps_total > 0) progress.fraction = progress.step / *progress.steps_total;
}

std::string progress_line(const Progress& progress, const Style& style) {
  std::string tail = "step " + whole(progress.step);
  if (progress.steps_total) tail += "/" + whole(*progress.steps_total);
  if (progress.loss) tail += "  loss " + loss(progress.loss);
  if (progress.samples_per_second) tail += "  " + rate(progress.samples_per_second) + " samples/s";
  tail += "  " + (progress.size > 0 ? count_of(progress.size, "worker") : progress.state);
  if (!progress.cost.empty()) tail += "  " + money(progress.cost, progress.currency);
  tail = printable(tail);
  const auto width = static_cast<std::size_t>(std::max(style.width, 1));
  const std::size_t used = columns_of(tail) + 4;  // the bar's brackets and two blanks
  if (!progress.fraction || used + 6 > width) return shorten(tail, width);
  const std::size_t bar = std::min<std::size_t>(width - used, 30);
  const double fraction = std::clamp(*progress.fraction, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(bar));
  return "[" + std::string(full, '#') + std::string(bar - full, '.') + "]  " + tail;
}

std::string event_sentence(const json& event, const std::string& job) {
  const std::string type = text_at(event, "/type");
  static const json kNoData = json::object();
  const json& data = event.contains("data") && event.at("data").is_object() ? event.at("data") : kNoData;
  if (!job.empty()) {
    // job.started says it, but not that a saved state was not used.
    const bool first_switch =
        type == "generation.switched" && number_at(data, "/from_size") == 0 && !data.contains("unused");
    const bool told_elsewhere = first_switch || type == "job.resized" || type == "decision.made" || is_routine(event);
    if (told_elsewhere || text_at(event, "/job") != job) return "";
  }
  for (const auto* table : {&job_sentences(), &policy_sentences()}) {
    if (const auto found = table->find(type); found != table->end()) return on_its_node(found->second(data), event);
  }
  return job.empty() ? on_its_node(node_event_sentence(type, data), event) : "";
}

std::vector<std::string> described_event_types() {
  std::vector<std::string> types = node_event_types();
  for (const auto* table : {&job_sentences(), &policy_sentences()}) {
    for (const auto& [type, sentence] : *table) types.push_back(type);
  }
  return types;
}

}  // namespace tidepool::ctl
