#include "api/v1/job_spec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/node_label.hpp"
#include "api/v1/text_fields.hpp"
#include "api/v1/trainer_args.hpp"
#include "api/v1/word_field.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

constexpr int kWorkersMax = 4096;
constexpr std::int64_t kSamplesMax = std::int64_t{1} << 48;
constexpr std::size_t kArgListMax = 256;
constexpr std::size_t kRunBytesMax = 448U << 10U;
const std::vector<std::string> kResize = {"live", "restart"};
const std::vector<std::string> kOnResize = {"constant", "linear", "sqrt", "adascale", "callback", "fixed_local"};
const std::vector<std::pair<std::string, int>> kPriorityWords = {{"low", -10}, {"normal", 0}, {"high", 10}};

bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), allowed);
}

// "job-17": wherever a job is named by id or name, it would mean another one.
bool has_form_of_id(std::string_view name) {
  constexpr std::string_view kPrefix = "job-";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  return std::all_of(name.begin() + kPrefix.size(), name.end(), is_digit);
}

std::optional<Duration> optional_duration(ObjectReader& in, std::string_view field) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) {
    in.fail(field, "WrongType", "must be a duration with a unit, such as \"30s\" or \"2h\"");
    return std::nullopt;
  }
  auto parsed = parse_duration(value.get<std::string>());
  if (!parsed) {
    in.fail(field, "Invalid", "is no duration: " + parsed.error().message);
    return std::nullopt;
  }
  return parsed.value();
}

std::map<std::string, std::string> text_map(ObjectReader& in, std::string_view field, std::size_t entries_max) {
  std::map<std::string, std::string> texts;
  const json& value = in.raw(field);
  if (value.is_null()) return texts;
  if (!value.is_object() || value.size() > entries_max) {
    in.fail(field, "WrongType", "must be an object of at most " + std::to_string(entries_max) + " texts");
    return texts;
  }
  for (const auto& [name, entry] : value.items()) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().size() > kTextMax ||
        entry.get_ref<const std::string&>().find('\0') != std::string::npos) {
      in.fail(field, "WrongType", "has an entry \"" + name + "\" that is no text of at most 4096 bytes; quote numbers");
      continue;
    }
    texts[name] = entry.get<std::string>();
  }
  return texts;
}

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
      in.fail("env", "Invalid", "has the name \"" + name + "\", which each start sets anew; remove it");
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
  run.env = text_map(in, "env", 64);
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

std::vector<int> read_sizes(ObjectReader& in) {
  std::vector<int> sizes;
  const json& value = in.raw("sizes");
  if (value.is_null()) return sizes;
  if (!value.is_array() || value.empty() || value.size() > kWorkersMax) {
    in.fail("sizes", "WrongType", "must be a list of whole numbers, such as [1, 2, 4]");
    return sizes;
  }
  for (const auto& entry : value) {
    if (!entry.is_number_integer() || entry < 1 || entry > kWorkersMax) {
      in.fail("sizes", "OutOfRange", "has " + canonical_json(entry) + "; each must be a whole number from 1 to 4096");
      return {};
    }
    sizes.push_back(entry.get<int>());
  }
  return sizes;
}

std::vector<int> sizes_by_step(int low, int high, int step) {
  std::vector<int> sizes;
  for (int size = low; size <= high; size += step) sizes.push_back(size);
  return sizes;
}

// Sizes must ascend within [min, max], begin at min and hold the preferred one.
void check_sizes(ObjectReader& in, const ElasticFields& elastic) {
  const auto& sizes = elastic.sizes;
  const auto text = [](int n) { return std::to_string(n); };
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end()) {
    in.fail("sizes", "Invalid", "must ascend without repetition, such as [1, 2, 4]");
    return;
  }
  if (sizes.front() != elastic.min) {
    in.fail("sizes", "Invalid",
            "begins at " + text(sizes.front()) + ", but min is " + text(elastic.min) + "; make both the same");
  }
  if (sizes.back() > elastic.max) {
    in.fail("sizes", "OutOfRange",
            "goes up to " + text(sizes.back()) + ", but max is " + text(elastic.max) + "; raise max");
  }
  const bool preferred_allowed = std::binary_search(sizes.begin(), sizes.end(), elastic.preferred);
  if (!preferred_allowed) {
    in.fail("preferred", "Invalid", "is " + text(elastic.preferred) + ", which is not one of the allowed sizes");
  }
}

