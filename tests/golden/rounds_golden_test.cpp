// What the policies that size the whole cluster say about a few rounds of one small cluster: what they give each job,
// why, and which other size came nearest. A daemon can feed only some of them, so they are asked as in a replay.
// TIDEPOOL_REWRITE=1 writes the logs anew; the difference is then reviewed like any other change.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "core/words/unblock.hpp"
#include "core/words/wording.hpp"
#include "studies/baselines/registry.hpp"
#include "tests/support/allocation_views.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::test {
namespace {

namespace fs = std::filesystem;
namespace cluster = policies::cluster;

constexpr Duration kRound = Duration::seconds(600);
constexpr int kRounds = 3;

// One policy of each way of saying things.
constexpr std::array kNames = {
    "afs",    "cluster_autoscaling", "edf",     "elastic_tiresias", "elasticflow", "ffdl", "fifo",   "gandiva",
    "las",    "gavel_las_perf",      "optimus", "pollux",           "sia",         "srtf", "themis", "tiresias",
    "gittins"};

// A node of four slots and four jobs, of which the last comes in the second round.
class World {
 public:
  explicit World(const cluster::AllocationPolicy& policy) : policy_(policy) {
    view_ = view_of(1, 4, 3, good_);
    view_.now = Instant::from_micros(3'600'000'000);
    shape(0, {.wanted = 2, .steps = 40'000, .deadline_h = 6});
    shape(1, {.wanted = 1, .steps = 2'000, .deadline_h = 2});
    shape(2, {.wanted = 2, .steps = 9'000, .deadline_h = 3});
    view_.jobs[1].speed = view_.jobs[2].speed = &poor_;
    view_.jobs[0].slot_seconds = 57'000;
    view_.jobs[0].held = Duration::seconds(28'500);
  }

  void round(std::ostringstream& out) {
    out << "  after " << (view_.now - Instant()).to_seconds() / 60 << " min\n";
    const cluster::Allocation allocation = decide(policy_, view_);
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) tell(row, allocation.grants[row], out);
    follow(allocation);
    if (view_.jobs.size() > 3) return;
    view_.jobs.push_back(view_.jobs[1]);
    cluster::JobRow& late = view_.jobs.back();
    late = {
        .id = JobId(4), .submitted = view_.now, .size_wanted = 1, .size_max = 4, .steps_left = 600.0, .speed = &good_};
    late.deadline = view_.now + Duration::seconds(900);
  }

 private:
  struct Wish {
    int wanted = 1;
    double steps = 0;
    int deadline_h = 0;
  };
  void shape(std::size_t row, const Wish& wish) {
    cluster::JobRow& job = view_.jobs[row];
    job.submitted = Instant::from_micros(static_cast<std::int64_t>(row + 1) * 60'000'000);
    job.size_wanted = wish.wanted;
    job.size_max = job.largest_seen = 4;
    job.steps_left = wish.steps;
    job.deadline = view_.now + Duration::seconds(std::int64_t{3'600} * wish.deadline_h);
  }

  // A score is left out where the policy gives none.
  static void tell(std::size_t row, const cluster::Grant& grant, std::ostringstream& out) {
    const auto weighed = [&](int size, double score, const core::Reason& why) {
      out << size << (score == 0 ? "" : " at " + core::three_digits(score)) << " [" << core::name_of(why) << "] "
          << core::sentence(why) << "\n";
    };
    out << "    job-" << row + 1 << ": ";
    weighed(grant.size, grant.score, grant.reason);
    for (const auto& lost : grant.lost) {
      out << "      lost: ";
      weighed(lost.size, lost.score, lost.reason);
    }
    const auto scores = core::scores_of({grant.size, grant.score, grant.reason}, grant.lost);
    if (!scores.empty()) out << "      " << scores << "\n";
    for (const auto& line : core::unblocks_of(grant.reason, JobId(row + 1)))
      out << "      could help: " << line << "\n";
  }

  // A round later: all jobs have run as they were told.
  void follow(const cluster::Allocation& allocation) {
    const double seconds = kRound.to_seconds();
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      cluster::JobRow& job = view_.jobs[row];
      const int size = allocation.grants[row].size;
      job.mark = allocation.grants[row].mark;
      job.resizes += !job.placement.empty() && size_of(job.placement) != size ? 1 : 0;
      job.placement = size == 0 ? cluster::Placement{} : cluster::Placement{{.node = 0, .slots = size}};
      if (size == 0) continue;
      job.held = job.held + kRound;
      job.slot_seconds += size * seconds;
      job.largest_seen = std::max(job.largest_seen, size);
      job.steps_left = std::max(1.0, *job.steps_left - seconds / job.speed->step_seconds(cluster::packed(size, 4)));
    }
    view_.mark = allocation.mark;
    view_.now = view_.now + kRound;
  }

  const cluster::AllocationPolicy& policy_;
  StepTable good_{{1, 0.55, 0.4, 0.32}};
  StepTable poor_{{1, 0.7, 0.6, 0.56}};
  cluster::View view_;
};

fs::path file_of(const std::string& name) {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "golden" / "rounds" / (name + ".txt");
}

TEST_CASE("Every kind of policy for the whole cluster says what it gives each job, why, and what came nearest") {
  for (const std::string name : kNames) {
    std::ostringstream log;
    log << name << "\n";
    const auto preset = studies::find_preset(name);
    REQUIRE(preset.ok());
    const auto policy = preset->policy();
    World world(*policy);
    for (int round = 0; round < kRounds; ++round) world.round(log);
    if (std::getenv("TIDEPOOL_REWRITE") != nullptr) {
      std::ofstream(file_of(name), std::ios::binary) << log.str();
      continue;
    }
    std::ifstream in(file_of(name), std::ios::binary);
    INFO("after a wanted change, run this test with TIDEPOOL_REWRITE=1 and review the difference");
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == log.str());
  }
}

}  // namespace
}  // namespace tidepool::test
