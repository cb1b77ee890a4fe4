#include "schedulerd/live/http/policies/policy_choice.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/word_list.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::size_t kVersionPrefixLeast = 6;
constexpr std::int64_t kReplayRoundsMost = 10'000;

// Of a name under which no policy file is stored.
Problem no_policy_file(Rest& rest, const std::string& name) {
  const auto& builtins = rest.options().policies;
  const bool is_builtin =
      std::any_of(builtins.begin(), builtins.end(), [&](const PolicyInfo& builtin) { return builtin.name == name; });
  std::set<std::string> stored;
  for (const PolicyVersion& version : rest.service().history().policy_versions("")) stored.insert(version.name);
  const std::string known = stored.empty() ? "; none is stored" : "; those that are stored: " + word_list(stored);
  const std::string why =
      is_builtin ? name + " is built in, and this takes policy files only" : "there is no policy file " + name;
  return {.status = 404,
          .code = "UnknownPolicyVersion",
          .detail = why + known,
          .hint = is_builtin ? "compare built-in policies in the simulator: schedctl sim compare --policies tidal,fifo"
                             : "send one: schedctl policy store FILE"};
}

}  // namespace

std::optional<PolicyChoice> read_policy_choice(const Call& call, const std::vector<std::string>& more) {
  PolicyChoice choice;
  json body = json::object();
  if (!call.request.body.empty()) {
    auto parsed = parse_json(call.request.body);
    if (!parsed) {
      call.fail({.status = 400, .code = "BadJson", .detail = parsed.error().message});
      return std::nullopt;
    }
    body = *std::move(parsed);
  }
  const auto takes = [&](const char* name) { return std::find(more.begin(), more.end(), name) != more.end(); };
  ObjectReader in(body, "", choice.errors);
  choice.version = in.text("version", "");
  if (takes("params") && in.has("params")) choice.params = in.raw("params");
  if (takes("since")) choice.since = in.text("since", "");
  if (takes("rounds")) choice.rounds = in.integer("rounds", choice.rounds, {.low = 1, .high = kReplayRoundsMost});
  if (takes("stop")) choice.stop = in.boolean("stop", false);
  in.finish();
  if (!choice.params.is_object()) in.fail("params", "WrongType", "must be an object of names and values");
  if (choice.errors.empty()) return choice;
  call.fail({.status = 422,
             .code = "InvalidRequest",
             .detail = "the request needs a change",
             .hint = "nothing was done",
             .errors = std::move(choice.errors)});
  return std::nullopt;
}

bool names_no_version(const Call& call, const PolicyChoice& choice) {
  std::vector<FieldError> errors;
  const std::string why = call.id + " is built in; leave this out";
  if (!choice.version.empty()) errors.push_back({"/version", "Invalid", why});
  if (!choice.params.empty()) errors.push_back({"/params", "Invalid", why});
  if (errors.empty()) return true;
  call.fail({.status = 422,
             .code = "InvalidRequest",
             .detail = "only policy files have versions and parameters",
             .hint = "nothing was done",
             .errors = std::move(errors)});
  return false;
}

std::optional<PolicyVersion> find_policy_version(Rest& rest, const Call& call, const std::string& wanted) {
  History& history = rest.service().history();
  const auto versions = history.policy_versions(call.id);
  const auto fail = [&](const std::string& detail, const std::string& hint) {
    call.fail({.status = 404, .code = "UnknownPolicyVersion", .detail = detail, .hint = hint});
    return std::nullopt;
  };
  if (versions.empty()) {
    call.fail(no_policy_file(rest, call.id));
    return std::nullopt;
  }
  if (wanted.empty()) return history.policy_version(call.id, versions.front().version);
  if (wanted.size() < kVersionPrefixLeast) {
    return fail("\"" + wanted + "\" is too short for a version", "give at least the first 6 digits");
  }
  std::vector<std::string> found;
  for (const auto& each : versions) {
    if (each.version.starts_with(wanted)) found.push_back(each.version);
  }
  if (found.size() == 1) return history.policy_version(call.id, found.front());
  return fail(found.empty() ? call.id + " has no version " + wanted : wanted + " is the beginning of several versions",
              "schedctl policy versions " + call.id + " lists them");
}

std::optional<Problem> refuse_native(Rest& rest, const PolicyVersion& version) {
  const json manifest = json::parse(version.manifest, nullptr, false);
  if (manifest.value("engine", "") != "native" || rest.service().policy_workshop().allows_native()) return std::nullopt;
  return Problem{.status = 403,
                 .code = "NativePoliciesOff",
                 .detail = version.name + " is a native policy, and this daemon runs none",
                 .hint = "start schedulerd with --allow-native-policies, if you trust whoever uploads policies"};
}

std::optional<Problem> unfit(const PolicyVersion& version, const PolicyExamined& examined) {
  if (!examined.checks.runs) {
    return Problem{.status = 409,
                   .code = "PolicyDoesNotRun",
                   .detail = version.name + " cannot be run: " + examined.checks.fault,
                   .hint = "mend it, and see: schedctl policy validate FILE"};
  }
  if (examined.checks.failed == 0) return std::nullopt;
  Problem problem{.status = 409,
                  .code = "PolicyTestsFailed",
                  .detail = std::to_string(examined.checks.failed) + " of " + std::to_string(examined.checks.tests) +
                            " tests of " + version.name + " fail",
                  .hint = "mend it, and see: schedctl policy test FILE"};
  for (const PolicyTestResult& result : examined.tests) {
    if (result.differences.empty()) continue;
    problem.errors.push_back({"/tests/" + result.file, "Failed", result.test + ": " + result.differences.front()});
  }
  return problem;
}

}  // namespace tidepool::live::http
