#include "policies/host/facts_image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>

#include "base/digest.hpp"
#include "base/overloaded.hpp"

namespace tidepool::policies::host {
namespace {

constexpr std::size_t kOptionsMax = 64;

double seconds(Instant at) {
  return static_cast<double>(at.count_us()) * 1e-6;
}

double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

// Where costs are not told apart by kind, one holds for all.
double cost_of(const cluster::JobRow& job, Duration of_kind) {
  return (of_kind > Duration() ? of_kind : job.transition).to_seconds();
}

// The names of what rows count from 0: each once, in order.
class Names {
 public:
  void add(std::string_view name) {
    if (!name.empty()) at_.try_emplace(std::string(name), 0);
  }
  void number() {
    std::uint32_t next = 0;
    for (auto& [name, index] : at_) index = next++;
  }
  // Requires: the name was added.
  [[nodiscard]] std::uint32_t at(std::string_view name) const { return at_.find(name)->second; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(at_.size()); }
  void write(tidepool_name* into) const {
    for (const auto& [name, index] : at_) {
      into[index] = {};
      name.copy(into[index].text, sizeof into[index].text - 1);
    }
  }

 private:
  std::map<std::string, std::uint32_t, std::less<>> at_;
};

// Which types each job asks for and holds, as ranges of one list each.
struct Types {
  explicit Types(const cluster::View& view) {
    for (const cluster::NodeRow& node : view.nodes) types.add(node.slot_type);
    for (const cluster::TenantRow& row : view.tenants) tenants.add(row.name);
    for (const cluster::PoolRow& row : view.pools) {
      pools.add(row.name);
      types.add(row.slot_type);
    }
    for (const cluster::JobRow& job : view.jobs) {
      tenants.add(job.tenant);
      for (const std::string& type : job.types_asked) types.add(type);
    }
    tenants.number();
    pools.number();
    types.number();
    for (const cluster::JobRow& job : view.jobs) {
      for (const std::string& type : job.types_asked) asked.push_back(types.at(type));
      for (const auto& [type, slots] : view.types_held(job.placement)) {
        held.push_back(types.at(type));
        held_slots.push_back(static_cast<std::uint32_t>(slots));
      }
      first_asked.push_back(static_cast<std::uint32_t>(asked.size()));
      first_held.push_back(static_cast<std::uint32_t>(held.size()));
    }
  }

  Names tenants, types, pools;
  std::vector<std::uint32_t> first_asked{0}, asked, first_held{0}, held, held_slots;
};

std::array<double, TIDEPOOL_JOB_COLUMNS> cells_of(const cluster::View& view, const cluster::JobRow& job,
                                                  const Types& types) {
  std::array<double, TIDEPOOL_JOB_COLUMNS> cells{};
  cells[TIDEPOOL_JOB_ID] = static_cast<double>(job.id.number());
  cells[TIDEPOOL_JOB_SUBMITTED] = seconds(job.submitted);
  cells[TIDEPOOL_JOB_WEIGHT] = job.weight;
  cells[TIDEPOOL_JOB_SIZE] = size_of(job.placement);
  cells[TIDEPOOL_JOB_NODES] = static_cast<double>(job.placement.size());
  cells[TIDEPOOL_JOB_HELD] = job.held.to_seconds();
  cells[TIDEPOOL_JOB_SLOT_SECONDS] = job.slot_seconds;
  cells[TIDEPOOL_JOB_LARGEST_SEEN] = job.largest_seen;
  cells[TIDEPOOL_JOB_RESIZES] = job.resizes;
  cells[TIDEPOOL_JOB_SIZE_WANTED] = job.size_wanted;
  cells[TIDEPOOL_JOB_SIZE_MIN] = job.size_min;
  cells[TIDEPOOL_JOB_SIZE_MAX] = job.size_max;
  cells[TIDEPOOL_JOB_STEPS_LEFT] = or_nan(job.steps_left);
  cells[TIDEPOOL_JOB_USEFUL_LEFT] = or_nan(job.useful_left);
  cells[TIDEPOOL_JOB_MARK] = job.mark.level;
  cells[TIDEPOOL_JOB_MARKED] = seconds(job.mark.since);
  cells[TIDEPOOL_JOB_GROW] = cost_of(job, job.costs.grow);
  cells[TIDEPOOL_JOB_SHRINK] = cost_of(job, job.costs.shrink);
  cells[TIDEPOOL_JOB_MOVE] = cost_of(job, job.costs.move);
  cells[TIDEPOOL_JOB_START] = cost_of(job, job.costs.start);
  cells[TIDEPOOL_JOB_PRIORITY] = job.priority;
  cells[TIDEPOOL_JOB_PREEMPTIBLE] = job.preemptible ? 1 : 0;
  cells[TIDEPOOL_JOB_PINNED] = job.pinned;
  cells[TIDEPOOL_JOB_RESIZE_BLOCKED] = job.resize_blocked ? 1 : 0;
  cells[TIDEPOOL_JOB_DEADLINE] = job.deadline ? seconds(*job.deadline) : or_nan(std::nullopt);
  cells[TIDEPOOL_JOB_EXPECTED] = or_nan(job.useful_expected);
  cells[TIDEPOOL_JOB_STEPS_DONE] = job.steps_done;
  cells[TIDEPOOL_JOB_TENANT] = job.tenant.empty() ? or_nan(std::nullopt) : types.tenants.at(job.tenant);
  cells[TIDEPOOL_JOB_PRICE] = view.price_per_hour(job.placement);
  cells[TIDEPOOL_JOB_BOOT] = job.costs.boot.to_seconds();
  return cells;
}

// What changes to some sizes cost, as a range of one list for each job.
struct Costs {
  struct Row {
    int size = 0;  // slots: the smallest for which it holds
    const cluster::TransitionCosts* costs = nullptr;
  };
  explicit Costs(const cluster::View& view) {
    for (const cluster::JobRow& job : view.jobs) {
      for (const auto& [workers, costs] : job.costs_by_size) rows.push_back({workers * job.slots_per_worker, &costs});
      first.push_back(static_cast<std::uint32_t>(rows.size()));
    }
  }

