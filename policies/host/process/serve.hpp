// The policy host's life: lock down, take one source, answer rounds until the daemon disconnects.
#pragma once

namespace tidepool::policies::host::process {

// Uses the descriptors of shared_image.hpp. Returns the exit status; the daemon learns of failures over the channel.
[[nodiscard]] int serve();

}  // namespace tidepool::policies::host::process
