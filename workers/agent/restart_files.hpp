// What an agent must know of a restartable worker to continue it after the agent's own restart: the order and the state
// of its program. Written when the worker is accepted, before its program starts, and after the program has ended: so a
// restartable worker is never lost with its agent, whether its program lives or not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/agent/state/restartable_worker.hpp"

namespace tidepool::agent {

// The address of its program that a restartable worker has sent for one generation.
struct SeatOffer {
  GenerationNumber generation = 0;
  int rank = 0;
  std::string blob;
};
struct SeatRecord {
  api::StartWorker order;
  SeatOffer offer;  // generation 0: none yet
  // For that generation: whether the program was started, and how it ended on its own. Neither is set: there is no
  // program, or the program was stopped.
  bool started = false;
  std::optional<api::EndedMessage> ended;
};

// Writes into the worker's own folder, which is created if it is missing.
[[nodiscard]] Status write_seat(const std::filesystem::path& folder, const SeatRecord& record);
// None: the worker is not restartable, or its record is damaged.
[[nodiscard]] std::optional<SeatRecord> read_seat(const std::filesystem::path& folder);
// The worker's state after its program is found not to be alive.
[[nodiscard]] RestartableWorker without_program(SeatRecord record);

}  // namespace tidepool::agent
