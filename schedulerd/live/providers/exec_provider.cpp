#include "schedulerd/live/providers/exec_provider.hpp"

#include <spdlog/spdlog.h>

#include <map>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/providers/child_run.hpp"

namespace tidepool::live {
namespace {

using core::ProviderFault;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kDetailMost = 300;

Provided<json> failed(ProviderFault fault, std::string detail) {
  if (detail.size() > kDetailMost) detail.resize(kDetailMost);
  return Provided<json>::failed(fault, std::move(detail));
}

// {"error": {"code": "quota", "message": "..."}}
std::optional<Provided<json>> refusal(const json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end() || error->is_null()) return std::nullopt;
  const auto text = [&](const char* name) {
    const bool told = error->is_object() && error->contains(name) && error->at(name).is_string();
    return told ? error->at(name).get<std::string>() : std::string();
  };
  const ProviderFault fault = text("code") == "quota" ? ProviderFault::kQuota : ProviderFault::kRefused;
  return failed(fault, text("message").empty() ? error->dump() : text("message"));
}

Provided<json> answer_of(const ChildEnd& end, std::chrono::milliseconds limit) {
  switch (end.how) {
    case ChildEnd::How::kNotStarted: return failed(ProviderFault::kRefused, "cannot be started: " + end.last_error);
    case ChildEnd::How::kTimeout:
      return failed(ProviderFault::kTimeout,
                    "no answer within " + to_text(Duration::millis(limit.count())) + "; it was killed");
    case ChildEnd::How::kTooMuchOutput: return failed(ProviderFault::kGarbage, "more than 1 MiB of output");
    case ChildEnd::How::kExited: break;
  }
  auto answer = parse_json(end.output);
  const bool is_object = answer.ok() && answer->is_object();
  if (is_object) {
    if (auto refused = refusal(*answer)) return *std::move(refused);
  }
  if (const int signal = ending_signal(end); signal != 0) {
    return failed(ProviderFault::kGarbage,
                  "signal " + std::to_string(signal) + " has ended it; whether it was done is not known");
  }
  if (end.exit_code != 0) {
    return failed(ProviderFault::kRefused,
                  "exit code " + std::to_string(end.exit_code) + (end.last_error.empty() ? "" : ": " + end.last_error));
  }
  if (!is_object) {
    return failed(ProviderFault::kGarbage, "its output is no JSON object; " + shown_output(end));
  }
  return {.value = *std::move(answer)};
}

template <class T>
Provided<T> passed_on(const Provided<json>& answer) {
  return Provided<T>::failed(answer.fault, answer.detail);
}

// What an object tells of a node.
Result<ProvidedNode> node_in(const json& object, const std::string& request) {
  constexpr double kLifetimeMost = 10.0 * 365 * 86'400;
  ProvidedNode node{.request = request, .id = {}, .lifetime = {}};
  std::vector<FieldError> findings;
  ObjectReader in(object, "", findings);
  node.id = in.required_text("id");
  if (request.empty()) node.request = in.required_text("request");
  if (in.has("lifetime_s")) node.lifetime = Duration::from_seconds(in.number("lifetime_s", 0, 0, kLifetimeMost));
  if (findings.empty()) return node;
  return invalid_argument(findings.front().message);
}

class ExecProvider final : public NodeProvider {
 public:
  explicit ExecProvider(ProviderSetup setup) : setup_(std::move(setup)) {}

  Provided<ProvidedNode> create(const NodeToCreate& node) override {
    const auto answer =
        call("create",
             {{"request", node.request}, {"name", node.name}, {"slots", node.slots}, {"slot_type", node.slot_type}});
    if (!answer.value) return passed_on<ProvidedNode>(answer);
    auto created = node_in(*answer.value, node.request);
    if (created.ok()) return {.value = *std::move(created)};
    return Provided<ProvidedNode>::failed(ProviderFault::kGarbage, "its answer to create: " + created.error().message);
  }

  Provided<Ended> end(const NodeToEnd& node) override {
    const auto answer = call("delete", {{"request", node.request}, {"id", node.id}});
    return answer.value ? Provided<Ended>{.value = Ended{}} : passed_on<Ended>(answer);
  }

  Provided<std::vector<ProvidedNode>> list() override {
    using List = std::vector<ProvidedNode>;
    const auto answer = call("list", json::object());
    if (!answer.value) return passed_on<List>(answer);
    const auto nodes = answer.value->find("nodes");
    const auto garbage = [](const std::string& what) { return Provided<List>::failed(ProviderFault::kGarbage, what); };
    if (nodes == answer.value->end() || !nodes->is_array()) return garbage("its answer to list has no list \"nodes\"");
    List listed;
    for (const json& each : *nodes) {
      auto node = node_in(each, "");
      if (!node.ok()) return garbage("an entry of its list: " + node.error().message);
      listed.push_back(*std::move(node));
    }
    return {.value = std::move(listed)};
  }

 private:
  Provided<json> call(const char* action, json request) {
    request["version"] = kVersion;
    request["action"] = action;
    request["pool"] = setup_.pool;
    request["cluster"] = setup_.cluster;
    request["settings"] = setup_.settings;
    const ChildEnd end = run_child({.command = setup_.command, .input = request.dump() + "\n", .limit = setup_.limit});
    auto answer = answer_of(end, setup_.limit);
    if (answer.value) log_said(action, end.last_error);
    return answer;
  }
  // A failed call's words are in the failure. What stays the same from call to call is told once.
  void log_said(const std::string& action, std::string text) {
    if (text.size() > kDetailMost) text.resize(kDetailMost);
    std::string& before = said_[action];
    if (text == before) return;
    if (!text.empty()) spdlog::warn("event=provider_said pool={} action={} text={:?}", setup_.pool, action, text);
    before = std::move(text);
  }

  ProviderSetup setup_;
  std::map<std::string, std::string> said_;  // by action: the newest
};

}  // namespace

// A command of the wrong type has been reported already.
void check_exec_command(const ProviderFields&, ObjectReader& in) {
  if (in.has("command")) return;
  in.fail("command", "Missing", "is needed: the program that the provider exec runs, as a list of texts");
}

std::unique_ptr<NodeProvider> make_exec_provider(ProviderSetup setup) {
  return std::make_unique<ExecProvider>(std::move(setup));
}

}  // namespace tidepool::live
