// Lists: ?limit and ?cursor in, {items, next_cursor, as_of_seq} out. A cursor is opaque to clients; it
// names the last item given and the list it belongs to, so pages neither skip nor repeat when items
// are added.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

inline constexpr int kPageDefault = 100;
inline constexpr int kPageMax = 1'000;

struct Page {
  int limit = kPageDefault;
  std::optional<std::uint64_t> after;  // key of the last item of the page before
};

// `list` names the list ("jobs"); a cursor of another list is refused.
[[nodiscard]] Result<Page> read_page(const Call& call, std::string_view list);
[[nodiscard]] std::string make_cursor(std::string_view list, std::uint64_t key);

// A whole number from the query within [low, high]; `fallback` if absent.
struct NumberRange {
  std::int64_t fallback = 0;
  std::int64_t low = 0;
  std::int64_t high = INT64_MAX;
};
[[nodiscard]] Result<std::int64_t> read_number(const Call& call, const std::string& name, NumberRange range);

// "true", "false" or absent (= false).
[[nodiscard]] Result<bool> read_flag(const Call& call, const std::string& name);

[[nodiscard]] nlohmann::json page_body(nlohmann::json items, const std::optional<std::string>& next_cursor,
                                       EventSeq as_of_seq);

// The problem for a query parameter that cannot be read.
[[nodiscard]] Problem bad_parameter(const Error& error);

// Collects a page out of items in the order of their keys.
class PageBuilder {
 public:
  PageBuilder(std::string_view list, int limit) : list_(list), limit_(limit) {}
  // False once the page is full: `item` was not taken and there is a next page.
  bool add(std::uint64_t key, nlohmann::json item);
  [[nodiscard]] bool full() const { return items_.size() >= static_cast<std::size_t>(limit_); }
  [[nodiscard]] nlohmann::json body(EventSeq as_of_seq) &&;

 private:
  std::string_view list_;
  int limit_;
  nlohmann::json items_ = nlohmann::json::array();
  std::uint64_t last_key_ = 0;
  bool more_ = false;
};

}  // namespace tidepool::live::http
