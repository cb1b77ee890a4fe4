// The files of saved states on this node: which one is a job's state of some step, and where one that comes from
// another node is put together.
//
// Rule: what comes is whole before it has its name, and in the agent's own folder until the job's own takes it: nothing
// that a job can write to is followed or trusted.
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

  // The job's state of this step, wherever it lies here. A link is no state, nor is a file of another user than its
  // folder's.
  [[nodiscard]] Result<OpenState> open(JobId job, std::int64_t step) const;
  // Whether that is the name of the job's state of this step.
  [[nodiscard]] bool is_state(const std::string& name, JobId job, std::int64_t step) const;

  // Where states that come are put together; made where it is missing.
  [[nodiscard]] Result<std::filesystem::path> incoming(JobId job) const;
  // Puts what has come whole into the folder where the job's workers look, as `owner`'s if that is not 0. Nothing has
  // come: nothing is done. Requires: no fetch for the job is under way.
  [[nodiscard]] Status deliver(JobId job, const std::filesystem::path& folder, uid_t owner) const;
  // Nothing of what has come stays.
  void forget_incoming(JobId job) const;

 private:
  StateFolders folders_;
  std::string cluster_;
};

// A file that is put together. What an attempt before has left is taken up where its last whole chunk ends.
class IncomingFile {
 public:
  // `goes_on` is asked again and again while what is there is looked through; false: the attempt ends.
  [[nodiscard]] static Result<IncomingFile> open(const std::filesystem::path& folder, const std::string& name,
                                                 std::int64_t bytes, const std::function<bool()>& goes_on);

  [[nodiscard]] std::int64_t offset() const { return offset_; }
  [[nodiscard]] Status add(const Frame& frame);
  // On the disk, under its name. A file whose checksum is another one is deleted.
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
  std::int64_t on_disk_ = 0;  // so many bytes of it, surely
  FileChecksum checksum_;
};

// The chunk at `offset`, a multiple of kStateChunk; an error if the file ends before it.
[[nodiscard]] Result<std::vector<std::byte>> read_chunk(int file, std::int64_t offset, std::int64_t bytes);

}  // namespace tidepool::agent
