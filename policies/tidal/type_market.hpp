// The market where there are several slot types: each type has its price, and every job takes, of one type, the size at
// which worth minus price is largest. The prices are those at which the bound on the sum of worth is least, found by
// cutting planes (Kelley, 1960) over as many numbers as there are types. Jobs that then want more than there is are
// served in order of what they would lose; what is left over goes to those that gain most by it. Pure: equal bids have
// equal answers.
#pragma once

#include <vector>

#include "core/decide/step_budget.hpp"
#include "policies/tidal/curve.hpp"

namespace tidepool::policies::tidal {

// What one job bids: a curve per type. The curve of a type that it does not want is a single choice of size 0. What it
// must keep is the first choice of one curve, and that curve is then the only one it wants. First choices of size 0
// have the same worth in all curves.
using TypedBid = std::vector<Curve>;

struct TypedChoice {
  int type = 0;
  Choice choice;
};

struct TypeSale {
  std::vector<double> prices;        // of a slot, per type
  std::vector<TypedChoice> choices;  // per bid
  std::vector<int> free;             // slots left unsold, per type
  double worth = 0;
  double bound = 0;  // on the sum of worth of any choices
};

// Requires: the slots that must be kept exist. `budget` counts what was looked at; when it is spent, slots stay unsold.
[[nodiscard]] TypeSale sell(const std::vector<TypedBid>& bids, const std::vector<int>& slots, core::StepBudget& budget);

}  // namespace tidepool::policies::tidal
