// The tree of tenants: what is set, what each has and wants now, and a new tree in its place.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/v1/tenant_tree.hpp"
#include "core/facts/tenant_facts.hpp"
#include "schedulerd/leader/tenant_file.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/numbers/budget_numbers.hpp"
#include "schedulerd/live/http/numbers/tenant_numbers.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/tenants/tenant_changes.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// A token of one tenant sees its own and those below it whole. Of those above it it sees what is set, which its jobs
// must keep to, and not what other tenants have.
enum class Sight { kNone, kSettings, kAll };

class TreeView {
 public:
  TreeView(const Rest& rest, const Call& call)
      : seen_(*call.seen),
        caller_(call.caller),
        currency_(rest.options().currency),
        shared_(!rest.why_not_shared(*call.seen)),
        numbers_(tenant_numbers(seen_.state)) {
    for (std::size_t i = 0; i < tenants().size(); ++i) place_.emplace(tenants()[i].name, i);
  }

  [[nodiscard]] const std::vector<core::Tenant>& tenants() const { return seen_.state.tenants->tenants; }
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const {
    const auto found = place_.find(name);
    return found == place_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] Sight sight(std::size_t i) const {
    if (caller_.tenant.empty()) return Sight::kAll;
    const auto own = path(i);
    if (std::find(own.begin(), own.end(), caller_.tenant) != own.end()) return Sight::kAll;
    const auto mine = find(caller_.tenant);
    const auto above = mine ? path(*mine) : std::vector<std::string>();
    return std::find(above.begin(), above.end(), tenants()[i].name) != above.end() ? Sight::kSettings : Sight::kNone;
  }

  [[nodiscard]] json render(std::size_t i) const {
    json out = tenant_settings(tenants()[i]);
    out["name"] = tenants()[i].name;
    out["path"] = path(i);
    out["now"] = sight(i) == Sight::kAll ? render_now(i) : json(nullptr);
    return out;
  }

 private:
  // From the one directly under the pool to this one.
  [[nodiscard]] std::vector<std::string> path(std::size_t i) const {
    std::vector<std::string> names = {tenants()[i].name};
    while (!tenants()[i].parent.empty()) {
      names.push_back(tenants()[i].parent);
      i = place_.at(tenants()[i].parent);
    }
    std::reverse(names.begin(), names.end());
    return names;
  }

  // Null where the tenant has none.
  [[nodiscard]] json render_budget(const std::string& tenant) const {
    const auto account = seen_.state.budgets.find(tenant);
    if (account == seen_.state.budgets.end()) return nullptr;
    const BudgetNumbers budget = budget_numbers(seen_.state, account->second, seen_.now);
    return {{"spent", to_text(budget.spent)},
            {"rate_per_hour", to_text(budget.rate)},
            {"expected", to_text(budget.expected)},
            {"window_ends_at", seen_.clock.text(budget.window_ends)},
            {"limit_reached_at", budget.limit_at ? json(seen_.clock.text(*budget.limit_at)) : json(nullptr)},
            {"action", budget.in_force ? json(core::to_text(budget.in_force->action)) : json(nullptr)}};
  }

  [[nodiscard]] json render_now(std::size_t i) const {
    const TenantNumbers& numbers = numbers_[i];
    const auto planned = [&](const auto& value) { return shared_ ? json(value) : json(nullptr); };
    return {{"entitled", planned(numbers.entitled)},
            {"wanted", planned(numbers.wanted)},
            {"sated", planned(numbers.sated)},
            {"loan", planned(numbers.loan)},
            {"held", numbers.held},
            {"jobs_waiting", numbers.waiting},
            {"jobs_running", numbers.running},
            {"slot_hours", numbers.use.slot_time.to_seconds() / 3600},
            {"cost", to_text(numbers.use.cost)},
            {"currency", currency_},
            {"budget", render_budget(tenants()[i].name)}};
  }

  const Published& seen_;
  const Caller& caller_;
  const std::string& currency_;
  bool shared_;
  std::vector<TenantNumbers> numbers_;
  std::map<std::string, std::size_t> place_;
};

