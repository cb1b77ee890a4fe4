// The values that the jobs of a tenant, and of tenants below it, get for fields missing in their job files. The fields
// are those of core/state/job_spec.hpp for which a tenant may set a default, with the same types;
// schedulerd/leader/job_defaults.hpp fills them in when a job is submitted. Stored jobs keep the values they got.
//
// If two tenants on the path from the pool to a job's own tenant set a field, the nearer one wins, field by field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/money.hpp"
#include "base/time.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::core {

struct JobDefaults {
  std::optional<int> priority{};
  std::optional<bool> preemptible{};
  std::optional<std::vector<std::string>> slot_types{};  // a job takes any of them; named as in job files
  std::optional<Selector> selector{};
  std::optional<Duration> min_runtime{};
  std::optional<Duration> cooldown{};
  std::optional<Duration> grace{};
  std::optional<double> efficiency_threshold{};
  std::optional<Money> price_cap{};
  std::optional<Duration> checkpoint_every{};
  std::optional<std::string> checkpoint_dir{};
  std::optional<int> checkpoint_keep{};
  std::optional<Duration> max_duration{};
  std::optional<int> max_restarts{};

  bool operator==(const JobDefaults&) const = default;
};

}  // namespace tidepool::core
