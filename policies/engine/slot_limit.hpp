// Takes slots off the nodes of a view, where a policy may hand out fewer than there are.
//
// Slots that no job asks for are taken first, then those that jobs ask for, and last those that jobs hold. The same
// view gives the same answer.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

// Takes slots from nodes until there are no more than `most`: first those that none of the rows holds, from the nodes
// with the fewest of these, so that whole nodes stay for gangs; from nodes that some row asks for last. By node: slots
// that the rows hold, and whether one asks for it.
void limit_slots(View& view, const std::vector<int>& held, const std::vector<bool>& asked, int most);

}  // namespace tidepool::policies::cluster
