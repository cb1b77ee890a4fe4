#include "schedulerd/live/http/server/answer_channel.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tidepool::live::http {
namespace {

struct Heard final : AnswerSink {
  std::vector<int> answers;
  std::vector<std::string> pieces;
  bool open = false;
  std::function<void()> drained;
  std::function<void()> closed;

  void answer(HttpResponse response) override { answers.push_back(response.status); }
  void begin_stream(HttpResponse head) override { open = head.status == 200; }
  bool push(std::shared_ptr<const std::string> piece) override {
    pieces.push_back(*piece);
    return open;
  }
  void finish_stream() override { open = false; }
  [[nodiscard]] bool stream_open() const override { return open; }
  [[nodiscard]] std::size_t queued() const override { return pieces.size(); }
  void call_when_drained(std::function<void()> callback) override { drained = std::move(callback); }
  void call_when_closed(std::function<void()> callback) override { closed = std::move(callback); }
};

HttpResponse response_of(int status) {
  HttpResponse response;
  response.status = status;
  return response;
}

struct Scene {
  std::shared_ptr<Listener> server = std::make_shared<Listener>(
      HttpOptions{}, [](const HttpRequest&, const Responder&) {},
      [](const Refusal& refusal, const std::string&) { return response_of(refusal.status); });
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();

  [[nodiscard]] std::shared_ptr<Responder::Channel> channel() const {
    return make_answer_channel(server, heard, "req-1");
  }
};

}  // namespace

TEST_CASE("an answer reaches the connection on the I/O thread, and is the only one") {
  const Scene scene;
  scene.channel()->send(response_of(201));
  CHECK(scene.heard->answers.empty());
  scene.server->io.poll();
  CHECK(scene.heard->answers == std::vector{201});
}

TEST_CASE("a request that nobody answers is answered with status 500") {
  const Scene scene;
  static_cast<void>(scene.channel());
  scene.server->io.poll();
  CHECK(scene.heard->answers == std::vector{500});
}

TEST_CASE("an answer to a connection that is gone, or of a server that is gone, is dropped") {
  Scene scene;
  const auto late = scene.channel();
  scene.heard.reset();
  late->send(response_of(200));
  scene.server->io.poll();

  scene.heard = std::make_shared<Heard>();
  const auto later = scene.channel();
  scene.server.reset();
  later->send(response_of(200));
  CHECK(scene.heard->answers.empty());
}

TEST_CASE("a stream passes its pieces on, and ends with its writer") {
  const Scene scene;
  auto writer = scene.channel()->stream(response_of(200));
  CHECK(writer->open());
  CHECK(writer->write("one"));
  CHECK(writer->write("two"));
  CHECK(scene.heard->pieces == std::vector<std::string>{"one", "two"});
  CHECK(writer->queued() == 2);
  bool told = false;
  writer->on_closed([&told] { told = true; });
  scene.heard->closed();
  CHECK(told);

  writer.reset();
  CHECK_FALSE(scene.heard->open);
  scene.server->io.poll();
  CHECK(scene.heard->answers.empty());
}

}  // namespace tidepool::live::http