// Workers come and go in whole groups, so that every size is so many groups.
bool check_groups(ObjectReader& in, const ElasticFields& elastic) {
  const auto is_whole = [&](const char* field, int workers) {
    if (workers % elastic.group == 0) return true;
    const std::string group = std::to_string(elastic.group);
    in.fail(field, "Invalid",
            std::string(field == std::string_view("sizes") ? "has " : "is ") + std::to_string(workers) +
                "; each size is whole groups, so it must be a multiple of group, which is " + group);
    return false;
  };
  bool all = is_whole("min", elastic.min);
  all = is_whole("max", elastic.max) && all;
  all = is_whole("preferred", elastic.preferred) && all;
  all = is_whole("step", elastic.step.value_or(elastic.group)) && all;
  return std::all_of(elastic.sizes.begin(), elastic.sizes.end(), [&](int size) { return is_whole("sizes", size); }) &&
         all;
}

// Range and order of min, preferred and max; true if the sizes can be judged on top.
bool check_bounds(ObjectReader& in, const ElasticFields& elastic) {
  if (elastic.min > elastic.max) {
    in.fail("min", "OutOfRange",
            "is " + std::to_string(elastic.min) + "; it must not exceed max, which is " + std::to_string(elastic.max));
    return false;
  }
  if (elastic.preferred < elastic.min || elastic.preferred > elastic.max) {
    in.fail("preferred", "OutOfRange",
            "is " + std::to_string(elastic.preferred) + "; it must lie between min (" + std::to_string(elastic.min) +
                ") and max (" + std::to_string(elastic.max) + ")");
    return false;
  }
  return true;
}

ElasticFields read_elastic(const json& value, Errors& errors) {
  ElasticFields elastic;
  ObjectReader in(value, "/elastic", errors);
  const ObjectReader::Range workers{.low = 1, .high = kWorkersMax};
  const std::size_t errors_before = errors.size();
  elastic.group = static_cast<int>(in.integer("group", 1, workers));
  elastic.min = static_cast<int>(in.integer("min", elastic.group, workers));
  elastic.max = static_cast<int>(in.integer("max", elastic.min, workers));
  elastic.preferred = static_cast<int>(in.integer("preferred", elastic.min, workers));
  if (in.has("step")) elastic.step = static_cast<int>(in.integer("step", 1, workers));
  elastic.sizes = read_sizes(in);
  if (errors.size() == errors_before && check_bounds(in, elastic) && check_groups(in, elastic)) {
    const auto stepped = sizes_by_step(elastic.min, elastic.max, elastic.step.value_or(elastic.group));
    if (elastic.sizes.empty()) elastic.sizes = stepped;
    if (elastic.step && elastic.sizes != stepped) {
      in.fail("step", "Invalid", "and sizes say different things; give only one of them");
    }
    check_sizes(in, elastic);
  }
  const auto up_to = [&](std::string_view field, Duration most, Duration fallback) {
    const Duration time = optional_duration(in, field).value_or(fallback);
    if (time > most) in.fail(field, "OutOfRange", "is " + to_text(time) + "; it must be from 0s to " + to_text(most));
    return time;
  };
  elastic.min_runtime = up_to("min_runtime", kHoldMost, elastic.min_runtime);
  elastic.cooldown = up_to("cooldown", kHoldMost, elastic.cooldown);
  elastic.grace = up_to("grace", kGraceMost, elastic.grace);
  in.finish();
  return elastic;
}

void check_global_max(ObjectReader& in, const BatchFields& batch) {
  const bool follows = batch.on_resize != "constant" && batch.on_resize != "callback";
  if (batch.on_resize == "fixed_local" && !batch.global_max) {
    in.fail("global_max", "Missing", "is needed by fixed_local: from there on the batch is split instead of growing");
  } else if (batch.global_max && !follows) {
    in.fail("global_max", "Invalid",
            "is for linear, sqrt, adascale and fixed_local; by " + batch.on_resize +
                " the number of workers does not say the batch");
  } else if (batch.global_max && *batch.global_max < batch.global) {
    in.fail("global_max", "OutOfRange", "must not be below global, which is " + std::to_string(batch.global));
  }
}

BatchFields read_batch(const json& value, Errors& errors) {
  BatchFields batch;
  ObjectReader in(value, "/batch", errors);
  const ObjectReader::Range samples{.low = 1, .high = 1 << 30};
  batch.global = in.integer("global", batch.global, samples);
  batch.per_worker_max = in.integer("per_worker_max", batch.per_worker_max, samples);
  batch.on_resize = one_of(in, "on_resize", kOnResize, "constant");
  if (in.has("global_max")) batch.global_max = in.integer("global_max", batch.global, samples);
  check_global_max(in, batch);
  in.finish();
  return batch;
}

