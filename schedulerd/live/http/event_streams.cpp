#include "schedulerd/live/http/event_streams.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

constexpr int kPage = 256;                           // events read from the journal at once
constexpr std::size_t kWaitingBytes = 256U * 1024U;  // for one reader; beyond it events wait in the journal

}  // namespace

struct EventStreams::Client {
  std::shared_ptr<StreamWriter> writer;
  StreamRequest request;
  EventSeq last = 0;  // every event up to here has been given or was not for this reader
  bool catching_up = true;
  bool has_turn = false;  // its next page is going to be read
};

void EventStreams::open(std::shared_ptr<StreamWriter> writer, StreamRequest request) {
  auto client = std::make_shared<Client>();
  client->writer = std::move(writer);
  client->last = request.after;
  client->request = std::move(request);
  clients_.push_back(client);
  is_heard_ = true;  // before it reads the journal
  const std::weak_ptr<Client> weak = client;
  client->writer->on_drained([this, weak] {
    const auto drained = weak.lock();
    if (drained && drained->catching_up && !drained->has_turn) catch_up(drained);
  });
  client->writer->on_closed([this] { forget_closed(); });
  const EventSeq latest = parts_.service.published()->as_of_seq;
  const EventSeq oldest = parts_.service.history().oldest_event();
  if (client->last > latest || client->last + 1 < oldest) reset(*client, oldest, latest);
  if (!client->request.ndjson) client->writer->write(std::string(": stream of events\n\n"));
  catch_up(client);
  parts_.metrics.set_streams(clients_.size());
}

// Reads a page, and the next one in another turn, so that a client far behind holds up no other. Once enough waits to
// be sent to it, reading goes on when that is sent.
void EventStreams::catch_up(const std::shared_ptr<Client>& client) {
  const auto has_room = [&] { return client->writer->open() && client->writer->queued() < kWaitingBytes; };
  if (!has_room()) return;
  const auto& request = client->request;
  const auto page = parts_.service.history().events(
      {.after = client->last, .job = request.job, .node = request.node, .limit = kPage});
  client->catching_up = !page.empty();
  for (const auto& event : page) {
    if (!has_room()) return;
    deliver(*client, event);
  }
  if (!client->catching_up) return;
  client->has_turn = true;
  parts_.later([this, weak = std::weak_ptr(client)] {
    const auto behind = weak.lock();
    if (!behind) return;
    behind->has_turn = false;
    if (behind->catching_up) catch_up(behind);
  });
}

void EventStreams::deliver(Client& client, const core::Event& event) {
  client.last = event.seq;
  if (client.request.job && event.job != client.request.job) return;
  if (client.request.node && event.node != client.request.node) return;
  const auto seen = parts_.service.published();
  parts_.authenticator.place(client.request.caller, seen->state.tenants);
  const nlohmann::json rendered = render_event({*seen, client.request.caller, parts_.service.history()}, event);
  if (rendered.is_null()) return;
  const std::string line = canonical_json(rendered);
  if (client.request.ndjson) {
    client.writer->write(line + "\n");
  } else {
    client.writer->write("id: " + std::to_string(event.seq) + "\nevent: " + event.type + "\ndata: " + line + "\n\n");
  }
}

void EventStreams::reset(Client& client, EventSeq oldest, EventSeq latest) {
  client.last = latest;
  parts_.metrics.count_reset();
  const nlohmann::json data = {{"oldest_seq", oldest}, {"latest_seq", latest}};
  if (client.request.ndjson) {
    client.writer->write(canonical_json({{"type", "reset"}, {"data", data}}) + "\n");
  } else {
    client.writer->write("id: " + std::to_string(latest) + "\nevent: reset\ndata: " + canonical_json(data) + "\n\n");
  }
}

void EventStreams::publish(const std::vector<core::Event>& events) {
  const auto clients = clients_;
  for (const auto& client : clients) {
    for (const auto& event : events) {
      if (client->catching_up || event.seq <= client->last) continue;
      if (client->writer->queued() >= kWaitingBytes) {
        client->catching_up = true;  // goes on from the journal once it has read what waits for it
        continue;
      }
      const bool reads_all = !client->request.job && !client->request.node;
      if (event.seq > client->last + 1 && reads_all) {
        client->catching_up = true;
        catch_up(client);  // a hole: the journal has what was missed
        if (!client->catching_up && client->last < event.seq) {
          reset(*client, parts_.service.history().oldest_event(), event.seq);
        }
        continue;
      }
      deliver(*client, event);
    }
  }
}

void EventStreams::beat() {
  const auto clients = clients_;
  for (const auto& client : clients) {
    if (parts_.authenticator.expired(client->request.caller)) {
      client->writer->finish();
    } else {
      const std::string number = "id: " + std::to_string(client->last) + "\n";
      client->writer->write(client->request.ndjson ? std::string("\n") : number + ": beat\n\n");
    }
  }
}

void EventStreams::drop_token(const std::string& token_id) {
  const auto clients = clients_;
  for (const auto& client : clients) {
    if (client->request.caller.token_id == token_id) client->writer->finish();
  }
}

void EventStreams::forget_closed() {
  std::erase_if(clients_, [](const auto& client) { return !client->writer->open(); });
  is_heard_ = !clients_.empty();
  parts_.metrics.set_streams(clients_.size());
}

}  // namespace tidepool::live::http
