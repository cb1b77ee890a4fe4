// A new tree of tenants in the place of the present one, or of what lies below one tenant.
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "api/v1/tenant_tree.hpp"
#include "core/facts/tenant_facts.hpp"
#include "core/tenants/tenant_subtree.hpp"
#include "schedulerd/leader/tenant_file.hpp"
#include "schedulerd/leader/user_commands.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/tenants/tenant_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// Of tokens that the caller does not see nothing is said.
json warnings_of(Rest& rest, const Call& call, const core::TenantTree& tree) {
  json warnings = json::array();
  if (tree.empty()) return warnings;
  if (const auto why = rest.why_not_shared(*call.seen)) warnings.push_back(*why);
  for (const TokenRecord& token : rest.service().history().tokens()) {
    if (token.revoked || token.tenant.empty() || tree.find(token.tenant) != nullptr) continue;
    if (!call.caller.sees(token.tenant)) continue;
    warnings.push_back("the token " + token.id + " (" + token.name + ") is of the tenant " + token.tenant +
                       ", which the tree lacks: nothing can be submitted with it");
  }
  return warnings;
}

// `above`: empty for the whole tree.
std::variant<core::TenantTree, Problem> read_tree(const Call& call, const std::string& above) {
  auto body = read_body(call);
  if (auto* problem = std::get_if<Problem>(&body)) return std::move(*problem);
  const json& document = std::get<json>(body);
  auto findings = above.empty() ? api::v1::read_tenant_tree(document) : api::v1::read_tenants_below(document, above);
  if (findings.errors.empty()) return leader::to_core(findings.tree);
  return Problem{.status = 422,
                 .code = "InvalidTenants",
                 .detail = "the tenants need a change",
                 .hint = "nothing was stored",
                 .errors = std::move(findings.errors)};
}

// False: the request was made for another tree than this, as its If-Match says.
bool is_for(const Call& call, const core::TenantTree& before) {
  const auto wanted = call.request.header("if-match");
  return wanted.empty() || wanted == "*" || wanted == tenants_etag(before);
}

bool has_condition(const Call& call) {
  const auto wanted = call.request.header("if-match");
  return !wanted.empty() && wanted != "*";
}

Problem changed_since() {
  return {.status = 412,
          .code = "Changed",
          .detail = "the tenants have changed since they were read",
          .hint = "look at the changes again (dry_run), and repeat with their etag"};
}

// Why this tree would be refused now.
Status try_out(const Published& seen, const core::TenantTree& tree) {
  core::ClusterState copy = seen.state;
  core::StateChange change(copy, seen.now);
  return core::apply(change, core::TenantsConfigured{tree});
}

// A name that a tenant elsewhere had before would show the caller its ended jobs and its tokens.
Status check_new_names(Rest& rest, const Call& call, const core::TenantTree& below) {
  if (call.caller.tenant.empty()) return ok_status();
  History& past = rest.service().history();
  std::set<std::string> taken;
  for (const TokenRecord& token : past.tokens()) taken.insert(token.tenant);
  for (const auto& [id, job] : call.seen->state.jobs) taken.insert(job->spec.tenant);
  for (const core::Tenant& tenant : below.tenants) {
    if (call.caller.sees(tenant.name)) continue;
    const EndedQuery of_it{
        .before = {}, .states = {}, .tenant = tenant.name, .name = "", .subtree = "", .below = {}, .limit = 1};
    if (!taken.contains(tenant.name) && past.ended_jobs(of_it).empty()) continue;
    return conflict("there are jobs or tokens of a tenant " + tenant.name +
                    " that this token may not see; take another name, or ask an operator to add the tenant");
  }
  return ok_status();
}

// What is set now, or below one tenant, and what is to be in its place.
struct Compared {
  const core::TenantTree& before;
  const core::TenantTree& after;
};

json changes_body(const Call& call, const Compared& trees, bool dry_run) {
  return {{"dry_run", dry_run},
          {"changes", tenant_changes(trees.before, trees.after)},
          {"refused", nullptr},
          {"warnings", json::array()},
          {"etag", tenants_etag(trees.before)},
          {"as_of_seq", call.seen->as_of_seq}};
}

void send(Rest& rest, Call call, CommandBody command, json body) {
  rest.command(std::move(call), std::move(command), [body](const Receipt& receipt, const Published&) {
    json answer = body;
    answer["as_of_seq"] = receipt.as_of_seq;
    return json_response(200, answer);
  });
}

}  // namespace

void put_tenants(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  auto read = read_tree(call, "");
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& tree = std::get<core::TenantTree>(read);
  const core::TenantTree& before = *call.seen->state.tenants;
  if (!is_for(call, before)) return call.fail(changed_since());
  json body = changes_body(call, {before, tree}, dry_run.value());
  body["warnings"] = warnings_of(rest, call, tree);
  if (!dry_run.value()) {
    ConfigureTenants command{tree};
    if (has_condition(call)) command.instead_of = before;
    return send(rest, std::move(call), std::move(command), std::move(body));
  }
  if (const Status taken = try_out(*call.seen, tree); !taken.ok()) body["refused"] = taken.error().message;
  call.reply(200, body);
}

void put_tenants_below(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const core::TenantTree& now = *call.seen->state.tenants;
  if (now.find(call.id) == nullptr || !call.caller.sees(call.id)) return call.fail(unknown_tenant(call.id));
  auto read = read_tree(call, call.id);
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& after = std::get<core::TenantTree>(read);
  const core::TenantTree before{.tenants = core::tenants_below(now, call.id)};
  if (!is_for(call, before)) return call.fail(changed_since());
  ConfigureTenantsBelow command{.above = call.id, .tenants = after.tenants, .limited_to = call.caller.tenant};
  json body = changes_body(call, {before, after}, dry_run.value());
  body["warnings"] = warnings_of(rest, call, core::with_tenants_below(now, call.id, after.tenants));
  const Status named = check_new_names(rest, call, after);
  if (!dry_run.value()) {
    if (!named.ok()) return call.fail(problem_of(named.error()));
    if (has_condition(call)) command.instead_of = before.tenants;
    return send(rest, std::move(call), std::move(command), std::move(body));
  }
  const auto whole = leader::tree_with(call.seen->state, command);
  Status taken = whole.ok() ? try_out(*call.seen, *whole) : Status(whole.error());
  if (taken.ok()) taken = named;
  if (!taken.ok()) body["refused"] = taken.error().message;
  call.reply(200, body);
}

}  // namespace tidepool::live::http
