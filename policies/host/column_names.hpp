// The names of the columns of tidepool_policy.h in Lua and in test files, in the order of the enumerations.
#pragma once

#include <array>

#include "policies/host/tidepool_policy.h"

namespace tidepool::policies::host {

enum class ColumnKind {
  kNumber,
  kOptional,  // NaN = not declared; false in Lua
  kBoolean,   // 0 or 1
  kRow,       // of the same table, from 0, NaN = none; from 1 or false in Lua
  kPool,      // an index into the names of pools; the name in Lua
  kTenant,    // an index into the names of tenants; the name in Lua
  kSlotType,  // an index into the names of slot types, NaN = not known; the name or false in Lua
};

struct Column {
  const char* name;
  ColumnKind kind;
};

inline constexpr std::array<Column, TIDEPOOL_JOB_COLUMNS> kJobColumns{{
    {"id", ColumnKind::kNumber},           {"submitted", ColumnKind::kNumber},
    {"weight", ColumnKind::kNumber},       {"size", ColumnKind::kNumber},
    {"nodes_held", ColumnKind::kNumber},   {"held_seconds", ColumnKind::kNumber},
    {"slot_seconds", ColumnKind::kNumber}, {"largest_seen", ColumnKind::kNumber},
    {"resizes", ColumnKind::kNumber},      {"size_wanted", ColumnKind::kNumber},
    {"size_min", ColumnKind::kNumber},     {"size_max", ColumnKind::kNumber},
    {"steps_left", ColumnKind::kOptional}, {"useful_left", ColumnKind::kOptional},
    {"marked", ColumnKind::kNumber},       {"marked_since", ColumnKind::kNumber},
    {"grow_seconds", ColumnKind::kNumber}, {"shrink_seconds", ColumnKind::kNumber},
    {"move_seconds", ColumnKind::kNumber}, {"start_seconds", ColumnKind::kNumber},
    {"priority", ColumnKind::kNumber},     {"preemptible", ColumnKind::kBoolean},
    {"pinned", ColumnKind::kNumber},       {"resize_blocked", ColumnKind::kBoolean},
    {"deadline", ColumnKind::kOptional},   {"useful_expected", ColumnKind::kOptional},
    {"steps_done", ColumnKind::kNumber},   {"tenant", ColumnKind::kTenant},
    {"price", ColumnKind::kNumber},        {"boot_seconds", ColumnKind::kNumber},
}};

// A call with job and size in Lua: the cost at the size where a row holds for it, else in the mean over all sizes.
struct CostColumn {
  const char* name;
  tidepool_cost_column at_size;
  tidepool_job_column mean;
};

inline constexpr std::array<CostColumn, TIDEPOOL_COST_COLUMNS - 1> kCostColumns{{
    {"grow_seconds_at", TIDEPOOL_COST_GROW, TIDEPOOL_JOB_GROW},
    {"shrink_seconds_at", TIDEPOOL_COST_SHRINK, TIDEPOOL_JOB_SHRINK},
    {"move_seconds_at", TIDEPOOL_COST_MOVE, TIDEPOOL_JOB_MOVE},
    {"start_seconds_at", TIDEPOOL_COST_START, TIDEPOOL_JOB_START},
    {"boot_seconds_at", TIDEPOOL_COST_BOOT, TIDEPOOL_JOB_BOOT},
}};

inline constexpr std::array<Column, TIDEPOOL_NODE_COLUMNS> kNodeColumns{{
    {"node_id", ColumnKind::kNumber},
    {"node_slots", ColumnKind::kNumber},
    {"node_type", ColumnKind::kSlotType},
    {"node_price", ColumnKind::kNumber},
}};

inline constexpr std::array<Column, TIDEPOOL_TENANT_COLUMNS> kTenantColumns{{
    {"tenant_name", ColumnKind::kTenant},
    {"tenant_parent", ColumnKind::kRow},
    {"tenant_guarantee", ColumnKind::kNumber},
    {"tenant_weight", ColumnKind::kNumber},
    {"tenant_borrow", ColumnKind::kOptional},
    {"tenant_lend", ColumnKind::kOptional},
    {"tenant_wanted", ColumnKind::kNumber},
    {"tenant_held", ColumnKind::kNumber},
    {"tenant_loan", ColumnKind::kNumber},
    {"tenant_is_leaf", ColumnKind::kBoolean},
}};

inline constexpr std::array<Column, TIDEPOOL_POOL_COLUMNS> kPoolColumns{{
    {"pool_name", ColumnKind::kPool},           {"pool_type", ColumnKind::kSlotType},
    {"pool_slots", ColumnKind::kNumber},        {"pool_price", ColumnKind::kNumber},
    {"pool_worth", ColumnKind::kNumber},        {"pool_min", ColumnKind::kNumber},
    {"pool_max", ColumnKind::kNumber},          {"pool_spot", ColumnKind::kBoolean},
    {"pool_lead", ColumnKind::kNumber},         {"pool_idle_after", ColumnKind::kNumber},
    {"pool_nodes", ColumnKind::kNumber},        {"pool_coming", ColumnKind::kNumber},
    {"pool_leaving", ColumnKind::kNumber},      {"pool_idle", ColumnKind::kNumber},
    {"pool_idle_longest", ColumnKind::kNumber}, {"pool_backoff", ColumnKind::kNumber},
    {"pool_backlog_jobs", ColumnKind::kNumber}, {"pool_backlog_slots", ColumnKind::kNumber},
    {"pool_more_worth", ColumnKind::kNumber},   {"pool_standard", ColumnKind::kNumber},
}};

}  // namespace tidepool::policies::host
