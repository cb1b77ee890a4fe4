// Pilots of Slurm: what is asked of its programs, here stand-ins, and what their answers mean.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "schedulerd/live/providers/child_run.hpp"
#include "schedulerd/live/providers/provider_table.hpp"
#include "schedulerd/live/providers/slurm_provider.hpp"
#include "schedulerd/live/setup/pool_config.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

using core::ProviderFault;
namespace fs = std::filesystem;

// Programs that are found before all others of their names while this lives.
class Programs {
 public:
  Programs() {
    const char* path = std::getenv("PATH");
    if (path != nullptr) before_ = path;
    ::setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1);
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  ~Programs() { ::setenv("PATH", before_.c_str(), 1); }

  // $HERE is the folder in which it may leave what a test reads.
  void put(const std::string& name, const std::string& script) const {
    const fs::path place = folder_ / name;
    std::ofstream(place) << "#!/bin/sh\nHERE=" << folder_.path().string() << "\n" << script << "\n";
    fs::permissions(place, fs::perms::owner_all);
  }
  [[nodiscard]] std::string left(const std::string& name) const { return text_of_file(folder_ / name); }
  [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_ / name); }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

std::unique_ptr<live::NodeProvider> slurm(nlohmann::json settings = {{"start", "agentd"}, {"walltime", "60"}}) {
  return live::make_provider("slurm", {.pool = "pilot",
                                       .cluster = "c-1",
                                       .command = {},
                                       .settings = std::move(settings),
                                       .limit = std::chrono::seconds(60)});
}
live::Provided<live::ProvidedNode> create(live::NodeProvider& provider) {
  return provider.create({.request = "c-1-7", .name = "pilot-1", .slots = 2, .slot_type = ""});
}

}  // namespace

TEST_CASE("pilots are all of the queue that may have a process, with the time that they still have") {
  const auto pilots = live::pilots_in(
      "1|RUNNING|1300|tidepool-c-1-4\n2|PENDING|N/A|tidepool-c-1-5\n3|RUNNING|1300|another\nof two lines|\n"
      "4|CANCELLED|900|tidepool-c-1-6\n5|COMPLETING|990|tidepool-c-1-7\n6|REQUEUED|N/A|tidepool-c-1-8\n"
      "7|RUNNING|NONE|tidepool-c-1-9\n8|RUNNING|990|tidepool-c-1-10\n9|TIMEOUT|990|tidepool-c-1-11\n",
      1000);
  REQUIRE(pilots);
  std::vector<std::string> requests;
  for (const auto& pilot : *pilots) requests.push_back(pilot.id + " " + pilot.request);
  CHECK(requests == std::vector<std::string>{"1 c-1-4", "2 c-1-5", "5 c-1-7", "6 c-1-8", "7 c-1-9", "8 c-1-10"});
  CHECK(pilots->at(0).lifetime == Duration::seconds(300));
  for (const std::size_t none : {1U, 2U, 3U, 4U}) CHECK_FALSE(pilots->at(none).lifetime);
  CHECK(pilots->at(5).lifetime == Duration());
}

TEST_CASE("what squeue prints is a queue, also an empty one, or it is told that it is none") {
  CHECK(live::pilots_in("", 1000)->empty());
  CHECK(live::pilots_in("CLUSTER: north\n", 1000)->empty());
  CHECK(live::pilots_in("CLUSTER: north\n2|PENDING|N/A|tidepool-c-1-5\n", 1000)->size() == 1);
  CHECK_FALSE(live::pilots_in("Maintenance tonight\n", 1000));
  CHECK_FALSE(live::pilots_in("two|PENDING|N/A|tidepool-c-1-5\n", 1000));
}

TEST_CASE("squeue is asked for this user's jobs in all states and partitions, a line each") {
  const Programs programs;
  programs.put("squeue", "echo \"$SLURM_TIME_FORMAT $*\" >$HERE/asked; echo '4|RUNNING|9999999999|tidepool-c-1-7'");
  programs.put("sbatch", "touch $HERE/submitted; echo 5");
  const auto listed = slurm()->list();
  REQUIRE(listed.value);
  CHECK(programs.left("asked") == "%s --me --all --states=all --noheader --format=%A|%T|%e|%j\n");
  REQUIRE(listed.value->size() == 1);
  CHECK(listed.value->front().lifetime > Duration::seconds(3600));
  // A pilot that is there is not submitted again.
  CHECK(create(*slurm()).value->id == "4");
  CHECK_FALSE(programs.has("submitted"));
}

