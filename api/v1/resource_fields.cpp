#include "api/v1/resource_fields.hpp"

#include <algorithm>
#include <utility>

#include "api/v1/text_fields.hpp"
#include "base/byte_size.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

constexpr int kCpusMax = 1024;
constexpr std::size_t kGpuTypesMax = 16;
constexpr double kGpuSpeedMax = 1'000'000;

// They come into tables, logs and sentences.
void refuse_steering_types(ObjectReader& gpu, const std::vector<std::string>& types) {
  const auto steers = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  for (const std::string& type : types) {
    if (std::none_of(type.begin(), type.end(), steers)) continue;
    gpu.fail("type", "Invalid",
             "has control characters in " + canonical_json(type) + "; name types as nodes name them");
    return;
  }
}

// No node's slots have such a type: the job would wait for ever.
void refuse_empty_types(ObjectReader& gpu) {
  const json& value = gpu.raw("type");
  const auto is_empty = [](const json& name) { return name.is_string() && name.get_ref<const std::string&>().empty(); };
  const bool any = value.is_array() ? std::any_of(value.begin(), value.end(), is_empty) : is_empty(value);
  if (any) gpu.fail("type", "Invalid", "has an empty name; name types as nodes name them, or leave it out for any");
}

// A name, a list of names, or names with how fast a worker is on each beside the others.
void read_gpu_types(ObjectReader& gpu, ResourcesSpec& resources) {
  const json& value = gpu.raw("type");
  if (value.is_string()) {
    resources.gpu_types = {bounded_text(gpu, "type")};
    return;
  }
  if (!value.is_object()) {
    resources.gpu_types = read_texts(gpu, "type", kGpuTypesMax);
    return;
  }
  resources.gpu_types.clear();
  bool fits = !value.empty() && value.size() <= kGpuTypesMax;
  for (const auto& [name, speed] : value.items()) {
    fits = fits && !name.empty() && name.size() <= kTextMax && name != "any" && speed.is_number();
    if (!fits || speed.get<double>() <= 0 || speed.get<double>() > kGpuSpeedMax) break;
    resources.gpu_speeds[name] = speed.get<double>();
    resources.gpu_types.push_back(name);
  }
  if (!fits || resources.gpu_types.size() != value.size()) {
    return gpu.fail("type", "Invalid",
                    "must name 1 to 16 types, none of them \"any\", each with a speed above 0 and up to 1000000, such "
                    "as {\"a100\": 1, \"v100\": 0.4}");
  }
  std::sort(resources.gpu_types.begin(), resources.gpu_types.end(), [&](const auto& one, const auto& other) {
    return std::pair(-resources.gpu_speeds.at(one), one) < std::pair(-resources.gpu_speeds.at(other), other);
  });
}

std::optional<std::int64_t> optional_byte_size(ObjectReader& in, std::string_view field) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) {
    in.fail(field, "WrongType", "must be a size with a unit, such as \"64GiB\" or \"512MiB\"");
    return std::nullopt;
  }
  auto parsed = parse_byte_size(value.get<std::string>());
  if (!parsed) {
    in.fail(field, "Invalid", "is wrong: " + parsed.error().message);
    return std::nullopt;
  }
  return *parsed;
}

json gpu_document(const ResourcesSpec& resources) {
  json gpu = {{"type", resources.gpu_speeds.empty() ? json(resources.gpu_types) : json(resources.gpu_speeds)}};
  if (resources.mixed_types) gpu["mixed"] = true;
  return gpu;
}

}  // namespace

ResourcesSpec read_resources(const json& value, Errors& errors) {
  ResourcesSpec resources;
  ObjectReader in(value, "/resources", errors);
  resources.gpus_per_worker = static_cast<int>(in.integer("gpus_per_worker", 1, {.low = 1, .high = 64}));
  if (in.has("cpus")) resources.cpus = static_cast<int>(in.integer("cpus", 1, {.low = 1, .high = kCpusMax}));
  resources.memory = optional_byte_size(in, "memory");
  ObjectReader gpu(in.raw("gpu"), "/resources/gpu", errors);
  if (gpu.has("type")) read_gpu_types(gpu, resources);
  refuse_empty_types(gpu);
  resources.mixed_types = gpu.boolean("mixed", false);
  refuse_steering_types(gpu, resources.gpu_types);
  gpu.finish();
  in.finish();
  return resources;
}

json resources_document(const ResourcesSpec& resources) {
  json document = {{"gpus_per_worker", resources.gpus_per_worker},
                   {"gpu", gpu_document(resources)},
                   {"cpus", resources.cpus ? json(*resources.cpus) : json(nullptr)}};
  if (resources.memory) document["memory"] = byte_size_text(*resources.memory);
  return document;
}

}  // namespace tidepool::api::v1
