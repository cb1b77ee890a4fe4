#include <catch2/catch.hpp>
#include <list>

#include "tests/support/rest_fixture.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

std::string stream_request(const RestFixture& fixture, const std::string& query, const std::string& headers = "") {
  return fixture.request({.path = "/v1/events/stream" + query, .token = fixture.admin, .headers = headers});
}

// A heartbeat has a number, too, of the newest event before it.
std::string id_line(EventSeq seq) {
  return "id: " + std::to_string(seq) + "\nevent: ";
}

EventSeq latest(RestFixture& fixture) {
  return fixture.service.published()->as_of_seq;
}

TEST_CASE("a stream gives what was missed and then what happens, each event once") {
  RestFixture fixture;
  fixture.service.join_node(4);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=0"));
  REQUIRE(stream.wait_for(id_line(latest(fixture))));
  const JobId job = fixture.submit();
  fixture.service.run_steps(job, 5);
  const EventSeq last = latest(fixture);
  REQUIRE(stream.wait_for(id_line(last)));
  for (EventSeq seq = 1; seq <= last; ++seq) {
    const auto first = stream.seen().find(id_line(seq));
    INFO("event " << seq << "\n" << stream.seen());
    REQUIRE(first != std::string::npos);
    CHECK(stream.seen().find(id_line(seq), first + 1) == std::string::npos);
  }
  CHECK(stream.seen().find("content-type: text/event-stream") == std::string::npos);
  CHECK(stream.seen().find("Content-Type: text/event-stream") != std::string::npos);
}

TEST_CASE("every event on the stream is what the document describes") {
  RestFixture fixture;
  fixture.service.join_node(4);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=0", "Accept: application/x-ndjson\r\n"));
  const JobId job = fixture.submit();
  fixture.service.run_steps(job, 5);
  REQUIRE(stream.wait_for("\"seq\":" + std::to_string(latest(fixture)) + ","));
  int events = 0;
  for (std::size_t at = stream.seen().find("{"); at != std::string::npos; at = stream.seen().find("\n{", at)) {
    at = stream.seen().find('{', at);
    const auto end = stream.seen().find('\n', at);
    const std::string problem = misfit(json::parse(stream.seen().substr(at, end - at)), "Event");
    INFO(problem);
    CHECK(problem.empty());
    ++events;
  }
  CHECK(events == static_cast<int>(latest(fixture)));
}

TEST_CASE("a reader that comes back with Last-Event-ID goes on where it was") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const JobId job = fixture.submit();
  fixture.service.run_steps(job, 5);
  const EventSeq last = latest(fixture);
  REQUIRE(last > 4);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=1", "Last-Event-ID: " + std::to_string(last - 2) + "\r\n"));
  REQUIRE(stream.wait_for(id_line(last)));
  CHECK(stream.seen().find(id_line(last - 1)) != std::string::npos);
  CHECK(stream.seen().find(id_line(last - 2)) == std::string::npos);
}

TEST_CASE("without a number a stream begins now") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const EventSeq before = latest(fixture);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, ""));
  REQUIRE(stream.wait_for(": stream of events"));
  fixture.submit();
  REQUIRE(stream.wait_for(id_line(before + 1)));
  CHECK(stream.seen().find(id_line(before)) == std::string::npos);
}

TEST_CASE("what is no longer kept, or never was, ends in a reset") {
  RestFixture fixture;
  fixture.service.join_node(4);
  fixture.submit();
  const EventSeq last = latest(fixture);
  fixture.service.drop_events_below(last);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=0"));
  REQUIRE(stream.wait_for("event: reset\n"));
  REQUIRE(stream.wait_for("\"latest_seq\":" + std::to_string(last)));
  CHECK(stream.seen().find(id_line(last)) != std::string::npos);  // so that a reconnect does not reset again
  fixture.submit();
  CHECK(stream.wait_for("event: job.submitted\n"));
  RawConnection ahead(fixture.port);
  ahead.send(stream_request(fixture, "?after=" + std::to_string(latest(fixture) + 5)));
  CHECK(ahead.wait_for("event: reset\n"));
}

