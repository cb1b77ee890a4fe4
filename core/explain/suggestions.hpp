// What would change a job's verdict in the present state of the cluster: what to add, to change, or to end. Suggestions
// that follow from its reason alone are in core/words/unblock.hpp.
#pragma once

#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/tenants/kept_slots.hpp"

namespace tidepool::core {

// Appends the lines that are not in `out` yet; a line that only adds a slot type to an existing line replaces that
// line.
void append_new(const std::vector<std::string>& lines, std::vector<std::string>& out);

// Adds the most relevant suggestions, at most a few, to the job's explanation.
void add_unblocks(const ClusterState& state, const Job& job, Explanation& out);

// In place of the advice to ask an operator for unlent slots: names the tenants that keep most of them, "let tenant
// speech lend more (its lend is 2)". That advice remains if others keep some, too. `may_set`: the caller may set them.
void name_lenders(std::vector<Keeper> keepers, bool may_set, Explanation& out);

}  // namespace tidepool::core
