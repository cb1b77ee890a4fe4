// Removes slots from the nodes of a view, where a policy may hand out fewer slots than there are.
//
// Slots that no job requests are removed first, then those that jobs request, and last those that jobs hold. The same
// view gives the same answer.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

// Removes slots from nodes until there are at most `most`: first slots that no row holds, from the nodes with the
// fewest of these, so that whole nodes stay for gangs; from nodes that some row requests last. By node: slots that the
// rows hold, and whether a row requests it.
void limit_slots(View& view, const std::vector<int>& held, const std::vector<bool>& asked, int most);

}  // namespace tidepool::policies::cluster
