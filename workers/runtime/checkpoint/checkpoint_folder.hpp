// A folder of checkpoints of one or several jobs. File names contain job, step and writer; a symbolic link `latest`
// points at the newest file if the file system supports links. A file has a temporary name until it is complete and on
// disk.
//
// Files of other jobs are never changed or opened.
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

// job-3.5f0c1a22.step-000000000120.w-7.tidepool; the hexadecimal part distinguishes clusters.
struct CheckpointName {
  std::string tag;  // "job-3.5f0c1a22"
  std::int64_t step = 0;
  WorkerId worker;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<CheckpointName> parse(const std::string& file_name);
};

// The tag of a job's files; `owner` is "cluster/job-3", or empty for a worker without a job.
[[nodiscard]] std::string tag_of(const std::string& owner);

// The complete checkpoints with that tag, newest first. A missing folder has none.
[[nodiscard]] std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder,
                                                                const std::string& tag);

// Calls `write` with a temporary name, then gives the file its final name and points `latest` at it. Creates the folder
// if it is missing. Returns the path.
using WriteFile = std::function<Status(const std::filesystem::path&)>;
[[nodiscard]] Result<std::filesystem::path> publish_checkpoint(const std::filesystem::path& folder,
                                                               const CheckpointName& name, const WriteFile& write);

// Keeps the newest `keep` steps (at least 1) with that tag, counting only steps up to the one that was just published.
// Files of later steps could not be restored, or training would be further: they stay, and are not counted.
void prune_checkpoints(const std::filesystem::path& folder, const CheckpointName& published, int keep);

// Removes the unfinished files of writers with that tag. Requires: none of these writers is alive.
void remove_unfinished(const std::filesystem::path& folder, const std::string& tag);

// Copies a complete checkpoint into `folder`, where it becomes visible only when complete, then removes the original.
[[nodiscard]] Status move_checkpoint(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace tidepool::runtime
