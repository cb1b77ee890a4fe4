// Batch, learning rate and noise on real ranks over sockets: every worker is given the same plan at every
// step, through growth, death and a rule of the program's own.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <csignal>
#include <new>
#include <thread>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "tests/support/test_leader.hpp"
#include "workers/runtime/session.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kSteps = 400;
constexpr std::size_t kWorkers = 8;
constexpr std::size_t kWidth = 32;
constexpr std::uint64_t kSamples = 20'000;

// What one worker was given at one step.
struct Given {
  std::atomic<std::uint64_t> global_batch{0};  // 0: it did not commit this step
  std::atomic<std::uint64_t> lr_bits{0};
  std::atomic<std::uint64_t> momentum_bits{0};
  std::atomic<std::uint64_t> noise_bits{0};
  std::atomic<std::uint64_t> size{0};
};
using Diary = std::array<Given, kSteps>;

// Shared by the test and its workers.
struct Board {
  std::atomic<std::size_t> limit{0};  // no worker ends a step beyond it: the test sets the pace
  std::array<Diary, kWorkers> diaries;
};

// Normal around 0.5 in each of kWidth numbers with deviation 2: |G|^2 = 8, tr(Sigma) = 128, noise scale 16.
void add_gradient(std::uint64_t sample, std::span<float> gradient) {
  Rng rng(sample * 7 + 3);
  for (float& value : gradient) value += static_cast<float>(0.5 + 2 * rng.normal());
}

class Ranks {
 public:
  explicit Ranks(runtime::SessionOptions options)
      : options_(std::move(options)), leader_([this](const WorkerPlace& place) { return work(place); }) {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TP_CHECK(memory != MAP_FAILED, "the test has shared memory");
    board_ = new (memory) Board;
  }
  ~Ranks() { ::munmap(board_, sizeof(Board)); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  WorkerId boot() {
    const WorkerId worker = leader_.spawn();
    REQUIRE(leader_.run_until([&] { return leader_.ready(worker); }));
    return worker;
  }
  [[nodiscard]] std::size_t steps(WorkerId worker) const {
    std::size_t last = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      if (at(worker, step).global_batch != 0) last = step + 1;
    }
    return last;
  }
  void step_on(WorkerId worker, std::size_t more) {
    const std::size_t goal = steps(worker) + more;
    board_->limit = goal;
    REQUIRE(leader_.run_until([&] { return steps(worker) >= goal; }));
  }
  // One step after the other until `worker` has stepped at that size.
  void step_to_size(WorkerId worker, std::size_t size) {
    REQUIRE(leader_.run_until([&] {
      const std::size_t last = steps(worker);
      if (last > 0 && at(worker, last - 1).size == size) return true;
      board_->limit = last + 1;
      return false;
    }));
  }
  void step_to_the_end() {
    board_->limit = kSteps;
    REQUIRE(leader_.run_until([&] { return leader_.living() == 0; }, 60'000));
  }
  [[nodiscard]] const Given& at(WorkerId worker, std::size_t step) const {
    return board_->diaries[worker.number()][step];
  }
  [[nodiscard]] TestLeader& leader() { return leader_; }

  // All ranks were given the same; returns how many entries were compared.
  std::size_t check_same() const {
    std::size_t compared = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      const Given* first = nullptr;
      for (std::size_t worker = 1; worker < kWorkers; ++worker) {
        const Given& mine = board_->diaries[worker][step];
        if (mine.global_batch == 0) continue;
        if (first == nullptr) first = &mine;
        CAPTURE(step, worker);
        CHECK(mine.global_batch == first->global_batch);
        CHECK(mine.lr_bits == first->lr_bits);
        CHECK(mine.momentum_bits == first->momentum_bits);
        CHECK(mine.noise_bits == first->noise_bits);
        if (first != &mine) ++compared;
      }
    }
    return compared;
  }
  void check_audits() const {
    for (const auto& audit : leader_.received<api::EpochAuditedMessage>()) {
      CHECK(audit.checksum_ok);
      CHECK(audit.used == audit.expected);
    }
  }

 private:
  int work(const WorkerPlace& place) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    runtime::SessionOptions options = options_;
    options.samples = kSamples;
    options.steps = kSteps;
    options.agent_socket = place.socket_path;
    options.worker = place.worker;
    options.patience = runtime::Millis{30'000};
    auto session = runtime::Session::open(options);
    if (!session.ok()) return 2;
    return train(**session, *board_, board_->diaries[place.worker.number()]);
  }
  static int train(runtime::Session& session, const Board& board, Diary& diary) {
    std::array<float, 1> state{};
    session.register_values("state", std::span(state));
    if (!session.join().ok()) return 1;
    while (const auto step = session.next_step()) {
      const std::span<float> gradient = session.gradients(kWidth);
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      for (const std::uint64_t sample : step->samples) add_gradient(sample, gradient);
      while (static_cast<std::size_t>(step->number) >= board.limit) std::this_thread::yield();
      if (session.reduce(1) == runtime::Reduced::kRetry) continue;
      session.commit();
      Given& given = diary[static_cast<std::size_t>(step->number)];
      given.lr_bits = std::bit_cast<std::uint64_t>(step->lr_factor);
      given.momentum_bits = std::bit_cast<std::uint64_t>(step->momentum_factor);
      given.noise_bits = std::bit_cast<std::uint64_t>(step->noise_scale.value_or(-1));
      given.size = static_cast<std::uint64_t>(session.size());
      given.global_batch = step->global_batch;
    }
    return session.ending() == runtime::Ending::kFailed ? 1 : 0;
  }

  runtime::SessionOptions options_;
  Board* board_ = nullptr;
  TestLeader leader_;
};

double factor(const Given& given) {
  return std::bit_cast<double>(given.lr_bits.load());
}

}  // namespace

