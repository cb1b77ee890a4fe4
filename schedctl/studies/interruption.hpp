// Lets a long command ask whether Ctrl-C was pressed, so that it can keep what it has. Only the first Ctrl-C is caught:
// a second one ends the process as usual, and so does the first once this object is gone.
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
