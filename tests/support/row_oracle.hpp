// Rows of the journal by way of a JSON tree: what the texts that are written at once must be, byte by byte.
#pragma once

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/state_rows.hpp"

namespace tidepool::test {

// To the letter: -0.0 is a number of its own.
inline bool is_the_same(const nlohmann::json& one, const nlohmann::json& other) {
  if (one != other) return false;
  return one.is_structured() || one.is_number_float() ? one.dump() == other.dump() : true;
}

inline void make_sparse(nlohmann::json& value, const nlohmann::json& blank) {
  for (const auto& field : value.items()) {
    if (!blank.contains(field.key())) return;  // no struct: its names are its own
  }
  for (auto field = value.begin(); field != value.end();) {
    const nlohmann::json& usual = blank.at(field.key());
    if (is_the_same(*field, usual)) {
      field = value.erase(field);
      continue;
    }
    if (field->is_object() && usual.is_object()) make_sparse(*field, usual);
    ++field;
  }
}

inline std::string sparse(nlohmann::json value, const nlohmann::json& blank) {
  make_sparse(value, blank);
  return canonical_json(value);
}

// One of each kind of row, as a state has them that was never written to.
inline nlohmann::json blank_state() {
  core::ClusterState state;
  state.nodes[NodeId(1)] = {};
  state.workers[WorkerId(1)] = {};
  state.jobs.emplace(JobId(1), std::make_shared<core::Job>());
  state.ended.emplace(JobId(1), std::make_shared<core::EndedJob>());
  state.pool_ledger.days[core::PoolDayId(1)] = {};
  return core::to_json(state);
}

inline const std::map<core::RowKind, const char*> kRowLists = {{core::RowKind::kNode, "nodes"},
                                                               {core::RowKind::kWorker, "workers"},
                                                               {core::RowKind::kJob, "jobs"},
                                                               {core::RowKind::kEnded, "ended"},
                                                               {core::RowKind::kPoolDay, "pool_days"}};

inline std::uint64_t number_of(const nlohmann::json& row) {
  const auto& id = row.at("id").get_ref<const std::string&>();
  return std::stoull(id.substr(id.rfind('-') + 1));
}

inline void require_rows_by_tree(const core::ClusterState& state) {
  static const nlohmann::json blank = blank_state();
  const nlohmann::json whole = core::to_json(state);
  for (const auto& [kind, list] : kRowLists) {
    for (const nlohmann::json& row : whole.at(list)) {
      REQUIRE(core::row_text(state, {kind, number_of(row)}) == sparse(row, blank.at(list).at(0)));
    }
  }
}

inline std::string fact_by_tree(const core::Fact& fact) {
  nlohmann::json document = core::to_json(fact);
  const nlohmann::json blank = core::to_json(core::Fact(core::JobSubmitted{})).at("spec");
  if (document.contains("spec")) make_sparse(document["spec"], blank);
  return canonical_json(document);
}

inline std::string decision_by_tree(const core::Decision& decision) {
  core::Decision plain;
  plain.verdicts.emplace_back();
  plain.replan.emplace().changes.emplace_back().now.emplace();
  const nlohmann::json blank = core::to_json(plain);
  nlohmann::json document = core::to_json(decision);
  for (nlohmann::json& verdict : document["verdicts"]) make_sparse(verdict, blank.at("verdicts").at(0));
  if (document["replan"].is_object()) {
    for (nlohmann::json& change : document["replan"]["changes"]) {
      const nlohmann::json& now = blank.at("replan").at("changes").at(0).at("now");
      if (change["now"].is_object()) make_sparse(change["now"], now);
    }
  }
  return canonical_json(document);
}

}  // namespace tidepool::test
