// The tree of tenants: what is set, and what each has and wants now.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/state/tenant_jobs.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/numbers/budget_numbers.hpp"
#include "schedulerd/live/http/numbers/job_use.hpp"
#include "schedulerd/live/http/numbers/tenant_numbers.hpp"
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
        numbers_(tenant_numbers(seen_.state, seen_.now)) {
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

  [[nodiscard]] json render_next(const BudgetNumbers::Next& next) const {
    return {{"percent", next.threshold.percent},
            {"action", core::to_text(next.threshold.action)},
            {"at", seen_.clock.text(next.at)}};
  }

  // Null where the tenant has none.
  [[nodiscard]] json render_budget(const std::string& tenant) const {
    const auto account = seen_.state.budgets.find(tenant);
    if (account == seen_.state.budgets.end()) return nullptr;
    const BudgetNumbers budget = budget_numbers(seen_.state, tenant, account->second, seen_.now);
    return {{"spent", to_text(budget.spent)},
            {"rate_per_hour", to_text(budget.rate)},
            {"expected", to_text(budget.expected)},
            {"window_ends_at", seen_.clock.text(budget.window_ends)},
            {"limit_reached_at", budget.limit_at ? json(seen_.clock.text(*budget.limit_at)) : json(nullptr)},
            {"action", budget.in_force ? json(core::to_text(budget.in_force->action)) : json(nullptr)},
            {"next", budget.next ? render_next(*budget.next) : json(nullptr)}};
  }

  [[nodiscard]] json render_now(std::size_t i) const {
    const TenantNumbers& numbers = numbers_[i];
    const auto planned = [&](const auto& value) { return shared_ ? json(value) : json(nullptr); };
    return {{"entitled", planned(numbers.entitled)},
            {"entitled_by_type", planned(numbers.of_types)},
            {"wanted", planned(numbers.wanted)},
            {"satisfied", planned(numbers.satisfied)},
            {"loan", planned(numbers.loan)},
            {"held", numbers.held},
            {"jobs", core::jobs_of(seen_.state.tenant_jobs, tenants()[i].name)},
            {"jobs_waiting", numbers.waiting},
            {"jobs_running", numbers.running},
            {"slot_hours", slot_hours(numbers.use.slot_time)},
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

}  // namespace

void list_tenants(Rest& rest, Call call) {
  const core::TenantTree& tree = *call.seen->state.tenants;
  const TreeView view(rest, call);
  json tenants = json::array();
  for (std::size_t i = 0; i < tree.tenants.size(); ++i) {
    if (view.sight(i) != Sight::kNone) tenants.push_back(view.render(i));
  }
  json warnings = json::array();
  if (!call.caller.tenant.empty() && !tree.empty() && !view.find(call.caller.tenant)) {
    warnings.push_back("the tenant " + call.caller.tenant +
                       " of this token is not in the tree of tenants; ask an admin to " +
                       "set it there, or for a token of a tenant that is");
  }
  if (const auto why = rest.why_not_shared(*call.seen); why && !tree.empty()) warnings.push_back(*why);
  json document = tree_settings(tree);
  document["tenants"] = std::move(tenants);
  document["warnings"] = std::move(warnings);
  document["as_of_seq"] = call.seen->as_of_seq;
  HttpResponse response = json_response(200, std::move(document));
  response.headers.emplace_back("ETag", tenants_etag(tree));
  call.reply(std::move(response));
}

void get_tenant(Rest& rest, Call call) {
  const TreeView view(rest, call);
  const auto place = view.find(call.id);
  if (place && view.sight(*place) != Sight::kNone) return call.reply(200, view.render(*place));
  call.fail(unknown_tenant(call.id));
}

}  // namespace tidepool::live::http
