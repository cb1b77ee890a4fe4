// The fields of pools and of the plans for their nodes. Private to the core's codecs.
#pragma once

#include <nlohmann/json.hpp>
#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"
#include "core/state/node_pools.hpp"
#include "core/state/plan.hpp"

namespace tidepool::core {

inline auto names_of(ProviderFault) {
  const auto name = [](ProviderFault fault) { return codec::EnumName<ProviderFault>{fault, to_text(fault)}; };
  return std::array{name(ProviderFault::kRefused), name(ProviderFault::kQuota), name(ProviderFault::kTimeout),
                    name(ProviderFault::kGarbage)};
}

void fields(auto& archive, codec::Like<PoolSpec> auto& spec) {
  archive("name", spec.name);
  archive("slot_type", spec.slot_type);
  archive("slots_per_node", spec.slots_per_node);
  archive("price_per_slot_hour", spec.price_per_slot_hour);
  archive("worth_per_slot_hour", spec.worth_per_slot_hour);
  archive("min", spec.min);
  archive("max", spec.max);
  archive("idle", spec.idle);
  archive("lead_time", spec.lead_time);
  archive("spot", spec.spot);
  archive("memory_per_slot", spec.memory_per_slot);
  archive("made_by", spec.made_by);
}

// Pools of earlier versions have fewer fields. `in`: contains the pools, by name or as a list of specifications.
inline void add_missing_fields_of_specs(nlohmann::json& in) {
  if (!in.is_object() || !in.contains("pools") || !in["pools"].is_structured()) return;
  for (auto& pool : in["pools"]) {
    auto& spec = pool.is_object() && pool.contains("spec") ? pool["spec"] : pool;
    if (!spec.is_object()) continue;
    spec.emplace("memory_per_slot", nullptr);
    spec.emplace("made_by", "");
  }
}

inline auto names_of(PoolNodeState) {
  const auto name = [](PoolNodeState state) { return codec::EnumName<PoolNodeState>{state, to_text(state)}; };
  return std::array{name(PoolNodeState::kAsked), name(PoolNodeState::kCreated), name(PoolNodeState::kJoined),
                    name(PoolNodeState::kDraining), name(PoolNodeState::kReleasing)};
}

void fields(auto& archive, codec::Like<Backoff> auto& backoff) {
  archive("failures", backoff.failures);
  archive("failed_at", backoff.failed_at);
  archive("until", backoff.until);
  archive("detail", backoff.detail);
}

void fields(auto& archive, codec::Like<NodePool> auto& pool) {
  archive("spec", pool.spec);
  archive("retired", pool.retired);
  archive("backoff", pool.backoff);
  archive("failed_order", pool.failed_order);
  archive("settled_at", pool.settled_at);
  archive("list_backoff", pool.list_backoff);
  archive("list_fails_since", pool.list_fails_since);
}

void fields(auto& archive, codec::Like<PoolNode> auto& node) {
  archive("request", node.request);
  archive("pool", node.pool);
  archive("name", node.name);
  archive("state", node.state);
  archive("asked_at", node.asked_at);
  archive("since", node.since);
  archive("provider_id", node.provider_id);
  archive("node", node.node);
  archive("idle_since", node.idle_since);
  archive("away_since", node.away_since);
  archive("ends_at", node.ends_at);
  archive("was_used", node.was_used);
  archive("delete_answered", node.delete_answered);
  archive("ended_at", node.ended_at);
  archive("backoff", node.backoff);
}

void fields(auto& archive, codec::Like<NodePools> auto& pools) {
  archive("spot_share", pools.spot_share);
  archive("pools", pools.pools);
  archive("nodes", pools.nodes);
  archive("next_request", pools.next_request);
  archive("changes", pools.changes);
  archive("changed_at", pools.changed_at);
  archive("forgotten_at", pools.forgotten_at);
  archive("gone", pools.gone);
}

// States of earlier versions have fewer fields.
inline void add_missing_fields_of_pools(nlohmann::json& pools) {
  add_missing_fields_of_specs(pools);
  if (!pools.is_object()) return;
  pools.emplace("forgotten_at", nullptr);
  pools.emplace("gone", nlohmann::json::array());
  const auto each = [&](const char* name, auto&& tell) {
    if (!pools.contains(name) || !pools[name].is_structured()) return;
    for (auto& element : pools[name]) tell(element);
  };
  each("pools", [](nlohmann::json& pool) {
    if (!pool.is_object()) return;
    pool.emplace("list_backoff", codec::encode(Backoff{}));
    pool.emplace("list_fails_since", nullptr);
    pool.emplace("failed_order", nullptr);
  });
  each("nodes", [](nlohmann::json& pair) {
    if (pair.is_array() && pair.size() == 2 && pair[1].is_object()) pair[1].emplace("ended_at", nullptr);
  });
}

void fields(auto& archive, codec::Like<CreateNodeIntent> auto& intent) {
  archive("pool", intent.pool);
  archive("request", intent.request);
  archive("name", intent.name);
}
void fields(auto& archive, codec::Like<EmptyNodeIntent> auto& intent) {
  archive("request", intent.request);
  archive("name", intent.name);
  archive("within", intent.within);
}
void fields(auto& archive, codec::Like<ReleaseNodeIntent> auto& intent) {
  archive("request", intent.request);
  archive("name", intent.name);
  archive("failed", intent.failed);
}

}  // namespace tidepool::core
