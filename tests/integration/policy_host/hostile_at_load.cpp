// A library that misbehaves while it is being loaded, before any of its functions is called, as TIDEPOOL_ACT says.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "policies/host/tidepool_policy.h"

namespace {

// Of a process that is not its own; it need not exist.
constexpr int kOtherProcess = 1;

int act() {
  const rlimit none{.rlim_cur = 1, .rlim_max = 1};
  switch (TIDEPOOL_ACT) {
    case 1: return socket(AF_INET, SOCK_STREAM, 0);
    case 2: return prlimit(kOtherProcess, RLIMIT_CPU, &none, nullptr);
    case 3: return fcntl(3, F_SETOWN, kOtherProcess);
    case 4: return prctl(PR_SET_PDEATHSIG, 0);
    case 5: return ioctl(STDERR_FILENO, TIOCSCTTY, 0);
    case 6: return open("/tmp/anything", O_RDWR);
    case 7:
      for (int i = 0; i < 256; ++i) {  // 4 GiB
        void* block = mmap(nullptr, 1U << 24U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) std::abort();
      }
      return 0;
    default: return 0;
  }
}

[[maybe_unused]] const int kDone = act();

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return nullptr;
}
