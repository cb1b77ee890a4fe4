// The addresses on which the ranks of each job's newest generation listen. They are not facts: after a daemon restart
// the workers publish them again. Messages of an older generation change nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"

namespace tidepool::leader {

class AddressBook {
 public:
  struct Entry {
    JobId job;
    GenerationNumber generation = 0;
    int rank = 0;
    int size = 0;  // of the generation; rank < size
    std::string blob;
  };
  enum class Outcome {
    kStale,      // of an older generation
    kWaiting,    // some rank is still missing
    kComplete,   // the last one has arrived, or one has changed: notify all members
    kUnchanged,  // complete already, repeated: notify the sender only
  };
  Outcome put(const Entry& entry);

  // The message for one rank once all have published, in rank order: complete blobs for few ranks; for many ranks only
  // the rank's own part of each. Complete blobs of n ranks have 18 n^2 bytes, too many for one line and for n copies.
  [[nodiscard]] std::optional<api::AddressesMessage> told_to(int rank, JobId job, GenerationNumber generation) const;

  void forget(JobId job) { pages_.erase(job); }

 private:
  struct Page {
    GenerationNumber generation = 0;
    std::map<int, std::string> blobs;
    int size = 0;
  };
  std::map<JobId, Page> pages_;
};

}  // namespace tidepool::leader
