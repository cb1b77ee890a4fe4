// tidepool-trainer: the reference training worker. If an agent starts it, it reads its job document; started by hand it
// trains alone:  tidepool-trainer charlm --data README.md --steps 100
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/json.hpp"
#include "workers/runtime/session.hpp"
#include "workers/trainer/training.hpp"

namespace tidepool::trainer {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongSettings = 2;

int fail(int code, const Error& error) {
  std::fprintf(stderr, "tidepool-trainer: %s\n", error.message.c_str());
  return code;
}

// Command line arguments in the shape of run.args; only those that were given.
struct CommandLine {
  std::string model;
  nlohmann::json args = nlohmann::json::object();
  std::int64_t global_batch = 0;  // 0 = not given
};

template <class Value>
void add_argument(CLI::App& app, CommandLine& line, const std::string& name, const std::string& help) {
  app.add_option_function<Value>("--" + name, [&line, name](const Value& value) { line.args[name] = value; }, help);
}

void add_arguments(CLI::App& app, CommandLine& line) {
  add_argument<std::vector<std::string>>(app, line, "data", "files or folders to train on");
  add_argument<std::int64_t>(app, line, "steps", "steps to train (300)");
  add_argument<std::int64_t>(app, line, "hidden", "width of the hidden layer (256)");
  add_argument<std::int64_t>(app, line, "context", "charlm: bytes the model sees (16)");
  add_argument<std::int64_t>(app, line, "embedding", "charlm: numbers a byte (16)");
  add_argument<std::string>(app, line, "label", "mlp: name of the label's column (the last)");
  add_argument<double>(app, line, "lr", "learning rate (0.2)");
  add_argument<double>(app, line, "momentum", "momentum (0.9)");
  add_argument<std::int64_t>(app, line, "warmup_steps", "steps over which a larger learning rate is reached (8)");
  add_argument<std::string>(app, line, "device", "where gradients are computed: auto, cpu or gpu (auto)");
  add_argument<std::int64_t>(app, line, "seed", "of the initial parameters and the order of the data (1)");
  app.add_option("--batch", line.global_batch, "samples per step over all workers (512)")->check(CLI::PositiveNumber);
}

// For the first unknown option: the nearest known one.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    if (const auto near = nearest_word(word, known)) return "; did you mean " + *near + "?";
  }
  return "; --help lists all arguments";
}

Result<Settings> read_all_settings(const CommandLine& line) {
  const char* job_file = std::getenv("TIDEPOOL_JOB_FILE");
  Result<Settings> settings = Settings{};
  if (job_file == nullptr) {
    settings = read_settings(line.model, line.args);
  } else {
    std::ifstream in(job_file, std::ios::binary);
    if (!in) return io_error(std::string("cannot read the job document ") + job_file + " (TIDEPOOL_JOB_FILE)");
    settings = read_job_document(std::string(std::istreambuf_iterator<char>(in), {}), line.model, line.args);
  }
  if (settings.ok() && line.global_batch > 0) settings->global_batch = line.global_batch;
  return settings;
}

// Prints one line per second on rank 0, and the last step's line.
class Progress {
 public:
  explicit Progress(std::int64_t steps) : steps_(steps) {}

  void operator()(const StepReport& report) {
    const auto now = runtime::Clock::now();
    if (report.rank != 0 || (report.steps < steps_ && now - last_ < std::chrono::seconds(1))) return;
    last_ = now;
    std::printf("step %lld/%lld  loss %.4f  workers %d\n", static_cast<long long>(report.steps),
                static_cast<long long>(steps_), report.loss, report.size);
    std::fflush(stdout);
  }

 private:
  std::int64_t steps_;
  runtime::TimePoint last_{};
};

int run(const CommandLine& line) {
  const auto settings = read_all_settings(line);
  if (!settings.ok()) return fail(kWrongSettings, settings.error());
  auto task = build_task(*settings, std::filesystem::current_path().string());
  if (!task.ok()) return fail(kWrongSettings, task.error());
  auto options = runtime::SessionOptions::from_environment();
  if (!options.ok()) return fail(kWrongSettings, options.error());
  apply_settings(*settings, *task->data, *options);
  auto session = runtime::Session::open(*options);
  if (!session.ok()) return fail(kWrongSettings, session.error());
  const auto ending = train(**session, *task, *settings, Progress(settings->steps));
  if (!ending.ok()) return fail(kFailed, ending.error());
  return kDone;
}

}  // namespace
}  // namespace tidepool::trainer

int main(int argc, char** argv) {
  using namespace tidepool::trainer;
  CommandLine line;
  CLI::App app("Trains a model as one worker of an elastic job, or alone.", "tidepool-trainer");
  app.add_option("model", line.model, "charlm (next byte of a text) or mlp (classes of a CSV); default: the job's")
      ->check(CLI::IsMember({"charlm", "mlp"}));
  add_arguments(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    return fail(kWrongSettings, {tidepool::ErrorCode::kInvalidArgument, error.what() + suggestion(app, argc, argv)});
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongSettings;
  }
  try {
    return run(line);
  } catch (const std::exception& error) {
    return fail(kFailed, {tidepool::ErrorCode::kInternal, error.what()});
  }
}
