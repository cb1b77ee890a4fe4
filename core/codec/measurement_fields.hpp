// How measurements of a job are stored: per size, per change, per slot type.
#pragma once

#include <nlohmann/json.hpp>

#include "base/codec/archive.hpp"
#include "core/state/job.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<SizeChange> auto& change) {
  archive("from", change.from);
  archive("from_rate", change.from_rate);
  archive("rate", change.rate);
  archive("over", change.over);
  archive("at", change.at);
}

void fields(auto& archive, codec::Like<SizeRecord> auto& record) {
  archive("steps", record.steps);
  archive("step_seconds", record.step_seconds);
  archive("samples_per_second", record.samples_per_second);
  archive("measured_at", record.measured_at);
  archive("entered", record.entered);
}

void fields(auto& archive, codec::Like<SizeCost> auto& cost) {
  archive("count", cost.count);
  archive("mean_ms", cost.mean_ms);
}

void fields(auto& archive, codec::Like<TransitionCost> auto& cost) {
  archive("count", cost.count);
  archive("mean_stall_ms", cost.mean_stall_ms);
  archive("by_size", cost.by_size);
}

void fields(auto& archive, codec::Like<BootCost> auto& cost) {
  archive("count", cost.count);
  archive("mean_ms", cost.mean_ms);
  archive("by_size", cost.by_size);
}

// Also for a job's own records, which are stored next to its other fields.
void record_fields(auto& archive, auto& records) {
  archive("sizes", records.sizes);
  archive("grow_cost", records.grow_cost);
  archive("replace_cost", records.replace_cost);
  archive("shrink_cost", records.shrink_cost);
  archive("failure_cost", records.failure_cost);
  archive("start_cost", records.start_cost);
  archive("restart_cost", records.restart_cost);
  archive("rebalance_cost", records.rebalance_cost);
  archive("boot_cost", records.boot_cost);
}

void fields(auto& archive, codec::Like<TypeRecords> auto& records) {
  record_fields(archive, records);
}

// States of earlier versions do not distinguish slot types.
inline void add_missing_types(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("slot_type", "");
  job.emplace("on_other_types", nlohmann::json::object());
}

// Calls `tell` for the records of a job's present slot type, which are fields of the job, and for those of each other
// type.
void each_records(nlohmann::json& job, auto tell) {
  if (!job.is_object()) return;
  tell(job);
  const auto others = job.find("on_other_types");
  if (others == job.end() || !others->is_object()) return;
  for (auto& [type, records] : others->items()) {
    if (records.is_object()) tell(records);
  }
}

// States of earlier versions lack the cost of the first switch of a start.
inline void add_missing_starts(nlohmann::json& job) {
  each_records(job, [](nlohmann::json& records) {
    records.emplace("start_cost", nlohmann::json{{"count", 0}, {"mean_stall_ms", 0.0}});
  });
}

// States of earlier versions lack costs by size.
inline void add_missing_size_costs(nlohmann::json& job) {
  each_records(job, [](nlohmann::json& records) {
    for (const char* kind : {"grow_cost", "replace_cost", "shrink_cost", "failure_cost", "start_cost", "restart_cost",
                             "rebalance_cost", "boot_cost"}) {
      const auto cost = records.find(kind);
      if (cost != records.end() && cost->is_object()) cost->emplace("by_size", nlohmann::json::array());
    }
  });
}

}  // namespace tidepool::core
