// How a real schedulerd starts, refuses to start, and stops.
#include <signal.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "schedulerd/live/store/sqlite.hpp"
#include "tests/support/daemon_process.hpp"
#include "tests/support/live_job.hpp"

namespace tidepool::test {
namespace {

constexpr const char* kJob =
    R"({"name":"NAME","run":{"trainer":"charlm","args":{"data":["README.md"]}},"resources":{}})";

nlohmann::json job_called(const std::string& name) {
  auto job = nlohmann::json::parse(kJob);
  job["name"] = name;
  return job;
}

std::string token_in(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  return token;
}

// A port that is listened on already.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { ::close(socket_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  [[nodiscard]] std::string text() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

void check_refused(DaemonProcess& daemon, int exit_code, const std::string& words) {
  CHECK_FALSE(daemon.wait_ready());
  CHECK(daemon.wait_exit() == exit_code);
  INFO(daemon.errors());
  CHECK(daemon.errors().find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("the first start says where it serves, and in which file the token is; the next one does not") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  for (const bool first : {true, false}) {
    DaemonProcess daemon(folder, {});
    INFO(daemon.errors());
    REQUIRE(daemon.wait_ready());
    CHECK_FALSE(daemon.ready().contains("token"));
    CHECK(daemon.ready().contains("token_file") == first);
    CHECK(daemon.ready().at("dashboard").get<std::string>().starts_with("http://127.0.0.1:"));
    CHECK(daemon.client().get("/v1/jobs").status == 200);
    CHECK(HttpClient(daemon.ready().at("url"), "tp_wrong_token").get("/v1/jobs").status == 401);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait_exit() == 0);
    INFO(daemon.errors());
    CHECK(daemon.errors().find("tp_") == std::string::npos);
  }
}

TEST_CASE("a configuration is checked beside the daemon that serves, and nothing is made for it") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  const std::string file = (folder / "pool.yaml").string();
  const auto checked = [&](const std::string& text, int exit_code, const std::string& words) {
    std::ofstream(file) << text;
    DaemonProcess check(folder, {.arguments = {"--check-config", "--config", file}});
    check_refused(check, exit_code, words);
  };
  checked("retention: {age: 7d}\n", 0, "");
  CHECK_FALSE(std::filesystem::exists(folder / "state"));
  DaemonProcess daemon(folder, {});
  REQUIRE(daemon.wait_ready());
  checked("retention: {age: 7d}\n", 0, "");
  checked("retentoin: {age: 7d}\n", 2, "did you mean \"retention\"?");
  checked("tls: {certificate: /nowhere.pem, key: /nowhere.key}\n", 2, "tls.certificate: cannot read /nowhere.pem");
  CHECK(daemon.client().get("/v1/jobs").status == 200);
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_exit() == 0);
}

TEST_CASE("a start that finds no valid token of an admin makes a new one") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  std::string first;
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    first = token_in(daemon.ready().at("token_file"));
    const std::string url = daemon.ready().at("url");
    const nlohmann::json asked = {{"name", "short"}, {"role", "admin"}, {"lifetime", "3s"}};
    const std::string brief = daemon.client().post("/v1/tokens", asked).json().at("token");
    const std::string path = "/v1/tokens/" + first.substr(3, first.rfind('_') - 3);
    CHECK(daemon.client().send("DELETE", path, "", {}).status == 200);
    CHECK(eventually([&] { return HttpClient(url, brief).get("/v1/jobs").status == 401; }));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait_exit() == 0);
  }
  DaemonProcess daemon(folder, {});
  REQUIRE(daemon.wait_ready());
  const std::string made = token_in(daemon.ready().at("token_file"));
  CHECK(made != first);
  CHECK(HttpClient(daemon.ready().at("url"), made).get("/v1/jobs").status == 200);
  CHECK(daemon.client().get("/v1/jobs").status == 200);  // with the one in admin.token
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_exit() == 0);
}

