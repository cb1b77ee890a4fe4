#include "tests/support/tiny_job.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/check.hpp"
#include "tests/support/fake_gpu.hpp"

namespace tidepool::test {

inline constexpr std::size_t kNumbers = 64;
inline constexpr std::size_t kSharedBytes = kDiaryWorkers * sizeof(Diary) + sizeof(std::atomic<bool>);

struct TinyModel {
  explicit TinyModel(const TinyJobOptions& options)
      : moving(options.moving_bytes), standing(options.standing_bytes, std::byte{0x5a}), seldom(options.seldom_bytes) {}

  std::array<float, kNumbers> parameters{};
  std::array<float, kNumbers> momentum{};
  std::int64_t applied = 0;
  std::vector<std::byte> moving;
  std::vector<std::byte> standing;
  std::vector<std::byte> seldom;

  static void add_gradient(std::uint64_t sample, std::span<float> gradient) {
    for (std::size_t j = 0; j < kNumbers; ++j) {
      gradient[j] += static_cast<float>(static_cast<int>((sample * (j + 3)) % 17) - 8);
    }
  }
  static void count_up(std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1U);
  }
  static void descend(std::span<float> parameters, std::span<float> momentum, std::span<const float> gradient,
                      std::uint64_t samples) {
    for (std::size_t j = 0; j < kNumbers; ++j) {
      momentum[j] = 0.9F * momentum[j] + gradient[j] / static_cast<float>(samples);
      parameters[j] -= 0.1F * momentum[j];
    }
  }
  void count_step() {
    ++applied;
    count_up(moving);
    if (applied % 5 == 0) count_up(seldom);
  }
};

namespace {

// Where a worker keeps the parameters, and its part of a step that depends on it.
class Place {
 public:
  virtual ~Place() = default;
  [[nodiscard]] virtual bool prepare(runtime::Session& session) = 0;
  virtual void put_gradient(const std::array<float, kNumbers>& gradient) = 0;
  virtual void descend(std::uint64_t samples) = 0;
};

class OnHost final : public Place {
 public:
  explicit OnHost(TinyModel& model) : model_(model) {}
  bool prepare(runtime::Session& session) override {
    session.register_values("parameters", std::span(model_.parameters));
    session.register_values("momentum", std::span(model_.momentum));
    gradient_ = session.gradients(kNumbers);
    return true;
  }
  void put_gradient(const std::array<float, kNumbers>& gradient) override {
    std::ranges::copy(gradient, gradient_.begin());
  }
  void descend(std::uint64_t samples) override {
    TinyModel::descend(model_.parameters, model_.momentum, gradient_, samples);
  }

 private:
  TinyModel& model_;
  std::span<float> gradient_;
};

constexpr std::chrono::milliseconds kBackwardPass{2};  // on the GPU, long after the host has enqueued it

// Everything is enqueued and nothing waited for: that is the session's affair.
class OnGpu final : public Place {
 public:
  bool prepare(runtime::Session& session) override {
    gpu_.run([this] {
      for (const auto memory : {parameters_, momentum_}) std::ranges::fill(gpu_.view(memory), 0.0F);
    });
    return session.use_stream(gpu_.stream()).ok() &&
           session.register_on_device("parameters", std::as_writable_bytes(parameters_)).ok() &&
           session.register_on_device("momentum", std::as_writable_bytes(momentum_)).ok() &&
           session.lend_gradients(gradient_).ok();
  }
  void put_gradient(const std::array<float, kNumbers>& gradient) override {
    gpu_.run([this, gradient] {
      std::this_thread::sleep_for(kBackwardPass);
      std::ranges::copy(gradient, gpu_.view(gradient_).begin());
    });
  }
  void descend(std::uint64_t samples) override {
    gpu_.run([this, samples] {
      TinyModel::descend(gpu_.view(parameters_), gpu_.view(momentum_), gpu_.view(gradient_), samples);
    });
  }

