#include <string>

#include "api/worker_protocol.hpp"

namespace tidepool::api {

Status LineBuffer::append(std::string_view bytes) {
  bytes_.erase(0, begin_);
  begin_ = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end = bytes.find('\n', at);
    const bool whole = end != std::string_view::npos;
    partial_ += (whole ? end : bytes.size()) - at;
    if (partial_ > line_max_) {
      return Error{ErrorCode::kLimitExceeded,
                   "a line of the worker protocol has more than " + std::to_string(line_max_) + " bytes"};
    }
    if (!whole) break;
    ++whole_lines_;
    partial_ = 0;
    at = end + 1;
  }
  bytes_.append(bytes);
  return ok_status();
}

bool LineBuffer::next(std::string& line) {
  if (whole_lines_ == 0) return false;
  const std::size_t end = bytes_.find('\n', begin_);
  line.assign(bytes_, begin_, end - begin_);
  begin_ = end + 1;
  --whole_lines_;
  return true;
}

}  // namespace tidepool::api
