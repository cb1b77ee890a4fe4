#include "api/v1/job_spec.hpp"

#include <algorithm>
#include <utility>

#include "api/node_label.hpp"
#include "api/v1/optional_fields.hpp"
#include "api/v1/text_fields.hpp"
#include "api/v1/word_field.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;
using Errors = std::vector<FieldError>;

constexpr std::int64_t kSamplesMax = std::int64_t{1} << 48;
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

// They come into tables and CSV files.
std::map<std::string, std::string> read_labels(ObjectReader& in) {
  constexpr auto kReplace = json::error_handler_t::replace;
  // `schedctl change JOB labels.x=1` gives a number.
  auto labels = text_map(
      in, "labels",
      {.entries_max = 64, .bytes_max = 255, .advice = R"(quote numbers: "1", and in a shell 'labels.KEY="1"')"});
  for (const auto& [key, value] : labels) {
    if (is_label_key(key) && is_printable(value)) continue;
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
    work.fail("deadline", "Invalid", "needs work.samples: only with known work can a deadline be kept");
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
  if (in.has("budget")) in.fail("budget", "NotBuilt", "is not supported; remove it");
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

void check_live_workers(const JobSpecV1& spec, Errors& errors) {
  const ElasticFields& elastic = spec.elastic;
  if (spec.run.restart || elastic.max <= kLiveWorkersMax) return;
  const bool is_min = elastic.min > kLiveWorkersMax;
  const std::string field = is_min ? "min" : "max";
  errors.push_back({"/elastic/" + field, "OutOfRange",
                    field + " is " + std::to_string(is_min ? elastic.min : elastic.max) + "; it must be at most " +
                        std::to_string(kLiveWorkersMax) + ", or with run.resize: restart, by which a command is " +
                        "started anew at each size, at most " + std::to_string(kWorkersMax)});
}

void check_groups_against_topology(const JobSpecV1& spec, Errors& errors) {
  const std::string& strategy = spec.topology.strategy;
  if (spec.elastic.group == 1 || strategy == "pack" || strategy == "strict_pack") return;
  errors.push_back({"/topology/strategy", "Invalid",
                    "strategy " + strategy +
                        " keeps workers apart, which elastic.group brings together; give pack or " +
                        "strict_pack, or leave out elastic.group"});
}

// Every field of a job and of its sections, by a trainer or by a command.
json all_fields() {
  JobSpecV1 spec;
  json fields = effective_document(spec);
  spec.run.command = {"train"};
  fields.at("run").update(run_document(spec.run));
  return fields;
}

// A field that is known elsewhere: where. One that is nearly a field here has been told that.
void tell_right_places(Errors& errors) {
  static const json fields = all_fields();
  for (FieldError& error : errors) {
    const bool is_deep = std::count(error.pointer.begin(), error.pointer.end(), '/') > 2;
    if (error.code != "UnknownField" || is_deep || !error.message.ends_with(" is not a field here")) continue;
    const std::size_t end = error.pointer.rfind('/');
    const std::string name = error.pointer.substr(end + 1);
    std::string places = fields.contains(name) ? name + ", outside of " + error.pointer.substr(1, end - 1) : "";
    for (const auto& [section, inner] : fields.items()) {
      if (inner.is_object() && inner.contains(name)) places += (places.empty() ? "" : " or ") + section + "." + name;
    }
    if (!places.empty()) error.message += "; write it as " + places;
  }
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
  check_live_workers(spec, errors);
  check_groups_against_topology(spec, errors);
  in.finish();
  tell_right_places(errors);
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
