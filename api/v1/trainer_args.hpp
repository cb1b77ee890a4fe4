// What may stand in run.args of a built-in trainer: the one table, by which a job file is refused and the trainer
// reads its settings. What an argument is without a value is in the trainer's own settings (workers/trainer).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace tidepool::api::v1 {

inline const std::vector<std::string> kTrainers = {"charlm", "mlp"};

enum class ArgumentKind {
  kPaths,  // a text with one path or several separated by commas, or a list of paths
  kText,
  kWhole,
  kNumber,
  kDevice,  // auto, cpu or gpu
  kWorker,  // a worker's id
};

struct TrainerArgument {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::kText;
  ObjectReader::Range whole = {};  // kWhole
  double least = 0;                // kNumber
  double most = 0;                 // kNumber
  std::string_view trainer = {};   // that alone knows it; empty = each does
  bool required = false;
};

[[nodiscard]] std::span<const TrainerArgument> trainer_arguments();

// Each wrong or unknown argument, and each that is needed and missing, at `pointer` with its name. `args` is an object,
// `trainer` one of kTrainers.
void check_trainer_args(std::string_view trainer, const nlohmann::json& args, const std::string& pointer,
                        std::vector<FieldError>& errors);

// The paths of an argument of kind kPaths; none where it is neither a text nor a list of texts.
[[nodiscard]] std::vector<std::string> paths_of(const nlohmann::json& value);

}  // namespace tidepool::api::v1