TEST_CASE("all configuration errors are told at once and exit with 2") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  DaemonProcess daemon(folder, {.arguments = {"--listen", "0.0.0.0:1", "--policy", "nonsense"}, .free_port = false});
  CHECK_FALSE(daemon.wait_ready());
  CHECK(daemon.wait_exit() == 2);
  CHECK(daemon.errors().find("not a loopback address") != std::string::npos);
  CHECK(daemon.errors().find("nonsense is no policy") != std::string::npos);
}

TEST_CASE("a port in use, an unusable state directory and a second daemon are refused in words") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  const TakenPort port;
  DaemonProcess on_port(folder, {.arguments = {"--listen", port.text()}, .free_port = false});
  check_refused(on_port, 2, "another program listens on " + port.text());
  DaemonProcess elsewhere(folder, {.arguments = {"--tls", "--listen", "192.0.2.1:7480"}, .free_port = false});
  check_refused(elsewhere, 2, "cannot listen on 192.0.2.1:7480: this machine has no such address");
  CHECK_FALSE(std::filesystem::exists(folder / "state"));

  std::ofstream(folder / "file") << "not a directory";
  DaemonProcess on_file(folder, {.state_dir = (folder / "file").string()});
  check_refused(on_file, 2, "is not a directory");
  DaemonProcess unwritable(folder, {.state_dir = "/proc/tidepool-state"});
  check_refused(unwritable, 2, "cannot use the state directory /proc/tidepool-state");
  const std::string deep = (folder / std::string(100, 'd')).string();
  DaemonProcess long_path(folder, {.state_dir = deep});
  check_refused(long_path, 2, "choose a shorter --state-dir");

  DaemonProcess first(folder, {});
  REQUIRE(first.wait_ready());
  DaemonProcess second(folder, {});
  check_refused(second, 2, "belongs to a running schedulerd (process " + std::to_string(first.pid()) + ")");
  CHECK(first.client().get("/v1/jobs").status == 200);
}

TEST_CASE("a copy that SQLite wrote while the daemon ran is restored as the documents say") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  const std::filesystem::path state = folder / "state";
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    REQUIRE(daemon.client().post("/v1/jobs", job_called("kept")).status == 201);
    const std::string copy = "VACUUM INTO '" + (folder / "copy.db").string() + "'";
    REQUIRE(live::Database::open((state / "journal.db").string(), {})->execute(copy.c_str()).ok());
    REQUIRE(daemon.client().post("/v1/jobs", job_called("later")).status == 201);
    daemon.signal(SIGTERM);
    REQUIRE(daemon.wait_exit() == 0);
  }
  std::filesystem::copy_file(folder / "copy.db", state / "journal.db",
                             std::filesystem::copy_options::overwrite_existing);
  for (const char* of_later : {"journal.db-wal", "journal.db-shm"}) std::filesystem::remove(state / of_later);
  DaemonProcess marked(folder, {});
  check_refused(marked, 3, "journal.db.mark, which is of a later time");
  std::filesystem::remove(state / "journal.db.mark");
  DaemonProcess restored(folder, {});
  REQUIRE(restored.wait_ready());
  CHECK(restored.client().get("/v1/jobs/job-1").status == 200);
  CHECK(restored.client().get("/v1/jobs/job-2").status == 404);
}

TEST_CASE("a state directory that has lost its identity is refused, and gets no other one") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    daemon.signal(SIGTERM);
    REQUIRE(daemon.wait_exit() == 0);
  }
  const std::filesystem::path identity = folder / "state/cluster.id";
  std::filesystem::rename(identity, folder / "kept");
  DaemonProcess without(folder, {});
  check_refused(without, 2, "cluster.id is missing");
  CHECK_FALSE(std::filesystem::exists(identity));
  std::filesystem::rename(folder / "kept", identity);
  DaemonProcess again(folder, {});
  CHECK(again.wait_ready());
}

