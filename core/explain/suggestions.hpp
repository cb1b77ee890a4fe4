// What would change a job's verdict, by the present state of the cluster: what to add, to change, or to end. What its
// reason alone tells is in core/words/unblock.hpp.
#pragma once

#include "core/explain/explain.hpp"

namespace tidepool::core {

// Those of the lines that are not there yet; one that only adds a type of slots to one that is there replaces it.
void append_new(const std::vector<std::string>& lines, std::vector<std::string>& out);

// Adds the most telling ones, at most a few, to what is explained of the job.
void add_unblocks(const ClusterState& state, const Job& job, Explanation& out);

}  // namespace tidepool::core