TEST_CASE("a fault of Slurm is told in words, and none of them submits a pilot") {
  const Programs programs;
  programs.put("sbatch", "touch $HERE/submitted; echo 5");
  const auto told = [&](const std::string& script) {
    programs.put("squeue", script);
    const auto created = create(*slurm());
    CHECK_FALSE(created.value);
    const auto listed = slurm()->list();
    CHECK(listed.detail == created.detail);
    return std::pair(listed.fault, listed.detail);
  };
  CHECK(told("yes '4|RUNNING|1|another'") ==
        std::pair(ProviderFault::kGarbage, std::string("squeue: more than 1 MiB of output")));
  CHECK(told("echo oops") ==
        std::pair(ProviderFault::kGarbage, std::string("squeue has told no list of jobs; it printed \"oops\"")));
  CHECK(told("echo first >&2; echo no controller >&2; exit 1") ==
        std::pair(ProviderFault::kRefused, std::string("squeue: no controller")));
  CHECK(told("exit 3") == std::pair(ProviderFault::kRefused, std::string("squeue: exit code 3")));
  CHECK_FALSE(programs.has("submitted"));
}

TEST_CASE("a pilot has the number that sbatch tells, and a text in its place is none") {
  const Programs programs;
  programs.put("squeue", "");
  programs.put("sbatch", "echo '17;north'");
  CHECK(create(*slurm()).value->id == "17");
  programs.put("sbatch", "echo slurm-wlm 22.05.8");
  const auto created = create(*slurm());
  CHECK(created.fault == ProviderFault::kGarbage);
  CHECK(created.detail == "sbatch has told no job id; it printed \"slurm-wlm 22.05.8\"");
  programs.put("sbatch", "kill -TERM $$");
  CHECK(create(*slurm()).fault == ProviderFault::kGarbage);
  CHECK(create(*slurm()).detail == "sbatch: signal 15 has ended it; whether it was done is not known");
}

TEST_CASE("the script of a pilot has what the node is called and has, as sh must read it") {
  CHECK(live::pilot_script("agentd --node {name} --slots {slots} --slot-type {slot_type}",
                           {.request = "r", .name = "gpu-1", .slots = 4, .slot_type = "it's; rm"}) ==
        "#!/bin/sh\nexec agentd --node 'gpu-1' --slots 4 --slot-type 'it'\\''s; rm'\n");
}

TEST_CASE("what starts a pilot is one command, also one that sets variables or runs several") {
  const Programs programs;
  programs.put("agentd", "echo \"$A $$ $*\"");
  programs.put("show", "echo \"$$\"; exec pilot");
  const live::NodeToCreate node{.request = "r", .name = "gpu-1", .slots = 4, .slot_type = "it's; rm"};
  // The agent has the number of the script's process: it hears of what Slurm tells that.
  const auto printed = [&](const std::string& start) {
    programs.put("pilot", live::pilot_script(start, node));
    const auto end = live::run_child({.command = {"show"}, .input = "", .limit = std::chrono::seconds(60)});
    const std::string process = end.output.substr(0, end.output.find('\n'));
    const auto at = end.output.find(" " + process + " ");
    REQUIRE(at != std::string::npos);
    return end.output.substr(process.size() + 1, at - process.size() - 1) + end.output.substr(at + 1 + process.size());
  };
  CHECK(printed("agentd --node {name} --slot-type {slot_type}") == " --node gpu-1 --slot-type it's; rm\n");
  CHECK(printed("env A=1 agentd --slots {slots}") == "1 --slots 4\n");
  CHECK(printed("sh -c \"export A=2 && exec agentd --node {name} --slot-type {slot_type}\"") ==
        "2 --node gpu-1 --slot-type it's; rm\n");
}