 private:
  FakeGpu gpu_;
  std::span<float> parameters_ = gpu_.take<float>(kNumbers);
  std::span<float> momentum_ = gpu_.take<float>(kNumbers);
  std::span<float> gradient_ = gpu_.take<float>(kNumbers);
};

std::unique_ptr<Place> place_of(const TinyJobOptions& options, std::uint64_t worker, TinyModel& model) {
  if (options.on_gpu.contains(worker)) return std::make_unique<OnGpu>();
  return std::make_unique<OnHost>(model);
}

void write_commit(Diary& diary, const runtime::Session& session, std::size_t samples, bool keeps_digests) {
  const auto step = static_cast<std::size_t>(session.steps_committed());
  const std::int64_t now = runtime::micros_between({}, runtime::Clock::now());
  const std::int64_t gap = diary.last_commit_us == 0 ? 0 : now - diary.last_commit_us;
  if (gap > diary.worst_gap_us) diary.worst_gap_us = gap;
  diary.last_commit_us = now;
  if (keeps_digests) diary.digest_after[step] = session.state_digest();
  diary.generation_of[step] = session.generation();
  ++diary.times_committed[step];
  diary.samples_of[step] = static_cast<std::uint32_t>(samples);
  diary.generation = session.generation();
  diary.steps = session.steps_committed();
}

void pretend_to_compute(const TinyJobOptions& options, double slowness, std::size_t samples) {
  const double samples_us = static_cast<double>(options.sample_us) * static_cast<double>(samples) * slowness;
  std::this_thread::sleep_for(std::chrono::microseconds(options.step_us + static_cast<std::int64_t>(samples_us)));
}

}  // namespace

struct TinyJob::Trained {
  runtime::Session& session;
  TinyModel& model;
  Place& where;
  bool deserts = false;
  std::int64_t last_step = kDiarySteps;  // of a program that ends by finish()
};

TinyJob::TinyJob(TinyJobOptions options) : options_(options) {
  TP_CHECK(static_cast<std::size_t>(options.steps) < kDiarySteps, "the diary holds every step");
  void* memory = ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TP_CHECK(memory != MAP_FAILED, "the test has shared memory");
  diaries_ = static_cast<Diary*>(memory);
  for (std::size_t i = 0; i < kDiaryWorkers; ++i) new (diaries_ + i) Diary;
  hurried_ = new (diaries_ + kDiaryWorkers) std::atomic<bool>(false);
}

TinyJob::~TinyJob() {
  ::munmap(diaries_, kSharedBytes);
}

// What a test does to a job must reach it before its end, however slow the machine is.
bool TinyJob::lingers_at(std::int64_t step) const {
  return options_.lingers && step >= options_.steps - kLingeringSteps && !hurried_->load();
}

bool TinyJob::all_have_all_steps() const {
  return std::none_of(diaries_, diaries_ + kDiaryWorkers,
                      [this](const Diary& diary) { return diary.generation > 0 && diary.steps < options_.steps; });
}