TEST_CASE("the reset of a stream of lines is what the document describes") {
  RestFixture fixture;
  fixture.service.join_node(4);
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=1000", "Accept: application/x-ndjson\r\n"));
  REQUIRE(stream.wait_for("\"reset\"}\n"));
  const auto at = stream.seen().find('{');
  CHECK(misfit(json::parse(stream.seen().substr(at, stream.seen().find('\n', at) - at)), "StreamReset").empty());
}

TEST_CASE("HEAD of a stream is its head alone") {
  RestFixture fixture;
  fixture.service.join_node(4);
  RawConnection stream(fixture.port);
  stream.send(fixture.request({.method = "HEAD", .path = "/v1/events/stream?after=0", .token = fixture.admin}));
  REQUIRE(stream.wait_for("\r\n\r\n"));
  CHECK(stream.wait_for_close());
  CHECK(stream.seen().ends_with("\r\n\r\n"));
  CHECK(stream.seen().find("Content-Type: text/event-stream") != std::string::npos);
}

TEST_CASE("a stream of one job holds that job's events only") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const JobId first = fixture.submit();
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=0&job=" + first.text()));
  REQUIRE(stream.wait_for("job.submitted"));
  fixture.submit();
  fixture.service.run_steps(first, 2);
  REQUIRE(stream.wait_for("job.started"));
  CHECK(stream.seen().find("\"job\":\"job-2\"") == std::string::npos);
  CHECK(stream.seen().find("node.joined") == std::string::npos);
}

TEST_CASE("a stream of one node holds that node's events only, of the past and new ones") {
  RestFixture fixture;
  fixture.service.join_node(4);
  fixture.service.join_node(4, "gpu-b");
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, "?after=0&node=gpu-b"));
  REQUIRE(stream.wait_for("node.joined"));
  fixture.submit();
  for (const char* node : {"node-1", "node-2"}) {
    fixture.call({.method = "POST", .path = std::string("/v1/nodes/") + node + "/cordon", .token = fixture.admin});
  }
  REQUIRE(stream.wait_for("node.cordoned"));
  CHECK(stream.seen().find("\"node\":\"node-1\"") == std::string::npos);
  CHECK(stream.seen().find("job.submitted") == std::string::npos);
}

TEST_CASE("a silent stream gets a heartbeat") {
  RestFixture fixture;
  RawConnection stream(fixture.port);
  stream.send(stream_request(fixture, ""));
  CHECK(stream.wait_for(": beat\n\n"));
}

TEST_CASE("a revoked token's stream ends at once") {
  auto options = test_options();
  options.heartbeat = Duration::seconds(3600);
  RestFixture fixture(options);
  const std::string viewer = fixture.service.add_token("viewer");
  RawConnection stream(fixture.port);
  stream.send(fixture.request({.path = "/v1/events/stream", .token = viewer}));
  REQUIRE(stream.wait_for(": stream of events"));
  const std::string id = viewer.substr(3, viewer.rfind('_') - 3);
  fixture.json_of({.method = "DELETE", .path = "/v1/tokens/" + id, .token = fixture.admin});
  CHECK(stream.wait_for_close());
}

// Opens one and gives the status; an open stream stays in `held`.
int open_stream(const RestFixture& fixture, std::list<RawConnection>& held, const std::string& path,
                const std::string& token) {
  auto& connection = held.emplace_back(fixture.port);
  connection.send(fixture.request({.path = path, .token = token}));
  const int status = connection.response(true).status;
  if (status != 200) held.pop_back();
  return status;
}

