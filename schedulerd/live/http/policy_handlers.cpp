// Policy files: versions are stored, looked over and tested in real hosts, shadowed, activated and rolled back.
// Whatever waits for a host waits on the evaluator's thread, never here.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/word_list.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/policies/policy_upload.hpp"
#include "schedulerd/live/service/tenant_sharing.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::size_t kVersionPrefixLeast = 6;
constexpr std::int64_t kReplayRoundsMost = 10'000;

bool is_ref(const std::optional<core::PolicyFileRef>& ref, const PolicyVersion& version) {
  return ref && ref->name == version.name && ref->version == version.version;
}

json render_checks(const std::optional<PolicyChecks>& checks) {
  if (!checks) return nullptr;
  json rendered = to_json(*checks);
  if (checks->fault.empty()) rendered["fault"] = nullptr;
  return rendered;
}

// `with_source`: the text of a Lua policy, too; a library's bytes are not given back.
json render_version(const Published& seen, const PolicyVersion& version, bool with_source) {
  const json manifest = json::parse(version.manifest, nullptr, false);
  const json tests = json::parse(version.tests, nullptr, false);
  json files = json::array();
  for (const auto& [name, list] : tests.items()) files.push_back(name);
  const core::PolicyDeployment& deployment = seen.state.deployment;
  json rendered{{"name", version.name},
                {"version", version.version},
                {"created_at", version.created_at},
                {"created_by", version.created_by},
                {"manifest", manifest},
                {"test_files", std::move(files)},
                {"active", is_ref(deployment.active, version)},
                {"shadow", is_ref(deployment.shadow, version)},
                {"checks", render_checks(version.checks)}};
  if (with_source) {
    const bool text = manifest.value("engine", "") == "lua";
    rendered["source"] = text ? json(version.source) : json(nullptr);
  }
  return rendered;
}

json named(const std::optional<core::PolicyFileRef>& ref) {
  if (!ref) return nullptr;
  return {{"name", ref->name}, {"version", ref->version}, {"params", json::parse(ref->params, nullptr, false)}};
}

bool has_tests(const PolicyVersion& version) {
  const json files = json::parse(version.tests, nullptr, false);
  return std::any_of(files.begin(), files.end(), [](const json& tests) { return !tests.empty(); });
}

// What an operator may not know of the policy that decides.
json policy_warnings(Rest& rest, const Published& seen) {
  json warnings = json::array();
  const core::TenantTree& tree = *seen.state.tenants;
  if (const auto why = rest.why_not_shared(seen); why && !tree.empty()) {
    const std::string lost = unheld_guarantees(tree);
    warnings.push_back(*why + (lost.empty() ? "" : "; guarantees that do not hold meanwhile: " + lost));
  }
  const auto& active = seen.state.deployment.active;
  const auto version = active ? rest.service().history().policy_version(active->name, active->version) : std::nullopt;
  if (version && !has_tests(*version)) {
    warnings.push_back(active->name + " decides and has no tests: write some to tests/*.yaml beside it " +
                       "(docs/policies.md)");
  }
  return warnings;
}

json render_policy_status(Rest& rest, const Published& seen) {
  const core::PolicyDeployment& deployment = seen.state.deployment;
  json earlier = json::array();
  for (auto each = deployment.earlier.rbegin(); each != deployment.earlier.rend(); ++each)
    earlier.push_back(named(*each));
  return {{"builtin", seen.active_policy},
          {"active", named(deployment.active)},
          {"since", deployment.active ? json(seen.clock.text(deployment.since)) : json(nullptr)},
          {"earlier", std::move(earlier)},
          {"shadow", named(deployment.shadow)},
          {"rounds", deployment.rounds},
          {"failures", deployment.failures},
          {"warnings", policy_warnings(rest, seen)},
          {"as_of_seq", seen.as_of_seq}};
}

// What a request says about which version it means.
struct Choice {
  std::string version;  // empty = the newest
  json params = json::object();
  std::string since;
  std::int64_t rounds = 1'000;
  bool stop = false;
  std::vector<FieldError> errors;
};

