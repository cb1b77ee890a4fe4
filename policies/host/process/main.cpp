#include <unistd.h>

#include "policies/host/process/serve.hpp"

// Under AddressSanitizer: a crash stays a crash, and nothing is started or read to describe it.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the name is the sanitizer's.
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:symbolize=0:detect_leaks=0:"
         "allocator_may_return_null=1:abort_on_error=1";
}

int main() {
  _exit(tidepool::policies::host::process::serve());
}