void read_linear(const json& value, ScalingFields& scaling, Errors& errors) {
  ObjectReader in(value, "/scaling/utility/linear", errors);
  if (!in.has("value")) in.fail("value", "Missing", "is needed: what finishing at once would be worth");
  scaling.utility_linear_value = in.number("value", 0, 0, 1e12);
  const auto zero_at = optional_duration(in, "zero_at");
  if (!in.has("zero_at")) in.fail("zero_at", "Missing", "is needed: when finishing is worth nothing any more");
  if (zero_at && *zero_at <= Duration()) in.fail("zero_at", "OutOfRange", "must be longer than nothing");
  scaling.utility_linear_zero_at = zero_at.value_or(Duration::seconds(1));
  in.finish();
}

// A list of [time, value] pairs: times rise, values fall.
void read_piecewise(ObjectReader& utility, ScalingFields& scaling) {
  const json& value = utility.raw("piecewise");
  const std::string shape = "must be a list of 2 to 64 pairs such as [[\"0s\", 100], [\"3h\", 0]]";
  if (!value.is_array() || value.size() < 2 || value.size() > 64) return utility.fail("piecewise", "WrongType", shape);
  for (const auto& pair : value) {
    const bool formed = pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number();
    if (!formed) return utility.fail("piecewise", "WrongType", shape);
    auto at = parse_duration(pair[0].get<std::string>());
    if (!at) return utility.fail("piecewise", "Invalid", "has a time that is no duration: " + at.error().message);
    scaling.utility_piecewise.push_back({.at = at.value(), .value = pair[1].get<double>()});
  }
  const auto out_of_order = [](const UtilityPoint& a, const UtilityPoint& b) {
    return b.at <= a.at || b.value >= a.value;
  };
  const auto& points = scaling.utility_piecewise;
  if (std::adjacent_find(points.begin(), points.end(), out_of_order) != points.end()) {
    utility.fail("piecewise", "Invalid", "must have rising times and falling values");
  }
}

std::optional<Money> read_price_cap(ObjectReader& in) {
  const json& value = in.raw("price_cap");
  if (value.is_null()) return std::nullopt;
  auto price = parse_money(value.is_string() ? value.get<std::string>() : canonical_json(value));
  if (!price) {
    in.fail("price_cap", "Invalid", "is no amount of money: " + price.error().message);
    return std::nullopt;
  }
  return price.value();
}

ScalingFields read_scaling(const json& value, Errors& errors) {
  ScalingFields scaling;
  ObjectReader in(value, "/scaling", errors);
  scaling.policy = in.text("policy", "default");
  scaling.every_steps = in.integer("every_steps", scaling.every_steps, {.low = 1, .high = 1'000'000});
  scaling.spawn_size = static_cast<int>(in.integer("spawn_size", 1, {.low = 1, .high = kWorkersMax}));
  scaling.efficiency_threshold = in.number("efficiency_threshold", scaling.efficiency_threshold, 0, 1);
  scaling.price_cap = read_price_cap(in);
  ObjectReader utility(in.raw("utility"), "/scaling/utility", errors);
  if (utility.has("linear")) read_linear(utility.raw("linear"), scaling, errors);
  if (utility.has("piecewise")) {
    if (utility.has("linear")) utility.fail("piecewise", "Invalid", "cannot be given together with linear; keep one");
    read_piecewise(utility, scaling);
  }
  utility.finish();
  in.finish();
  return scaling;
}

std::string read_straggler(const json& value, Errors& errors) {
  ObjectReader in(value, "/straggler", errors);
  std::string detector = in.text("detector", "default");
  in.finish();
  return detector;
}

int read_priority(ObjectReader& in) {
  const json& value = in.raw("priority");
  if (!value.is_string()) return static_cast<int>(in.integer("priority", 0, {.low = -1000, .high = 1000}));
  const auto word = value.get<std::string>();
  for (const auto& [known, number] : kPriorityWords) {
    if (known == word) return number;
  }
  in.fail("priority", "Invalid", "is \"" + word + "\"; it must be low, normal, high, or a whole number");
  return 0;
}

