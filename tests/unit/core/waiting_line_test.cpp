// Which jobs have to be looked at when slots come free.
#include "core/decide/waiting_line.hpp"

#include <catch2/catch.hpp>

namespace tidepool::core {
namespace {

Job waiting(std::uint64_t id, int workers, BlockedOn on) {
  Job job;
  job.id = JobId(id);
  job.spec.elastic = {.min = workers, .max = workers, .preferred = workers, .sizes = {workers}};
  job.verdict = {.job = job.id, .blocked = {on}};
  return job;
}

void put(WaitingLine& line, const Job& job, std::int64_t number = 0) {
  line.follow(job, {.number = number}, true);
}

std::uint64_t id_of(const std::optional<WaitingLine::Place>& place) {
  return place ? place->second.number() : 0;
}

bool fits_two(const WaitingLine::Need& need) {
  return need.workers * need.slots_per_worker <= 2;
}

}  // namespace

TEST_CASE("a job that has been told that it waits for slots is looked at once there is room for it") {
  WaitingLine line(false);
  put(line, waiting(1, 8, BlockedOn::kSlots));
  put(line, waiting(2, 2, BlockedOn::kSlots));
  CHECK(line.size() == 2);
  CHECK_FALSE(line.next_open({}));
  CHECK_FALSE(line.next_helped({}, [](const WaitingLine::Need&) { return false; }));
  const auto helped = line.next_helped({}, fits_two);
  CHECK(id_of(helped) == 2);
  CHECK(line.before(*helped) == 1);
  CHECK_FALSE(line.next_helped(helped, fits_two));
}

TEST_CASE("a job that is new, has a price cap, has run, or is held back by its policy is looked at each time") {
  WaitingLine line(false);
  line.follow(waiting(1, 2, BlockedOn::kSlots), {}, false);  // changed since it was told
  Job capped = waiting(2, 2, BlockedOn::kSlots);
  capped.spec.scaling.price_cap = Money::micros(1);
  put(line, capped);
  Job resumed = waiting(3, 2, BlockedOn::kSlots);
  resumed.last_start_at = Instant();
  put(line, resumed);
  put(line, waiting(4, 2, BlockedOn::kNothing));
  put(line, waiting(5, 2, BlockedOn::kSlots));
  std::vector<std::uint64_t> open;
  for (auto place = line.next_open({}); place; place = line.next_open(place)) open.push_back(id_of(place));
  CHECK(open == std::vector<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("a strict line goes by rank, then id, and only a job told that it is behind another is settled in it") {
  WaitingLine line(true);
  put(line, waiting(1, 2, BlockedOn::kQueue), 5);
  put(line, waiting(2, 2, BlockedOn::kQueue), -1);
  put(line, waiting(3, 2, BlockedOn::kSlots), 5);
  CHECK(id_of(line.next({})) == 2);
  CHECK(id_of(line.next(line.next({}))) == 1);
  CHECK(id_of(line.next_open({})) == 3);
  CHECK(line.before(*line.next_open({})) == 2);
}

TEST_CASE("a job that starts, ends or never fits leaves the line, and one that changes its rank changes its place") {
  WaitingLine line(true);
  put(line, waiting(1, 2, BlockedOn::kQueue), 1);
  put(line, waiting(2, 2, BlockedOn::kQueue), 2);
  put(line, waiting(2, 2, BlockedOn::kQueue), 0);
  CHECK(id_of(line.next({})) == 2);
  Job started = waiting(2, 2, BlockedOn::kNothing);
  started.phase = phase::Starting{};
  put(line, started);
  put(line, waiting(1, 2, BlockedOn::kClusterSize), 1);
  CHECK(line.size() == 0);
  CHECK_FALSE(line.next({}));
  // Until it has been told so of the nodes as they are now.
  line.follow(waiting(1, 2, BlockedOn::kClusterSize), {}, false);
  CHECK(id_of(line.next_open({})) == 1);
}

}  // namespace tidepool::core
