// A job's captured output, a page at a time or followed to its end.
#include <algorithm>
#include <memory>

#include "base/byte_size.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/paging.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::int64_t kLogBytes = 65'536;  // of one page; the agent gives no more at once

bool holds(const core::Job& job, WorkerId worker) {
  return std::find(job.membership.workers.begin(), job.membership.workers.end(), worker) !=
         job.membership.workers.end();
}

// The worker that ?worker= names, if it is or was the job's; without it rank 0's, or the job's first one once all are
// gone.
Result<WorkerId> chosen_worker(Rest& rest, const Call& call, const core::Job& job) {
  const std::string text = call.query("worker");
  if (text.empty()) {
    if (!job.membership.members.empty()) return job.membership.members.front();
    if (!job.membership.workers.empty()) return job.membership.workers.front();
    if (const auto past = rest.service().history().first_worker(job.id)) return *past;
    return not_found(call.id + " has had no worker yet, so there is no output");
  }
  const auto worker = WorkerId::parse(text);
  if (worker && (holds(job, *worker) || rest.service().history().job_of(*worker) == job.id)) return *worker;
  return not_found(call.id + " has no worker " + text);
}

// Reads on until the worker has ended or the client has gone. Owned by the callbacks that it waits for.
class LogFollower : public std::enable_shared_from_this<LogFollower> {
 public:
  struct Place {
    WorkerId worker;
    std::int64_t offset = 0;
  };
  LogFollower(const std::shared_ptr<Rest>& rest, std::shared_ptr<StreamWriter> writer, Caller caller, Place place)
      : rest_(rest), writer_(std::move(writer)), caller_(std::move(caller)), place_(place) {}

  void read() {
    const auto rest = rest_.lock();
    if (!rest || !goes_on(*rest)) return;
    rest->service().read_log(place_.worker, place_.offset, kLogBytes,
                             [self = shared_from_this()](Result<LogPage> page) {
                               const auto alive = self->rest_.lock();
                               if (!alive) return;
                               alive->io().post([self, page = std::move(page)] { self->take(page); });
                             });
  }

 private:
  // It ends with the caller's token.
  [[nodiscard]] bool goes_on(Rest& rest) {
    if (!writer_->open()) return false;
    if (!rest.authenticator().ended(caller_)) return true;
    writer_->finish();
    return false;
  }

  void take(const Result<LogPage>& page) {
    const auto rest = rest_.lock();
    if (!rest || !goes_on(*rest)) return;
    if (!page) {
      writer_->write("\n[the log ends here: " + page.error().message + "]\n");
      return writer_->finish();
    }
    print_dropped(*page);
    const bool moved = page->next_offset > place_.offset && place_.offset >= 0;
    place_.offset = page->next_offset;
    if (!page->data.empty()) writer_->write(page->data);
    if (page->eof) return writer_->finish();
    const bool reader_keeps_up = writer_->queued() == 0;
    if (moved && reader_keeps_up) return read();
    rest->io().after(rest->options().log_poll, [self = shared_from_this()] { self->read_when_drained(); });
  }

  void print_dropped(const LogPage& page) {
    if (place_.offset < 0 || page.offset <= place_.offset) return;
    writer_->write(std::string(place_.offset == 0 ? "" : "\n") + "[older output was dropped (" +
                   rounded_byte_size(page.offset - place_.offset) + ")]\n");
  }

  void read_when_drained() {
    const auto rest = rest_.lock();
    if (!rest || !goes_on(*rest)) return;
    if (writer_->queued() < static_cast<std::size_t>(kLogBytes)) return read();
    rest->io().after(rest->options().log_poll, [self = shared_from_this()] { self->read_when_drained(); });
  }

  std::weak_ptr<Rest> rest_;
  std::shared_ptr<StreamWriter> writer_;
  Caller caller_;
  Place place_;
};

HttpResponse log_response(const LogPage& page, WorkerId worker) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"Cache-Control", "no-store"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Tidepool-Worker", worker.text()},
                      {"Tidepool-Offset", std::to_string(page.offset)},
                      {"Tidepool-Next-Offset", std::to_string(page.next_offset)},
                      {"Tidepool-Log-End", page.eof ? "true" : "false"}},
          .body = page.data};
}

void reply_page(Rest& rest, Call call, WorkerId worker, std::pair<std::int64_t, std::int64_t> window) {
  rest.service().read_log(worker, window.first, window.second, [call = std::move(call), worker](Result<LogPage> page) {
    if (!page) return call.fail(problem_of(page.error()));
    call.reply(log_response(page.value(), worker));
  });
}

}  // namespace

void job_logs(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job == nullptr) return;
  const auto offset = read_number(call, "offset", {.fallback = 0, .low = INT64_MIN});
  const auto limit = read_number(call, "limit", {.fallback = kLogBytes, .low = 1, .high = kLogBytes});
  const auto follow = read_flag(call, "follow");
  if (!offset) return call.fail(bad_parameter(offset.error()));
  if (!limit) return call.fail(bad_parameter(limit.error()));
  if (!follow) return call.fail(bad_parameter(follow.error()));
  const auto worker = chosen_worker(rest, call, *job);
  if (!worker) {
    const std::string path = "GET /v1/jobs/" + call.id;
    return call.fail({.status = 404,
                      .code = "UnknownWorker",
                      .detail = worker.error().message,
                      .hint = call.query("worker").empty()
                                  ? path + "/explain says why, as does: schedctl why " + call.id
                                  : path + "/workers lists those alive, as does: schedctl get " + call.id});
  }
  if (!follow.value()) return reply_page(rest, std::move(call), worker.value(), {offset.value(), limit.value()});
  const HttpResponse head{.status = 200,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"Cache-Control", "no-store"},
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"Tidepool-Worker", worker.value().text()}},
                          .body = {}};
  auto writer = rest.open_stream(call, head);
  if (writer == nullptr) return;
  std::make_shared<LogFollower>(rest.shared_from_this(), std::move(writer), call.caller,
                                LogFollower::Place{worker.value(), offset.value()})
      ->read();
}

}  // namespace tidepool::live::http
