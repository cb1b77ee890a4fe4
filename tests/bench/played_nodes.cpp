#include "tests/bench/played_nodes.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

namespace tidepool::bench {

namespace asio = boost::asio;

// One node's connection to the daemon.
class PlayedNodes::Link {
 public:
  Link(PlayedNodes& owner, const std::filesystem::path& state_dir, api::AgentHello hello)
      : owner_(owner), socket_(owner.context_), heartbeat_(owner.context_) {
    socket_.connect(asio::local::stream_protocol::endpoint(state_dir / "agent.sock"));
    std::ifstream(state_dir / "agent.token") >> hello.token;
    say(std::move(hello));
    read();
  }

  void say(const api::AgentToDaemon& message) {
    waiting_ += api::encode(message);
    if (writing_.empty()) write();
  }
  void beat_every(std::chrono::milliseconds every) {
    heartbeat_.expires_after(every);
    heartbeat_.async_wait([this, every](const boost::system::error_code& error) {
      if (error) return;
      say(api::AgentHeartbeat{});
      beat_every(every);
    });
  }

 private:
  void write() {
    writing_ = std::exchange(waiting_, {});
    asio::async_write(socket_, asio::buffer(writing_), [this](const boost::system::error_code& error, std::size_t) {
      writing_.clear();
      if (!error && !waiting_.empty()) write();
    });
  }

  void read() {
    socket_.async_read_some(asio::buffer(bytes_), [this](const boost::system::error_code& error, std::size_t count) {
      if (error || !lines_.append({bytes_.data(), count}).ok()) return;
      std::string line;
      while (lines_.next(line)) take(line);
      read();
    });
  }

  void take(const std::string& line) {
    const auto message = api::decode_daemon_to_agent(line);
    if (!message.ok()) throw std::runtime_error("the daemon sent: " + line);
    std::visit(
        [this](const auto& any) {
          if constexpr (requires { owner_.on(*this, any); }) owner_.on(*this, any);
        },
        *message);
  }

  PlayedNodes& owner_;
  asio::local::stream_protocol::socket socket_;
  asio::steady_timer heartbeat_;
  std::array<char, 65'536> bytes_{};
  api::LineBuffer lines_;
  std::string waiting_;  // to be written after what is being written
  std::string writing_;
};

PlayedNodes::PlayedNodes(const std::filesystem::path& state_dir, Shape shape, std::function<void(std::size_t)> begun)
    : begun_(std::move(begun)) {
  for (int i = 1; i <= shape.nodes; ++i) {
    links_.push_back(std::make_unique<Link>(*this, state_dir,
                                            api::AgentHello{.node = "node-" + std::to_string(i),
                                                            .slots = shape.slots,
                                                            .slot_type = "cpu",
                                                            .price_per_slot_hour = "1.00"}));
  }
  const auto until = Clock::now() + std::chrono::seconds(30);
  while (welcome_ < shape.nodes && Clock::now() < until) context_.run_one_until(until);
  if (welcome_ < shape.nodes) throw std::runtime_error("the daemon has not welcomed all nodes");
  thread_ = std::thread([this] { context_.run(); });
}

PlayedNodes::~PlayedNodes() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

void PlayedNodes::on(Link& link, const api::AgentWelcome& welcome) {
  ++welcome_;
  link.beat_every(std::chrono::milliseconds(welcome.heartbeat_ms));
}

void PlayedNodes::on(Link& link, const api::StartWorker& order) {
  workers_[order.worker] = {.link = &link, .job = order.job};
  Run& run = runs_[order.job];
  run.length = std::chrono::milliseconds(std::stoll(order.argv.at(0)));
  run.number = std::stoull(order.argv.at(1));
  say(order.worker, api::ReadyMessage{});
}

void PlayedNodes::on(Link&, const api::StopWorker& order) {
  if (!workers_.contains(order.worker)) return;
  runs_[workers_.at(order.worker).job].members.clear();
  ++ended_early_;
  exit(order.worker);
}

void PlayedNodes::on(Link&, const api::ToWorkerOrder& order) {
  if (!workers_.contains(order.worker)) return;  // it has exited meanwhile
  if (const auto* generation = std::get_if<api::GenerationMessage>(&order.message)) {
    if (generation->members.empty()) {
      park(order.worker);
    } else {
      join(order.worker, *generation);
    }
  } else if (const auto* addresses = std::get_if<api::AddressesMessage>(&order.message)) {
    begin(order.worker, *addresses);
  }
}

void PlayedNodes::join(WorkerId worker, const api::GenerationMessage& generation) {
  const auto self = std::find(generation.members.begin(), generation.members.end(), worker);
  if (self == generation.members.end()) return;
  Worker& joining = workers_.at(worker);
  joining.generation = generation.number;
  runs_[joining.job].members = generation.members;
  const auto rank = static_cast<int>(self - generation.members.begin());
  say(worker, api::AddressMessage{generation.number, rank, worker.text()});
}

// Rank 0 says that the state is kept; nothing is kept, so the job runs whole when it is started again.
void PlayedNodes::park(WorkerId worker) {
  const Worker& leaving = workers_.at(worker);
  Run& run = runs_[leaving.job];
  if (!run.members.empty() && run.members.front() == worker) {
    say(worker, api::ParkedMessage{.generation = leaving.generation, .step = 1});
    run.members.clear();
  }
  ++ended_early_;
  exit(worker);
}

// Rank 0 speaks for all.
void PlayedNodes::begin(WorkerId worker, const api::AddressesMessage& addresses) {
  const JobId job = workers_.at(worker).job;
  Run& run = runs_[job];
  if (run.members.empty() || run.members.front() != worker) return;
  say(worker, api::SwitchedMessage{.generation = addresses.generation});
  begun_(run.number);
  run.timer = std::make_unique<asio::steady_timer>(context_, run.length);
  run.timer->async_wait([this, job, generation = addresses.generation](const boost::system::error_code& error) {
    if (!error) finish(job, generation);
  });
}

// Unless its workers have been told to leave meanwhile, or those of a later generation run.
void PlayedNodes::finish(JobId job, GenerationNumber generation) {
  const std::vector<WorkerId> members = runs_.at(job).members;
  if (members.empty() || workers_.at(members.front()).generation != generation) return;
  say(members.front(), api::FinishedMessage{.last_step = 1, .loss = 0, .samples_total = 1});
  for (const WorkerId member : members) exit(member);
  runs_.erase(job);
  ++finished_;
}

void PlayedNodes::say(WorkerId worker, api::FromWorker message) {
  workers_.at(worker).link->say(api::FromWorkerReport{.worker = worker, .message = std::move(message)});
}

void PlayedNodes::exit(WorkerId worker) {
  workers_.at(worker).link->say(api::WorkerExitedReport{.report = ++reports_, .worker = worker, .exit_code = 0});
  workers_.erase(worker);
}

}  // namespace tidepool::bench
