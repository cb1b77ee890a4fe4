#include "schedulerd/live/http/route_table.hpp"

#include <array>

#include "schedulerd/live/http/handlers.hpp"

namespace tidepool::live::http {
namespace {

constexpr bool kOwn = false;  // tokens of one tenant see their own part
constexpr bool kAll = true;   // only tokens of no tenant
constexpr BodyKind kBody = BodyKind::kJson;

constexpr std::array kRoutes{
    Route{"GET", "/v1/jobs", Access::kViewer, kOwn, "limit cursor state tenant name", list_jobs},
    Route{"POST", "/v1/jobs", Access::kSubmitter, kOwn, "dry_run", submit_job, BodyKind::kJobFile},
    Route{"POST", "/v1/jobs:batch", Access::kSubmitter, kOwn, "", submit_jobs, kBody},
    Route{"GET", "/v1/jobs/{id}", Access::kViewer, kOwn, "", get_job},
    Route{"PATCH", "/v1/jobs/{id}", Access::kSubmitter, kOwn, "dry_run", change_job, kBody},
    Route{"DELETE", "/v1/jobs/{id}", Access::kSubmitter, kOwn, "dry_run", cancel_job},
    Route{"POST", "/v1/jobs/{id}/resize", Access::kSubmitter, kOwn, "dry_run", resize_job, kBody},
    Route{"POST", "/v1/jobs/{id}/suspend", Access::kSubmitter, kOwn, "", suspend_job},
    Route{"POST", "/v1/jobs/{id}/resume", Access::kSubmitter, kOwn, "", resume_job},
    Route{"POST", "/v1/jobs/{id}/checkpoint", Access::kSubmitter, kOwn, "", checkpoint_job},
    Route{"GET", "/v1/jobs/{id}/explain", Access::kViewer, kOwn, "", explain_job},
    Route{"GET", "/v1/jobs/{id}/decisions", Access::kViewer, kOwn, "limit cursor", list_job_decisions},
    Route{"GET", "/v1/jobs/{id}/events", Access::kViewer, kOwn, "limit cursor after order type brief", list_job_events},
    Route{"GET", "/v1/jobs/{id}/metrics", Access::kViewer, kOwn, "limit", job_metrics},
    Route{"GET", "/v1/jobs/{id}/workers", Access::kViewer, kOwn, "limit cursor", list_job_workers},
    Route{"GET", "/v1/jobs/{id}/cost", Access::kViewer, kOwn, "", job_cost},
    Route{"GET", "/v1/jobs/{id}/logs", Access::kViewer, kOwn, "worker offset limit follow", job_logs},
    Route{"GET", "/v1/forecast", Access::kViewer, kOwn, "limit cursor", list_forecasts},
    Route{"POST", "/v1/plan", Access::kSubmitter, kOwn, "", plan_job, BodyKind::kJobFile},
    Route{"GET", "/v1/nodes", Access::kViewer, kOwn, "limit cursor", list_nodes},
    Route{"POST", "/v1/nodes/{id}/cordon", Access::kAdmin, kAll, "", cordon_node},
    Route{"POST", "/v1/nodes/{id}/labels", Access::kAdmin, kAll, "", label_node, kBody},
    Route{"POST", "/v1/nodes/{id}/uncordon", Access::kAdmin, kAll, "", uncordon_node},
    Route{"POST", "/v1/nodes/{id}/drain", Access::kAdmin, kAll, "", drain_node, kBody},
    Route{"POST", "/v1/nodes/{id}/undrain", Access::kAdmin, kAll, "", undrain_node},
    Route{"DELETE", "/v1/nodes/{id}", Access::kAdmin, kAll, "", remove_node},
    Route{"POST", "/v1/nodes/{id}/clear-faults", Access::kAdmin, kAll, "", clear_node_faults},
    Route{"POST", "/v1/nodes/{id}/release-slots", Access::kAdmin, kAll, "", release_slots},
    Route{"POST", "/v1/nodes/{id}/revoke", Access::kAdmin, kAll, "", revoke_node, kBody},
    Route{"GET", "/v1/maintenance", Access::kViewer, kOwn, "limit cursor", list_maintenance},
    Route{"POST", "/v1/maintenance", Access::kAdmin, kAll, "", add_maintenance, kBody},
    Route{"DELETE", "/v1/maintenance/{id}", Access::kAdmin, kAll, "", remove_maintenance},
    Route{"GET", "/v1/node-tokens", Access::kAdmin, kAll, "limit cursor", list_node_tokens},
    Route{"POST", "/v1/node-tokens", Access::kAdmin, kAll, "", create_node_token, kBody},
    Route{"DELETE", "/v1/node-tokens/{id}", Access::kAdmin, kAll, "", revoke_node_token},
    Route{"GET", "/v1/pools", Access::kViewer, kAll, "limit cursor", list_pools},
    Route{"GET", "/v1/policies", Access::kViewer, kOwn, "limit cursor", list_policies},
    Route{"GET", "/v1/policies/status", Access::kViewer, kAll, "", get_policy_status},
    Route{"GET", "/v1/policies/{id}/versions", Access::kViewer, kAll, "limit cursor", list_policy_versions},
    Route{"POST", "/v1/policies/{id}/versions", Access::kAdmin, kAll, "", add_policy_version, kBody},
    Route{"GET", "/v1/policies/{id}", Access::kViewer, kAll, "version", get_policy_version},
    Route{"POST", "/v1/policies/{id}/validate", Access::kAdmin, kAll, "", validate_policy, kBody},
    Route{"POST", "/v1/policies/{id}/test", Access::kAdmin, kAll, "", test_policy, kBody},
    Route{"POST", "/v1/policies/{id}/shadow", Access::kAdmin, kAll, "", shadow_policy, kBody},
    Route{"GET", "/v1/policies/{id}/shadow-report", Access::kViewer, kAll, "", get_shadow_report},
    Route{"POST", "/v1/policies/{id}/diff", Access::kAdmin, kAll, "", diff_policy, kBody},
    Route{"POST", "/v1/policies/{id}/activate", Access::kAdmin, kAll, "", activate_policy, kBody},
    Route{"POST", "/v1/policies/{id}/rollback", Access::kAdmin, kAll, "", roll_back_policy},
    Route{"GET", "/v1/decisions", Access::kViewer, kOwn, "limit cursor", list_decisions},
    Route{"GET", "/v1/decisions/{id}", Access::kViewer, kOwn, "", get_decision},
    Route{"GET", "/v1/events", Access::kViewer, kOwn, "limit cursor after job node order type brief", list_events},
    Route{"GET", "/v1/events/stream", Access::kViewer, kOwn, "after job node", stream_events},
    Route{"GET", "/v1/tenants", Access::kViewer, kOwn, "", list_tenants},
    Route{"PUT", "/v1/tenants", Access::kAdmin, kAll, "dry_run", put_tenants, kBody},
    Route{"GET", "/v1/tenants/{id}", Access::kViewer, kOwn, "", get_tenant},
    Route{"PUT", "/v1/tenants/{id}/tenants", Access::kAdmin, kOwn, "dry_run", put_tenants_below, kBody},
    Route{"GET", "/v1/prices", Access::kViewer, kOwn, "", get_prices},
    Route{"PUT", "/v1/prices", Access::kAdmin, kAll, "dry_run", put_prices, kBody},
    Route{"GET", "/v1/usage", Access::kViewer, kOwn, "by window from to", get_usage},
    Route{"GET", "/v1/tokens", Access::kAdmin, kOwn, "limit cursor", list_tokens},
    Route{"POST", "/v1/tokens", Access::kAdmin, kOwn, "", create_token, kBody},
    Route{"DELETE", "/v1/tokens/{id}", Access::kAdmin, kOwn, "", revoke_token},
    Route{"GET", "/v1/whoami", Access::kViewer, kOwn, "", show_own_token},
    Route{"GET", "/v1/snapshot", Access::kAdmin, kAll, "", snapshot},
    Route{"GET", "/v1/openapi.json", Access::kPublic, kOwn, "", openapi_document},
    Route{"GET", "/healthz", Access::kPublic, kOwn, "", healthz},
    Route{"GET", "/readyz", Access::kPublic, kOwn, "", readyz},
    Route{"GET", "/metrics", Access::kViewer, kAll, "", metrics_text},
};

// Matches "/v1/jobs/{id}/resize" against a path; the first row that does counts, so a word comes before an {id} there.
// {id} takes one segment that is not empty.
bool matches(std::string_view pattern, std::string_view path, std::string& id) {
  while (!pattern.empty() && !path.empty()) {
    pattern.remove_prefix(1);
    path.remove_prefix(1);
    const auto wanted = pattern.substr(0, pattern.find('/'));
    const auto given = path.substr(0, path.find('/'));
    pattern.remove_prefix(wanted.size());
    path.remove_prefix(given.size());
    if (wanted == "{id}" && !given.empty()) {
      id = given;
    } else if (wanted != given) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

RouteMatch match_route(std::string_view method, std::string_view path) {
  RouteMatch match;
  const std::string_view asked = method == "HEAD" ? "GET" : method;
  for (const auto& route : kRoutes) {
    std::string id;
    if (!matches(route.path, path, id)) continue;
    match.allowed_methods.emplace_back(route.method);
    if (route.method == "GET") match.allowed_methods.emplace_back("HEAD");
    if (route.method != asked || match.route != nullptr) continue;
    match.route = &route;
    match.id = std::move(id);
  }
  return match;
}

}  // namespace tidepool::live::http
