// One function per route; route_table.cpp says which. Each answers its call exactly once, now or when
// the loop has answered.
#pragma once

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// lists/job_list.cpp
void list_jobs(Rest& rest, Call call);

// jobs/job_handlers.cpp
void submit_job(Rest& rest, Call call);
void get_job(Rest& rest, Call call);
void cancel_job(Rest& rest, Call call);
void resize_job(Rest& rest, Call call);
void suspend_job(Rest& rest, Call call);
void resume_job(Rest& rest, Call call);
void checkpoint_job(Rest& rest, Call call);

// jobs/job_batch_handler.cpp
void submit_jobs(Rest& rest, Call call);

// jobs/job_change_handler.cpp
void change_job(Rest& rest, Call call);

// jobs/job_view_handlers.cpp
void explain_job(Rest& rest, Call call);
void list_job_decisions(Rest& rest, Call call);
void list_job_events(Rest& rest, Call call);
void job_metrics(Rest& rest, Call call);
void list_job_workers(Rest& rest, Call call);
void job_cost(Rest& rest, Call call);

// forecasts/forecast_handlers.cpp
void list_forecasts(Rest& rest, Call call);
void plan_job(Rest& rest, Call call);

// usage/usage_handler.cpp
void get_usage(Rest& rest, Call call);

// log_handlers.cpp
void job_logs(Rest& rest, Call call);

// cluster_handlers.cpp
void list_nodes(Rest& rest, Call call);
void cordon_node(Rest& rest, Call call);
void uncordon_node(Rest& rest, Call call);
void drain_node(Rest& rest, Call call);
void undrain_node(Rest& rest, Call call);
void clear_node_faults(Rest& rest, Call call);
void remove_node(Rest& rest, Call call);
void release_slots(Rest& rest, Call call);
void list_policies(Rest& rest, Call call);
void list_decisions(Rest& rest, Call call);
void get_decision(Rest& rest, Call call);
void list_events(Rest& rest, Call call);
void stream_events(Rest& rest, Call call);
void snapshot(Rest& rest, Call call);
void healthz(Rest& rest, Call call);
void readyz(Rest& rest, Call call);
void metrics_text(Rest& rest, Call call);
void openapi_document(Rest& rest, Call call);

// pool_handlers.cpp
void list_pools(Rest& rest, Call call);

// node_trust_handlers.cpp
void label_node(Rest& rest, Call call);
void revoke_node(Rest& rest, Call call);
void list_node_tokens(Rest& rest, Call call);
void create_node_token(Rest& rest, Call call);
void revoke_node_token(Rest& rest, Call call);

// maintenance_handlers.cpp
void list_maintenance(Rest& rest, Call call);
void add_maintenance(Rest& rest, Call call);
void remove_maintenance(Rest& rest, Call call);

// policies/policy_handlers.cpp
void add_policy_version(Rest& rest, Call call);
void list_policy_versions(Rest& rest, Call call);
void get_policy_version(Rest& rest, Call call);
void get_policy_status(Rest& rest, Call call);
void validate_policy(Rest& rest, Call call);
void test_policy(Rest& rest, Call call);
void activate_policy(Rest& rest, Call call);
void roll_back_policy(Rest& rest, Call call);
void shadow_policy(Rest& rest, Call call);
void get_shadow_report(Rest& rest, Call call);
void diff_policy(Rest& rest, Call call);

// tenants/tenant_handlers.cpp
void list_tenants(Rest& rest, Call call);
void get_tenant(Rest& rest, Call call);

// tenants/tenant_put_handlers.cpp
void put_tenants(Rest& rest, Call call);
void put_tenants_below(Rest& rest, Call call);

// prices/price_handlers.cpp
void get_prices(Rest& rest, Call call);
void put_prices(Rest& rest, Call call);

// token_handlers.cpp
void list_tokens(Rest& rest, Call call);
void show_own_token(Rest& rest, Call call);
void create_token(Rest& rest, Call call);
void revoke_token(Rest& rest, Call call);

}  // namespace tidepool::live::http