TEST_CASE("a token has only so many streams and followed logs open, and others are not held up by it") {
  auto options = test_options();
  options.streams_per_token = 2;
  RestFixture fixture(options);
  fixture.service.join_node(4);
  const JobId job = fixture.submit();
  fixture.service.write_log(fixture.service.published()->state.find_job(job)->membership.workers.front(), "x\n", false);
  const std::string logs = "/v1/jobs/" + job.text() + "/logs?follow=true";
  const std::string greedy = fixture.service.add_token("submitter");
  std::list<RawConnection> held;
  REQUIRE(open_stream(fixture, held, "/v1/events/stream", greedy) == 200);
  REQUIRE(open_stream(fixture, held, logs, greedy) == 200);
  for (const std::string& path : {std::string("/v1/events/stream"), logs}) {
    const json refused = fixture.json_of({.path = path, .token = greedy}, 429);
    CHECK(refused.at("code") == "TooManyStreams");
    CHECK(refused.at("hint").get<std::string>().find("ask an admin for a token") != std::string::npos);
  }
  CHECK(fixture.call({.path = "/v1/nodes", .token = greedy}).status == 200);
  CHECK(open_stream(fixture, held, "/v1/events/stream", fixture.admin) == 200);
  held.pop_front();
  bool served = false;
  for (int attempt = 0; attempt < 1'000 && !served; ++attempt) {
    served = open_stream(fixture, held, "/v1/events/stream", greedy) == 200;
  }
  CHECK(served);
}

TEST_CASE("streams leave half of the connections to requests") {
  auto options = test_options();
  options.http.connections = {.all = 8, .kept_for_here = 0, .per_group = 8, .per_group_here = 8};
  RestFixture fixture(options);
  std::list<RawConnection> held;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(open_stream(fixture, held, "/v1/events/stream", fixture.service.add_token("viewer")) == 200);
  }
  CHECK(fixture.json_of({.path = "/v1/events/stream", .token = fixture.admin}, 503).at("code") == "TooManyStreams");
  CHECK(fixture.call({.path = "/v1/nodes", .token = fixture.admin}).status == 200);
}

TEST_CASE("a reader that does not read is cut off, and the others miss nothing") {
  auto options = test_options();
  options.http.write_deadline = Duration::seconds(2);
  RestFixture fixture(options);
  fixture.service.join_node(4);
  const JobId job = fixture.submit();
  fixture.service.run_steps(job, 1);
  RawConnection slow(fixture.port, 4'096);
  slow.send(stream_request(fixture, ""));
  RawConnection quick(fixture.port);
  const EventSeq begin = latest(fixture);
  quick.send(stream_request(fixture, "?after=" + std::to_string(begin)));
  REQUIRE(slow.wait_for(": stream of events"));
  // The kernel takes some megabytes before the server has to keep any itself.
  bool cut = false;
  for (int round = 1; round <= 60'000 && !cut; ++round) {
    fixture.service.run_steps(job, 1);
    if (round % 100 != 0) continue;  // the quick one reads long before its buffers are full
    REQUIRE(quick.wait_for(id_line(latest(fixture))));
    if (round % 1'000 != 0) continue;
    const auto metrics = fixture.call({.path = "/metrics", .token = fixture.admin}).body;
    cut = metrics.find("sched_sse_clients 1\n") != std::string::npos;
  }
  CHECK(cut);
  CHECK(slow.wait_for_close());
  EventSeq expected = begin + 1;
  const std::string mark = "\nid: ";
  for (auto at = quick.seen().find(mark); at != std::string::npos; at = quick.seen().find(mark, at + 1)) {
    const EventSeq seq = std::stoull(quick.seen().substr(at + mark.size(), 20));
    if (quick.seen().compare(at + 1, id_line(seq).size(), id_line(seq)) != 0) continue;
    if (seq != expected) FAIL("event " << expected << " is followed by " << seq);
    ++expected;
  }
  CHECK(expected == latest(fixture) + 1);
}

TEST_CASE("a client that goes away is forgotten") {
  RestFixture fixture;
  {
    RawConnection stream(fixture.port);
    stream.send(stream_request(fixture, ""));
    REQUIRE(stream.wait_for(": stream of events"));
  }
  bool forgotten = false;
  for (int look = 0; look < 1'000 && !forgotten; ++look) {
    const auto metrics = fixture.call({.path = "/metrics", .token = fixture.admin}).body;
    forgotten = metrics.find("sched_sse_clients 0") != std::string::npos;
  }
  CHECK(forgotten);
}

}  // namespace
}  // namespace tidepool::test
