// Which slot types jobs request, as far as that distinguishes jobs, and how many slots of each type can be divided.
// Computed for the nodes of one state; requests are looked up again when nodes change.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/money.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/node_constraints.hpp"
#include "core/tenants/tenant_needs.hpp"
#include "core/tenants/type_division.hpp"

namespace tidepool::core {

class AskedTypes {
 public:
  // Based on the nodes that are up, and the guarantees of the state's tenants.
  void reset(const ClusterState& state);

  // The types on which the job's workers may be, as an index into sets(); none: all present types, or none of them. A
  // job that is on slots of one type, and does not mix types, requests that type. A job whose price cap excludes some
  // nodes requests the types that have a node within its cap.
  [[nodiscard]] std::optional<std::size_t> asked_by(const ClusterState& state, const Job& job);
  // Each ascending; an index stays valid until reset().
  [[nodiscard]] const std::vector<std::vector<int>>& sets() const { return sets_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<SlotsByType>& guarantees() const { return guarantees_; }

  struct Supply {
    SlotsByType slots;              // slots that can be divided: without those held by fixed allocations
    std::vector<SlotsByType> held;  // by tenant: slots of its fixed allocations that request types
  };
  [[nodiscard]] Supply supply(const ClusterState& state, const TenantNeeds& needs) const;

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::vector<int> types);
  [[nodiscard]] std::optional<std::size_t> find(const std::string& type) const;
  [[nodiscard]] std::optional<std::size_t> type_of(const Node& node) const;

  Money dearest_;                                               // price of the most expensive slot
  std::vector<std::string> names_;                              // ascending
  std::vector<SlotsByType> guarantees_;                         // by tenant
  std::map<NodeDemand, std::optional<std::size_t>> by_demand_;  // as far as looked up
  std::vector<std::vector<int>> sets_;
};

}  // namespace tidepool::core
