// Divides the slots of a pool among its tenants, by what their planners would take.
//
// What a tenant's jobs would take at most is known only to their planner. One that was satisfied in the newest plan is
// asked without a bound; one that takes less than it is entitled to, because its jobs can use no more or a gang does
// not fit in, wants no more than that, and the rest goes to the others. So no slot that a job of any tenant would take
// is left. The division of before stands where it still can, unless another is fairer by enough.
//
// It ends after a bounded number of rounds, and follows from the tree, from the newest plans and from the answers
// alone.
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
    std::vector<TenantNode>& nodes;          // with guarantees and claims; wishes and loans are set here
    const std::vector<TenantLeaf*>& leaves;  // those that have jobs, by name
    int slots = 0;                           // that are shared
  };
  // The leaf's planner is asked with this bound (none = without one), and its answer is among TenantLeaf::answers.
  using Ask = std::function<Status(TenantLeaf& leaf, std::optional<int> most)>;
  // `pool` and what `ask` refers to outlive it.
  PoolDivision(SharedPool pool, Ask ask) : pool_(pool), ask_(std::move(ask)) {}

  // The pool among tenants: as it was, or anew where that is fairer. Afterwards each leaf has its `part`.
  [[nodiscard]] Status divide_slots();
  // Once more, where jobs would have more of a type than there is: those of each tenant have a part of it.
  [[nodiscard]] Status divide_types(const AskedTypes& types, const ClusterState& state, const TenantNeeds& needs);

 private:
  using Part = TenantLeaf::Part;
  using Division = std::vector<Part>;  // in the order of the leaves

  // What each wants by what its newest plan has found.
  void set_wishes();
  // By what it takes in the division that is being made. For one that is not satisfied: all that its jobs may have.
  void set_demands();
  // Divides the pool anew, by what tenants turn out to take.
  [[nodiscard]] Status divide();
  // What jobs that ask for types have by the division that is being made, or by the newest plan.
  [[nodiscard]] std::vector<TypeAsk> typed_asks(const AskedTypes& types, bool by_plan = false) const;
  void bound_types(const AskedTypes& types, const std::vector<int>& scarce, const std::vector<SlotsByType>& parts);
  [[nodiscard]] Result<std::vector<int>> check_expectations();
  [[nodiscard]] Result<bool> ask_within(TenantLeaf& leaf);
  // The division of the newest plan, with what tenants take of it now. False: it cannot stand any more.
  [[nodiscard]] Result<bool> divide_as_before();
  [[nodiscard]] Result<Part> take(TenantLeaf& leaf, int share);
  // What is left goes to tenants that could use it, first to the one furthest behind what is even.
  [[nodiscard]] Status offer_rest(const FairShares& fair);
  // Each is entitled to what it takes, and to what it does not lend. Returns what is left.
  std::int64_t entitle_to_used();
  [[nodiscard]] Division division() const;
  [[nodiscard]] std::vector<std::int64_t> used_by_node() const;
  // The slots that the leaf's jobs would have with this bound, by its planner's newest word.
  [[nodiscard]] Result<std::int64_t> used(TenantLeaf& leaf, std::optional<int> most);

  SharedPool pool_;
  Ask ask_;
};

}  // namespace tidepool::core