TEST_CASE("a first start that its configuration ends is done again in the same directory") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "state");  // as a service's, which the daemon does not remove
  std::filesystem::permissions(folder / "state", std::filesystem::perms::owner_all);
  const std::string file = (folder / "pool.yaml").string();
  std::ofstream(file) << "tls: {certificate: /nowhere.pem, key: /nowhere.key}\n";
  DaemonProcess wrong(folder, {.arguments = {"--config", file}});
  check_refused(wrong, 2, "cannot read /nowhere.pem");
  DaemonProcess again(folder, {});
  CHECK(again.wait_ready());
}

TEST_CASE("a state directory that has lost its journal is refused, and gets no empty one") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    daemon.signal(SIGTERM);
    REQUIRE(daemon.wait_exit() == 0);
  }
  const std::filesystem::path journal = folder / "state/journal.db";
  std::filesystem::rename(journal, folder / "kept");
  std::filesystem::remove(folder / "state/journal.db.mark");
  DaemonProcess without(folder, {});
  check_refused(without, 2, "journal.db is missing");
  CHECK_FALSE(std::filesystem::exists(journal));
  std::filesystem::rename(folder / "kept", journal);
  DaemonProcess again(folder, {});
  CHECK(again.wait_ready());
}

TEST_CASE("a damaged journal is refused with exit code 3 and left as it is") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    REQUIRE(daemon.client().post("/v1/jobs", job_called("kept")).status == 201);
    daemon.signal(SIGKILL);
    CHECK(daemon.wait_exit() == -SIGKILL);
  }
  // The rows are in the log; without it the file ends too early.
  std::filesystem::rename(folder / "state/journal.db-wal", folder / "wal");
  DaemonProcess daemon(folder, {});
  check_refused(daemon, 3, "was acknowledged");
  std::filesystem::rename(folder / "wal", folder / "state/journal.db-wal");
  std::filesystem::remove(folder / "state/journal.db-shm");
  DaemonProcess mended(folder, {});
  REQUIRE(mended.wait_ready());
  CHECK(mended.client().get("/v1/jobs/job-1").status == 200);
}

TEST_CASE("a clock far from the journal's newest entry is refused after a boot, until it is accepted") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  const auto one_life = [&](std::vector<std::string> arguments) {
    DaemonProcess daemon(folder, {.arguments = std::move(arguments)});
    REQUIRE(daemon.wait_ready());
    daemon.signal(SIGTERM);
    REQUIRE(daemon.wait_exit() == 0);
  };
  // As if the machine had booted since, with a clock that has gone so many days.
  const auto boot_after = [&](int days) {
    const std::string sql =
        "UPDATE clock SET boot_id='another',wall_us=wall_us-(" + std::to_string(days) + ")*86400000000";
    const std::string journal = (folder / "state/journal.db").string();
    REQUIRE(live::Database::open(journal, {})->execute(sql.c_str()).ok());
  };
  one_life({});
  boot_after(21);
  one_life({});
  boot_after(2'000);
  DaemonProcess ahead(folder, {});
  check_refused(ahead, 2, "2000 days after the newest entry of the journal");
  one_life({"--accept-clock"});
  one_life({});
  boot_after(-50);
  DaemonProcess behind(folder, {});
  check_refused(behind, 2, "--accept-clock");
}

TEST_CASE("a full disk ends the daemon with exit code 3, and every acknowledged job is there afterwards") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  int acknowledged = 0;
  {
    DaemonProcess daemon(folder, {.file_bytes_max = 2'000'000});
    INFO(daemon.errors());
    REQUIRE(daemon.wait_ready());
    HttpClient client = daemon.client();
    for (int i = 1; i <= 1'000; ++i) {
      if (client.post("/v1/jobs", job_called("j" + std::to_string(i))).status != 201) break;
      acknowledged = i;
    }
    CHECK(acknowledged > 10);
    CHECK(acknowledged < 1'000);
    CHECK(daemon.wait_exit() == 3);
    INFO(daemon.errors());
    CHECK(daemon.errors().find("disk") != std::string::npos);
  }
  DaemonProcess next(folder, {});
  REQUIRE(next.wait_ready());
  HttpClient client = next.client();
  for (int i = 1; i <= acknowledged; ++i) {
    INFO("job-" << i << " of " << acknowledged);
    REQUIRE(client.get("/v1/jobs/job-" + std::to_string(i)).status == 200);
  }
}

