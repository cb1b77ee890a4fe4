// The settings of a tenant that have one value each. These rows define their names, types and limits wherever they are
// stored (core/codec), read from files and requests (schedulerd/leader/tenant_file.cpp), checked, compared and shown by
// the API and schedctl, in this order. What a setting does is documented where the core reads its field.
//
// Journals are read with these limits, too, so limits may become wider but never narrower. In trees stored before a row
// was added, the setting has the value of a blank Tenant, or the value that core/codec/tenant_fields.hpp defines
// instead.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "core/state/tenants.hpp"

namespace tidepool::core {

// The type to which a setting's limits apply: the value itself, the value of an optional, or each value of a map.
template <class T>
struct LimitOf {
  using Type = T;
};
template <class T>
struct LimitOf<std::optional<T>> {
  using Type = T;
};
template <class T>
struct LimitOf<std::map<std::string, T>> {
  using Type = T;
};

enum class SetBelow {
  kFreely,
  kNoLooser,  // set by the admin of a tenant above: at most the value of the nearest tenant above that sets it
              // (tenant_subtree.hpp)
};

template <class T>
struct TenantSetting {
  const char* name;
  T Tenant::* field;
  typename LimitOf<T>::Type least;
  typename LimitOf<T>::Type most;
  SetBelow below = SetBelow::kFreely;
};
inline constexpr int kTenantSlotsMost = 10'000'000;
inline constexpr Duration kTenantTimeMost = Duration::seconds(std::int64_t{24} * 3600);
// A file may name less: at most the limit for all amounts of money in files.
inline constexpr Money kTenantPriceMost = Money::micros(std::numeric_limits<std::int64_t>::max());

inline constexpr std::tuple kTenantSettings{
    TenantSetting{"guarantee", &Tenant::guarantee, 0, kTenantSlotsMost},
    TenantSetting{"guarantee_by_type", &Tenant::guarantee_by_type, 0, kTenantSlotsMost},
    TenantSetting{"weight", &Tenant::weight, 0, 1'000'000},
    TenantSetting{"borrow", &Tenant::borrow, 0, kTenantSlotsMost},
    TenantSetting{"lend", &Tenant::lend, 0, kTenantSlotsMost},
    TenantSetting{"priority_max", &Tenant::priority_max, -1'000, 1'000, SetBelow::kNoLooser},
    TenantSetting{"job_slots_max", &Tenant::job_slots_max, 1, kTenantSlotsMost, SetBelow::kNoLooser},
    TenantSetting{"job_price_max", &Tenant::job_price_max, Money::micros(1), kTenantPriceMost, SetBelow::kNoLooser},
    TenantSetting{"job_grace_max", &Tenant::job_grace_max, Duration(), kTenantTimeMost, SetBelow::kNoLooser},
    TenantSetting{"job_hold_max", &Tenant::job_hold_max, Duration(), kTenantTimeMost, SetBelow::kNoLooser},
    TenantSetting{"jobs_max", &Tenant::jobs_max, 1, 10'000'000, SetBelow::kNoLooser},
    TenantSetting{"exclusive_nodes", &Tenant::exclusive_nodes, false, true},
    TenantSetting{"notice_extension", &Tenant::notice_extension, Duration(), kTenantTimeMost, SetBelow::kNoLooser},
    TenantSetting{"notice_refusal", &Tenant::notice_refusal, Duration(), kTenantTimeMost, SetBelow::kNoLooser},
    TenantSetting{"preempt_after", &Tenant::preempt_after, Duration(), kTenantTimeMost}};

// Calls visit(row) for each row.
constexpr void for_each_setting(const auto& visit) {
  std::apply([&](const auto&... row) { (visit(row), ...); }, kTenantSettings);
}

// "10", "5m", "12.50"
template <class T>
std::string limit_text(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else {
    return to_text(value);
  }
}

}  // namespace tidepool::core
