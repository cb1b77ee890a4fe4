// Event streams alone: a journal in memory, a writer that keeps what it is given, and turns of the I/O thread that the
// test takes one by one.
#include "schedulerd/live/http/event_streams.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <string>

#include "base/check.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

class KeptEvents final : public test::NoHistory {
 public:
  std::vector<core::Event> events(const EventQuery& query) override {
    ++pages_read;
    on_read();
    std::vector<core::Event> page;
    for (const core::Event& event : kept) {
      if (event.seq > query.after && static_cast<int>(page.size()) < query.limit) page.push_back(event);
    }
    return page;
  }

  std::vector<core::Event> kept;
  int pages_read = 0;
  std::function<void()> on_read = [] {};
};

class QuietService final : public Service {
 public:
  void submit(Command, std::function<void(Result<Receipt>)>) override {}
  std::shared_ptr<const Published> published() const override {
    auto picture = std::make_shared<Published>();
    picture->as_of_seq = journal.kept.empty() ? 0 : journal.kept.back().seq;
    return picture;
  }
  std::shared_ptr<void> subscribe(std::function<void(const std::vector<core::Event>&)>) override { return nullptr; }
  History& history() override { return journal; }
  void read_log(WorkerId, std::int64_t, std::int64_t, std::function<void(Result<LogPage>)>) override {}
  void preview(core::Tried, std::function<void(Result<PreviewedSubmit>)>) override {}
  std::shared_ptr<const ForecastPicture> forecasts() const override { return nullptr; }
  void plan(core::JobSpec, std::function<void(Result<PlannedSubmit>)>) override {}
  PolicyEvaluator& policy_workshop() override {
    TP_CHECK(false, "streams look no policy over");
    std::abort();
  }

  KeptEvents journal;
};

// What one client has been sent, and what waits for it.
class KeptWriter final : public StreamWriter {
 public:
  using StreamWriter::write;
  bool write(std::shared_ptr<const std::string> piece) override {
    waiting += piece->size();
    most_waiting = std::max(most_waiting, waiting);
    text += *piece;
    return true;
  }
  void finish() override {}
  [[nodiscard]] bool open() const override { return is_open; }
  [[nodiscard]] std::size_t queued() const override { return waiting; }
  void on_drained(std::function<void()> callback) override { drained = std::move(callback); }
  void on_closed(std::function<void()> callback) override { closed = std::move(callback); }

  // The client reads all that waits for it.
  void drain() {
    waiting = 0;
    drained();
  }

  std::string text;
  std::size_t waiting = 0;
  std::size_t most_waiting = 0;
  std::function<void()> drained;
  std::function<void()> closed;
  bool is_open = true;
};

struct World {
  QuietService service;
  Authenticator authenticator{service.journal, [] { return std::int64_t{0}; }};
  Metrics metrics;
  std::deque<std::function<void()>> turns;
  EventStreams streams{{.service = service,
                        .authenticator = authenticator,
                        .metrics = metrics,
                        .later = [this](std::function<void()> work) { turns.push_back(std::move(work)); }}};
  std::shared_ptr<KeptWriter> writer = std::make_shared<KeptWriter>();

  void keep(int count, std::size_t bytes, const std::string& tenant = "") {
    for (int i = 1; i <= count; ++i) {
      core::Event event;
      event.seq = service.journal.kept.size() + 1;
      event.type = "job.progressed";
      event.tenant = tenant;
      event.data = {{"text", std::string(bytes, 'x')}};
      service.journal.kept.push_back(std::move(event));
    }
  }
  void take_turn() {
    REQUIRE(!turns.empty());
    const auto work = std::move(turns.front());
    turns.pop_front();
    work();
  }
  // The numbers of the events that the client has got.
  [[nodiscard]] std::vector<EventSeq> got() const {
    std::vector<EventSeq> numbers;
    const std::string mark = "id: ";
    for (auto at = writer->text.find(mark); at != std::string::npos; at = writer->text.find(mark, at + 1)) {
      numbers.push_back(std::stoull(writer->text.substr(at + mark.size(), 20)));
    }
    return numbers;
  }
};

std::vector<EventSeq> up_to(EventSeq last) {
  std::vector<EventSeq> numbers;
  for (EventSeq seq = 1; seq <= last; ++seq) numbers.push_back(seq);
  return numbers;
}

TEST_CASE("a reader far behind reads one page a turn, whether it may see what is in it or not") {
  World world;
  const std::string tenant = GENERATE(std::string("a"), std::string("b"));
  world.keep(1'000, 10, "a");
  world.streams.open(world.writer, {.caller = {.token_id = "t", .tenant = tenant}});
  CHECK(world.service.journal.pages_read == 1);
  int turns = 0;
  while (!world.turns.empty()) {
    CHECK(world.turns.size() == 1);
    world.writer->drain();  // which must not begin a second row of turns
    world.take_turn();
    CHECK(world.service.journal.pages_read == ++turns + 1);
  }
  CHECK(turns == 4);  // 256 each, and one that finds nothing more
  CHECK(world.got() == (tenant == "a" ? up_to(1'000) : std::vector<EventSeq>{}));
}

TEST_CASE("large events wait in the journal, not in memory, and all arrive") {
  World world;
  const std::size_t large = 100'000;
  world.keep(40, large);
  world.streams.open(world.writer, {.caller = {.token_id = "t"}});
  for (int drains = 0; world.got().size() < 40; ++drains) {
    REQUIRE(drains < 100);
    while (!world.turns.empty()) world.take_turn();
    world.writer->drain();
  }
  CHECK(world.got() == up_to(40));
  CHECK(world.writer->most_waiting < 256U * 1024U + 2 * large);
}

TEST_CASE("streams are heard from before the first one reads the journal until the last one is closed") {
  World world;
  CHECK_FALSE(world.streams.is_heard());
  const auto other = std::make_shared<KeptWriter>();
  world.service.journal.on_read = [&] { CHECK(world.streams.is_heard()); };
  for (const auto& writer : {world.writer, other}) world.streams.open(writer, {.caller = {.token_id = "t"}});
  CHECK(world.service.journal.pages_read == 2);
  for (const auto& writer : {world.writer, other}) {
    CHECK(world.streams.is_heard());
    writer->is_open = false;
    writer->closed();
  }
  CHECK_FALSE(world.streams.is_heard());
}

TEST_CASE("what happens while a reader catches up comes once, in its place") {
  World world;
  world.keep(300, 10);
  world.streams.open(world.writer, {.caller = {.token_id = "t"}});
  world.keep(1, 10);
  world.streams.publish({world.service.journal.kept.back()});  // it is in the journal already, as always
  while (!world.turns.empty()) world.take_turn();
  world.keep(1, 10);
  world.streams.publish({world.service.journal.kept.back()});
  CHECK(world.got() == up_to(302));
}

TEST_CASE("a heartbeat tells a reader of a few events up to where there were no others for it") {
  World world;
  world.streams.open(world.writer, {.node = NodeId(7), .caller = {.token_id = "t"}});
  world.keep(3, 10);
  world.streams.publish(world.service.journal.kept);
  world.streams.beat();
  CHECK(world.writer->text.ends_with("\n\nid: 3\n: beat\n\n"));
  CHECK(world.got() == std::vector<EventSeq>{3});
}

}  // namespace
}  // namespace tidepool::live::http
