#include "policies/host/test_tenants.hpp"

#include <algorithm>
#include <limits>

#include "core/tenants/entitlement.hpp"
#include "policies/host/tenant_rows.hpp"

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

constexpr int kSlotsMax = 1'000'000;
constexpr std::int64_t kWeightMax = 1'000'000;

std::optional<int> read_limit(ObjectReader& in, const char* name) {
  if (!in.has(name)) return std::nullopt;
  return static_cast<int>(in.integer(name, 0, {.low = 0, .high = kSlotsMax}));
}

}  // namespace

std::vector<cluster::TenantRow> read_tenants(const json& list, const std::string& pointer,
                                             std::vector<FieldError>& errors) {
  const std::size_t errors_before = errors.size();
  if (list.is_null()) return {};
  if (!list.is_array() || list.empty()) {
    errors.push_back({pointer, "WrongType", "tenants must be a list with at least one, such as [{name: vision}]"});
    return {};
  }
  core::TenantTree tree;
  std::vector<double> loans;
  for (const json& entry : list) {
    ObjectReader in(entry, pointer + "/" + std::to_string(tree.tenants.size()), errors);
    core::Tenant& tenant = tree.tenants.emplace_back();
    tenant.name = in.required_text("name");
    tenant.parent = in.text("parent", "");
    tenant.guarantee = static_cast<int>(in.integer("guarantee", 0, {.low = 0, .high = kSlotsMax}));
    tenant.weight = in.integer("weight", 1, {.low = 0, .high = kWeightMax});
    tenant.borrow = read_limit(in, "borrow");
    tenant.lend = read_limit(in, "lend");
    loans.push_back(in.number("loan", 0, 0, kSlotsMax));
    in.finish();
  }
  if (errors.size() > errors_before) return {};
  if (const Status right = check_tenants(tree); !right.ok()) {
    errors.push_back({pointer, "Invalid", right.error().message});
    return {};
  }
  std::vector<cluster::TenantRow> rows = rows_of(tree);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].loan = loans[i];
    if (rows[i].is_leaf || loans[i] == 0) continue;
    errors.push_back({pointer + "/" + std::to_string(i) + "/loan", "Invalid",
                      "loan is stated of tenants that have none below them: " + rows[i].name + " has their sum"});
  }
  return rows;
}

std::optional<std::size_t> add_jobs_to_tenants(cluster::View& view) {
  if (view.tenants.empty()) return std::nullopt;
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const cluster::JobRow& job = view.jobs[i];
    const auto row = std::find_if(view.tenants.begin(), view.tenants.end(), [&](const cluster::TenantRow& tenant) {
      return tenant.is_leaf && tenant.name == job.tenant;
    });
    if (row == view.tenants.end()) return i;
    row->wanted += job.size_max;
    row->held += size_of(job.placement);
  }
  add_to_parents(view.tenants);
  return std::nullopt;
}

std::vector<int> entitled(const cluster::View& view, const std::vector<std::optional<int>>& claims) {
  std::vector<core::TenantNode> nodes;
  for (std::size_t i = 0; i < view.tenants.size(); ++i) {
    const cluster::TenantRow& row = view.tenants[i];
    core::TenantNode& node = nodes.emplace_back();
    node = {
        .parent = row.parent, .guarantee = row.guarantee, .weight = row.weight, .borrow = row.borrow, .lend = row.lend};
    if (row.is_leaf) {
      node.wanted = static_cast<int>(std::min<std::int64_t>(row.wanted, std::numeric_limits<int>::max()));
      node.loan = row.loan * core::kLoanWeight;
    }
    if (!claims.empty()) node.claim = claims[i];
  }
  return core::entitlements(std::move(nodes), view.slots());
}

}  // namespace tidepool::policies::host
