// Finds where the newest lines of a text begin that is read page by page, the last page first. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidepool::ctl {

class TailSearch {
 public:
  explicit TailSearch(std::int64_t lines) : newlines_(lines) {}

  // So many bytes before the end of this page the lines begin; nothing if they begin further up.
  [[nodiscard]] std::optional<std::size_t> take(std::string_view page);

 private:
  std::int64_t newlines_;  // still to be found; the lines begin behind the last of them
  bool at_end_ = true;
};

}  // namespace tidepool::ctl
