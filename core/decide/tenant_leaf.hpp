// A tenant with its planner, and the answers of that planner.
//
// An answer is valid for its bound as long as no job of the tenant has changed, the planner rests (Planner::rests), and
// the bounds of types stay the same; otherwise all answers are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/policy.hpp"
#include "core/tenants/tenant_needs.hpp"

namespace tidepool::core {

// A tenant of the tree. All fields except its node are unused while it has no jobs.
struct TenantLeaf {
  // The part of a leaf in one division of the pool.
  struct Part {
    int share = 0;                  // slots
    std::int64_t used = 0;          // of those, by its planner's answer
    bool satisfied = false;         // it could use no more
    std::optional<int> bound = {};  // bound of the answer that says so
  };
  // An answer of a leaf's planner to a bound.
  struct Answer {
    std::optional<int> most;                         // slots; none = without
    std::int64_t used = 0;                           // slots
    std::map<std::size_t, std::int64_t> typed = {};  // of these, used by jobs that request types: by JobNeed::asks
  };

  std::size_t node = 0;                   // its index in the tree
  const std::string* name = nullptr;      // in the map of places
  std::unique_ptr<Planner> planner = {};  // null = it has no jobs
  const TenantNeeds::Sums* needs = nullptr;
  const TenantPlan* newest = nullptr;  // of the state; null = none yet
  bool changed = true;                 // one of its jobs was followed since its planner was asked
  // The planner's answers since then; all are valid while the leaf rests and the bounds of types stay the same.
  std::vector<Answer> answers = {};
  std::optional<std::optional<int>> newest_answer = {};  // its bound; none = it was not asked
  TypeBounds typed_most = {};                            // bounds for its jobs that request types
  std::optional<Instant> wake = {};
  // The plan under construction.
  IdSet<JobId> looked_at = {};  // jobs that its planner has not examined yet
  IdTable<JobId, Target> targets = {};
  Mark mark = {};
  double loan = 0;
  Duration counted_use = {};
  Part part = {};
  bool expects_satisfied = false;  // it was satisfied, and has not asked for more since
  bool stuck = false;              // uses less than it was offered, and would use more than the offer if it could
  int lacks_slots = 0;             // slots that it would use in addition, of scarce types

  [[nodiscard]] const TenantPlan& before() const;                     // the newest plan, or an empty one
  [[nodiscard]] const Answer* answer(std::optional<int> most) const;  // null = it was not asked with this bound
  void forget_answers();
  void bound(TypeBounds bounds);
};

}  // namespace tidepool::core
