// The addresses of the programs of restartable workers, in the newest generation of each worker, and the ports that are
// reserved for programs of rank 0 until they start.
#pragma once

#include <map>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/restart_files.hpp"
#include "workers/agent/state/restartable_worker.hpp"
#include "workers/agent/torchrun.hpp"

namespace tidepool::agent {

class ProgramOffers {
 public:
  // Returns the same text each time in one generation. `address` lacks the port.
  [[nodiscard]] Result<std::string> offer(WorkerId worker, const RestartableWorker::OfferAddress& what,
                                          RankAddress address);
  // Generation 0: none yet.
  [[nodiscard]] const SeatOffer& of(WorkerId worker) { return offers_[worker]; }
  // The offer was made by an earlier agent.
  void adopt(WorkerId worker, const SeatOffer& offer) { offers_[worker] = offer; }
  // Call when the program starts and takes the port itself.
  void let_go_of_port(WorkerId worker) { ports_.erase(worker); }
  void forget(WorkerId worker);

 private:
  std::map<WorkerId, SeatOffer> offers_;
  std::map<WorkerId, ReservedPort> ports_;
};

}  // namespace tidepool::agent
