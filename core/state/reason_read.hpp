// Reads a reason. Only for what explains, renders or stores one: the lint test refuses this header to whoever decides
// (READS_REASONS in tests/lint/lint.py).
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "core/state/reason.hpp"

namespace tidepool::core {

struct ReasonAccess {
  [[nodiscard]] static const AnyReason& of(const Reason& reason) { return reason.any_; }
  [[nodiscard]] static AnyReason& of(Reason& reason) { return reason.any_; }
};

// Calls `visit` with the reason's struct; `reason` may be const.
decltype(auto) visit_reason(auto&& visit, auto& reason) {
  return std::visit(visit, ReasonAccess::of(reason));
}

// Null if it is another struct.
template <ToldReason R>
[[nodiscard]] const R* reason_as(const Reason& reason) {
  return std::get_if<R>(&ReasonAccess::of(reason));
}
template <ToldReason... R>
[[nodiscard]] bool is_any_of(const Reason& reason) {
  return ((reason_as<R>(reason) != nullptr) || ...);
}

[[nodiscard]] const reason::Traits& traits_of(const Reason& reason);
// The same struct, whatever its fields.
[[nodiscard]] bool same_kind(const Reason& one, const Reason& other);

}  // namespace tidepool::core