  std::vector<std::uint32_t> first{0};
  std::vector<Row> rows;
};

std::array<double, TIDEPOOL_COST_COLUMNS> cells_of(const Costs::Row& row) {
  std::array<double, TIDEPOOL_COST_COLUMNS> cells{};
  cells[TIDEPOOL_COST_SIZE] = row.size;
  cells[TIDEPOOL_COST_GROW] = row.costs->grow.to_seconds();
  cells[TIDEPOOL_COST_SHRINK] = row.costs->shrink.to_seconds();
  cells[TIDEPOOL_COST_MOVE] = row.costs->move.to_seconds();
  cells[TIDEPOOL_COST_START] = row.costs->start.to_seconds();
  cells[TIDEPOOL_COST_BOOT] = row.costs->boot.to_seconds();
  return cells;
}

std::array<double, TIDEPOOL_TENANT_COLUMNS> cells_of(const cluster::TenantRow& row, const Names& names) {
  const auto limit = [](const std::optional<int>& slots) { return slots ? double(*slots) : or_nan(std::nullopt); };
  std::array<double, TIDEPOOL_TENANT_COLUMNS> cells{};
  cells[TIDEPOOL_TENANT_NAME] = names.at(row.name);
  cells[TIDEPOOL_TENANT_PARENT] = row.parent < 0 ? or_nan(std::nullopt) : row.parent;
  cells[TIDEPOOL_TENANT_GUARANTEE] = row.guarantee;
  cells[TIDEPOOL_TENANT_WEIGHT] = static_cast<double>(row.weight);
  cells[TIDEPOOL_TENANT_BORROW] = limit(row.borrow);
  cells[TIDEPOOL_TENANT_LEND] = limit(row.lend);
  cells[TIDEPOOL_TENANT_WANTED] = static_cast<double>(row.wanted);
  cells[TIDEPOOL_TENANT_HELD] = row.held;
  cells[TIDEPOOL_TENANT_LOAN] = row.loan;
  cells[TIDEPOOL_TENANT_LEAF] = row.is_leaf ? 1 : 0;
  return cells;
}

std::array<double, TIDEPOOL_NODE_COLUMNS> cells_of(const cluster::NodeRow& node, const Names& types) {
  std::array<double, TIDEPOOL_NODE_COLUMNS> cells{};
  cells[TIDEPOOL_NODE_ID] = static_cast<double>(node.id.number());
  cells[TIDEPOOL_NODE_SLOTS] = node.slots;
  cells[TIDEPOOL_NODE_TYPE] = node.slot_type.empty() ? or_nan(std::nullopt) : types.at(node.slot_type);
  cells[TIDEPOOL_NODE_PRICE] = node.price_per_hour;
  return cells;
}

std::array<double, TIDEPOOL_POOL_COLUMNS> cells_of(const cluster::PoolRow& row, const Types& types) {
  std::array<double, TIDEPOOL_POOL_COLUMNS> cells{};
  cells[TIDEPOOL_POOL_NAME] = types.pools.at(row.name);
  cells[TIDEPOOL_POOL_TYPE] = row.slot_type.empty() ? or_nan(std::nullopt) : types.types.at(row.slot_type);
  cells[TIDEPOOL_POOL_SLOTS] = row.slots;
  cells[TIDEPOOL_POOL_PRICE] = row.price_per_hour;
  cells[TIDEPOOL_POOL_WORTH] = row.worth_per_hour;
  cells[TIDEPOOL_POOL_MIN] = row.min;
  cells[TIDEPOOL_POOL_MAX] = row.max;
  cells[TIDEPOOL_POOL_SPOT] = row.spot ? 1 : 0;
  cells[TIDEPOOL_POOL_LEAD] = row.lead.to_seconds();
  cells[TIDEPOOL_POOL_IDLE_AFTER] = row.idle_after.to_seconds();
  cells[TIDEPOOL_POOL_NODES] = row.nodes;
  cells[TIDEPOOL_POOL_COMING] = row.coming;
  cells[TIDEPOOL_POOL_LEAVING] = row.leaving;
  cells[TIDEPOOL_POOL_IDLE] = row.idle;
  cells[TIDEPOOL_POOL_IDLE_LONGEST] = row.idle_longest.to_seconds();
  cells[TIDEPOOL_POOL_BACKOFF] = row.backoff.to_seconds();
  cells[TIDEPOOL_POOL_BACKLOG_JOBS] = row.backlog_jobs;
  cells[TIDEPOOL_POOL_BACKLOG_SLOTS] = row.backlog_slots;
  cells[TIDEPOOL_POOL_MORE_WORTH] = row.more_worth;
  cells[TIDEPOOL_POOL_STANDARD] = row.standard;
  return cells;
}

// Hands out room behind the header, 8-byte aligned.
class Room {
 public:
  explicit Room(std::byte* region) : region_(region) {}

