// A new tree of tenants in the place of the present one, or of what lies below one tenant.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/explain/budget_warnings.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/state/tenant_jobs.hpp"
#include "core/tenants/tenant_subtree.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/leader/tenant_file.hpp"
#include "schedulerd/leader/user_commands.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/put_settings.hpp"
#include "schedulerd/live/http/settings/slot_types.hpp"
#include "schedulerd/live/http/tenants/tenant_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

void add_all(json& warnings, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) warnings.push_back(text);
}

// What budgets do to jobs at once, as far as the caller may see them.
void add_budget_warnings(const Call& call, const core::TenantTree& tree, json& warnings) {
  const core::ClusterState& state = call.seen->state;
  for (const core::BudgetEffect& effect : core::budget_effects(state, tree, call.seen->now)) {
    if (call.caller.sees(effect.tenant)) add_all(warnings, core::budget_warnings(state, effect));
  }
}

// A limit ends no jobs: with more than it allows a tenant gets no other ones.
void add_jobs_warnings(const Call& call, const core::TenantTree& tree, json& warnings) {
  const core::TenantJobs jobs = core::count_jobs(call.seen->state, tree);
  for (const core::Tenant& tenant : tree.tenants) {
    const int has = core::jobs_of(jobs, tenant.name);
    if (!tenant.jobs_max || has <= *tenant.jobs_max || !call.caller.sees(tenant.name)) continue;
    const std::string most = std::to_string(*tenant.jobs_max);
    warnings.push_back("tenant " + tenant.name + " has " + core::counted(has, "job") +
                       " waiting, running or suspended, beyond jobs_max " + most +
                       ": they continue, and new ones are refused until fewer than " + most + " are left");
  }
}

// Of tokens that the caller does not see nothing is said.
void add_token_warnings(Rest& rest, const Call& call, const core::TenantTree& tree, json& warnings) {
  for (const TokenRecord& token : rest.service().history().tokens()) {
    if (token.revoked || token.tenant.empty() || tree.find(token.tenant) != nullptr) continue;
    if (!call.caller.sees(token.tenant)) continue;
    warnings.push_back("the token " + token.id + " (" + token.name + ") is of the tenant " + token.tenant +
                       ", which the tree lacks: nothing can be submitted with it");
  }
}

json warnings_of(Rest& rest, const Call& call, const core::TenantTree& tree) {
  json warnings = json::array();
  add_budget_warnings(call, tree, warnings);
  add_jobs_warnings(call, tree, warnings);
  if (tree.empty()) return warnings;
  if (const auto why = rest.why_not_shared(*call.seen)) warnings.push_back(*why);
  if (call.caller.tenant.empty()) {
    add_all(warnings, beyond_pool_warnings(call.seen->state, tree));
    add_all(warnings, unknown_type_warnings(call.seen->state, tree));
  }
  add_token_warnings(rest, call, tree, warnings);
  return warnings;
}

// `above`: empty for the whole tree.
std::variant<core::TenantTree, Problem> read_tree(const Call& call, const std::string& above) {
  auto body = read_body(call);
  if (auto* problem = std::get_if<Problem>(&body)) return std::move(*problem);
  const json& document = std::get<json>(body);
  auto findings = above.empty() ? leader::read_tenant_tree(document) : leader::read_tenants_below(document, above);
  if (findings.errors.empty()) return std::move(findings.tree);
  return Problem{.status = 422,
                 .code = "InvalidTenants",
                 .detail = "the tenants need a change",
                 .hint = "nothing was stored",
                 .errors = std::move(findings.errors)};
}

// Why this tree would be refused now.
Status try_out(const Published& seen, const core::TenantTree& tree) {
  core::ClusterState copy = seen.state;
  core::StateChange change(copy, seen.now);
  return core::apply(change, core::TenantsConfigured{tree});
}

// Of the tenant or of a team in it by name.
bool any_of_tenant(const std::set<std::string>& owners, const std::string& tenant) {
  const auto team = owners.lower_bound(tenant + "/");
  return owners.contains(tenant) || (team != owners.end() && team->starts_with(tenant + "/"));
}

