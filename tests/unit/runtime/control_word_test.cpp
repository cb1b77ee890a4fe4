#include <cmath>

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "workers/runtime/control_word.hpp"

namespace tidepool::runtime {
namespace {

// What an allreduce does: the float sum over the ranks' words.
std::vector<float> summed(const std::vector<ControlReport>& reports, GenerationNumber current) {
  const int size = static_cast<int>(reports.size());
  std::vector<float> sum(control_word_floats(size), 0.0F);
  std::vector<float> word(sum.size());
  for (int rank = 0; rank < size; ++rank) {
    write_control_word(reports[static_cast<std::size_t>(rank)], {.current = current, .rank = rank, .size = size}, word);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += word[i];
  }
  return sum;
}

ControlSums read(const std::vector<float>& sum, GenerationNumber current, std::size_t size) {
  return read_control_word(sum, {.current = current, .rank = 0, .size = static_cast<int>(size)});
}

}  // namespace

TEST_CASE("counts and checksums add up exactly, modulo 2^64, however many ranks there are") {
  const int size = GENERATE(1, 2, 3, 255, 256, 257, 512, 513, kRanksMax - 1, kRanksMax);
  Rng rng(3);
  std::vector<ControlReport> reports(static_cast<std::size_t>(size));
  AuditSum expected;
  for (ControlReport& report : reports) {
    report.fed = {.count = 0xffffffffULL - rng.below(5), .checksum = ~0ULL - rng.below(3)};
    report.compute_us = static_cast<std::int64_t>(rng.below(1U << 24U));
    expected.count += report.fed.count;
    expected.checksum += report.fed.checksum;
  }
  const ControlSums sums = read(summed(reports, 9), 9, reports.size());
  CHECK(sums.fed == expected);
  for (std::size_t rank = 0; rank < reports.size(); ++rank) CHECK(sums.compute_us[rank] == reports[rank].compute_us);
}

TEST_CASE("the largest limbs of all ranks add up to less than a float32 holds exactly, and one bit more would not") {
  for (int size = 1; size <= 4'096; ++size) {
    const std::int64_t limb = std::int64_t{1} << control_limb_bits(size);
    CHECK((limb - 1) * size < std::int64_t{1} << kExactBits);
    if (size > 256) CHECK((2 * limb - 1) * size >= std::int64_t{1} << kExactBits);
  }
  CHECK(control_limb_bits(256) == 16);
  CHECK(control_limb_bits(1'024) == 14);
  CHECK(control_limb_bits(4'096) == 12);
}

TEST_CASE("the word has no more floats than its ranks need, and with few ranks those that it always had") {
  CHECK(control_word_floats(2) == 9 + 4 * 2);
  CHECK(control_word_floats(256) == 9 + 4 * 256);
  CHECK(control_word_floats(1'024) == 3 + 3 + 5 + 4 * 1'024);
}

TEST_CASE("the switch waits until every rank is ready for the same generation") {
  const GenerationNumber current = 4'000'000'000U;  // beyond what a float holds exactly
  const auto agreed = [&](std::vector<GenerationNumber> ready) {
    std::vector<ControlReport> reports;
    for (const GenerationNumber number : ready) reports.push_back({.ready_for = number});
    const ControlSums sums = read(summed(reports, current), current, reports.size());
    CHECK(sums.ready_for == ready);
    return sums.agreed_next();
  };
  CHECK(agreed({0, 0, 0}) == std::nullopt);
  CHECK(agreed({current + 1, 0, current + 1}) == std::nullopt);
  // Two ranks that know one thing, one that knows another: the sum alone could not tell this from agreement.
  CHECK(agreed({current + 1, current + 3, current + 2}) == std::nullopt);
  CHECK(agreed({current + 2, current + 2, current + 2}) == current + 2);
}

TEST_CASE("other shares wait until every rank knows the same table") {
  const auto agreed = [](std::vector<std::int64_t> known) {
    std::vector<ControlReport> reports;
    for (const std::int64_t number : known) reports.push_back({.shares = number});
    const ControlSums sums = read(summed(reports, 5), 5, reports.size());
    CHECK(sums.shares == known);
    return sums.agreed_shares();
  };
  CHECK(agreed({0, 0}) == std::nullopt);
  CHECK(agreed({1, 0, 1}) == std::nullopt);
  CHECK(agreed({3, 1, 2}) == std::nullopt);
  CHECK(agreed({2, 2, 2}) == 2);
}

TEST_CASE("each rank says whether its program has ended") {
  const ControlSums sums = read(summed({{}, {.ended = true}, {}}, 5), 5, 3);
  CHECK(sums.ends == std::vector<EndWord>{EndWord::kGoesOn, EndWord::kEnded, EndWord::kGoesOn});
}

TEST_CASE("knows_next counts the ranks that are ready") {
  const ControlSums sums = read(summed({{.ready_for = 6}, {}, {.ready_for = 7}}, 5), 5, 3);
  CHECK(sums.knows_next() == 2);
}

TEST_CASE("the loss is the sum over the ranks") {
  const ControlSums sums = read(summed({{.loss_sum = 1.5}, {.loss_sum = 2.25}}, 1), 1, 2);
  CHECK(sums.loss_sum == 3.75);
}

TEST_CASE("a rank that tells no loss has no part in the mean, and without any there is none") {
  const AuditSum samples{.count = 4, .checksum = 0};
  const ControlReport told{.fed = samples, .loss_sum = 6.0};
  const ControlReport untold{.fed = samples};
  CHECK(read(summed({told, told}, 1), 1, 2).mean_loss() == 1.5);
  const ControlSums half = read(summed({told, untold}, 1), 1, 2);
  CHECK(half.mean_loss() == 1.5);
  CHECK(half.ends == std::vector<EndWord>{EndWord::kGoesOn, EndWord::kGoesOn});
  CHECK(std::isnan(read(summed({untold, untold}, 1), 1, 2).mean_loss()));
  CHECK(read(summed({told, {}}, 1), 1, 2).mean_loss() == 1.5);  // one without samples
}

}  // namespace tidepool::runtime
