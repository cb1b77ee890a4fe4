// A folder of checkpoints, of one job or of several: names that say job, step and writer, and a symbolic
// link `latest`, where the file system knows links. A file gets its name when it is complete and on disk; before that
// it has a temporary one.
//
// A file of another job is never touched, nor even looked into.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"

namespace tidepool::runtime {

inline constexpr const char* kLatestName = "latest";

// job-3.5f0c1a22.step-000000000120.w-7.tidepool; the hexadecimal part tells clusters apart.
struct CheckpointName {
  std::string tag;  // "job-3.5f0c1a22"
  std::int64_t step = 0;
  WorkerId worker;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<CheckpointName> parse(const std::string& file_name);
};

// The tag of a job's files; `owner` is "cluster/job-3", or empty for a worker alone.
[[nodiscard]] std::string tag_of(const std::string& owner);

// The complete checkpoints with that tag, newest first. A folder that is not there has none.
[[nodiscard]] std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder,
                                                                const std::string& tag);

// Calls `write` with a temporary name, then gives the file its own name and points `latest` at it. The folder is made
// if it is missing. Returns the path.
using WriteFile = std::function<Status(const std::filesystem::path&)>;
[[nodiscard]] Result<std::filesystem::path> publish_checkpoint(const std::filesystem::path& folder,
                                                               const CheckpointName& name, const WriteFile& write);

// Keeps the newest `keep` steps (at least 1) with that tag, of those up to the one that was just published. Those
// beyond it could not be gone on from, or the training would be further: they stay, and displace none.
void prune_checkpoints(const std::filesystem::path& folder, const CheckpointName& published, int keep);

// Removes what writers with that tag left unfinished. Only when none of them lives.
void remove_unfinished(const std::filesystem::path& folder, const std::string& tag);

// Copies a complete checkpoint into `folder`, complete there before it is visible, then removes it here.
[[nodiscard]] Status move_checkpoint(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace tidepool::runtime
