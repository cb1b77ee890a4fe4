#include "schedulerd/live/http/paging.hpp"

#include <charconv>

namespace tidepool::live::http {
namespace {

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<std::int64_t> read_number(const Call& call, const std::string& name, NumberRange range) {
  const auto found = call.request.query.find(name);
  if (found == call.request.query.end()) return range.fallback;
  std::int64_t number = 0;
  if (!parse_whole(found->second, number) || number < range.low || number > range.high) {
    return invalid_argument(name + " must be a whole number between " + std::to_string(range.low) + " and " +
                            std::to_string(range.high));
  }
  return number;
}

Result<bool> read_flag(const Call& call, const std::string& name) {
  const auto found = call.request.query.find(name);
  if (found == call.request.query.end() || found->second == "false") return false;
  if (found->second == "true") return true;
  return invalid_argument(name + " must be true or false");
}

std::string make_cursor(std::string_view list, std::uint64_t key) {
  return std::string(list) + "." + std::to_string(key);
}

Result<Page> read_page(const Call& call, std::string_view list) {
  Page page;
  auto limit = read_number(call, "limit", {.fallback = kPageDefault, .low = 1, .high = kPageMax});
  if (!limit) return limit.error();
  page.limit = static_cast<int>(limit.value());
  const auto cursor = call.request.query.find("cursor");
  if (cursor == call.request.query.end()) return page;
  const std::string prefix = std::string(list) + ".";
  std::uint64_t key = 0;
  const bool ours = cursor->second.starts_with(prefix);
  if (!ours || !parse_whole(std::string_view(cursor->second).substr(prefix.size()), key)) {
    return invalid_argument("cursor must be a next_cursor of this same list");
  }
  page.after = key;
  return page;
}

nlohmann::json page_body(nlohmann::json items, const std::optional<std::string>& next_cursor, EventSeq as_of_seq) {
  return {{"items", std::move(items)},
          {"next_cursor", next_cursor ? nlohmann::json(*next_cursor) : nlohmann::json(nullptr)},
          {"as_of_seq", as_of_seq}};
}

Problem bad_parameter(const Error& error) {
  return {.status = 400, .code = "BadParameter", .detail = error.message};
}

bool PageBuilder::add(std::uint64_t key, nlohmann::json item) {
  if (full()) {
    more_ = true;
    return false;
  }
  items_.push_back(std::move(item));
  last_key_ = key;
  return true;
}

nlohmann::json PageBuilder::body(EventSeq as_of_seq) && {
  return page_body(std::move(items_), more_ ? std::optional(make_cursor(list_, last_key_)) : std::nullopt, as_of_seq);
}

}  // namespace tidepool::live::http
