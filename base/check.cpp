#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace tidepool {
namespace {

std::string& running_seed() {
  static std::string seed;
  return seed;
}

}  // namespace

void set_running_seed(const std::string& seed) {
  running_seed() = seed;
}

void check_failed(const char* condition, const char* law, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken law: %s [%s]\n", file, line, law, condition);
  if (!running_seed().empty()) std::fprintf(stderr, "seed in progress: %s\n", running_seed().c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace tidepool