std::string read_tenant(ObjectReader& in) {
  std::string tenant = in.text("tenant", "default");
  std::string_view rest = tenant;
  bool good = tenant.size() <= 255;
  while (good) {
    const auto slash = rest.find('/');
    good = is_name(rest.substr(0, slash));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (!good) {
    in.fail("tenant", "Invalid", "must be names of a-z, 0-9 and - (1 to 63 each), joined by / for a team in a team");
  }
  return good ? tenant : "default";
}

std::string read_name(ObjectReader& in, const RunSpec& run) {
  std::string name = in.text("name", run.trainer.empty() ? "job" : run.trainer);
  if (!is_name(name)) in.fail("name", "Invalid", "must be 1 to 63 of a-z, 0-9 and -");
  if (has_form_of_id(name)) {
    in.fail("name", "Invalid",
            "is \"" + name + "\", which is the form of a job's id; take a name that is not job-NUMBER");
  }
  return name;
}

// A number where a text is wanted, as `schedctl change JOB labels.x=1` gives it.
bool are_texts(ObjectReader& in, const json& labels) {
  for (auto label = labels.begin(); labels.is_object() && label != labels.end(); ++label) {
    if (label->is_string()) continue;
    in.fail("labels", "WrongType",
            "has an entry " + canonical_json(label.key()) +
                " that is no text of at most 255 characters; quote numbers: \"1\", and in a shell 'labels.KEY=\"1\"'");
    return false;
  }
  return true;
}

// They come into tables and CSV files.
std::map<std::string, std::string> read_labels(ObjectReader& in) {
  constexpr auto kReplace = json::error_handler_t::replace;
  if (!are_texts(in, in.raw("labels"))) return {};
  auto labels = text_map(in, "labels", 64);
  for (const auto& [key, value] : labels) {
    if (is_label_key(key) && value.size() <= 255 && is_printable(value)) continue;
    in.fail(
        "labels", "Invalid",
        "has " + json(key).dump(-1, ' ', true, kReplace) + ": " + json(value).dump(-1, ' ', true, kReplace) +
            "; a key is 1 to 63 letters, digits, '-', '.', '_' or '/', and a value at most 255 printable characters "
            "of ASCII");
  }
  return labels;
}

void read_smaller_parts(ObjectReader& in, JobSpecV1& spec, Errors& errors) {
  ObjectReader work(in.raw("work"), "/work", errors);
  if (work.has("samples")) spec.work_samples = work.integer("samples", 1, {.low = 1, .high = kSamplesMax});
  spec.deadline = optional_duration(work, "deadline");
  if (spec.deadline && !spec.work_samples) {
    work.fail("deadline", "Invalid", "needs samples beside it: how much there is to do says whether it can be kept");
  }
  work.finish();
  ObjectReader checkpoint(in.raw("checkpoint"), "/checkpoint", errors);
  spec.checkpoint_every = optional_duration(checkpoint, "every");
  if (spec.checkpoint_every && *spec.checkpoint_every < Duration::seconds(1)) {
    checkpoint.fail("every", "OutOfRange", "must be 1s or longer; leave it out to write a checkpoint only when asked");
  }
  spec.checkpoint_dir = bounded_text(checkpoint, "dir");
  spec.checkpoint_keep = static_cast<int>(checkpoint.integer("keep", 3, {.low = 1, .high = 1'000}));
  checkpoint.finish();
  if (in.has("budget")) in.fail("budget", "NotBuilt", "is not built yet, and nothing else stands for it; remove it");
  spec.topology = read_topology(in.raw("topology"), errors);
  spec.placement = read_placement(in.raw("placement"), errors);
  ObjectReader limits(in.raw("limits"), "/limits", errors);
  spec.max_duration = optional_duration(limits, "max_duration");
  if (spec.max_duration && *spec.max_duration <= Duration()) {
    limits.fail("max_duration", "OutOfRange", "must be longer than nothing, such as 12h; leave it out for no limit");
  }
  spec.max_restarts = static_cast<int>(limits.integer("max_restarts", 3, {.low = 0, .high = 1'000'000}));
  limits.finish();
}

void check_batch_against_workers(const JobSpecV1& spec, Errors& errors) {
  if (spec.batch.global >= spec.elastic.max) return;
  errors.push_back({"/batch/global", "OutOfRange",
                    "global is " + std::to_string(spec.batch.global) + "; at max " + std::to_string(spec.elastic.max) +
                        " workers each needs at least one sample a step, so raise global or lower elastic.max"});
}

void check_groups_against_topology(const JobSpecV1& spec, Errors& errors) {
  const std::string& strategy = spec.topology.strategy;
  if (spec.elastic.group == 1 || strategy == "pack" || strategy == "strict_pack") return;
  errors.push_back({"/topology/strategy", "Invalid",
                    "strategy " + strategy +
                        " keeps workers apart, which elastic.group brings together; give pack or " +
                        "strict_pack, or leave out elastic.group"});
}

json or_null(const std::optional<Duration>& duration) {
  return duration ? json(to_text(*duration)) : json(nullptr);
}
json or_null(const std::optional<std::int64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

json or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json utility_document(const ScalingFields& scaling) {
  if (scaling.utility_linear_value) {
    return {
        {"linear", {{"value", *scaling.utility_linear_value}, {"zero_at", to_text(*scaling.utility_linear_zero_at)}}}};
  }
  if (scaling.utility_piecewise.empty()) return nullptr;
  json points = json::array();
  for (const auto& point : scaling.utility_piecewise) points.push_back(json::array({to_text(point.at), point.value}));
  return {{"piecewise", std::move(points)}};
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

json elastic_document(const ElasticFields& elastic) {
  json document = {{"min", elastic.min},
                   {"max", elastic.max},
                   {"preferred", elastic.preferred},
                   {"sizes", elastic.sizes},
                   {"step", elastic.step ? json(*elastic.step) : json(nullptr)},
                   {"min_runtime", to_text(elastic.min_runtime)},
                   {"cooldown", to_text(elastic.cooldown)},
                   {"grace", to_text(elastic.grace)}};
  if (elastic.group > 1) document["group"] = elastic.group;
  return document;
}

json scaling_document(const ScalingFields& scaling) {
  return {{"policy", scaling.policy},
          {"every_steps", scaling.every_steps},
          {"spawn_size", scaling.spawn_size},
          {"efficiency_threshold", scaling.efficiency_threshold},
          {"utility", utility_document(scaling)},
          {"price_cap", scaling.price_cap ? json(to_text(*scaling.price_cap)) : json(nullptr)}};
}

}  // namespace

JobSpecFindings read_job_spec(const json& document) {
  JobSpecFindings findings;
  JobSpecV1& spec = findings.spec;
  Errors& errors = findings.errors;
  if (!document.is_object()) {
    errors.push_back({"", "WrongType", "the job must be an object with named fields such as run and resources"});
    return findings;
  }
  ObjectReader in(document, "", errors);
  spec.tenant = read_tenant(in);
  if (!in.has("run")) in.fail("run", "Missing", "is needed: {trainer: charlm, args: {...}} or {command: [...]}");
  spec.run = read_run(in.raw("run"), errors);
  spec.name = read_name(in, spec.run);
  spec.resources = read_resources(in.raw("resources"), errors);
  spec.elastic = read_elastic(in.raw("elastic"), errors);
  spec.batch = read_batch(in.raw("batch"), errors);
  spec.scaling = read_scaling(in.raw("scaling"), errors);
  spec.straggler_detector = read_straggler(in.raw("straggler"), errors);
  spec.priority = read_priority(in);
  spec.preemptible = in.boolean("preemptible", true);
  read_smaller_parts(in, spec, errors);
  spec.labels = read_labels(in);
  check_batch_against_workers(spec, errors);
  check_groups_against_topology(spec, errors);
  in.finish();
  return findings;
}

json effective_document(const JobSpecV1& spec) {
  return with_placement(
      spec.placement, {{"name", spec.name},
                       {"tenant", spec.tenant},
                       {"run", run_document(spec.run)},
                       {"resources", resources_document(spec.resources)},
                       {"elastic", elastic_document(spec.elastic)},
                       {"batch",
                        {{"global", spec.batch.global},
                         {"per_worker_max", spec.batch.per_worker_max},
                         {"on_resize", spec.batch.on_resize},
                         {"global_max", or_null(spec.batch.global_max)}}},
                       {"scaling", scaling_document(spec.scaling)},
                       {"straggler", {{"detector", spec.straggler_detector}}},
                       {"work", {{"samples", or_null(spec.work_samples)}, {"deadline", or_null(spec.deadline)}}},
                       {"priority", spec.priority},
                       {"preemptible", spec.preemptible},
                       {"checkpoint",
                        {{"every", or_null(spec.checkpoint_every)},
                         {"dir", or_null(spec.checkpoint_dir)},
                         {"keep", spec.checkpoint_keep}}},
                       {"topology", topology_document(spec.topology)},
                       {"limits", {{"max_duration", or_null(spec.max_duration)}, {"max_restarts", spec.max_restarts}}},
                       {"labels", spec.labels}});
}

}  // namespace tidepool::api::v1
