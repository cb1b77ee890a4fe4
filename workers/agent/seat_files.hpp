// What an agent must know of a seat to go on with it after its own restart: the order, and where it stands. Written
// before the program starts, so that a program that lives always has it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"

namespace tidepool::agent {

// What a seat has said of where its program of a generation can be reached.
struct SeatOffer {
  GenerationNumber generation = 0;
  int rank = 0;
  std::string blob;
};
struct SeatRecord {
  api::StartWorker order;
  SeatOffer offer;
};

// In the worker's own folder, which exists.
[[nodiscard]] Status write_seat(const std::filesystem::path& folder, const SeatRecord& record);
// None: the worker is no seat, or its record is damaged.
[[nodiscard]] std::optional<SeatRecord> read_seat(const std::filesystem::path& folder);

}  // namespace tidepool::agent
