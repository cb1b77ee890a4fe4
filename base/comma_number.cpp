#include "base/comma_number.hpp"

#include <algorithm>

namespace tidepool {
namespace {

constexpr std::size_t kLengthMost = 32;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool has_shape(std::string_view text) {
  if (text.empty() || text.size() > kLengthMost || !is_digit(text.front()) || !is_digit(text.back())) return false;
  const auto fits = [](char c) { return is_digit(c) || c == ',' || c == '.'; };
  return std::all_of(text.begin(), text.end(), fits) && text.find(",,") == std::string_view::npos;
}

// Three digits after each comma, as in 12,345,678.
bool groups_thousands(std::string_view whole) {
  if (whole.find(',') > 3) return false;
  for (std::size_t at = whole.find(','); at != std::string_view::npos; at = whole.find(',', at + 1)) {
    const auto next = std::min(whole.find(',', at + 1), whole.size());
    if (next - at != 4) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> numbers_meant(std::string_view text) {
  const auto commas = std::count(text.begin(), text.end(), ',');
  const auto dots = std::count(text.begin(), text.end(), '.');
  if (!has_shape(text) || commas == 0 || dots > 1) return {};
  std::vector<std::string> meant;
  const std::string_view whole = text.substr(0, text.find('.'));
  if (std::count(whole.begin(), whole.end(), ',') == commas && groups_thousands(whole)) {
    std::string number(text);
    std::erase(number, ',');
    meant.push_back(std::move(number));
  }
  if (commas == 1 && dots == 0) {
    std::string number(text);
    std::replace(number.begin(), number.end(), ',', '.');
    meant.push_back(std::move(number));
  }
  return meant;
}

std::string comma_hint(std::string_view text, bool whole) {
  std::string numbers;
  for (const std::string& number : numbers_meant(text)) {
    if (whole && number.find('.') != std::string::npos) continue;
    numbers += (numbers.empty() ? "" : " or ") + number;
  }
  return numbers.empty() ? "" : "; write " + numbers;
}

}  // namespace tidepool