// Whether one of them is hidden from the caller; of very many, that one is.
bool has_hidden_ended_jobs(History& past, const Caller& caller, const std::string& tenant) {
  constexpr int kLookedAt = 1'000;
  const auto rows = past.ended_jobs(
      {.before = {}, .states = {}, .tenant = "", .name = "", .subtree = tenant, .below = {}, .limit = kLookedAt});
  return rows.size() == kLookedAt ||
         std::any_of(rows.begin(), rows.end(), [&](const EndedRow& row) { return !caller.sees(row.tenant); });
}

// A name that a tenant elsewhere had before would show its tokens the ended jobs and tokens of that tenant, and those
// of teams in it by name.
Status check_new_names(Rest& rest, const Call& call, const core::TenantTree& below) {
  if (call.caller.tenant.empty()) return ok_status();
  History& past = rest.service().history();
  std::set<std::string> hidden;
  const auto note = [&](const std::string& owner) {
    if (!call.caller.sees(owner)) hidden.insert(owner);
  };
  for (const TokenRecord& token : past.tokens()) note(token.tenant);
  for (const auto& [id, job] : call.seen->state.jobs) note(job->spec.tenant);
  for (const core::Tenant& tenant : below.tenants) {
    if (call.caller.sees(tenant.name)) continue;
    if (!any_of_tenant(hidden, tenant.name) && !has_hidden_ended_jobs(past, call.caller, tenant.name)) continue;
    return conflict("there are jobs or tokens of a tenant " + tenant.name +
                    ", or of a team in it by name, that this token may not see; take another name, or ask an operator "
                    "to add the tenant");
  }
  return ok_status();
}

}  // namespace

void put_tenants(Rest& rest, Call call) {
  auto read = read_tree(call, "");
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& tree = std::get<core::TenantTree>(read);
  const auto seen = call.seen;
  const core::TenantTree& set = *seen->state.tenants;
  json warnings = warnings_of(rest, call, tree);
  put_settings(rest, std::move(call),
               {.what = "the tenants",
                .changes = tenant_changes(set, tree),
                .warnings = std::move(warnings),
                .etag = tenants_etag(set),
                .try_out = [&] { return try_out(*seen, tree); },
                .command = [&](bool if_unchanged) -> CommandBody {
                  return leader::ConfigureTenants{tree, if_unchanged ? std::optional(set) : std::nullopt};
                }});
}

void put_tenants_below(Rest& rest, Call call) {
  const auto seen = call.seen;
  const core::TenantTree& now = *seen->state.tenants;
  if (now.find(call.id) == nullptr || !call.caller.sees(call.id)) return call.fail(unknown_tenant(call.id));
  auto read = read_tree(call, call.id);
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& after = std::get<core::TenantTree>(read);
  const core::TenantTree before{.tenants = core::tenants_below(now, call.id)};
  const Status named = check_new_names(rest, call, after);
  const auto dry_run = read_flag(call, "dry_run");
  if (!named.ok() && dry_run && !dry_run.value()) return call.fail(problem_of(named.error()));
  leader::ConfigureTenantsBelow command{.above = call.id, .tenants = after.tenants, .limited_to = call.caller.tenant};
  json warnings = warnings_of(rest, call, core::with_tenants_below(now, call.id, after.tenants));
  put_settings(rest, std::move(call),
               {.what = "the tenants",
                .changes = tenant_changes(before, after),
                .warnings = std::move(warnings),
                .etag = tenants_etag(before),
                .try_out =
                    [&] {
                      const auto whole = leader::tree_with(seen->state, command);
                      const Status taken = whole.ok() ? try_out(*seen, *whole) : Status(whole.error());
                      return taken.ok() ? named : taken;
                    },
                .command = [&](bool if_unchanged) -> CommandBody {
                  if (if_unchanged) command.instead_of = before.tenants;
                  return command;
                }});
}

}  // namespace tidepool::live::http
