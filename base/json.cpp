#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/comma_number.hpp"
#include "base/utf8.hpp"

namespace tidepool {
namespace {

using nlohmann::json;

const json kNull = nullptr;
constexpr std::size_t kQuotedMax = 63;  // bytes of a key that an error message repeats
constexpr std::size_t kReadMax = 80;    // likewise for the text read last

// The parser's message without its own name at the start, and with only as much of the text as shows the place.
std::string in_plain_words(std::string_view said) {
  if (said.starts_with('[')) said.remove_prefix(std::min(said.size(), said.find("] ") + 2));
  const std::size_t quoted = std::min(said.size(), said.find('\''));
  if (said.size() - quoted <= kReadMax) return std::string(said);
  return std::string(said.substr(0, quoted)) + cut_to(said.substr(quoted), kReadMax) + "...";
}

// Builds the value from the events of nlohmann::json's SAX interface, and stops at the first duplicate key or exceeded
// limit. So nothing deeper than the limit is ever built: a value is destroyed by recursion.
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(json::number_integer_t value) { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t&) { return stop("a binary value"); }
  bool start_object(std::size_t) { return open(json::value_t::object); }
  bool start_array(std::size_t) { return open(json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!counts()) return false;
    const auto [member, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(std::move(name));
    if (!is_new) return stop("the key \"" + cut_to(member->first, kQuotedMax) + "\" appears twice in one object");
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) {
    problem_ = "not valid JSON: " + in_plain_words(error.what());
    return false;
  }

  [[nodiscard]] json take() { return std::move(root_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool stop(const std::string& problem) {
    problem_ = "the JSON is refused: " + problem;
    return false;
  }
  // Values, names and ends all count.
  bool counts() { return ++counted_ <= limits_.values_max || stop("more values than the limit"); }
  json* place(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(value));
    return &(*member_ = std::move(value));
  }
  bool add(json value) {
    if (!counts()) return false;
    place(std::move(value));
    return true;
  }
  bool open(json::value_t kind) {
    if (open_.size() >= limits_.depth_max) {
      problem_ = "the JSON is nested deeper than " + std::to_string(limits_.depth_max) + " levels";
      return false;
    }
    if (!counts()) return false;
    open_.push_back(place(json(kind)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return counts();
  }

  JsonLimits limits_;
  json root_;
  std::vector<json*> open_;  // their addresses are stable: an array with an open value gets no other
  json* member_ = nullptr;   // of the innermost object; its value comes next
  std::size_t counted_ = 0;
  std::string problem_;
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swap_cost = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, swap_cost}));
    }
  }
  return row[b.size()];
}

char in_lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool differ_in_case_only(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return in_lower_case(a) == in_lower_case(b); });
}

std::string hint_for(const json& value, bool whole) {
  return value.is_string() ? comma_hint(value.get_ref<const std::string&>(), whole) : "";
}

bool is_rest_of_number(std::string_view name, const json& value) {
  return value.is_null() && !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

Result<json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::kLimitExceeded, "the document has " + std::to_string(text.size()) +
                                                " bytes; the limit is " + std::to_string(limits.bytes_max)};
  }
  Builder builder(limits);
  if (!json::sax_parse(text, &builder)) return invalid_argument(builder.problem());
  return builder.take();
}

Result<json> parse_own_json(std::string_view text) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return invalid_argument("not valid JSON");
  return value;
}

std::string canonical_json(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string amount_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string text = canonical_json(value);
  if (!value.is_number_float() || text.find('e') == std::string::npos) return text;
  std::array<char, 64> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value.get<double>(), std::chars_format::fixed);
  return error == std::errc() ? std::string(digits.data(), end) : text;
}