// Answers and gives nothing if the body is wrong. `more` names the fields beside `version`.
std::optional<Choice> read_choice(const Call& call, const std::vector<std::string>& more) {
  Choice choice;
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

// Answers and gives false if the daemon's own policy is asked to be another: it has no versions and no parameters.
bool is_plain(const Call& call, const Choice& choice) {
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

// The version meant, whole; else answers and gives nothing.
std::optional<PolicyVersion> find_version(Rest& rest, const Call& call, const std::string& wanted) {
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

json render_examined(const PolicyVersion& version, const PolicyExamined& examined) {
  json tests = json::array();
  for (const PolicyTestResult& result : examined.tests) {
    tests.push_back({{"file", result.file},
                     {"test", result.test},
                     {"passed", result.differences.empty()},
                     {"differences", result.differences}});
  }
  return {{"name", version.name},
          {"version", version.version},
          {"runs", examined.checks.runs},
          {"fault", examined.checks.fault.empty() ? json(nullptr) : json(examined.checks.fault)},
          {"hooks", examined.checks.hooks},
          {"failed", examined.checks.failed},
          {"tests", std::move(tests)}};
}

void note_checks(Rest& rest, const Call& call, const PolicyVersion& version, const PolicyChecks& checks) {
  rest.service().submit({.body = NotePolicyChecks{version.name, version.version, checks},
                         .actor = call.caller.token_id,
                         .idempotency = {}},
                        [](const Result<Receipt>&) {});
}

// Looks the version over on the evaluator's thread and goes on here, on the I/O thread.
using OnExamined = std::function<void(Rest&, Call, const PolicyVersion&, const PolicyExamined&)>;
void examine(Rest& rest, Call call, PolicyVersion version, bool run_tests, OnExamined next) {
  if (const auto problem = refuse_native(rest, version)) return call.fail(*problem);
  const auto weak = rest.weak_from_this();
  const auto shared = std::make_shared<const PolicyVersion>(std::move(version));
  rest.service().policy_workshop().examine(
      *shared, run_tests, [weak, call = std::move(call), shared, next = std::move(next)](Result<PolicyExamined> done) {
        const auto alive = weak.lock();
        if (!alive) return;
        alive->io().post([raw = alive.get(), call, shared, next, done = std::move(done)] {
          if (!done) return call.fail(problem_of(done.error()));
          note_checks(*raw, call, *shared, done->checks);
          next(*raw, call, *shared, *done);
        });
      });
}

// Why the version may not decide, or be asked at all.
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

std::optional<core::PolicyFileRef> ref_with(const Call& call, const PolicyVersion& version, const json& params) {
  const auto made = make_runnable(version, params);
  if (made) return made->ref;
  call.fail({.status = 422, .code = "InvalidParameters", .detail = made.error().message, .hint = "nothing was done"});
  return std::nullopt;
}

// Of the picture that holds what was asked for, in one answer with it.
Rest::Answer policy_status(Rest& rest) {
  return
      [&rest](const Receipt&, const Published& seen) { return json_response(200, render_policy_status(rest, seen)); };
}

// The version that is chosen goes into use by a command that names it, once it has been seen to run; with
// `run_tests`, and its tests to pass.
template <class UseIt>
void use_version(Rest& rest, Call call, const Choice& choice, bool run_tests) {
  auto version = find_version(rest, call, choice.version);
  if (!version) return;
  const auto ref = ref_with(call, *version, choice.params);
  if (!ref) return;
  examine(rest, std::move(call), *std::move(version), run_tests,
          [ref](Rest& then, Call done, const PolicyVersion& of, const PolicyExamined& examined) {
            if (const auto problem = unfit(of, examined)) return done.fail(*problem);
            then.command(std::move(done), UseIt{ref}, policy_status(then));
          });
}

json render_pools(const ShadowReport& report) {
  json pools = json::array();
  for (const auto& [name, pool] : report.pools) {
    const auto rounds = static_cast<double>(pool.rounds);
    pools.push_back({{"pool", name},
                     {"slot_type", pool.slot_type.empty() ? json(nullptr) : json(pool.slot_type)},
                     {"rounds", pool.rounds},
                     {"rounds_different", pool.rounds_different},
                     {"mean_nodes_live", static_cast<double>(pool.nodes_live) / rounds},
                     {"mean_nodes_candidate", static_cast<double>(pool.nodes_candidate) / rounds}});
  }
  return pools;
}

json render_report(const Published& seen, const ShadowReport& report, History& past) {
  json differences = json::array();
  for (auto each = report.newest.rbegin(); each != report.newest.rend(); ++each) {
    const auto job = job_of(seen, each->what.job, past);
    differences.push_back({{"at", seen.clock.text(each->at)},
                           {"job", each->what.job.text()},
                           {"job_name", job == nullptr ? "" : job->spec.name},
                           {"live", each->what.live},
                           {"candidate", each->what.candidate},
                           {"reason", render_reason(each->what.reason)}});
  }
  const auto mean = [&](std::int64_t slots) {
    return report.rounds == 0 ? 0.0 : static_cast<double>(slots) / static_cast<double>(report.rounds);
  };
  return {{"name", report.file.name},
          {"version", report.file.version},
          {"rounds", report.rounds},
          {"rounds_different", report.rounds_different},
          {"jobs_compared", report.jobs},
          {"jobs_different", report.jobs_different},
          {"mean_slots_live", mean(report.slots_live)},
          {"mean_slots_candidate", mean(report.slots_candidate)},
          {"pools", render_pools(report)},
          {"faults", report.faults},
          {"last_fault", report.last_fault.empty() ? json(nullptr) : json(report.last_fault)},
          {"differences", std::move(differences)}};
}

json render_replay(const Published& seen, const PolicyReplay& replay, History& past) {
  json jobs = json::array();
  for (const auto& [id, sum] : replay.jobs) {
    const auto job = job_of(seen, id, past);
    const auto rounds = static_cast<double>(sum.different);
    jobs.push_back({{"job", id.text()},
                    {"job_name", job == nullptr ? "" : job->spec.name},
                    {"rounds", sum.different},
                    {"mean_slots_live", sum.live_slot_rounds / rounds},
                    {"mean_slots_candidate", sum.candidate_slot_rounds / rounds}});
  }
  json rendered = render_report(seen, replay.report, past);
  rendered["from"] = seen.clock.text(replay.from);
  rendered["to"] = seen.clock.text(replay.to);
  rendered["oldest"] = seen.clock.text(replay.oldest);
  rendered["complete"] = replay.complete;
  rendered["rounds_found"] = replay.rounds_found;
  rendered["jobs"] = std::move(jobs);
  return rendered;
}

// Answers with what a stored version turns out to be, with its tests run or without.
void report_on(Rest& rest, Call call, bool run_tests) {
  const auto choice = read_choice(call, {});
  if (!choice) return;
  auto version = find_version(rest, call, choice->version);
  if (!version) return;
  examine(rest, std::move(call), *std::move(version), run_tests,
          [](Rest&, const Call& done, const PolicyVersion& of, const PolicyExamined& examined) {
            done.reply(200, render_examined(of, examined));
          });
}

void reply_with_replay(Rest& rest, Call call, PolicyEvaluator::ReplayAsked asked) {
  const auto weak = rest.weak_from_this();
  rest.service().policy_workshop().replay(std::move(asked), [weak, call = std::move(call)](Result<PolicyReplay> done) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->io().post([weak, call, done = std::move(done)] {
      const auto on_thread = weak.lock();
      if (!on_thread) return;
      if (!done) return call.fail(problem_of(done.error()));
      call.reply(200, render_replay(*call.seen, *done, on_thread->service().history()));
    });
  });
}

}  // namespace

void add_policy_version(Rest& rest, Call call) {
  auto body = parse_json(call.request.body, {.bytes_max = 2U << 20U});
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  const PolicyVersion version = read_policy_upload(*body, call.id, errors);
  if (!errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidPolicy",
                      .detail = "the policy needs a change",
                      .hint = "nothing was stored",
                      .errors = std::move(errors)});
  }
  for (const PolicyInfo& builtin : rest.options().policies) {
    if (builtin.name != version.name) continue;
    return call.fail({.status = 409,
                      .code = "NameTaken",
                      .detail = version.name + " is the name of a built-in policy",
                      .hint = "choose another name in policy.yaml"});
  }
  if (const auto problem = refuse_native(rest, version)) return call.fail(*problem);
  rest.command(std::move(call), StorePolicyVersion{version},
               [&rest, name = version.name, key = version.version](const Receipt&, const Published& seen) {
                 const auto stored = rest.service().history().policy_version(name, key);
                 if (!stored) return json_response(500, json::object());
                 return json_response(201, render_version(seen, *stored, false));
               });
}

