// What a program that is started by rank finds around it: torchrun's environment, and a port for rank 0 to listen on.
// The names and meanings are those of torchrun (PyTorch documentation, "torchrun (Elastic Launch)", section
// "Environment Variables").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

// Where one rank's program runs; only rank 0 has a port.
struct RankAddress {
  std::string node;
  std::string host;
  int port = 0;
  std::vector<int> slots;  // of the node, that it holds
};
[[nodiscard]] std::string to_blob(const RankAddress& address);
[[nodiscard]] Result<RankAddress> address_of_blob(const std::string& blob);

// One rank of a generation, among all of them.
struct Place {
  GenerationNumber generation = 1;
  int rank = 0;
  std::vector<std::string> blobs;
};
struct RankSurroundings {
  std::map<std::string, std::string> environment;
  std::vector<int> slots;  // of all local ranks, in rank order: a program takes its GPU by LOCAL_RANK
};
// RANK, WORLD_SIZE, LOCAL_RANK, GROUP_RANK, MASTER_ADDR and so on, and TIDEPOOL_GENERATION, TIDEPOOL_SIZE. Ranks on one
// node are local to each other; nodes are groups, in the order of their first rank. Requires: rank < blobs.size().
[[nodiscard]] Result<RankSurroundings> surroundings_of(const Place& place);

// A port on which no program listens, kept from others until this is gone. Below the range from which the kernel gives
// out ports by itself, so that between letting go and the program's listening only a program that asks for this very
// port could take it.
class ReservedPort {
 public:
  // `draw` picks where the search begins.
  [[nodiscard]] static Result<ReservedPort> take(std::uint64_t draw);

  [[nodiscard]] int number() const { return number_; }

 private:
  ReservedPort(UniqueFd socket, int number) : socket_(std::move(socket)), number_(number) {}

  UniqueFd socket_;
  int number_ = 0;
};

}  // namespace tidepool::agent
