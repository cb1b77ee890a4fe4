// Events as lists read them out of a journal: from either end, of one job, node or type.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/state/routine_event.hpp"
#include "schedulerd/live/store/history.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::live {
namespace {

using Numbers = std::vector<EventSeq>;

// What a journal of these events, numbered from 1 on, gives for each query.
class ToldEvents {
 public:
  explicit ToldEvents(std::vector<core::Event> events) {
    auto journal = Journal::open(dir_ / "j.db", {});
    REQUIRE(journal.ok());
    EventSeq seq = 0;
    for (core::Event& event : events) {
      event.seq = ++seq;
      REQUIRE(journal->append(std::vector{event}).ok());
    }
    REQUIRE(journal->commit({{"boot", 1, 1}, Instant::from_micros(1), 0}).ok());
  }

  Numbers read(const EventQuery& query) const {
    auto history = SqliteHistory::open(dir_ / "j.db");
    REQUIRE(history.ok());
    Numbers numbers;
    for (const auto& event : (*history)->events(query)) numbers.push_back(event.seq);
    return numbers;
  }

 private:
  test::TemporaryFolder dir_;
};

TEST_CASE("events are read from either end, of one job and of one type") {
  std::vector<core::Event> events(9);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].type = i % 2 == 1 ? "job.progressed" : "worker.started";
    events[i].job = JobId(i < 6 ? 4 : 5);
  }
  const ToldEvents told(events);
  CHECK(told.read({.newest_first = true, .limit = 3}) == Numbers{9, 8, 7});
  CHECK(told.read({.after = 5, .before = 8, .newest_first = true, .limit = 9}) == Numbers{7, 6});
  CHECK(told.read({.after = 5, .before = 8, .limit = 9}) == Numbers{6, 7});
  CHECK(told.read({.job = JobId(4), .newest_first = true, .limit = 2}) == Numbers{6, 5});
  CHECK(told.read({.before = 5, .job = JobId(4), .type = "worker.started", .newest_first = true, .limit = 9}) ==
        Numbers{3, 1});
  CHECK(told.read({.after = 1, .job = JobId(4), .type = "worker.started", .limit = 1}) == Numbers{3});
  CHECK(told.read({.type = "worker.started", .limit = 9}) == Numbers{1, 3, 5, 7, 9});
}

TEST_CASE("events of one node are read from either end, of one type too") {
  std::vector<core::Event> events(8);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].type = i % 2 == 1 ? "node.lost" : "node.joined";
    if (i < 6) events[i].node = NodeId(i < 4 ? 1 : 2);
  }
  const ToldEvents told(events);
  CHECK(told.read({.node = NodeId(1), .limit = 9}) == Numbers{1, 2, 3, 4});
  CHECK(told.read({.node = NodeId(1), .newest_first = true, .limit = 3}) == Numbers{4, 3, 2});
  CHECK(told.read({.after = 1, .node = NodeId(1), .brief = true, .limit = 2}) == Numbers{2, 3});
  CHECK(told.read({.node = NodeId(1), .type = "node.lost", .limit = 9}) == Numbers{2, 4});
  CHECK(told.read({.before = 4, .node = NodeId(1), .type = "node.lost", .newest_first = true, .limit = 9}) ==
        Numbers{2});
  CHECK(told.read({.node = NodeId(3), .limit = 9}).empty());
}

TEST_CASE("a brief list leaves out exactly those events that are routine") {
  using nlohmann::json;
  const json sound = {{"epoch", 1}, {"expected", 10}, {"used", 10}, {"checksum_ok", true}};
  std::vector<json> audits = {sound, json::object()};
  for (const char* key : {"expected", "used", "checksum_ok"}) {
    for (const json& other : {json(), json(9), json(false)}) {
      audits.push_back(sound);
      audits.back()[key] = other;
    }
    audits.push_back(sound);
    audits.back().erase(key);
  }
  std::vector<core::Event> events(4);
  events[0].type = "job.progressed";
  events[1].type = "job.started";
  events[2].type = "job.finished";
  events[2].data = sound;
  events[3].type = "job.progressed";
  events[3].data = sound;
  for (const json& audit : audits) {
    events.emplace_back().type = "data.epoch_audited";
    events.back().data = audit;
  }
  Numbers worth_telling;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!core::is_routine(events[i].type, events[i].data)) worth_telling.push_back(i + 1);
  }
  CHECK(worth_telling.size() == events.size() - 3);  // the two of progress, and the sound audit
  CHECK(ToldEvents(events).read({.brief = true, .limit = 99}) == worth_telling);
}

}  // namespace
}  // namespace tidepool::live
