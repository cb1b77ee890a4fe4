// How a process that cannot execute its program reports why: through a pipe, which closes without a byte on success.
#pragma once

namespace tidepool::agent {

// Descriptors of tidepool-confine: its plan, and the pipe.
inline constexpr int kPlanDescriptor = 3;
inline constexpr int kFailureDescriptor = 4;

enum class StartStep : int { kSetup, kWorkdir, kProgram };

struct StartFailure {
  StartStep step = StartStep::kSetup;
  int error = 0;
  char what[240] = {};  // what was attempted; may be empty
};

}  // namespace tidepool::agent