std::string escape_pointer(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& known) {
  const auto same =
      std::find_if(known.begin(), known.end(), [&](const auto& each) { return differ_in_case_only(word, each); });
  if (same != known.end() && !word.empty()) return *same;
  std::optional<std::string> best;
  std::size_t best_distance = 3;
  for (const auto& candidate : known) {
    const bool is_longer = !word.empty() && candidate.starts_with(word);
    if (is_longer && candidate.size() == word.size() + 1) return candidate;  // for example its plural
    if (is_longer && candidate[word.size()] == '_' && best_distance > 0) {
      best_distance = 0;
      best = candidate;
    }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

ObjectReader::ObjectReader(const json& value, std::string pointer, std::vector<FieldError>& errors)
    : value_(value), pointer_(std::move(pointer)), errors_(errors) {
  if (!value_.is_object() && !value_.is_null()) {
    errors_.push_back({pointer_, "WrongType", "must be an object with named fields"});
  }
}

const json* ObjectReader::find(std::string_view name) {
  asked_.emplace_back(name);
  if (!value_.is_object()) return nullptr;
  const auto found = value_.find(std::string(name));
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

bool ObjectReader::has(std::string_view name) {
  return find(name) != nullptr;
}

std::string ObjectReader::text(std::string_view name, std::string fallback) {
  const json* found = find(name);
  if (found == nullptr) return fallback;
  if (!found->is_string()) {
    fail(name, "WrongType", "must be a text");
    return fallback;
  }
  return found->get<std::string>();
}

std::string ObjectReader::required_text(std::string_view name) {
  if (!has(name)) {
    fail(name, "Missing", "is needed");
    return {};
  }
  return text(name, {});
}

std::int64_t ObjectReader::integer(std::string_view name, std::int64_t fallback, Range range) {
  const json* found = find(name);
  if (found == nullptr) return fallback;
  constexpr double kBeyond =
      9'223'372'036'854'775'808.0;  // 2^63; the parser stores numbers that exceed 64 bits as doubles
  const bool huge = found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX;
  if (huge || (found->is_number_float() && std::abs(found->get<double>()) >= kBeyond)) {
    fail(name, "OutOfRange",
         std::string("is too ") + (found->get<double>() > 0 ? "large" : "small") + "; it must lie between " +
             std::to_string(range.low) + " and " + std::to_string(range.high));
    return fallback;
  }
  if (!found->is_number_integer()) {
    fail(name, "WrongType", "must be a whole number" + hint_for(*found, true));
    return fallback;
  }
  const auto number = found->get<std::int64_t>();
  if (number < range.low || number > range.high) {
    fail(name, "OutOfRange",
         "is " + std::to_string(number) + "; it must lie between " + std::to_string(range.low) + " and " +
             std::to_string(range.high));
    return fallback;
  }
  return number;
}

std::int64_t ObjectReader::required_integer(std::string_view name, Range range) {
  if (!has(name)) fail(name, "Missing", "is needed");
  return integer(name, range.low, range);
}

double ObjectReader::number(std::string_view name, double fallback, double low, double high) {
  const json* found = find(name);
  if (found == nullptr) return fallback;
  if (!found->is_number()) {
    fail(name, "WrongType", "must be a number" + hint_for(*found, false));
    return fallback;
  }
  const auto number = found->get<double>();
  if (!std::isfinite(number) || number < low || number > high) {
    fail(name, "OutOfRange",
         "is " + canonical_json(*found) + "; it must lie between " + canonical_json(low) + " and " +
             canonical_json(high));
    return fallback;
  }
  return number;
}

bool ObjectReader::boolean(std::string_view name, bool fallback) {
  const json* found = find(name);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) {
    fail(name, "WrongType", "must be true or false");
    return fallback;
  }
  return found->get<bool>();
}

const json& ObjectReader::raw(std::string_view name) {
  const json* found = find(name);
  return found == nullptr ? kNull : *found;
}

std::string ObjectReader::pointer_of(std::string_view name) const {
  return pointer_ + "/" + escape_pointer(name);
}

void ObjectReader::fail(std::string_view name, std::string code, std::string message) {
  errors_.push_back({pointer_of(name), std::move(code), std::string(name) + " " + std::move(message)});
}

void ObjectReader::finish() {
  if (!value_.is_object()) return;
  for (const auto& [name, value] : value_.items()) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    const auto suggestion = nearest_word(name, asked_);
    std::string hint = suggestion ? "; did you mean \"" + *suggestion + "\"?" : "";
    // YAML reads {limit: 1,00} as a limit of 1 and a field "00" without a value.
    if (is_rest_of_number(name, value))
      hint = "; a comma ends a value within {}: write 1.00 for 1,00, and 1000 for 1,000";
    fail(name, "UnknownField", "is not a field here" + hint);
  }
}

}  // namespace tidepool
