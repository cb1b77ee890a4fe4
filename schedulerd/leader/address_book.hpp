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

  // All blobs in rank order, once complete.
  [[nodiscard]] std::optional<api::AddressesMessage> addresses(JobId job, GenerationNumber generation) const;
  // What one rank is told of these: whole blobs of few ranks, of many its own part of each, since the parts are as many
  // as their product, and a line of the protocol is bounded.
  [[nodiscard]] static api::AddressesMessage told_to(int rank, const api::AddressesMessage& all);

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