void list_policy_versions(Rest& rest, Call call) {
  const auto page = read_page(call, "policy_versions");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("policy_versions", page->limit);
  std::uint64_t place = 0;
  for (const auto& version : rest.service().history().policy_versions(call.id)) {
    if (++place <= page->after.value_or(0)) continue;
    if (!builder.add(place, render_version(*call.seen, version, false))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void get_policy_version(Rest& rest, Call call) {
  const auto version = find_version(rest, call, call.query("version"));
  if (version) call.reply(200, render_version(*call.seen, *version, true));
}

void get_policy_status(Rest& rest, Call call) {
  call.reply(200, render_policy_status(rest, *call.seen));
}

void validate_policy(Rest& rest, Call call) {
  report_on(rest, std::move(call), false);
}

void test_policy(Rest& rest, Call call) {
  report_on(rest, std::move(call), true);
}

void activate_policy(Rest& rest, Call call) {
  const auto choice = read_choice(call, {"params"});
  if (!choice) return;
  if (call.id == call.seen->active_policy && !is_plain(call, *choice)) return;
  if (call.id == call.seen->active_policy) return rest.command(std::move(call), ActivatePolicy{}, policy_status(rest));
  for (const PolicyInfo& builtin : rest.options().policies) {
    if (builtin.name != call.id) continue;
    return call.fail({.status = 409,
                      .code = "BuiltInPolicy",
                      .detail = call.id + " is built in, and the daemon was started with " + call.seen->active_policy,
                      .hint = "restart it: schedulerd --policy " + call.id});
  }
  use_version<ActivatePolicy>(rest, std::move(call), *choice, true);
}

void roll_back_policy(Rest& rest, Call call) {
  RollBackPolicy command{call.id, "asked for by token " + call.caller.token_id};
  rest.command(std::move(call), std::move(command), policy_status(rest));
}

void shadow_policy(Rest& rest, Call call) {
  const auto choice = read_choice(call, {"params", "stop"});
  if (!choice) return;
  if (choice->stop) {
    const auto& shadow = call.seen->state.deployment.shadow;
    if (!shadow || shadow->name != call.id) {
      return call.fail({.status = 409, .code = "NotShadowed", .detail = call.id + " does not run as the shadow"});
    }
    return rest.command(std::move(call), ShadowPolicy{}, policy_status(rest));
  }
  use_version<ShadowPolicy>(rest, std::move(call), *choice, false);
}

void get_shadow_report(Rest& rest, Call call) {
  const auto& report = call.seen->shadow;
  if (!report || report->file.name != call.id) {
    return call.fail({.status = 404,
                      .code = "NotShadowed",
                      .detail = call.id + " does not run as the shadow",
                      .hint = "schedctl policy shadow " + call.id});
  }
  json rendered = render_report(*call.seen, *report, rest.service().history());
  rendered["since"] = call.seen->clock.text(report->since);
  call.reply(200, rendered);
}

void diff_policy(Rest& rest, Call call) {
  const auto choice = read_choice(call, {"params", "since", "rounds"});
  if (!choice) return;
  const auto since = parse_duration(choice->since.empty() ? "1d" : choice->since);
  if (!since) return call.fail({.status = 422, .code = "InvalidRequest", .detail = since.error().message});
  auto version = find_version(rest, call, choice->version);
  if (!version) return;
  const auto policy = make_runnable(*version, choice->params);
  if (!policy) {
    return call.fail({.status = 422, .code = "InvalidParameters", .detail = policy.error().message});
  }
  const PolicyEvaluator::ReplayAsked asked{
      .policy = *policy, .since = call.seen->now - *since, .rounds_max = choice->rounds};
  examine(rest, std::move(call), *std::move(version), false,
          [asked](Rest& then, Call done, const PolicyVersion& of, const PolicyExamined& examined) {
            if (const auto problem = unfit(of, examined)) return done.fail(*problem);
            reply_with_replay(then, std::move(done), asked);
          });
}

}  // namespace tidepool::live::http
