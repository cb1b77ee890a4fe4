#include "schedctl/logs/tail_search.hpp"

namespace tidepool::ctl {

std::optional<std::size_t> TailSearch::take(std::string_view page) {
  if (at_end_ && (newlines_ == 0 || page.empty())) return 0;
  if (at_end_ && page.back() == '\n') ++newlines_;  // it ends the last line, and none comes behind it
  at_end_ = false;
  for (std::size_t end = page.size(); end > 0;) {
    end = page.rfind('\n', end - 1);
    if (end == std::string_view::npos) return std::nullopt;
    if (--newlines_ == 0) return page.size() - end - 1;
  }
  return std::nullopt;
}

}  // namespace tidepool::ctl
