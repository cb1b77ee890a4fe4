// What an agent must know of a restartable worker to go on with it after its own restart: the order, and where it
// stands. Written when the restartable worker is taken, before its program starts, and after it has ended: so a
// restartable worker is never lost with its agent, whether a program of it lives or not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/agent/state/restartable_worker.hpp"

namespace tidepool::agent {

// What a restartable worker has said of where its program of a generation can be reached.
struct SeatOffer {
  GenerationNumber generation = 0;
  int rank = 0;
  std::string blob;
};
struct SeatRecord {
  api::StartWorker order;
  SeatOffer offer;  // generation 0: none yet
  // Of that generation: has been started, and how it has ended by itself. Neither: no program, or one that had to end.
  bool started = false;
  std::optional<api::EndedMessage> ended;
};

// In the worker's own folder, which is made where it is missing.
[[nodiscard]] Status write_seat(const std::filesystem::path& folder, const SeatRecord& record);
// None: the worker is no restartable worker, or its record is damaged.
[[nodiscard]] std::optional<SeatRecord> read_seat(const std::filesystem::path& folder);
// Where it stands now that no program of it lives.
[[nodiscard]] RestartableWorker without_program(SeatRecord record);

}  // namespace tidepool::agent