TEST_CASE("with the linear rule batch and rate follow the ranks, the same on all, through growth and death") {
  Ranks ranks({.global_batch = 24, .on_resize = runtime::OnResize::kLinear, .noise_every = 3});
  std::vector<WorkerId> workers = {ranks.boot()};
  ranks.leader().commit(workers);
  ranks.step_on(workers[0], 10);
  workers.push_back(ranks.boot());
  workers.push_back(ranks.boot());
  ranks.leader().commit(workers);
  ranks.step_to_size(workers[0], 3);
  ranks.step_on(workers[0], 20);
  ranks.leader().kill(workers[1]);
  REQUIRE(ranks.leader().run_until([&] { return !ranks.leader().alive(workers[1]); }));
  ranks.leader().commit({workers[0], workers[2]}, true);
  ranks.step_to_the_end();

  CHECK(ranks.check_same() > 100);
  ranks.check_audits();
  double before = 1;
  std::size_t sizes_seen = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const Given& given = ranks.at(workers[0], step);
    CAPTURE(step);
    REQUIRE(given.global_batch != 0);
    CHECK(given.global_batch == 24 * given.size);
    const double wanted = static_cast<double>(given.size);
    CHECK(factor(given) <= wanted);
    CHECK(factor(given) - before <= 2.0 / 8 + 1e-12);  // from 1 to 3 in eight steps
    if (step >= kSteps - 10) CHECK(factor(given) == wanted);
    before = factor(given);
    sizes_seen |= 1U << given.size;
  }
  CHECK(sizes_seen == 0b1110);
}

TEST_CASE("the noise scale of known gradients is found by real ranks, and told with the steps") {
  Ranks ranks({.global_batch = 60, .noise_every = 1});
  std::vector<WorkerId> workers = {ranks.boot(), ranks.boot(), ranks.boot()};
  ranks.leader().commit(workers);
  ranks.step_to_the_end();
  CHECK(ranks.check_same() == 2 * kSteps);
  std::vector<double> told;
  for (const auto& report : ranks.leader().received<api::StepsMessage>()) {
    CHECK(report.global_batch == 60);
    if (report.last_step > 50) told.push_back(report.noise_scale.value_or(-1));
  }
  REQUIRE(!told.empty());
  double mean = 0;
  for (const double scale : told) mean += scale / static_cast<double>(told.size());
  CHECK(mean == Approx(16).epsilon(0.35));  // an average of the last twenty steps' measurements
}

TEST_CASE("a worker alone measures the noise too") {
  Ranks ranks({.global_batch = 60, .noise_every = 2});
  const WorkerId worker = ranks.boot();
  ranks.leader().commit({worker});
  ranks.step_to_the_end();
  const auto reports = ranks.leader().received<api::StepsMessage>();
  REQUIRE(!reports.empty());
  REQUIRE(reports.back().noise_scale);
  CHECK(*reports.back().noise_scale == Approx(16).epsilon(0.7));
}

TEST_CASE("a session that does not ask for the noise measures none") {
  Ranks ranks({.global_batch = 60});
  std::vector<WorkerId> workers = {ranks.boot(), ranks.boot()};
  ranks.leader().commit(workers);
  ranks.step_to_the_end();
  for (const auto& report : ranks.leader().received<api::StepsMessage>()) CHECK(!report.noise_scale);
}

TEST_CASE("the program's own rule is asked on rank 0, and its answer holds for all") {
  // Each process counts for itself how often it was asked: only rank 0's count shows in the batch.
  runtime::SessionOptions options{.global_batch = 10, .on_resize = runtime::OnResize::kCallback, .warmup_steps = 4};
  options.batch_rule = [asked = 0](const runtime::BatchQuestion& question) mutable {
    ++asked;
    const auto size = static_cast<std::uint64_t>(question.size);
    return runtime::BatchChoice{.global_batch = 100 * size + static_cast<std::uint64_t>(asked),
                                .lr_factor = 1 + 0.5 * static_cast<double>(size)};
  };
  Ranks ranks(options);
  std::vector<WorkerId> workers = {ranks.boot()};
  ranks.leader().commit(workers);
  ranks.step_on(workers[0], 10);
  workers.push_back(ranks.boot());
  ranks.leader().commit(workers);
  ranks.step_to_size(workers[0], 2);
  ranks.step_to_the_end();
  CHECK(ranks.check_same() > 100);
  ranks.check_audits();
  CHECK(ranks.at(workers[0], 0).global_batch == 101);
  CHECK(factor(ranks.at(workers[0], 0)) == Approx(1.125));
  CHECK(ranks.at(workers[1], kSteps - 1).global_batch == 202);
  CHECK(factor(ranks.at(workers[1], kSteps - 1)) == 2.0);
}

TEST_CASE("an answer that cannot work ends all workers with a sentence, not one of them") {
  runtime::SessionOptions options{.global_batch = 10, .on_resize = runtime::OnResize::kCallback};
  options.batch_rule = [](const runtime::BatchQuestion&) { return runtime::BatchChoice{.global_batch = 0}; };
  Ranks ranks(options);
  std::vector<WorkerId> workers = {ranks.boot(), ranks.boot()};
  ranks.leader().commit(workers);
  REQUIRE(ranks.leader().run_until([&] { return ranks.leader().living() == 0; }, 20'000));
  for (const WorkerId worker : workers) CHECK(ranks.leader().exits().at(worker) == 1);
}

}  // namespace tidepool::test
