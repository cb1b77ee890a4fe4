#include "workers/trainer/settings.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/v1/trainer_args.hpp"
#include "base/json.hpp"
#include "base/word_list.hpp"

namespace tidepool::trainer {
namespace {

using nlohmann::json;

Error all_of(const std::vector<FieldError>& errors) {
  std::string message = "the run's arguments are wrong";
  const char* separator = ": ";
  for (const FieldError& error : errors) {
    message += separator + error.message;
    separator = "; ";
  }
  return invalid_argument(message);
}

// Sets `setting` if the argument is given; its kind and range have been checked.
template <class Value>
void take(const json& args, const char* name, Value& setting) {
  const auto given = args.find(name);
  if (given != args.end() && !given->is_null()) setting = given->get<Value>();
}

SlowdownSettings read_slowdown(const json& args) {
  SlowdownSettings slow;
  take(args, "slow_worker", slow.worker);
  take(args, "slow_factor", slow.factor);
  take(args, "slow_from_step", slow.from_step);
  take(args, "slow_file", slow.file);
  return slow;
}

}  // namespace

Result<Settings> read_settings(const std::string& model, const json& args) {
  if (std::ranges::find(api::v1::kTrainers, model) == api::v1::kTrainers.end()) {
    return invalid_argument("there is no trainer \"" + model + "\": use " + word_list(api::v1::kTrainers));
  }
  std::vector<FieldError> errors;
  api::v1::check_trainer_args(model, args, "", errors);
  if (!errors.empty()) return all_of(errors);
  Settings settings;
  settings.model = model;
  settings.data = api::v1::paths_of(args.at("data"));
  take(args, "steps", settings.steps);
  take(args, "hidden", settings.hidden);
  take(args, "context", settings.context);
  take(args, "embedding", settings.embedding);
  take(args, "label", settings.label);
  take(args, "lr", settings.lr);
  take(args, "momentum", settings.momentum);
  take(args, "warmup_steps", settings.warmup_steps);
  take(args, "seed", settings.seed);
  std::string device = "auto";
  take(args, "device", device);
  settings.device = parse_device(device).value_or(Device::kAuto);
  settings.slowdown = read_slowdown(args);
  return settings;
}

Result<Settings> read_job_document(const std::string& text, const std::string& model, const json& overrides) {
  const auto document = parse_json(text);
  if (!document.ok()) return invalid_argument("the job document is no JSON: " + document.error().message);
  const auto part = [&](const char* name) -> json {
    return document->is_object() ? document->value(name, json::object()) : json::object();
  };
  const json run = part("run");
  const json batch = part("batch");
  const json elastic = part("elastic");
  std::vector<FieldError> errors;
  ObjectReader in_run(run, "/run", errors);
  ObjectReader in_batch(batch, "/batch", errors);
  ObjectReader in_elastic(elastic, "/elastic", errors);
  const std::string named = in_run.text("trainer", "");
  const std::int64_t global = in_batch.integer("global", 512, {.low = 1, .high = INT64_MAX});
  const std::int64_t per_worker = in_batch.integer("per_worker_max", global, {.low = 1, .high = INT64_MAX});
  const auto on_resize = runtime::parse_on_resize(in_batch.text("on_resize", "constant"));
  if (!on_resize.ok()) in_batch.fail("on_resize", "Invalid", on_resize.error().message);
  const std::int64_t global_max = in_batch.integer("global_max", 0, {.low = 1, .high = INT64_MAX});
  const ObjectReader::Range sizes{.low = 1, .high = 1 << 20};
  const std::int64_t least = in_elastic.integer("min", 1, sizes);
  const std::int64_t preferred = in_elastic.integer("preferred", least, sizes);
  if (!errors.empty()) return all_of(errors);  // no finish(): the daemon has checked its other fields

  json args = run.is_object() ? run.value("args", json::object()) : json::object();
  if (args.is_object()) args.update(overrides);
  auto settings = read_settings(model.empty() ? named : model, args);
  if (!settings.ok()) return settings.error();
  settings->global_batch = global;
  settings->per_worker_max = per_worker;
  settings->on_resize = *on_resize;
  settings->base_size = static_cast<int>(preferred);
  settings->global_batch_max = global_max;
  return settings;
}

}  // namespace tidepool::trainer
