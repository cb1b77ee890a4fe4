// What would change a job's verdict, by the present state of the cluster: what to add, to change, or to end. What its
// reason alone tells is in core/words/unblock.hpp.
#pragma once

#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/tenants/kept_slots.hpp"

namespace tidepool::core {

// Those of the lines that are not there yet; one that only adds a type of slots to one that is there replaces it.
void append_new(const std::vector<std::string>& lines, std::vector<std::string>& out);

// Adds the most telling ones, at most a few, to what is explained of the job.
void add_unblocks(const ClusterState& state, const Job& job, Explanation& out);

// Where an operator would be asked for what tenants do not lend: names those that keep most of it, "let tenant speech
// lend more (its lend is 2)". The advice to ask stays if others keep some, too. `may_set`: the caller may set them.
void name_lenders(std::vector<Keeper> keepers, bool may_set, Explanation& out);

}  // namespace tidepool::core