  // The array and, in `offset`, its position; null if there is no room.
  template <class T>
  T* array(std::uint64_t count, std::uint64_t& offset) {
    offset = used_;
    const std::uint64_t bytes = (count * sizeof(T) + 7) / 8 * 8;
    if (bytes > kFactsBytes - used_) return nullptr;
    used_ += bytes;
    return reinterpret_cast<T*>(region_ + offset);
  }
  template <class T>
  bool copy(const std::vector<T>& values, std::uint64_t& offset) {
    T* const into = array<T>(values.size(), offset);
    if (into != nullptr) std::copy(values.begin(), values.end(), into);
    return into != nullptr;
  }
  // One column after the other; `cells` gives those of a row.
  template <class Row, class Cells>
  bool matrix(const std::vector<Row>& rows, std::uint64_t& offset, const Cells& cells) {
    constexpr std::size_t kColumns = std::tuple_size_v<std::invoke_result_t<const Cells&, const Row&>>;
    double* const into = array<double>(kColumns * rows.size(), offset);
    for (std::size_t row = 0; into != nullptr && row < rows.size(); ++row) {
      const auto of_row = cells(rows[row]);
      for (std::size_t column = 0; column < kColumns; ++column) into[column * rows.size() + row] = of_row[column];
    }
    return into != nullptr;
  }
  bool names(const Names& names, std::uint64_t& offset) {
    auto* const into = array<tidepool_name>(names.size(), offset);
    if (into != nullptr) names.write(into);
    return into != nullptr;
  }

