// What must hold of every detector in the table, whatever the times.
#include <catch2/catch.hpp>

#include <cmath>

#include "straggler/registry.hpp"
#include "tests/support/judged_crew.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::straggler {
namespace {

using test::JudgedCrew;

// A job in which workers turn slow and fast again, stall, and are fed unequal shares.
struct Job {
  std::size_t ranks = 2;
  std::vector<std::vector<std::int64_t>> compute_us;
  std::vector<std::vector<std::int64_t>> samples;
};

Job draw_job(Rng& rng) {
  Job job{.ranks = static_cast<std::size_t>(rng.between(2, 6)), .compute_us = {}, .samples = {}};
  const bool even = rng.chance(0.7);
  const double noise = rng.chance(0.5) ? 0.01 : 0.2;
  std::vector<double> pace(job.ranks, 1);
  for (int step = 0; step < 250; ++step) {
    if (rng.chance(0.02)) pace[rng.below(job.ranks)] = rng.chance(0.4) ? 1 : 1 + 2 * rng.uniform();
    auto& times = job.compute_us.emplace_back();
    auto& samples = job.samples.emplace_back();
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      const double stall = rng.chance(0.01) ? 30 : 1;
      // Multiples of 8, so that halves and eighths of them are whole.
      times.push_back(8 * static_cast<std::int64_t>(2'000 * pace[rank] * stall * std::exp(noise * rng.normal()) + 1));
      samples.push_back(even ? 32 : rng.between(1, 40));
    }
  }
  return job;
}

bool same(const Finding& one, const Finding& other) {
  return one.speed == other.speed && one.bar == other.bar && one.slow == other.slow && one.steps == other.steps;
}

// Both crews see the same job, the second one changed; `where` says which of its ranks is rank i of the first.
template <class Change, class Where>
void check_alike(const Entry& entry, const Job& job, Change change, Where where) {
  JudgedCrew plain(entry.make(), job.ranks);
  JudgedCrew changed(entry.make(), job.ranks);
  for (std::size_t step = 0; step < job.compute_us.size(); ++step) {
    plain.step(job.compute_us[step], job.samples[step]);
    auto [times, samples] = change(job.compute_us[step], job.samples[step]);
    changed.step(std::move(times), std::move(samples));
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      CAPTURE(entry.name, step, rank);
      REQUIRE(same(plain.of(rank), changed.of(where(rank))));
    }
  }
}

using Row = std::vector<std::int64_t>;

TEST_CASE("times of another unit change no finding") {
  test::for_each_seed("scale", 20, [](std::uint64_t, Rng& rng) {
    const Job job = draw_job(rng);
    // Powers of two, so that the arithmetic is the same to the last bit.
    const std::int64_t factor = std::int64_t{1} << rng.below(10);
    for (const Entry& entry : kDetectors) {
      check_alike(
          entry, job,
          [&](Row times, Row samples) {
            for (auto& time : times) time = time * factor / 8;
            return std::pair{times, samples};
          },
          [](std::size_t rank) { return rank; });
    }
  });
}

TEST_CASE("findings follow the workers when the ranks are permuted") {
  test::for_each_seed("permutation", 20, [](std::uint64_t, Rng& rng) {
    const Job job = draw_job(rng);
    std::vector<std::size_t> place(job.ranks);
    for (std::size_t rank = 0; rank < job.ranks; ++rank) place[rank] = rank;
    rng.shuffle(place);
    for (const Entry& entry : kDetectors) {
      check_alike(
          entry, job,
          [&](const Row& times, const Row& samples) {
            std::pair<Row, Row> moved{Row(job.ranks), Row(job.ranks)};
            for (std::size_t rank = 0; rank < job.ranks; ++rank) {
              moved.first[place[rank]] = times[rank];
              moved.second[place[rank]] = samples[rank];
            }
            return moved;
          },
          [&](std::size_t rank) { return place[rank]; });
    }
  });
}

TEST_CASE("a memory is all that is remembered: with copies of it the findings go on alike") {
  test::for_each_seed("memory", 20, [](std::uint64_t, Rng& rng) {
    const Job job = draw_job(rng);
    const std::size_t cut = rng.below(job.compute_us.size());
    for (const Entry& entry : kDetectors) {
      JudgedCrew one(entry.make(), job.ranks);
      JudgedCrew other(entry.make(), job.ranks);
      for (std::size_t step = 0; step < job.compute_us.size(); ++step) {
        if (step == cut) other.memories() = one.memories();
        one.step(job.compute_us[step], job.samples[step]);
        if (step < cut) continue;
        other.step(job.compute_us[step], job.samples[step]);
        for (std::size_t rank = 0; rank < job.ranks; ++rank) REQUIRE(same(one.of(rank), other.of(rank)));
      }
    }
  });
}

TEST_CASE("a memory that another detector wrote counts as a new worker's") {
  Rng rng(5);
  const Job job = draw_job(rng);
  for (const Entry& writer : kDetectors) {
    for (const Entry& reader : kDetectors) {
      if (writer.name == reader.name) continue;
      JudgedCrew before(writer.make(), job.ranks);
      JudgedCrew after(reader.make(), job.ranks);
      JudgedCrew anew(reader.make(), job.ranks);
      for (std::size_t step = 0; step < 60; ++step) before.step(job.compute_us[step], job.samples[step]);
      after.memories() = before.memories();
      for (std::size_t step = 60; step < job.compute_us.size(); ++step) {
        after.step(job.compute_us[step], job.samples[step]);
        anew.step(job.compute_us[step], job.samples[step]);
        for (std::size_t rank = 0; rank < job.ranks; ++rank) REQUIRE(same(after.of(rank), anew.of(rank)));
      }
    }
  }
}

TEST_CASE("of all workers equally slow none is named") {
  for (const Entry& entry : kDetectors) {
    JudgedCrew crew(entry.make(), 4);
    crew.steps(100, test::times_with(4, 0, 1));
    crew.steps(100, std::vector<std::int64_t>(4, 200'000));
    CHECK_FALSE(crew.any_slow());
  }
}

TEST_CASE("the table's names are those of the detectors, sorted, and hold the default") {
  bool has_default = false;
  std::string_view before;
  for (const Entry& entry : kDetectors) {
    CHECK(entry.make()->name() == entry.name);
    CHECK(before < entry.name);
    before = entry.name;
    has_default = has_default || entry.name == kDefaultDetector;
  }
  CHECK(has_default);
}

}  // namespace
}  // namespace tidepool::straggler
