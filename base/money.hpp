// Money as whole millionths of the configured currency: sums are exact and never drift.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tidepool {

class Money {
 public:
  constexpr Money() = default;
  [[nodiscard]] static constexpr Money micros(std::int64_t n) { return Money(n); }
  [[nodiscard]] constexpr std::int64_t count_micros() const { return micros_; }
  // The nearest double to the amount: a division rounds once, so 0.10 is 0.1 and not 0.09999999999999999. Sums and
  // comparisons use micros.
  [[nodiscard]] constexpr double to_units() const { return static_cast<double>(micros_) / 1e6; }

  constexpr auto operator<=>(const Money&) const = default;
  constexpr Money operator+(Money other) const { return Money(micros_ + other.micros_); }
  constexpr Money operator-(Money other) const { return Money(micros_ - other.micros_); }
  constexpr Money& operator+=(Money other) { return *this = *this + other; }

 private:
  constexpr explicit Money(std::int64_t micros) : micros_(micros) {}
  std::int64_t micros_ = 0;
};

// The cost of `slots` slots over `held` at a price per slot and hour; rounded down to a millionth.
[[nodiscard]] Money cost_of(Money per_slot_hour, std::int64_t slots, Duration held);

// "12.5" or "0.000001"; at most six decimals, not negative.
[[nodiscard]] Result<Money> parse_money(std::string_view text);

// As parse_money(), for the hourly price of a slot: at most a million, so that the cost of a pool over years can be
// represented.
[[nodiscard]] Result<Money> parse_price(std::string_view text);

// A decimal number with two to six decimals: "12.50", "0.000125".
[[nodiscard]] std::string to_text(Money money);

}  // namespace tidepool