json warnings_of(Rest& rest, const Published& seen, const core::TenantTree& tree) {
  json warnings = json::array();
  if (tree.empty()) return warnings;
  if (const auto why = rest.why_not_shared(seen)) warnings.push_back(*why);
  for (const TokenRecord& token : rest.service().history().tokens()) {
    if (token.revoked || token.tenant.empty() || tree.find(token.tenant) != nullptr) continue;
    warnings.push_back("the token " + token.id + " (" + token.name + ") is of the tenant " + token.tenant +
                       ", which the tree lacks: nothing can be submitted with it");
  }
  return warnings;
}

std::variant<core::TenantTree, Problem> read_tree(const Call& call) {
  auto body = read_body(call);
  if (auto* problem = std::get_if<Problem>(&body)) return std::move(*problem);
  auto findings = api::v1::read_tenant_tree(std::get<json>(body));
  if (findings.errors.empty()) return leader::to_core(findings.tree);
  return Problem{.status = 422,
                 .code = "InvalidTenants",
                 .detail = "the tenants need a change",
                 .hint = "nothing was stored",
                 .errors = std::move(findings.errors)};
}

// The tree that the request was made for, as its If-Match says; none: of any. False: it has changed since.
bool read_condition(const Call& call, std::optional<core::TenantTree>& instead_of) {
  const auto wanted = call.request.header("if-match");
  if (wanted.empty() || wanted == "*") return true;
  instead_of = *call.seen->state.tenants;
  return wanted == tenants_etag(*instead_of);
}

// Why this tree would be refused now.
Status try_out(const Published& seen, const core::TenantTree& tree) {
  core::ClusterState copy = seen.state;
  core::StateChange change(copy, seen.now);
  return core::apply(change, core::TenantsConfigured{tree});
}

}  // namespace

void list_tenants(Rest& rest, Call call) {
  const core::TenantTree& tree = *call.seen->state.tenants;
  const TreeView view(rest, call);
  json tenants = json::array();
  for (std::size_t i = 0; i < tree.tenants.size(); ++i) {
    if (view.sight(i) != Sight::kNone) tenants.push_back(view.render(i));
  }
  json warnings = json::array();
  if (const auto why = rest.why_not_shared(*call.seen); why && !tree.empty()) warnings.push_back(*why);
  HttpResponse response = json_response(200, {{"half_life", to_text(tree.half_life)},
                                              {"rebalance_every", to_text(tree.rebalance_every)},
                                              {"tenants", std::move(tenants)},
                                              {"warnings", std::move(warnings)},
                                              {"as_of_seq", call.seen->as_of_seq}});
  response.headers.emplace_back("ETag", tenants_etag(tree));
  call.reply(std::move(response));
}

void get_tenant(Rest& rest, Call call) {
  const TreeView view(rest, call);
  const auto place = view.find(call.id);
  if (place && view.sight(*place) != Sight::kNone) return call.reply(200, view.render(*place));
  call.fail({.status = 404,
             .code = "UnknownTenant",
             .detail = "there is no tenant " + call.id,
             .hint = "GET /v1/tenants lists those that this token may see"});
}

void put_tenants(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  auto read = read_tree(call);
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& tree = std::get<core::TenantTree>(read);
  std::optional<core::TenantTree> instead_of;
  if (!read_condition(call, instead_of)) {
    return call.fail({.status = 412,
                      .code = "Changed",
                      .detail = "the tenants have changed since they were read",
                      .hint = "look at the changes again (dry_run), and repeat with their etag"});
  }
  json body = {{"dry_run", dry_run.value()},
               {"changes", tenant_changes(*call.seen->state.tenants, tree)},
               {"refused", nullptr},
               {"warnings", warnings_of(rest, *call.seen, tree)},
               {"etag", tenants_etag(*call.seen->state.tenants)},
               {"as_of_seq", call.seen->as_of_seq}};
  if (!dry_run.value()) {
    return rest.command(std::move(call), ConfigureTenants{tree, std::move(instead_of)},
                        [body](const Receipt& receipt, const Published&) {
                          json answer = body;
                          answer["as_of_seq"] = receipt.as_of_seq;
                          return json_response(200, answer);
                        });
  }
  if (const Status taken = try_out(*call.seen, tree); !taken.ok()) body["refused"] = taken.error().message;
  call.reply(200, body);
}

}  // namespace tidepool::live::http
