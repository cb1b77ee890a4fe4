// How a process ended, as in reports, facts and the journal: an exit code, -1 for none, and a signal, 0 for
// none.
#pragma once

namespace tidepool {

// Neither is known: the process was not started, or its end was not observed.
[[nodiscard]] constexpr bool is_end_unknown(int exit_code, int signal) {
  return exit_code < 0 && signal == 0;
}

}  // namespace tidepool
