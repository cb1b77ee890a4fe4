#include "schedctl/studies/tenant_inputs.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedulerd/leader/tenant_file.hpp"

namespace tidepool::ctl {
namespace {

core::TenantTree tree_of(const std::string& name) {
  const NamedFile file = read_named_file(name);
  auto findings = leader::read_tenant_tree(file.document);
  if (!findings.errors.empty()) fail(kExitUsage, findings_text(file.shown, file.lines, findings.errors));
  if (findings.tree.empty()) {
    fail(kExitUsage, file.shown +
                         " names no tenant; write tenants: [{name: vision, guarantee: 4}], or leave out "
                         "--tenants");
  }
  return std::move(findings.tree);
}

}  // namespace

void add_tenant_options(CLI::App& command, TenantsOptions& asked) {
  CLI::Option* file =
      command.add_option("--tenants", asked.file, "tree of tenants: a file as for schedctl tenants apply, for live");
  command
      .add_option("--split", asked.split, "instead of a file: this many tenants with equal parts of the pool, for live")
      ->check(CLI::Range(1, 10'000))
      ->excludes(file);
  command.add_option("--deal", asked.deal,
                     "what of the workload goes to one of these tenants together: hour (of submission), job, tenant or "
                     "user; if not given, "
                     "jobs are of the tenants that they name (with --split: job)");
  command.add_flag("--alone", asked.alone,
                   "run the jobs of each tenant also alone on its guarantee, and report both times");
}

void read_tenants(const TenantsOptions& asked, const std::set<std::string>& given, sim::SimOptions& options) {
  if (!given.contains("--tenants") && !given.contains("--split")) {
    for (const char* option : {"--deal", "--alone"}) {
      if (!given.contains(option)) continue;
      fail(kExitUsage, std::string(option) + " is of a pool that tenants share; give --tenants FILE or --split N");
    }
    return;
  }
  if (asked.alone && given.contains("--until")) {
    fail(kExitUsage, "--alone compares jobs that have completed; leave out --until");
  }
  if (!asked.file.empty()) options.tenants = tree_of(asked.file);
  options.split = asked.split;
  options.deal = asked.deal;
  options.alone = asked.alone;
}

}  // namespace tidepool::ctl