TEST_CASE("a pilot gets little of the daemon's environment and has a log, unless the options say else") {
  const Programs programs;
  programs.put("squeue", "");
  programs.put("sbatch", "for each in \"$@\"; do echo \"$each\"; done >$HERE/asked; echo 5");
  const auto options = nlohmann::json::array({"--output=/logs/%x", "--export=ALL"});
  CHECK(create(*slurm({{"start", "agentd"}, {"walltime", "60"}, {"options", options}})).value);
  CHECK(programs.left("asked") ==
        "--parsable\n--job-name=tidepool-c-1-7\n--no-requeue\n--nodes=1\n--time=60\n"
        "--export=PATH,HOME,USER,LOGNAME,LANG,LD_LIBRARY_PATH\n--chdir=/tmp\n--output=%x.log\n"
        "--output=/logs/%x\n--export=ALL\n");
}

TEST_CASE("a limit of the account counts as quota, a wrong setting as refused") {
  const Programs programs;
  programs.put("squeue", "");
  const auto fault = [&](const std::string& said) {
    programs.put("sbatch", "echo 'sbatch: error: " + said + "' >&2; exit 1");
    const auto created = create(*slurm());
    CHECK(created.detail == "sbatch: sbatch: error: " + said);
    return created.fault;
  };
  CHECK(fault("Batch job submission failed: Job violates accounting/QOS policy (job submit limit, the size "
              "and/or time limits)") == ProviderFault::kQuota);
  CHECK(fault("AssocMaxSubmitJobLimit") == ProviderFault::kQuota);
  CHECK(fault("QOSGrpNodeLimit") == ProviderFault::kQuota);
  CHECK(fault("Requested account has breached requested QOS usage threshold") == ProviderFault::kQuota);
  CHECK(fault("Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)") ==
        ProviderFault::kRefused);
  CHECK(fault("Batch job submission failed: Invalid qos specification") == ProviderFault::kRefused);
}

TEST_CASE("an option of sbatch that would hide a pilot is refused with its reason, however it is written") {
  const auto findings_of = [](const nlohmann::json& options) {
    const nlohmann::json settings = {{"start", "agentd"}, {"walltime", "60"}, {"options", options}};
    const nlohmann::json pool = {
        {"name", "p"}, {"provider", "slurm"}, {"slots_per_node", 1}, {"max", 1}, {"settings", settings}};
    std::vector<FieldError> findings;
    (void)live::read_pools({{"list", nlohmann::json::array({pool})}}, findings);
    return findings;
  };
  for (const char* option : {"--clusters=south", "--cluster=south", "-Msouth", "-M", "--job-name=x", "--job=x",
                             "--job-name", "-Jx", "-J", "--array=1-4", "-a1-4", "--wait", "-W", "--requeue", "--uid=me",
                             "--wrap=true", "-Q", "--quiet", "--test-only"}) {
    INFO(option);
    const auto findings = findings_of(nlohmann::json::array({"--partition=gpu", option}));
    REQUIRE(findings.size() == 1);
    CHECK(findings.front().pointer == "/pools/list/0/settings");
    CHECK(findings.front().message.find(option) != std::string::npos);
  }
  CHECK(findings_of(nlohmann::json::array({"-Jx"})).front().message ==
        "settings has -Jx among its options (--job-name of sbatch): a pilot is found again by the name that its job is "
        "given here");
  CHECK(findings_of(nlohmann::json::parse(R"(["--partition=gpu", "-p", "gpu", "--gres=gpu:4", "--wait-all-nodes=1",
      "--exclusive", "-A", "lab", "--dependency=singleton", "--no-requeue", "-t30", "--cluster-constraint=a",
      "--reservation=r", "--qos=low", "--", ""])"))
            .empty());
  REQUIRE(findings_of("--wait").size() == 1);
  CHECK(findings_of("--wait").front().message ==
        "settings has options that are no list of texts, such as [--partition=gpu]");
}

TEST_CASE("a setting of a pool that the provider slurm lacks or does not know is named") {
  std::vector<FieldError> findings;
  const nlohmann::json settings = {{"start", "agentd"}, {"walltim", "60"}};
  const nlohmann::json pool = {
      {"name", "p"}, {"provider", "slurm"}, {"slots_per_node", 1}, {"max", 1}, {"settings", settings}};
  (void)live::read_pools({{"list", nlohmann::json::array({pool})}}, findings);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message == "settings has no text \"walltime\", which the provider slurm needs");
  CHECK(findings[1].message ==
        "settings has \"walltim\", and the provider slurm knows start, walltime and options only");
}

}  // namespace tidepool::test
