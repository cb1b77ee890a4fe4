// What the jobs that bid have bought, as of the newest settlement: what the market of all slots sold them, or nothing
// where their share of the nodes that they may be on is nothing.
//
// Rule: asked only of jobs that bid. It copies nothing and is outlived by all it reads; rows are valid until the job is
// put again or leaves.
#pragma once

#include "policies/tidal/market_state.hpp"
#include "policies/tidal/node_shares.hpp"
#include "policies/tidal/participants.hpp"

namespace tidepool::policies::tidal {

struct Purchases {
  const MarketState& market;
  const NodeShares& shares;
  const Participants& parts;

  // Whether its share is shut or not.
  [[nodiscard]] const cluster::JobRow& row(JobId job) const {
    return parts.at(job).shut ? shares.row(job) : market.row(job);
  }
  // Slots.
  [[nodiscard]] int size(JobId job) const { return parts.at(job).shut ? 0 : market.market().choice(job).size; }
  // What each of them is worth to it, with what it would cost to come back.
  [[nodiscard]] double worth_of_slot(JobId job) const {
    return parts.at(job).shut ? 0 : worth_each(market.market().curve(job), market.market().choice(job));
  }
};

}  // namespace tidepool::policies::tidal
