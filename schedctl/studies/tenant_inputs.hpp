// Between which tenants the pool of a simulated run is shared, as the command line says it. Throws Failure with a
// sentence for whatever is wrong.
#pragma once

#include <set>
#include <string>

#include "studies/sim_run.hpp"

namespace CLI {
class App;
}

namespace tidepool::ctl {

struct TenantsOptions {
  std::string file;  // as `schedctl tenants apply` takes it
  int split = 0;
  std::string deal;
  bool alone = false;
};

void add_tenant_options(CLI::App& command, TenantsOptions& asked);

// `given`: options that were on the command line.
void read_tenants(const TenantsOptions& asked, const std::set<std::string>& given, sim::SimOptions& options);

}  // namespace tidepool::ctl
