// The job files behind the answers about jobs. A file is read once and kept until the job has another one: reading it
// costs more than all else in an answer. Belongs to the I/O thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

// What answers take from a job's file. One that cannot be read is an empty object.
struct JobDocument {
  std::string text = "{}";  // the whole of it, canonical
  nlohmann::json labels = nlohmann::json::object();
  nlohmann::json steps_total;  // that the trainer was told to do, or null
};

[[nodiscard]] JobDocument read_document(const core::JobSpec& spec);
// False: a list shows nothing of the file. It is looked at, not read.
[[nodiscard]] bool is_listed(const core::JobSpec& spec);

class JobDocuments {
 public:
  // Keeps up to about so many bytes; beyond them those of the oldest jobs are read again each time.
  explicit JobDocuments(std::size_t bytes_max = 16U << 20U) : bytes_max_(bytes_max) {}

  [[nodiscard]] std::shared_ptr<const JobDocument> of(const core::Job& job);
  // For a list, which does not show the file: all but its text, without reading a file that says nothing else.
  [[nodiscard]] std::shared_ptr<const JobDocument> listed(const core::Job& job);

  // How many files have been read.
  [[nodiscard]] std::size_t readings() const { return readings_; }

 private:
  struct Kept {
    std::string source;  // what was read
    std::shared_ptr<const JobDocument> document;
    [[nodiscard]] std::size_t bytes() const { return 2 * source.size() + sizeof(JobDocument); }
  };

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of all that is kept
  std::size_t readings_ = 0;
  std::map<JobId, Kept> kept_;
};

}  // namespace tidepool::live::http
