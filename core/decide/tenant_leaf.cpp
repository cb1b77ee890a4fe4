#include "core/decide/tenant_leaf.hpp"

#include <algorithm>
#include <utility>

namespace tidepool::core {

const TenantPlan& TenantLeaf::before() const {
  static const TenantPlan none;
  return newest == nullptr ? none : *newest;
}

void TenantLeaf::forget_answers() {
  answers.clear();
  newest_answer.reset();
}

void TenantLeaf::bound(TypeBounds bounds) {
  if (bounds == typed_most) return;
  typed_most = std::move(bounds);
  forget_answers();
}

const TenantLeaf::Answer* TenantLeaf::answer(std::optional<int> most) const {
  const auto found = std::find_if(answers.begin(), answers.end(), [&](const Answer& any) { return any.most == most; });
  return found == answers.end() ? nullptr : &*found;
}

}  // namespace tidepool::core
