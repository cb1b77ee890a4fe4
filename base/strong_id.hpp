// Id types that cannot be confused: the number of a job never compares with the number of a worker. Each id prints as
// "<prefix>-<number>"; number 0 is "none" and is never assigned.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/number_text.hpp"

namespace tidepool {

template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::uint64_t number) : number_(number) {}

  [[nodiscard]] constexpr std::uint64_t number() const { return number_; }
  [[nodiscard]] constexpr explicit operator bool() const { return number_ != 0; }
  constexpr auto operator<=>(const StrongId&) const = default;

  [[nodiscard]] std::string text() const { return std::string(Tag::kPrefix) + "-" + std::to_string(number_); }

  // The inverse of text(); any other text, including "<prefix>-0", is not an id.
  [[nodiscard]] static std::optional<StrongId> parse(std::string_view text) {
    const std::string_view prefix = Tag::kPrefix;
    if (!text.starts_with(prefix) || text.size() <= prefix.size() + 1 || text[prefix.size()] != '-') {
      return std::nullopt;
    }
    text.remove_prefix(prefix.size() + 1);
    const auto number = parse_number<std::uint64_t>(text);
    const bool canonical = text.front() != '0';
    return number && canonical ? std::optional(StrongId(*number)) : std::nullopt;
  }

 private:
  std::uint64_t number_ = 0;
};

}  // namespace tidepool
