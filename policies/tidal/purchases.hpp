// What the bidding jobs have bought in the newest settlement: what the market of all slots sold them, or nothing where
// their share of the nodes that they may use is nothing.
//
// Rule: call only for jobs that bid. It copies nothing, and everything that it reads outlives it; rows are valid until
// the job is put again or leaves.
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
  // What each of its slots is worth to it, including what it would cost to come back.
  [[nodiscard]] double worth_of_slot(JobId job) const {
    return parts.at(job).shut ? 0 : worth_each(market.market().curve(job), market.market().choice(job));
  }
};

}  // namespace tidepool::policies::tidal
