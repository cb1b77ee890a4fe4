// A native policy that misbehaves as the parameter `act` says; with act = 0 it answers as it should.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "policies/host/tidepool_policy.h"

namespace {

volatile double sink = 0;

int deeper(int depth) {
  volatile char room[4'096];
  room[0] = static_cast<char>(depth);
  return deeper(depth + 1) + room[0];
}

void* nothing(void*) {
  return nullptr;
}

void act(int number) {
  pthread_t thread{};
  switch (number) {
    case 1: *reinterpret_cast<volatile int*>(8) = 1; break;
    case 2: std::abort();
    case 3: std::_Exit(7);
    case 4:
      for (;;) sink = sink + 1;
    case 5:
      (void)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
      break;  // fork() is a sanitizer's, which waits in it for ever
    case 6: (void)execl("/bin/sh", "sh", "-c", "true", static_cast<char*>(nullptr)); break;
    case 7: (void)open("/etc/passwd", O_RDONLY); break;
    case 8: (void)socket(AF_INET, SOCK_STREAM, 0); break;
    case 9: (void)kill(getppid(), SIGKILL); break;
    case 10:
      for (;;) std::memset(::operator new(1 << 20), 1, 1 << 20);
    case 11: (void)deeper(0); break;
    case 12: (void)pthread_create(&thread, nullptr, nothing, nullptr); break;
    case 13: (void)mmap(nullptr, 4'096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); break;
    case 14: (void)ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); break;
    case 15: (void)send(3, "hello", 5, 0); break;
    case 16: (void)unlink("/tmp/anything"); break;
    case 17: (void)ftruncate(5, 0); break;
    case 19:
      if (mmap(nullptr, 4'096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0) != MAP_FAILED) std::abort();
      break;
    case 18: {
      void* page = mmap(nullptr, 4'096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      (void)mprotect(page, 4'096, PROT_READ | PROT_EXEC);
      break;
    }
    default: break;
  }
}

int sizes(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const int number = static_cast<int>(host->param(host->context, "act", 0));
  act(number);
  for (std::uint32_t i = 0; i < view->jobs; ++i) answer[i] = view->job[TIDEPOOL_JOB_SIZE_WANTED][i];
  if (number == 20) answer[0] = NAN;
  if (number == 21) answer[0] = HUGE_VAL;
  if (number == 22) answer[0] = 1e9;
  if (number == 23) answer[0] = -1;
  if (number == 24) answer[0] = 1.5;
  if (number == 25) host->why(host->context, 0, "not\na word", nullptr, 0);
  if (number == 26) const_cast<double*>(view->job[0])[0] = 5;  // the facts are for reading
  return number == 28 ? 1 : 0;
}

int marks(const tidepool_view* view, const tidepool_host* host, double* answer) {
  const bool silent = host->param(host->context, "act", 0) == 29;
  for (std::uint32_t i = 0; i < view->jobs; ++i) answer[i] = silent ? NAN : 1;
  return 0;
}

const tidepool_policy kPolicy{.abi = TIDEPOOL_POLICY_ABI,
                              .size = sizeof(tidepool_policy),
                              .name = "hostile",
                              .admit = nullptr,
                              .order = nullptr,
                              .sizes = sizes,
                              .marks = marks,
                              .pool = nullptr};

}  // namespace

extern "C" const tidepool_policy* tidepool_policy_v2(std::uint32_t) {
  return &kPolicy;
}
