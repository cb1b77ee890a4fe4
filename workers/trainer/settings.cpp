#include "workers/trainer/settings.hpp"

#include <algorithm>
#include <sstream>

#include "base/ids.hpp"
#include "base/json.hpp"

namespace tidepool::trainer {
namespace {

using nlohmann::json;

// A text with one or more paths separated by commas, or a list of paths.
std::vector<std::string> read_data(const json& value) {
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

Error all_of(const std::vector<FieldError>& errors) {
  std::string message = "the run's arguments are wrong";
  const char* separator = ": ";
  for (const FieldError& error : errors) {
    message += separator + error.message;
    separator = "; ";
  }
  return invalid_argument(message);
}

SlowdownSettings read_slowdown(ObjectReader& in) {
  SlowdownSettings slow;
  slow.worker = in.text("slow_worker", "");
  slow.factor = in.number("slow_factor", slow.factor, 1, 100);
  slow.from_step = in.integer("slow_from_step", 0, {.low = 0, .high = INT64_MAX});
  slow.file = in.text("slow_file", "");
  if (!slow.worker.empty() && !WorkerId::parse(slow.worker)) {
    in.fail("slow_worker", "Invalid", "must be a worker id such as w-2");
  }
  return slow;
}

}  // namespace

Result<Settings> read_settings(const std::string& model, const json& args) {
  if (model != "charlm" && model != "mlp") {
    return invalid_argument("there is no trainer \"" + model + "\": use charlm or mlp");
  }
  std::vector<FieldError> errors;
  ObjectReader in(args, "", errors);
  Settings settings;
  settings.model = model;
  settings.data = read_data(in.raw("data"));
  if (settings.data.empty()) {
    in.fail("data", "Missing", "is needed: the file to train on, such as README.md, or several files and folders");
  }
  const auto small = [&](const char* name, int fallback, std::int64_t high) {
    return static_cast<int>(in.integer(name, fallback, {.low = 1, .high = high}));
  };
  settings.steps = in.integer("steps", settings.steps, {.low = 1, .high = 1'000'000'000});
  settings.hidden = small("hidden", settings.hidden, 65'536);
  if (model == "charlm") {
    settings.context = small("context", settings.context, 4'096);
    settings.embedding = small("embedding", settings.embedding, 4'096);
  } else {
    settings.label = in.text("label", "");
  }
  settings.lr = in.number("lr", settings.lr, 1e-9, 1e3);
  settings.momentum = in.number("momentum", settings.momentum, 0, 0.9999);
  settings.warmup_steps =
      static_cast<int>(in.integer("warmup_steps", settings.warmup_steps, {.low = 0, .high = 1'000'000}));
  settings.seed = static_cast<std::uint64_t>(in.integer("seed", 1, {.low = 0, .high = INT64_MAX}));
  const auto device = parse_device(in.text("device", "auto"));
  if (!device) in.fail("device", "Invalid", "must be auto, cpu or gpu");
  settings.device = device.value_or(Device::kAuto);
  settings.slowdown = read_slowdown(in);
  in.finish();
  if (!errors.empty()) return all_of(errors);
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
  if (!errors.empty()) return all_of(errors);  // no finish(): the other fields are the daemon's, which has read them

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
