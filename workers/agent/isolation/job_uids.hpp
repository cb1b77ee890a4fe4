// The user of a job's programs: first + number of the job, modulo the range. All nodes with the same range give a job
// the same user, so that it can read its own states in a shared folder. At any moment a user belongs to at most one job
// of one cluster on this machine, and to no job while a process of that user is alive that does not belong to the job.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"

namespace tidepool::agent {

struct UidRange {
  uid_t first = 200'000;
  uid_t last = 299'999;

  // "200000-299999"; the range must contain neither root nor a user below 1000.
  [[nodiscard]] static Result<UidRange> parse(const std::string& text);
};

class JobUids {
 public:
  // `claims`: one folder for all agents of this machine, empty after a boot.
  JobUids(UidRange range, std::filesystem::path claims) : range_(range), claims_(std::move(claims)) {}

  [[nodiscard]] uid_t uid_of(JobId job) const;
  // Assigns the job its user, or says which job or process has it.
  [[nodiscard]] Result<uid_t> claim(const std::string& cluster, JobId job) const;

 private:
  UidRange range_;
  std::filesystem::path claims_;
};

// Living processes of the user, on the whole machine.
[[nodiscard]] Result<std::vector<pid_t>> processes_of(uid_t uid);

}  // namespace tidepool::agent
