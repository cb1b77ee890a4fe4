// Where the programs of restartable workers can be reached, in the newest generation of each, and the ports that are
// kept for those of rank 0 until they start.
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
  // The same words each time in one generation. `address` lacks the port.
  [[nodiscard]] Result<std::string> offer(WorkerId worker, const RestartableWorker::OfferAddress& what,
                                          RankAddress address);
  // None yet: generation 0.
  [[nodiscard]] const SeatOffer& of(WorkerId worker) { return offers_[worker]; }
  // Made by an agent before this one.
  void adopt(WorkerId worker, const SeatOffer& offer) { offers_[worker] = offer; }
  // Its program starts and takes the port itself.
  void let_go_of_port(WorkerId worker) { ports_.erase(worker); }
  void forget(WorkerId worker);

 private:
  std::map<WorkerId, SeatOffer> offers_;
  std::map<WorkerId, ReservedPort> ports_;
};

}  // namespace tidepool::agent
