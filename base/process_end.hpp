// How a process has ended, as reports, facts and the journal tell it: an exit code, -1 for none, and a signal, 0 for
// none.
#pragma once

namespace tidepool {

// Neither is known: it was not started, or nothing has seen it end.
[[nodiscard]] constexpr bool is_end_unknown(int exit_code, int signal) {
  return exit_code < 0 && signal == 0;
}

}  // namespace tidepool
