#include "api/v1/run_fields.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "api/v1/optional_fields.hpp"
#include "api/v1/text_fields.hpp"
#include "api/v1/trainer_args.hpp"
#include "api/v1/word_field.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

constexpr std::size_t kArgListMax = 256;
constexpr std::size_t kRunBytesMax = 448U << 10U;
const std::vector<std::string> kResize = {"live", "restart"};

// Names that change how the loader, the shell or the runtime behave stay the daemon's own.
bool is_env_name(std::string_view name) {
  const auto upper = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto allowed = [&](char c) { return upper(c) || (c >= '0' && c <= '9'); };
  static constexpr std::array<std::string_view, 8> kRefused = {
      "PATH", "GCONV_PATH", "IFS", "ENV", "BASH_ENV", "GLIBC_TUNABLES", "CUDA_VISIBLE_DEVICES", "MALLOC_CHECK_"};
  if (name.empty() || name.size() > 128 || !upper(name.front()) || !std::all_of(name.begin(), name.end(), allowed)) {
    return false;
  }
  if (name.starts_with("LD_") || name.starts_with("TIDEPOOL_")) return false;
  return std::find(kRefused.begin(), kRefused.end(), name) == kRefused.end();
}

// What is no plain setting at all is told of `args`, a setting that its trainer cannot have of the setting itself.
json read_args(ObjectReader& in, const std::string& trainer, Errors& errors) {
  const json& raw = in.raw("args");
  const json value = raw.is_null() ? json::object() : raw;
  if (!value.is_object() || value.size() > 64) {
    in.fail("args", "WrongType", "must be an object of at most 64 settings");
    return json::object();
  }
  const auto is_plain = [](const json& entry) { return entry.is_string() || entry.is_number() || entry.is_boolean(); };
  const std::size_t errors_before = errors.size();
  for (const auto& [name, entry] : value.items()) {
    const bool list =
        entry.is_array() && entry.size() <= kArgListMax && std::all_of(entry.begin(), entry.end(), is_plain);
    if (is_plain(entry) || list) continue;
    in.fail("args", "WrongType", "has \"" + name + "\", which is no text, number, true or false, nor a list of such");
  }
  if (!trainer.empty() && errors.size() == errors_before)
    check_trainer_args(trainer, value, in.pointer_of("args"), errors);
  return value;
}

// Names that each start of a restarted program sets anew.
bool is_rank_env(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kOwn = {
      "RANK",      "WORLD_SIZE",      "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",  "GROUP_WORLD_SIZE",
      "ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME",  "MASTER_ADDR",      "MASTER_PORT", "TORCHELASTIC_RUN_ID"};
  return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end() || name.starts_with("TORCHELASTIC_");
}

// How the program meets a change of size: by libtidepool while it steps, or by being stopped and started.
bool read_resize(ObjectReader& in, const RunSpec& run) {
  const bool restart = one_of(in, "resize", kResize, "live") == "restart";
  if (in.has("resize") && in.has("trainer")) {
    in.fail("resize", "Invalid",
            "belongs to a command; a trainer always changes its size while it steps, so leave resize out");
  }
  for (const auto& [name, ignored] : run.env) {
    if (restart && is_rank_env(name)) {
      in.fail("env", "Invalid", "has the name \"" + name + "\", which Tidepool sets at each start; remove it");
    }
  }
  return restart;
}

// The order that starts a worker carries it twice, in one line.
void check_length(const json& run, ObjectReader& in) {
  const std::size_t bytes = canonical_json(run).size();
  if (bytes <= kRunBytesMax) return;
  in.fail(run.contains("command") ? "command" : "env", "OutOfRange",
          "is too long: run has " + std::to_string(bytes) + " bytes in all, and at most " +
              std::to_string(kRunBytesMax) + " fit into the order that starts a worker; put long texts into a file");
}

}  // namespace

RunSpec read_run(const json& value, Errors& errors) {
  RunSpec run;
  ObjectReader in(value, "/run", errors);
  run.trainer = one_of(in, "trainer", kTrainers, "");
  run.command = read_texts(in, "command", 256);
  if (!run.command.empty() && run.command.front().empty()) {
    in.fail("command", "Invalid",
            "begins with an empty text; its first must name the program, such as /usr/bin/python3");
  }
  run.args = read_args(in, run.trainer, errors);
  run.env = text_map(in, "env", {.entries_max = 64});
  run.workdir = bounded_text(in, "workdir");
  for (const auto& [name, ignored] : run.env) {
    if (is_env_name(name)) continue;
    in.fail("env", "Invalid",
            "has the name \"" + name + "\"; use A-Z, 0-9 and _, and none that the daemon sets or that steers the " +
                "loader (LD_*, PATH, TIDEPOOL_*, CUDA_VISIBLE_DEVICES)");
  }
  if (!run.workdir.empty() && run.workdir.front() != '/') {
    in.fail("workdir", "Invalid", "is \"" + run.workdir + "\"; it must be an absolute path");
  }
  run.restart = read_resize(in, run);
  const bool has_trainer = in.has("trainer");
  const bool has_command = in.has("command");
  if (has_trainer && has_command) in.fail("command", "Invalid", "cannot be given together with trainer; keep one");
  if (!has_trainer && !has_command && value.is_object()) {
    in.fail("trainer", "Missing", "is needed (charlm or mlp), or else command");
  }
  if (has_command && !run.args.empty()) in.fail("args", "Invalid", "belong to a trainer; put them into command");
  check_length(value, in);
  in.finish();
  return run;
}

json run_document(const RunSpec& run) {
  json document = {{"env", run.env}, {"workdir", or_null(run.workdir)}};
  if (run.command.empty()) {
    document["trainer"] = run.trainer;
    document["args"] = run.args;
  } else {
    document["command"] = run.command;
    document["resize"] = run.restart ? "restart" : "live";
  }
  return document;
}

}  // namespace tidepool::api::v1
