// Why a job starts, grows or shrinks.
#pragma once

#include "core/state/reasons/parts.hpp"

namespace tidepool::core::reason {

struct Started : OfSize {
  std::optional<Market> market = {};
  Judgement by = {};
  static constexpr Traits kTraits{"Started", ReasonCategory::kStarting};
  bool operator==(const Started&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfSize::fields(self, at), at("market", self.market), at("by", self.by);
  }
};
struct Resumed : OfSize {
  static constexpr Traits kTraits{"Resumed", ReasonCategory::kStarting};
};
// Without the state that is on a node without room.
struct ResumedElsewhere : OfSize {
  NodeId node = {};
  std::int64_t step = 0;
  Duration redo = {};
  static constexpr Traits kTraits{"ResumedElsewhere", ReasonCategory::kStarting};
  bool operator==(const ResumedElsewhere&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfSize::fields(self, at), at("node", self.node), at("step", self.step), at("redo_s", self.redo);
  }
};

// With its state, which is transferred from its node to one of the nodes where the job starts.
struct ResumedByTransfer : OfSize {
  NodeId node = {};
  NodeId to_node = {};
  std::int64_t step = 0;
  static constexpr Traits kTraits{"ResumedByTransfer", ReasonCategory::kStarting};
  bool operator==(const ResumedByTransfer&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    OfSize::fields(self, at), at("node", self.node), at("to_node", self.to_node), at("step", self.step);
  }
};

// Shapes of changes.
struct ByEfficiency : Change {
  Efficiency by = {};
  bool operator==(const ByEfficiency&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), at("by", self.by); }
};
struct ByUtility : Change {
  Utility by = {};
  bool operator==(const ByUtility&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), at("by", self.by); }
};
struct ByPrice : Change {
  Market market = {};  // what each slot added or released is worth to it
  bool operator==(const ByPrice&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), at("market", self.market); }
};
struct ByJudgement : Change {
  Judgement by = {};
  bool operator==(const ByJudgement&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), at("by", self.by); }
};

// Only one size has been measured.
struct ExploreUp : Change {
  static constexpr Traits kTraits{"ExploreUp", ReasonCategory::kGrowing};
};
struct ExploreDown : ByEfficiency {
  static constexpr Traits kTraits{"ExploreDown", ReasonCategory::kShrinking};
};
struct EfficientUp : ByEfficiency {
  static constexpr Traits kTraits{"EfficientUp", ReasonCategory::kGrowing};
};
struct InefficientDown : ByEfficiency {
  static constexpr Traits kTraits{"InefficientDown", ReasonCategory::kShrinking};
};
struct UtilityUp : ByUtility {
  static constexpr Traits kTraits{"UtilityUp", ReasonCategory::kGrowing};
};
struct UtilityDown : ByUtility {
  static constexpr Traits kTraits{"UtilityDown", ReasonCategory::kShrinking};
};
struct GatherEvidence : Change {
  std::optional<std::int64_t> steps = {};
  static constexpr Traits kTraits{"GatherEvidence", ReasonCategory::kResizing};
  bool operator==(const GatherEvidence&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), at("steps", self.steps); }
};
struct PriceGrow : ByPrice {
  static constexpr Traits kTraits{"PriceGrow", ReasonCategory::kGrowing};
};
struct PriceShrink : ByPrice, Claimants {
  static constexpr Traits kTraits{"PriceShrink", ReasonCategory::kShrinking};
  bool operator==(const PriceShrink&) const = default;
  static constexpr void fields(auto& self, auto&& at) { ByPrice::fields(self, at), Claimants::fields(self, at); }
};
struct MeritGrow : ByJudgement {
  static constexpr Traits kTraits{"MeritGrow", ReasonCategory::kGrowing};
};
struct MeritShrink : ByJudgement, Claimants {
  static constexpr Traits kTraits{"MeritShrink", ReasonCategory::kShrinking};
  bool operator==(const MeritShrink&) const = default;
  static constexpr void fields(auto& self, auto&& at) { ByJudgement::fields(self, at), Claimants::fields(self, at); }
};
// The budget of its tenant, or of a tenant above it, leaves it its smallest size.
struct BudgetShrunk : Change, OfBudget {
  static constexpr Traits kTraits{"BudgetShrunk", ReasonCategory::kShrinking};
  bool operator==(const BudgetShrunk&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), OfBudget::fields(self, at); }
};
struct ResizedByUser : Change {
  static constexpr Traits kTraits{"ResizedByUser", ReasonCategory::kResizing};
};
// To the size that the policy set, after a loss or after a pin was cleared.
struct BackToSize : Change, Claimants {
  static constexpr Traits kTraits{"BackToSize", ReasonCategory::kResizing};
  bool operator==(const BackToSize&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), Claimants::fields(self, at); }
};

}  // namespace tidepool::core::reason