int TinyJob::work(const WorkerPlace& place) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive a test that crashed
  TP_CHECK(place.worker.number() < kDiaryWorkers, "there is a diary for each worker");
  const char* wanted = std::getenv("TIDEPOOL_BACKEND");
  const auto backend = runtime::parse_backend(wanted == nullptr ? "" : wanted);
  if (!backend.ok()) return 2;
  const auto host = options_.hosts.find(place.worker.number());
  auto session = runtime::Session::open({.samples = options_.samples,
                                         .global_batch = options_.global_batch,
                                         .seed = options_.seed,
                                         .steps = options_.open_ended ? 0 : options_.steps,
                                         .noise_every = options_.noise_every,
                                         .build = options_.build,
                                         .backend = *backend,
                                         .agent_socket = place.socket_path,
                                         .worker = place.worker,
                                         .host = host == options_.hosts.end() ? "127.0.0.1" : host->second,
                                         .patience = runtime::Millis{30'000},
                                         .fault_grace = runtime::Millis{1'000},
                                         .end_grace = options_.end_grace,
                                         .build_deadline = options_.build_deadline,
                                         .ahead_min_bytes = options_.ahead_min_bytes,
                                         .keep = options_.keep,
                                         .stuck_after = options_.stuck_after});
  if (!session.ok()) return 2;
  TinyModel model(options_);  // gone before the session: nothing reads from it after the end
  const auto where = place_of(options_, place.worker.number(), model);
  const auto slow = options_.slowness.find(place.worker.number());
  const bool deserts = options_.desert.contains(place.worker.number());
  std::int64_t last_step = options_.open_ended ? options_.steps : kDiarySteps;
  if (const auto own = options_.finish_at.find(place.worker.number()); own != options_.finish_at.end()) {
    last_step = own->second;
  }
  return train({**session, model, *where, deserts, last_step}, &diary(place.worker),
               slow == options_.slowness.end() ? 1 : slow->second);
}

int TinyJob::train(const Trained& trained, Diary* diary, double slowness) const {
  runtime::Session& session = trained.session;
  TinyModel& model = trained.model;
  if (!trained.where.prepare(session)) return 2;
  session.register_values("applied", std::span(&model.applied, 1));
  session.register_values("moving", std::span(model.moving));
  session.register_values("standing", std::span(model.standing));
  session.register_values("seldom", std::span(model.seldom));
  if (!session.join().ok()) return 1;
  while (const auto step = session.next_step()) {
    if (diary != nullptr) diary->generation = session.generation();
    std::array<float, kNumbers> gradient{};
    for (const std::uint64_t sample : step->samples) TinyModel::add_gradient(sample, gradient);
    if (diary != nullptr) pretend_to_compute(options_, slowness, step->samples.size());
    if (diary != nullptr && lingers_at(step->number)) std::this_thread::sleep_for(kLingering);
    trained.where.put_gradient(gradient);
    const bool hangs = diary != nullptr && step->number == options_.hang_at && session.rank() == 0;
    if (hangs && !options_.hangs_after_sum) ::pause();
    if (options_.in_buckets && !session.bucket_ready(kNumbers / 2, kNumbers / 2).ok()) return 1;
    if (options_.in_buckets && !session.bucket_ready(0, kNumbers / 2).ok()) return 1;
    if (session.reduce(static_cast<double>(step->samples.size())) == runtime::Reduced::kRetry) {
      if (diary != nullptr) ++diary->retries;
      continue;
    }
    if (hangs) ::pause();
    trained.where.descend(session.totals().samples);
    model.count_step();
    session.commit();
    if (diary != nullptr) write_commit(*diary, session, step->samples.size(), options_.keeps_digests);
    if (diary != nullptr && session.steps_committed() >= trained.last_step) session.finish();
    if (diary != nullptr && trained.deserts && session.steps_committed() == options_.steps) {
      while (!all_have_all_steps()) std::this_thread::yield();  // else one could lose the last sum, not only the end
      std::_Exit(0);
    }
  }
  if (diary != nullptr) {
    diary->final_digest = session.state_digest();
    diary->last_rank = session.rank();
    diary->ending = static_cast<int>(session.ending());
  }
  return session.ending() == runtime::Ending::kFailed ? 1 : 0;
}

std::uint64_t TinyJob::reference_digest() const {
  auto session = runtime::Session::open({.samples = options_.samples,
                                         .global_batch = options_.global_batch,
                                         .seed = options_.seed,
                                         .steps = options_.steps});
  TinyModel model(options_);
  OnHost where(model);
  TP_CHECK(session.ok() && train({**session, model, where}, nullptr, 1) == 0, "a worker alone reaches its end");
  return (*session)->state_digest();
}

}  // namespace tidepool::test
