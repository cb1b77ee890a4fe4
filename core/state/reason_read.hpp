// Reads a reason. Only for code that explains, renders or stores one: the lint test refuses this header in code that
// decides (READS_REASONS in tests/lint/lint.py).
#pragma once

#include <new>
#include <utility>
#include <variant>

#include "core/state/reason.hpp"

namespace tidepool::core {

template <class List>
struct VariantOf;
template <class... Told>
struct VariantOf<ReasonList<Told...>> {
  using Type = std::variant<Told...>;
};
using AnyReason = VariantOf<AllReasons>::Type;

struct ReasonAccess {
  static_assert(sizeof(AnyReason) <= Reason::kBytes && alignof(AnyReason) <= alignof(Reason),
                "a reason has room for any");
  [[nodiscard]] static void* place(Reason& reason) { return reason.any_.data(); }
  [[nodiscard]] static const AnyReason& of(const Reason& reason) {
    return *std::launder(reinterpret_cast<const AnyReason*>(reason.any_.data()));
  }
  [[nodiscard]] static AnyReason& of(Reason& reason) {
    return *std::launder(reinterpret_cast<AnyReason*>(reason.any_.data()));
  }
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