TEST_CASE("a repeated submission with one key is one job, also over a kill") {
  if (!built_program("schedulerd")) return;
  const TemporaryFolder folder;
  const std::vector<std::string> key = {"Idempotency-Key: once"};
  std::string first;
  {
    DaemonProcess daemon(folder, {});
    REQUIRE(daemon.wait_ready());
    const auto reply = daemon.client().post("/v1/jobs", job_called("a"), key);
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    first = reply.json().at("id");
    daemon.signal(SIGKILL);
    CHECK(daemon.wait_exit() == -SIGKILL);
  }
  DaemonProcess daemon(folder, {});
  REQUIRE(daemon.wait_ready());
  HttpClient client = daemon.client();
  CHECK(client.post("/v1/jobs", job_called("a"), key).json().at("id") == first);
  CHECK(client.post("/v1/jobs", job_called("b"), key).status == 409);
  CHECK(client.get("/v1/jobs").json().at("items").size() == 1);
}

namespace {

// Two workers that step until they are stopped.
void start_training(const TemporaryFolder& folder, HttpClient client) {
  REQUIRE(client.post("/v1/jobs", job_on(folder, 1'000'000)).status == 201);
  REQUIRE(eventually([&] { return workers_of(folder).size() == 2; }));
  REQUIRE(reaches_step(client, 2));
}

HttpClient client_of(const DaemonProcess& daemon) {
  return {daemon.ready().at("url").get<std::string>(), daemon.ready().at("token").get<std::string>()};
}

struct DevDaemon {
  TemporaryFolder folder;
  Cleanup cleanup{folder};
  DaemonProcess daemon{folder, {.arguments = {"--dev", "--local-slots", "2"}, .temporary = true}};

  void start() {
    INFO(daemon.errors());
    REQUIRE(daemon.wait_ready());
    start_training(folder, client_of(daemon));
  }
  // Neither the agent nor a worker.
  [[nodiscard]] bool leaves_nothing() const {
    return eventually([&] { return processes_with(folder.path().string()).empty(); }, 30);
  }
};

}  // namespace

TEST_CASE("a daemon on a temporary state ends with its agent and its workers") {
  if (!programs_are_built()) return;
  for (const int signal : {SIGTERM, SIGINT}) {
    DevDaemon dev;
    dev.start();
    dev.daemon.signal(signal);
    CHECK(dev.daemon.wait_exit() == 0);
    CHECK(processes_with(dev.folder.path().string()).empty());  // they ended before the daemon did
    INFO(dev.daemon.errors());
    CHECK(dev.daemon.errors().find("stopping 2 workers of job-1") != std::string::npos);
  }
}

TEST_CASE("the agent and the workers of a temporary state end, too, when the daemon is killed") {
  if (!programs_are_built()) return;
  DevDaemon dev;
  dev.start();
  dev.daemon.signal(SIGKILL);
  CHECK(dev.daemon.wait_exit() == -SIGKILL);
  CHECK(dev.leaves_nothing());
}

TEST_CASE("a daemon on a lasting state says which workers go on and how to end them") {
  if (!programs_are_built()) return;
  const TemporaryFolder folder;
  const Cleanup cleanup{folder};
  DaemonProcess daemon(folder, {.arguments = {"--local-slots", "2"}});
  REQUIRE(daemon.wait_ready());
  start_training(folder, daemon.client());
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_exit() == 0);
  CHECK(workers_of(folder).size() == 2);
  const std::string said = daemon.errors();
  INFO(said);
  CHECK(said.find("left training without the daemon: 2 workers of job-1. ") != std::string::npos);
  CHECK(said.find("--state-dir " + (folder / "state").string()) != std::string::npos);
  CHECK(said.find("schedctl cancel JOB") != std::string::npos);
}

}  // namespace tidepool::test
