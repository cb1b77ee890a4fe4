#include <unistd.h>

#include "policies/host/process/serve.hpp"

// Under a sanitizer: a crash stays a crash, and nothing is started or read to describe it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the sanitizers'.
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:symbolize=0:detect_leaks=0:"
         "allocator_may_return_null=1:abort_on_error=1";
}
extern "C" const char* __tsan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:symbolize=0:"
         "allocator_may_return_null=1:abort_on_error=1";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

int main() {
  _exit(tidepool::policies::host::process::serve());
}
