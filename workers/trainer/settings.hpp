// The settings of a training run: from the job document that the agent provides to a worker, from the command line, or
// both (the command line wins). Strict: an unknown argument is an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "workers/runtime/numerics/batch_rules.hpp"
#include "workers/trainer/device.hpp"

namespace tidepool::trainer {

struct SlowdownSettings {
  std::string worker;  // id such as w-2; empty = none
  double factor = 2;   // computing takes this many times as long
  std::int64_t from_step = 0;
  std::string file;  // alternative that can change during the run: a file with a line "w-2 2.5"; empty = none
};

struct Settings {
  std::string model;              // "charlm" or "mlp"
  std::vector<std::string> data;  // files or folders, relative to the working folder
  std::int64_t steps = 300;
  int hidden = 256;
  int context = 16;    // charlm
  int embedding = 16;  // charlm
  std::string label;   // for mlp: the label's column, empty = the last
  double lr = 0.2;     // for the mean gradient over the global batch
  double momentum = 0.9;
  std::uint64_t seed = 1;
  std::int64_t global_batch = 512;
  std::int64_t per_worker_max = 512;  // samples computed at once; a larger share is computed in parts
  // How batch and learning rate follow the number of workers, and the number of workers that global_batch is meant for.
  runtime::OnResize on_resize = runtime::OnResize::kConstant;
  int base_size = 1;
  std::int64_t global_batch_max = 0;         // limit for rules that scale the batch; 0 = none
  int warmup_steps = runtime::kWarmupSteps;  // steps over which a larger learning rate is reached
  Device device = Device::kAuto;             // where gradients are computed
  SlowdownSettings slowdown;
};

// `args` is run.args of a job document. One error message contains all findings, with the nearest known name for each
// unknown one.
[[nodiscard]] Result<Settings> read_settings(const std::string& model, const nlohmann::json& args);

// Reads the document named by TIDEPOOL_JOB_FILE: run.trainer, run.args, batch, and the size that the batch is meant
// for: elastic.preferred, or elastic.min. `overrides` are args that take precedence; `model` takes precedence over
// run.trainer unless it is empty.
[[nodiscard]] Result<Settings> read_job_document(const std::string& text, const std::string& model,
                                                 const nlohmann::json& overrides);

}  // namespace tidepool::trainer
