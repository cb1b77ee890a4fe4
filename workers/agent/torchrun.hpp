// The environment of a program that is started by rank: torchrun's variables, and a port for rank 0 to listen on. Names
// and meanings are those of torchrun (PyTorch documentation, "torchrun (Elastic Launch)", section "Environment
// Variables").
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
  std::vector<int> slots;  // of the node, held by this rank
};
[[nodiscard]] std::string to_blob(const RankAddress& address);
[[nodiscard]] Result<RankAddress> address_of_blob(const std::string& blob);

// One rank of a generation, and the addresses of all of its ranks.
struct Place {
  GenerationNumber generation = 1;
  int rank = 0;
  std::vector<std::string> blobs;
};
struct RankSurroundings {
  std::map<std::string, std::string> environment;
  std::vector<int> slots;  // of all local ranks, in rank order: a program selects its GPU by LOCAL_RANK
};
// RANK, WORLD_SIZE, LOCAL_RANK, GROUP_RANK, MASTER_ADDR and the other variables of torchrun, and TIDEPOOL_GENERATION,
// TIDEPOOL_SIZE. Ranks on one node are local to each other; nodes are groups, in the order of their first rank.
// Requires: rank < blobs.size().
[[nodiscard]] Result<RankSurroundings> surroundings_of(const Place& place);

// A port on which no program listens, reserved until this object is destroyed. It is below the range from which the
// kernel assigns ports automatically: between its release and the program's listening, only a program that requests
// exactly this port could take it.
class ReservedPort {
 public:
  // `draw` chooses where the search begins.
  [[nodiscard]] static Result<ReservedPort> take(std::uint64_t draw);

  [[nodiscard]] int number() const { return number_; }

 private:
  ReservedPort(UniqueFd socket, int number) : socket_(std::move(socket)), number_(number) {}

  UniqueFd socket_;
  int number_ = 0;
};

}  // namespace tidepool::agent
