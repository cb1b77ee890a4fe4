// Numbers that people write with commas, which no field takes: what they may have meant, for the error that refuses
// one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidepool {

// "1,00" -> 1.00; "1,234.5" -> 1234.5; "1,000" -> 1000 and 1.000, which both are meant by it. Empty: it is no number
// with a comma.
[[nodiscard]] std::vector<std::string> numbers_meant(std::string_view text);

// "; write 1.00" where it is one, else empty. `whole`: only whole numbers.
[[nodiscard]] std::string comma_hint(std::string_view text, bool whole);

}  // namespace tidepool
