#include "workers/agent/program_offers.hpp"

#include <random>
#include <utility>

namespace tidepool::agent {

Result<std::string> ProgramOffers::offer(WorkerId worker, const RestartableWorker::OfferAddress& what,
                                         RankAddress address) {
  SeatOffer& offer = offers_[worker];
  if (offer.generation == what.generation) return offer.blob;
  ports_.erase(worker);
  if (what.rank == 0) {
    auto port = ReservedPort::take(std::random_device{}());
    if (!port) return port.error();
    address.port = port->number();
    ports_.emplace(worker, *std::move(port));
  }
  offer = {.generation = what.generation, .rank = what.rank, .blob = to_blob(address)};
  return offer.blob;
}

void ProgramOffers::forget(WorkerId worker) {
  offers_.erase(worker);
  ports_.erase(worker);
}

}  // namespace tidepool::agent
