// The fields of everything that closes a node to new workers. Private to the core's codecs.
#pragma once

#include <nlohmann/json.hpp>
#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<NodeDamping> auto& damping) {
  archive("half_life", damping.half_life);
  archive("suppress", damping.suppress);
  archive("reuse", damping.reuse);
  archive("longest", damping.longest);
}

void fields(auto& archive, codec::Like<NodeFaults> auto& faults) {
  archive("penalty", faults.penalty);
  archive("first_at", faults.first_at);
  archive("newest_at", faults.newest_at);
  archive("losses", faults.losses);
  archive("failed_starts", faults.failed_starts);
  archive("failed_job", faults.failed_job);
  archive("until", faults.until);
}

void fields(auto& archive, codec::Like<NodeReclaim> auto& reclaim) {
  archive("at", reclaim.at);
}

void fields(auto& archive, codec::Like<NodeMaintenance> auto& maintenance) {
  archive("window", maintenance.window);
  archive("begins", maintenance.begins);
  archive("ends", maintenance.ends);
}

void fields(auto& archive, codec::Like<NodeDrain> auto& drain) {
  archive("since", drain.since);
  archive("deadline", drain.deadline);
  archive("reason", drain.reason);
  archive("asked", drain.asked);
  archive("reclaim", drain.reclaim);
  archive("maintenance", drain.maintenance);
}

// Drains of earlier versions had one cause, or an operator's cause stored next to a notice.
inline void add_missing_causes(nlohmann::json& drain) {
  if (!drain.is_object() || drain.contains("asked")) return;
  auto& reclaim = drain.emplace("reclaim", nullptr).first.value();
  nlohmann::json asked = drain.value("deadline", nlohmann::json());
  if (reclaim.is_object()) {
    asked = reclaim.value("asked", nlohmann::json());
    reclaim.erase("asked");
  }
  drain["asked"] = std::move(asked);
  drain.emplace("maintenance", nullptr);
}

void fields(auto& archive, codec::Like<MaintenanceWindow> auto& window) {
  archive("number", window.number);
  archive("selector", window.selector);
  archive("from_us", window.from_us);
  archive("to_us", window.to_us);
  archive("lead", window.lead);
  archive("every", window.every);
  archive("reason", window.reason);
  archive("begun", window.begun);
}

void fields(auto& archive, codec::Like<Maintenance> auto& maintenance) {
  archive("windows", maintenance.windows);
  archive("next", maintenance.next);
}

}  // namespace tidepool::core
