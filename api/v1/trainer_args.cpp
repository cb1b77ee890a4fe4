#include "api/v1/trainer_args.hpp"

#include <array>
#include <sstream>

#include "api/v1/word_field.hpp"
#include "base/ids.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;

using enum ArgumentKind;

constexpr std::array<TrainerArgument, 15> kArguments = {{
    {.name = "data", .kind = kPaths, .required = true},
    {.name = "steps", .kind = kWhole, .whole = {1, 1'000'000'000}},
    {.name = "hidden", .kind = kWhole, .whole = {1, 65'536}},
    {.name = "context", .kind = kWhole, .whole = {1, 4'096}, .trainer = "charlm"},
    {.name = "embedding", .kind = kWhole, .whole = {1, 4'096}, .trainer = "charlm"},
    {.name = "label", .trainer = "mlp"},
    {.name = "lr", .kind = kNumber, .least = 1e-9, .most = 1e3},
    {.name = "momentum", .kind = kNumber, .least = 0, .most = 0.9999},
    {.name = "warmup_steps", .kind = kWhole, .whole = {0, 1'000'000}},
    {.name = "seed", .kind = kWhole, .whole = {0, INT64_MAX}},
    {.name = "device", .kind = kDevice},
    {.name = "slow_worker", .kind = kWorker},
    {.name = "slow_factor", .kind = kNumber, .least = 1, .most = 100},
    {.name = "slow_from_step", .kind = kWhole, .whole = {0, INT64_MAX}},
    {.name = "slow_file"},
}};
const std::vector<std::string> kDevices = {"auto", "cpu", "gpu"};

void check_paths(ObjectReader& in, std::string_view name) {
  if (in.has(name) && paths_of(in.raw(name)).empty()) {
    in.fail(name, "WrongType", "must be a path, such as README.md, or a list of paths");
  }
}

void check_worker(ObjectReader& in, std::string_view name) {
  const std::string worker = in.text(name, "");
  if (!worker.empty() && !WorkerId::parse(worker)) in.fail(name, "Invalid", "must be a worker id such as w-2");
}

void check_argument(ObjectReader& in, const TrainerArgument& argument) {
  const std::string_view name = argument.name;
  if (argument.required && !in.has(name)) {
    in.fail(name, "Missing", "is needed: the file to train on, such as README.md, or several files and folders");
  }
  switch (argument.kind) {
    case kPaths: return check_paths(in, name);
    case kText: return static_cast<void>(in.text(name, ""));
    case kWhole: return static_cast<void>(in.integer(name, argument.whole.low, argument.whole));
    case kNumber: return static_cast<void>(in.number(name, argument.least, argument.least, argument.most));
    case kDevice: return static_cast<void>(one_of(in, name, kDevices, ""));
    case kWorker: return check_worker(in, name);
  }
}

}  // namespace

std::span<const TrainerArgument> trainer_arguments() {
  return kArguments;
}

void check_trainer_args(std::string_view trainer, const json& args, const std::string& pointer,
                        std::vector<FieldError>& errors) {
  ObjectReader in(args, pointer, errors);
  for (const TrainerArgument& argument : kArguments) {
    if (argument.trainer.empty() || argument.trainer == trainer) check_argument(in, argument);
  }
  in.finish();
}

std::vector<std::string> paths_of(const json& value) {
  std::vector<std::string> paths;
  if (value.is_array()) {
    for (const json& path : value) {
      if (!path.is_string()) return {};
      paths.push_back(path.get<std::string>());
    }
  } else if (value.is_string()) {
    std::istringstream text(value.get<std::string>());
    for (std::string path; std::getline(text, path, ',');) {
      const auto begin = path.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      paths.push_back(path.substr(begin, path.find_last_not_of(' ') - begin + 1));
    }
  }
  return paths;
}

}  // namespace tidepool::api::v1