 private:
  std::byte* region_;
  std::uint64_t used_ = sizeof(FactsHeader);
};

ParamRecord record_of(const Param& param) {
  ParamRecord record{};
  const auto copy = [](const std::string& text, std::span<char> into) {
    std::memcpy(into.data(), text.data(), std::min(text.size(), into.size() - 1));
  };
  std::visit(Overloaded{[&](double number) { record = {.number = number, .kind = ParamKind::kNumber}; },
                        [&](bool flag) { record = {.number = flag ? 1.0 : 0.0, .kind = ParamKind::kBoolean}; },
                        [&](const std::string& text) {
                          record = {.number = 0, .kind = ParamKind::kText};
                          copy(text, record.text);
                        }},
             param.value);
  copy(param.name, record.name);
  return record;
}

// The same facts draw the same numbers, on every machine.
std::uint64_t seed_of(const cluster::View& view) {
  Digest digest;
  digest.mix(static_cast<std::uint64_t>(view.now.count_us()));
  for (const cluster::JobRow& job : view.jobs) digest.mix(job.id.number());
  return digest.value();
}

struct Options {
  std::vector<std::uint32_t> first{0};
  std::vector<double> size, goodput, step_seconds;
};

Options options_of(const cluster::View& view) {
  Options options;
  const Extent extent = extent_of(view);
  for (const cluster::JobRow& job : view.jobs) {
    for (const int size : size_options(job, extent)) {
      const cluster::Shape shape = cluster::packed(size, extent.slots_per_node);
      options.size.push_back(size);
      options.goodput.push_back(job.speed->goodput(shape));
      options.step_seconds.push_back(job.speed->step_seconds(shape));
    }
    options.first.push_back(static_cast<std::uint32_t>(options.size.size()));
  }
  return options;
}

// Without the numbers of options, parameters and costs.
FactsHeader header_of(const cluster::View& view, const Types& types) {
  return {.abi = TIDEPOOL_POLICY_ABI,
          .job_columns = TIDEPOOL_JOB_COLUMNS,
          .now = seconds(view.now),
          .seed = seed_of(view),
          .jobs = static_cast<std::uint32_t>(view.jobs.size()),
          .nodes = static_cast<std::uint32_t>(view.nodes.size()),
          .slots = static_cast<std::uint32_t>(view.slots()),
          .slots_per_node = static_cast<std::uint32_t>(view.slots_per_node()),
          .tenants = types.tenants.size(),
          .types = types.types.size(),
          .asked = static_cast<std::uint32_t>(types.asked.size()),
          .held = static_cast<std::uint32_t>(types.held.size()),
          .tenant_rows = static_cast<std::uint32_t>(view.tenants.size()),
          .pool_rows = static_cast<std::uint32_t>(view.pools.size())};
}

}  // namespace

Extent extent_of(const cluster::View& view) {
  return {.slots = view.slots(), .slots_per_node = std::max(view.slots_per_node(), 1)};
}

std::vector<int> size_options(const cluster::JobRow& job, const Extent& extent) {
  const int most = std::min(job.size_max, extent.slots);
  std::vector<int> sizes{size_of(job.placement), job.size_wanted, job.size_min};
  // Of a long list a part, evenly, and the largest.
  const std::size_t stride = job.sizes.size() / (kOptionsMax - sizes.size() - 1) + 1;
  for (std::size_t i = 0; i < job.sizes.size(); i += stride) sizes.push_back(job.sizes[i]);
  if (!job.sizes.empty()) sizes.push_back(job.sizes.back());
  for (int size = 1; job.sizes.empty() && size <= most && sizes.size() < kOptionsMax;
       size += size < extent.slots_per_node ? 1 : extent.slots_per_node) {
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](int size) { return size == 0 || !may_have(job, size); });
  return sizes;
}

Status write_facts(const cluster::View& view, std::span<const Param> params, std::byte* region) {
  const Error full{ErrorCode::kLimitExceeded, std::to_string(view.jobs.size()) +
                                                  " jobs are more than a policy file can be shown at once; use a "
                                                  "built-in policy"};
  if (view.jobs.size() > kFactsBytes / 256 || params.size() > kParamsMax) return full;
  const Options options = options_of(view);
  const Types types(view);
  const Costs costs(view);
  FactsHeader header = header_of(view, types);
  header.options = static_cast<std::uint32_t>(options.size.size());
  header.params = static_cast<std::uint32_t>(params.size());
  header.cost_rows = static_cast<std::uint32_t>(costs.rows.size());
  Room room(region);
  const bool rows_fit =
      room.matrix(view.jobs, header.job_matrix, [&](const auto& row) { return cells_of(view, row, types); }) &&
      room.matrix(view.nodes, header.node_matrix, [&](const auto& row) { return cells_of(row, types.types); }) &&
      room.matrix(view.tenants, header.tenant_matrix, [&](const auto& row) { return cells_of(row, types.tenants); }) &&
      room.matrix(view.pools, header.pool_matrix, [&](const auto& row) { return cells_of(row, types); }) &&
      room.matrix(costs.rows, header.cost_matrix, [](const auto& row) { return cells_of(row); });
  const bool fits = rows_fit && room.copy(options.first, header.first_option) &&
                    room.copy(options.size, header.option_size) && room.copy(options.goodput, header.option_goodput) &&
                    room.copy(options.step_seconds, header.option_step_seconds) &&
                    room.copy(costs.first, header.first_cost) && room.copy(types.first_asked, header.first_asked) &&
                    room.copy(types.asked, header.asked_types) && room.copy(types.first_held, header.first_held) &&
                    room.copy(types.held, header.held_types) && room.copy(types.held_slots, header.held_slots) &&
                    room.names(types.tenants, header.tenant_names) && room.names(types.types, header.type_names) &&
                    room.names(types.pools, header.pool_names);
  auto* records = room.array<ParamRecord>(header.params, header.param_records);
  if (!fits || records == nullptr) return full;
  std::transform(params.begin(), params.end(), records, record_of);
  std::memcpy(region, &header, sizeof header);
  return ok_status();
}

}  // namespace tidepool::policies::host
