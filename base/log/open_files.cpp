#include "base/log/open_files.hpp"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tidepool {

std::uint64_t raise_open_files(std::string_view use, std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    spdlog::warn("event=open_files_unknown why={:?}", std::strerror(errno));
    return 0;
  }
  const auto aim = std::min<rlim_t>(wanted, limit.rlim_max);
  if (limit.rlim_cur < aim) {
    const rlimit raised{.rlim_cur = aim, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur < wanted) {
    spdlog::warn(
        "event=open_files_few limit={} wanted={} why=\"{}: raise the hard limit (ulimit -Hn, or LimitNOFILE= of the "
        "service)\"",
        static_cast<std::uint64_t>(limit.rlim_cur), wanted, use);
  }
  return limit.rlim_cur;
}

}  // namespace tidepool
