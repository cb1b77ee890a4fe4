// How many files and connections the daemon may have open. Shells and service managers allow 1,024 at first, which a
// pool of a thousand nodes uses up; the limit is raised as far as this process may raise it.
#pragma once

#include <cstdint>

namespace tidepool::live {

// Enough for the connections of clients (HttpOptions::connections) and for several thousand nodes.
inline constexpr std::uint64_t kOpenFilesWanted = 16'384;

// Raises the soft limit up to `wanted` or to the hard limit, whichever is less; never lowers it. Gives the limit that
// holds now, and logs a warning that says what to do where it is below `wanted`.
std::uint64_t raise_open_files(std::uint64_t wanted = kOpenFilesWanted);

}  // namespace tidepool::live
