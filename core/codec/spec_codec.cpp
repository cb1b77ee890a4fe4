// The special cases of specifications: the arguments of trainers, and specs stored by earlier versions.
#include <algorithm>

#include "base/json.hpp"
#include "core/codec/arguments.hpp"
#include "core/codec/codec_fields.hpp"

namespace tidepool::core {
namespace {

using nlohmann::json;

Status decode_plain(const json& in, const std::string& where, Argument::Plain& plain) {
  if (in.is_boolean()) {
    plain = in.get<bool>();
  } else if (in.is_string()) {
    plain = in.get<std::string>();
  } else if (in.is_number_float()) {
    plain = in.get<double>();
  } else if (in.is_number_unsigned() && !std::in_range<std::int64_t>(in.get<std::uint64_t>())) {
    plain = in.get<std::uint64_t>();
  } else if (in.is_number_integer()) {
    plain = in.get<std::int64_t>();
  } else {
    return codec::wrong(where, "a text, a number, true or false, or a list of such");
  }
  return ok_status();
}

json plain_json(const Argument::Plain& plain) {
  return std::visit([](const auto& value) { return json(value); }, plain);
}

// Up to schema 9 a spec contained its job file as a text, and only the fields that decisions need in addition.
Result<json> spec_of_today(const json& stored) {
  const json& text = stored.at("document");
  const auto file = parse_own_json(text.is_string() ? text.get_ref<const std::string&>() : std::string());
  if (!file.ok()) return file.error();
  const auto given = [&](const char* pointer, const json& usual) {
    const json::json_pointer at(pointer);
    return file->contains(at) && !file->at(at).is_null() ? file->at(at) : usual;
  };
  json spec = stored;
  spec.erase("document");
  spec.erase("shared_checkpoints");
  spec["run"] = {{"trainer", given("/run/trainer", "")},
                 {"command", given("/run/command", json::array())},
                 {"args", given("/run/args", json::object())},
                 {"env", given("/run/env", json::object())},
                 {"workdir", given("/run/workdir", "")}};
  json every = given("/checkpoint/every", nullptr);
  if (const auto time = parse_duration(every.is_string() ? every.get<std::string>() : ""); time.ok()) {
    every = time->count_us();
  }
  spec["checkpoint"] = {
      {"every", std::move(every)}, {"dir", given("/checkpoint/dir", "")}, {"keep", given("/checkpoint/keep", 3)}};
  spec["labels"] = given("/labels", json::object());
  spec["cpus"] = given("/resources/cpus", nullptr);
  json types = given("/resources/gpu/type", json::array());
  const bool is_any = std::find(types.begin(), types.end(), "any") != types.end();
  spec["memory"] = nullptr;
  spec["mixed_types"] = false;
  spec["placement"] = codec::encode(PlacementSpec{});
  spec["type_speeds"] = json::object();
  spec["defaults_from"] = json::object();
  spec["slot_types_as_given"] = is_any && types.size() > 1 ? std::move(types) : json::array();
  json& elastic = spec["elastic"];
  if (elastic.is_null() || elastic.is_object()) {
    elastic["step"] = given("/elastic/step", nullptr);
    elastic["group"] = 1;
  }
  return spec;
}

Status decode_spec(const json& in, const std::string& where, JobSpec& spec, bool sparse) {
  if (!in.is_object() || !in.contains("document")) {
    const auto is_of_today = [&] {
      return in.contains("memory") && in.contains("defaults_from") && in["placement"].contains("strategy") &&
             in.contains("elastic") && in["elastic"].contains("group");
    };
    if (sparse || !in.is_object() || is_of_today()) return codec::decode_fields(in, where, spec, sparse);
    // From a version without other gangs, placement or more than the selector, defaults, memory or groups.
    json whole = in;
    whole.emplace("memory", nullptr);
    whole.emplace("mixed_types", false);
    whole.emplace("type_speeds", json::object());
    json placement = codec::encode(PlacementSpec{});
    if (in.contains("placement") && in["placement"].is_object()) placement.update(in["placement"]);
    whole["placement"] = std::move(placement);
    whole.emplace("defaults_from", json::object());
    if (whole.contains("elastic") && whole["elastic"].is_object()) whole["elastic"].emplace("group", 1);
    return codec::decode_fields(whole, where, spec, sparse);
  }
  const auto today = spec_of_today(in);
  if (!today.ok()) return codec::wrong(where + "/document", "a job file that can be read");
  return codec::decode_fields(*today, where, spec, sparse);
}

}  // namespace

json encode_value(const Argument& argument) {
  if (const auto* plain = std::get_if<Argument::Plain>(&argument.value)) return plain_json(*plain);
  json list = json::array();
  for (const auto& plain : std::get<std::vector<Argument::Plain>>(argument.value)) list.push_back(plain_json(plain));
  return list;
}

Status decode_value(const json& in, const std::string& where, Argument& argument) {
  if (!in.is_array()) return decode_plain(in, where, argument.value.emplace<Argument::Plain>());
  auto& list = argument.value.emplace<std::vector<Argument::Plain>>();
  for (const json& element : in) TP_TRY(decode_plain(element, where, list.emplace_back()));
  return ok_status();
}

Status decode_value(const json& in, const std::string& where, JobSpec& spec) {
  return decode_spec(in, where, spec, false);
}

Status decode_sparse(const json& in, const std::string& where, JobSpec& spec) {
  return decode_spec(in, where, spec, true);
}

json arguments_to_json(const Arguments& arguments) {
  return codec::encode(arguments);
}

Result<Arguments> arguments_from_json(const json& value) {
  Arguments arguments;
  TP_TRY(codec::decode(value, "/args", arguments));
  return arguments;
}

}  // namespace tidepool::core
