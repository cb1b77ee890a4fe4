// A tenant with its planner of the policy, and what that planner has answered.
//
// An answer stands for its bound as long as no job of the tenant has changed, the planner rests (Planner::rests), and
// the bounds of types stay: whatever ends one of these forgets all of them.
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

// A tenant of the tree. All but its node is of no account while it has no jobs.
struct TenantLeaf {
  // What a leaf has in one division of the pool.
  struct Part {
    int share = 0;                  // slots
    std::int64_t used = 0;          // of those, by its planner's word
    bool satisfied = false;         // it could use no more
    std::optional<int> bound = {};  // of the answer that says so
  };
  // Of a leaf's planner, asked with a bound.
  struct Answer {
    std::optional<int> most;                         // slots; none = without
    std::int64_t used = 0;                           // slots
    std::map<std::size_t, std::int64_t> typed = {};  // of these, by jobs that ask for types: by JobNeed::asks
  };

  std::size_t node = 0;                   // its place in the tree
  const std::string* name = nullptr;      // in the map of places
  std::unique_ptr<Planner> planner = {};  // null = it has no jobs
  const TenantNeeds::Sums* needs = nullptr;
  const TenantPlan* newest = nullptr;  // of the state; null = none yet
  bool changed = true;                 // a job of it has been followed since its planner was asked
  // What its planner has answered since then; all of it stands while the leaf rests and the bounds of types stay.
  std::vector<Answer> answers = {};
  std::optional<std::optional<int>> newest_answer = {};  // its bound; none = it was not asked
  TypeBounds typed_most = {};                            // what its jobs that ask for types may have of them
  std::optional<Instant> wake = {};
  // Of the plan that is being made.
  IdSet<JobId> looked_at = {};  // that its planner has not been told of yet
  IdTable<JobId, Target> targets = {};
  Mark mark = {};
  double loan = 0;
  Duration counted_use = {};
  Part part = {};
  bool expects_satisfied = false;  // it was, and has not been found to want more
  bool stuck = false;              // takes less than it was offered, and would take more than that if it could
  int lacks_slots = 0;             // it would take more, of types of which there are not enough

  [[nodiscard]] const TenantPlan& before() const;                     // the newest plan, or an empty one
  [[nodiscard]] const Answer* answer(std::optional<int> most) const;  // null = it was not asked that
  void forget_answers();
  void bound(TypeBounds bounds);
};

}  // namespace tidepool::core
