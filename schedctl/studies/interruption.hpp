// Ctrl-C as a question that a long command asks itself, so that it can keep what it has. Only the first one is: another
// ends the process as ever, and so does the first once this is gone.
#pragma once

#include <csignal>

namespace tidepool::ctl {

// At most one at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] bool asked() const;

 private:
  struct sigaction before_ = {};
};

}  // namespace tidepool::ctl
