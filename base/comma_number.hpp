// Numbers written with commas, which no field accepts: what they may mean, for the error message that refuses
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidepool {

// "1,00" -> 1.00; "1,234.5" -> 1234.5; "1,000" -> 1000 and 1.000, as both are possible. Empty: not a number with a
// comma.
[[nodiscard]] std::vector<std::string> numbers_meant(std::string_view text);

// "; write 1.00" if `text` is such a number, else empty. `whole`: only whole numbers.
[[nodiscard]] std::string comma_hint(std::string_view text, bool whole);

}  // namespace tidepool
