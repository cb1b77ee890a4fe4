// Which types of slots jobs ask for, as far as that tells one job from another, and how many slots of each type there
// are to divide. Made for the nodes of one state; they are asked for again when nodes change.
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
  // Of the nodes that are up, and the guarantees of the state's tenants.
  void reset(const ClusterState& state);

  // The types on which its workers may be, as an index into sets(); none: all types that there are, or none of them. A
  // job that is on slots of one type, and does not mix types, asks for that. One that its price cap keeps from some
  // nodes asks for the types of which a node is within it.
  [[nodiscard]] std::optional<std::size_t> asked_by(const ClusterState& state, const Job& job);
  // Each ascending; an index stays what it is until reset().
  [[nodiscard]] const std::vector<std::vector<int>>& sets() const { return sets_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<SlotsByType>& guarantees() const { return guarantees_; }

  struct Supply {
    SlotsByType slots;              // that can be divided: what fixed claims hold is left out
    std::vector<SlotsByType> held;  // by tenant, by those of its fixed claims that ask for types
  };
  [[nodiscard]] Supply supply(const ClusterState& state, const TenantNeeds& needs) const;

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::vector<int> types);
  [[nodiscard]] std::optional<std::size_t> find(const std::string& type) const;
  [[nodiscard]] std::optional<std::size_t> type_of(const Node& node) const;

  Money dearest_;                                               // of their slots
  std::vector<std::string> names_;                              // ascending
  std::vector<SlotsByType> guarantees_;                         // by tenant
  std::map<NodeDemand, std::optional<std::size_t>> by_demand_;  // as far as asked
  std::vector<std::vector<int>> sets_;
};

}  // namespace tidepool::core
