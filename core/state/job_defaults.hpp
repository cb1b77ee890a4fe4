// What the jobs of a tenant, and of tenants below it, take where their job files are silent. Typed as in
// core/state/job_spec.hpp, of which these are the fields that a tenant may have a wish about; schedulerd/leader/
// job_defaults.hpp fills them in when a job is submitted. Jobs that are stored keep what they took.
//
// Of two tenants on the way from the pool to a job's own the nearer wins, field by field.
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
  std::optional<std::vector<std::string>> slot_types{};  // of which a job takes any; as job files name them
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
