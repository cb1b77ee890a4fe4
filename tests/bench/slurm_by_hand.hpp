// A Slurm of Debian's packages, started by hand for one benchmark (the script slurm_by_hand), and ended with this.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::bench {

class SlurmByHand {
 public:
  // `mode`: whether jobs "wait" or "run", as the script says. Null: it is not installed, or may not be started. Throws
  // if it is and does not start.
  [[nodiscard]] static std::unique_ptr<SlurmByHand> start(const std::string& mode);
  SlurmByHand(const SlurmByHand&) = delete;
  SlurmByHand& operator=(const SlurmByHand&) = delete;
  ~SlurmByHand();

  [[nodiscard]] unsigned short port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  SlurmByHand() = default;
  void launch(const std::string& script, const std::string& mode);

  tidepool::test::TemporaryFolder folder_;
  pid_t pid_ = -1;
  int input_ = -1;  // of the script, which ends when this is closed
  unsigned short port_ = 0;
  std::string token_;
};

}  // namespace tidepool::bench
