#include "schedulerd/live/http/paging.hpp"

#include "base/number_text.hpp"

namespace tidepool::live::http {

Result<std::int64_t> read_number(const Call& call, const std::string& name, NumberRange range) {
  const auto found = call.request.query.find(name);
  if (found == call.request.query.end()) return range.fallback;
  const auto number = parse_number<std::int64_t>(found->second);
  if (number && *number >= range.low && *number <= range.high) return *number;
  return invalid_argument(name + " must be a whole number between " + std::to_string(range.low) + " and " +
                          std::to_string(range.high));
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
  if (cursor->second.starts_with(prefix)) {
    page.after = parse_number<std::uint64_t>(cursor->second.substr(prefix.size()));
  }
  if (page.after) return page;
  return invalid_argument("cursor must be a next_cursor of this same list");
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
