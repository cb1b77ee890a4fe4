// Where the ranks of each job's newest generation listen. Not a fact: after a daemon restart the
// workers publish again. A generation older than the newest one seen changes nothing.
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
    kComplete,   // the last one has arrived, or one has moved: tell all members
    kUnchanged,  // complete already, said again: tell the one that asked
  };
  Outcome put(const Entry& entry);

  // What one rank is told once all have said theirs, in rank order: whole blobs of few ranks, of many its own part of
  // each. Whole, those of n ranks have 18 n^2 bytes, too many for a line and to be copied for each of n ranks.
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
