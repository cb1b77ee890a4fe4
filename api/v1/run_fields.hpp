// run: of a job file: the program of its workers, and what it is started with.
//
// A name in env that the daemon sets, or that steers the loader, is refused: so a job cannot change what it is started
// by. All of it fits into the order that starts a worker.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace tidepool::api::v1 {

struct RunSpec {
  std::string trainer;                             // "charlm" or "mlp"; or empty with a command
  std::vector<std::string> command;                // program and arguments
  bool restart = false;                            // resize: restart, of a command
  nlohmann::json args = nlohmann::json::object();  // of the trainer: texts, numbers, booleans, lists of them
  std::map<std::string, std::string> env;
  std::string workdir;  // absolute, or empty = the agent's own
};

[[nodiscard]] RunSpec read_run(const nlohmann::json& value, std::vector<FieldError>& errors);
// With `args` of a trainer, and `resize` of a command.
[[nodiscard]] nlohmann::json run_document(const RunSpec& run);

}  // namespace tidepool::api::v1
