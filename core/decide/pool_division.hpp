// Divides the slots of a pool among its tenants, based on what their planners would use.
//
// Only a tenant's planner knows the most that its jobs would use. A tenant that was satisfied in the newest plan is
// asked without a bound. A tenant that uses less than its entitlement, because its jobs can use no more or a gang does
// not fit, gets only that, and the rest goes to the others. So no slot is left that a job of any tenant would use. The
// previous division is kept while it is still valid, unless another is fairer by a margin.
//
// The number of rounds is bounded, and the result depends only on the tree, the newest plans and the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/decide/tenant_leaf.hpp"
#include "core/tenants/asked_types.hpp"
#include "core/tenants/entitlement.hpp"
#include "core/tenants/scarce_types.hpp"
#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {

class PoolDivision {
 public:
  struct SharedPool {
    std::vector<TenantNode>& nodes;          // with guarantees and claims; demands and loans are set here
    const std::vector<TenantLeaf*>& leaves;  // leaves with jobs, by name
    int slots = 0;                           // to be divided
  };
  // Asks the leaf's planner with this bound (none = without one); the answer is stored in TenantLeaf::answers.
  using Ask = std::function<Status(TenantLeaf& leaf, std::optional<int> most)>;
  // `pool` and what `ask` refers to outlive it.
  PoolDivision(SharedPool pool, Ask ask) : pool_(pool), ask_(std::move(ask)) {}

  // Divides the slots: as before, or newly where that is fairer. Afterwards each leaf has its `part`.
  [[nodiscard]] Status divide_slots();
  // Repeats this for types of which jobs would use more than there is: the jobs of each tenant get a part of each such
  // type.
  [[nodiscard]] Status divide_types(const AskedTypes& types, const ClusterState& state, const TenantNeeds& needs);

 private:
  using Part = TenantLeaf::Part;
  using Division = std::vector<Part>;  // in the order of the leaves

  // Sets each tenant's demand from its newest plan.
  void set_wishes();
  // Sets it from what the tenant uses in the present division; for an unsatisfied tenant all that its jobs may have.
  void set_demands();
  // Divides the pool again, by what tenants turn out to use.
  [[nodiscard]] Status divide();
  // What jobs that request types get in the present division, or in the newest plan.
  [[nodiscard]] std::vector<TypeAsk> typed_asks(const AskedTypes& types, bool by_plan = false) const;
  void bound_types(const AskedTypes& types, const std::vector<int>& scarce, const std::vector<SlotsByType>& parts);
  [[nodiscard]] Result<std::vector<int>> check_expectations();
  [[nodiscard]] Result<bool> ask_within(TenantLeaf& leaf);
  // The division of the newest plan, with what tenants use of it now. False: it is no longer valid.
  [[nodiscard]] Result<bool> divide_as_before();
  [[nodiscard]] Result<Part> take(TenantLeaf& leaf, int share);
  // Gives the rest to tenants that could use it, first to the one furthest below its even share.
  [[nodiscard]] Status offer_rest(const FairShares& fair);
  // Entitles each tenant to what it uses, and to what it does not lend. Returns the remaining slots.
  std::int64_t entitle_to_used();
  [[nodiscard]] Division division() const;
  [[nodiscard]] std::vector<std::int64_t> used_by_node() const;
  // The slots that the leaf's jobs would get with this bound, by its planner's newest answer.
  [[nodiscard]] Result<std::int64_t> used(TenantLeaf& leaf, std::optional<int> most);

  SharedPool pool_;
  Ask ask_;
};

}  // namespace tidepool::core
