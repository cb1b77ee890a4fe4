// Resources as JSON, exactly as api/openapi.yaml describes them. Pure functions of a published
// picture; nothing here decides or waits.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "core/engine/engine.hpp"
#include "schedulerd/live/http/authenticator.hpp"
#include "schedulerd/live/http/tenant_view.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

[[nodiscard]] nlohmann::json instant_or_null(const Published& seen, const std::optional<Instant>& at);
[[nodiscard]] nlohmann::json render_reason(const core::Reason& reason);
// A size that was weighed, and those that lost, best first.
[[nodiscard]] nlohmann::json render_alternative(const core::Alternative& weighed);
[[nodiscard]] nlohmann::json render_alternatives(const std::vector<core::Alternative>& lost);

// All but its file, which job_text() puts in.
[[nodiscard]] nlohmann::json render_job(const SeenBy& seen_by, const core::Job& job, const std::string& currency);
// With the reason as a caller of no tenant sees it.
[[nodiscard]] nlohmann::json render_job_to_all(const Published& seen, const core::Job& job,
                                               const std::string& currency);
// The rendered job as text, with its leader::file_text() as "spec" where the order of names has it.
[[nodiscard]] std::string job_text(const nlohmann::json& rendered, const std::string& file);

// Workers that it has once the change that is under way is done.
[[nodiscard]] int target_size_of(const core::Job& job);
// The newest forecast of the job; null: there is none, or it says nothing of the job any more. `why`: the reason that
// the job has now (core::current_reason), which a caller that tells it, too, has worked out already.
[[nodiscard]] const forecast::JobReport* forecast_of(const SeenBy& seen_by, const core::Job& job,
                                                     const core::Reason& why);
// When the job is expected to start and end; null: nothing is known of it yet.
[[nodiscard]] nlohmann::json render_forecast(const SeenBy& seen_by, JobId job);
[[nodiscard]] nlohmann::json render_forecast(const SeenBy& seen_by, const core::Job& job, const core::Reason& why);
[[nodiscard]] nlohmann::json render_budget(const WallClock& clock, const forecast::BudgetEffect& budget);
// The same of a forecast that was made for the caller alone. `named`: other jobs, as the caller may read of them.
using JobNames = std::function<std::string(JobId)>;
[[nodiscard]] nlohmann::json render_told(const WallClock& clock, const forecast::JobReport& told,
                                         const forecast::ForecastReport& of, const JobNames& named);

[[nodiscard]] nlohmann::json render_sizes(const core::Job& job);
[[nodiscard]] nlohmann::json render_cost(const Published& seen, const core::Job& job, const std::string& currency);
[[nodiscard]] nlohmann::json render_explanation(const SeenBy& seen_by, const core::Job& job);

[[nodiscard]] nlohmann::json render_worker(const Published& seen, const core::Worker& worker);

// Slots of other tenants' jobs are shown as busy without a name.
[[nodiscard]] nlohmann::json render_node(const SeenBy& seen_by, const core::Node& node);
// By what a node is known; null = the agents' shared token.
[[nodiscard]] nlohmann::json render_access(const Published& seen, const NodeCredential* known);
[[nodiscard]] nlohmann::json render_node_token(const Published& seen, const NodeToken& token);

[[nodiscard]] nlohmann::json render_metric_point(const Published& seen, const MetricPoint& point);
[[nodiscard]] nlohmann::json render_fit(const core::Job& job);

// What the caller may see of a decision; null if nothing of it. An error if the record is broken.
[[nodiscard]] Result<nlohmann::json> render_decision(const SeenBy& seen_by, const StoredDecision& stored);

// The event as the caller may see it; null if not at all.
[[nodiscard]] nlohmann::json render_event(const SeenBy& seen_by, const core::Event& event);

[[nodiscard]] nlohmann::json render_token(const TokenRecord& token, std::int64_t unix_s);

}  // namespace tidepool::live::http
