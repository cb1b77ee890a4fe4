// This process's limit of open files, put back as it was found when this goes.
#pragma once

#include <sys/resource.h>

#include "base/check.hpp"

namespace tidepool::test {

class OpenFileLimit {
 public:
  OpenFileLimit() { TP_CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0, "every process has this limit"); }
  OpenFileLimit(const OpenFileLimit&) = delete;
  OpenFileLimit& operator=(const OpenFileLimit&) = delete;
  ~OpenFileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  // Not above hard().
  void set_soft(rlim_t soft) const {
    const rlimit limit{.rlim_cur = soft, .rlim_max = before_.rlim_max};
    TP_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "a soft limit below the hard one may be set");
  }
  [[nodiscard]] rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

}  // namespace tidepool::test
