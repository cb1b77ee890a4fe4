#include "schedulerd/live/http/policies/policy_view.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/tenant_view.hpp"
#include "schedulerd/live/service/tenant_sharing.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

bool is_ref(const std::optional<core::PolicyFileRef>& ref, const PolicyVersion& version) {
  return ref && ref->name == version.name && ref->version == version.version;
}

json render_checks(const std::optional<PolicyChecks>& checks) {
  if (!checks) return nullptr;
  json rendered = to_json(*checks);
  if (checks->fault.empty()) rendered["fault"] = nullptr;
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

}  // namespace

json render_policy_version(const Published& seen, const PolicyVersion& version, bool with_source) {
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

json render_examined_policy(const PolicyVersion& version, const PolicyExamined& examined) {
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

json render_shadow_report(const Published& seen, const ShadowReport& report, History& past) {
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

json render_policy_replay(const Published& seen, const PolicyReplay& replay, History& past) {
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
  json rendered = render_shadow_report(seen, replay.report, past);
  rendered["from"] = seen.clock.text(replay.from);
  rendered["to"] = seen.clock.text(replay.to);
  rendered["oldest"] = seen.clock.text(replay.oldest);
  rendered["complete"] = replay.complete;
  rendered["rounds_found"] = replay.rounds_found;
  rendered["jobs"] = std::move(jobs);
  return rendered;
}

}  // namespace tidepool::live::http
