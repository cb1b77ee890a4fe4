// The files of saved states on this node: finds a job's state of a given step, and assembles a state that comes from
// another node.
//
// Rule: an incoming file is complete before it gets its name, and stays in the agent's own folder until it is delivered
// to the job's folder: nothing that a job can write to is followed or trusted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"
#include "workers/agent/transfer/frames.hpp"

namespace tidepool::agent {

struct StateFolders {
  std::filesystem::path memory;  // as MemoryTierOptions::root; empty = this node has none
  std::filesystem::path jobs;    // as MemoryTierOptions::jobs
};

struct OpenState {
  std::string name;
  std::int64_t bytes = 0;
  UniqueFd file;
};

class SavedFiles {
 public:
  SavedFiles(StateFolders folders, std::string cluster) : folders_(std::move(folders)), cluster_(std::move(cluster)) {}

  // The job's state of this step, in any folder of this node. A link is not a state, nor is a file whose owner differs
  // from its folder's.
  [[nodiscard]] Result<OpenState> open(JobId job, std::int64_t step) const;
  // Whether `name` is the name of the job's state of this step.
  [[nodiscard]] bool is_state(const std::string& name, JobId job, std::int64_t step) const;

  // The folder in which incoming states are assembled; created if it is missing.
  [[nodiscard]] Result<std::filesystem::path> incoming(JobId job) const;
  // Moves a complete incoming state into the folder where the job's workers look, owned by `owner` if that is not 0.
  // Does nothing if there is none. Requires: no fetch for the job is in progress.
  [[nodiscard]] Status deliver(JobId job, const std::filesystem::path& folder, uid_t owner) const;
  // Deletes everything that was received for the job.
  void forget_incoming(JobId job) const;

 private:
  StateFolders folders_;
  std::string cluster_;
};

// A file being assembled. It resumes after the last whole chunk of an earlier attempt.
class IncomingFile {
 public:
  // `goes_on` is called repeatedly while the earlier part is verified; false ends the attempt.
  [[nodiscard]] static Result<IncomingFile> open(const std::filesystem::path& folder, const std::string& name,
                                                 std::int64_t bytes, const std::function<bool()>& goes_on);

  [[nodiscard]] std::int64_t offset() const { return offset_; }
  [[nodiscard]] Status add(const Frame& frame);
  // Flushes the file to disk and gives it its name. If the checksum differs, the file is deleted.
  [[nodiscard]] Status finish(std::uint64_t checksum);

 private:
  IncomingFile(std::filesystem::path path, std::int64_t bytes, UniqueFd file)
      : path_(std::move(path)), bytes_(bytes), file_(std::move(file)) {}
  [[nodiscard]] std::filesystem::path part() const { return path_.string() + ".part"; }
  [[nodiscard]] Status take_up(const std::function<bool()>& goes_on);

  std::filesystem::path path_;
  std::int64_t bytes_ = 0;
  UniqueFd file_;
  std::int64_t offset_ = 0;
  std::int64_t on_disk_ = 0;  // number of its bytes that are certainly on disk
  FileChecksum checksum_;
};

// The chunk at `offset`, a multiple of kStateChunk; an error if the file ends before it.
[[nodiscard]] Result<std::vector<std::byte>> read_chunk(int file, std::int64_t offset, std::int64_t bytes);

}  // namespace tidepool::agent
