#include "policies/host/process/facts.hpp"

#include <algorithm>
#include <cstring>

namespace tidepool::policies::host::process {
namespace {

// The array of `count` entries at `offset`, or null if it does not lie within the region.
template <class T>
const T* array_at(const std::byte* region, std::uint64_t offset, std::uint64_t count) {
  const bool inside = offset % alignof(T) == 0 && offset <= kFactsBytes && count <= (kFactsBytes - offset) / sizeof(T);
  return inside ? reinterpret_cast<const T*>(region + offset) : nullptr;
}

struct Matrix {
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
};

// Where its columns begin, one after the other; false if it does not lie within the region.
template <std::size_t kColumns>
bool read_columns(const std::byte* region, const Matrix& matrix, std::array<const double*, kColumns>& columns) {
  const auto* cells = array_at<double>(region, matrix.offset, matrix.rows * kColumns);
  for (std::size_t column = 0; cells != nullptr && column < kColumns; ++column) {
    columns[column] = cells + column * matrix.rows;
  }
  return cells != nullptr;
}

// What each job has any number of: `first` has jobs + 1 entries that never fall and end within `count`.
bool is_index(const std::uint32_t* first, std::uint64_t jobs, std::uint64_t count) {
  return first != nullptr && std::is_sorted(first, first + jobs + 1) && first[jobs] <= count;
}

bool are_below(const std::uint32_t* values, std::uint64_t count, std::uint32_t limit) {
  return values != nullptr && std::all_of(values, values + count, [&](std::uint32_t value) { return value < limit; });
}

bool all_end(const tidepool_name* names, std::uint64_t count) {
  return names != nullptr &&
         std::all_of(names, names + count, [](const auto& name) { return name.text[sizeof name.text - 1] == '\0'; });
}

// The names of tenants, slot types and pools, and which types each job asks for and holds.
bool read_types(const std::byte* bytes, const FactsHeader& header, tidepool_view& view) {
  view.tenants = header.tenants;
  view.types = header.types;
  view.tenant_name = array_at<tidepool_name>(bytes, header.tenant_names, header.tenants);
  view.type_name = array_at<tidepool_name>(bytes, header.type_names, header.types);
  view.pool_name = array_at<tidepool_name>(bytes, header.pool_names, header.pool_rows);
  view.first_asked = array_at<std::uint32_t>(bytes, header.first_asked, std::uint64_t{header.jobs} + 1);
  view.asked_type = array_at<std::uint32_t>(bytes, header.asked_types, header.asked);
  view.first_held = array_at<std::uint32_t>(bytes, header.first_held, std::uint64_t{header.jobs} + 1);
  view.held_type = array_at<std::uint32_t>(bytes, header.held_types, header.held);
  view.held_slots = array_at<std::uint32_t>(bytes, header.held_slots, header.held);
  return all_end(view.tenant_name, view.tenants) && all_end(view.type_name, view.types) &&
         all_end(view.pool_name, view.pool_rows) && is_index(view.first_asked, view.jobs, header.asked) &&
         is_index(view.first_held, view.jobs, header.held) && are_below(view.asked_type, header.asked, view.types) &&
         are_below(view.held_type, header.held, view.types) && view.held_slots != nullptr;
}

}  // namespace

std::uint32_t Facts::hooks_asked() const {
  if (view.pool_rows > 0 && (view.jobs == 0 || view.slots == 0)) return kProvision;
  std::uint32_t hooks = kAdmit | kOrder | kSizes | kMarks;
  if (view.tenant_rows > 0) hooks |= kShare;
  if (view.pool_rows > 0) hooks |= kProvision;
  return hooks;
}

bool Facts::read(const void* region) {
  const auto* bytes = static_cast<const std::byte*>(region);
  FactsHeader header{};
  std::memcpy(&header, bytes, sizeof header);
  if (header.abi != TIDEPOOL_POLICY_ABI || header.job_columns != TIDEPOOL_JOB_COLUMNS) return false;
  const std::uint64_t jobs = header.jobs;
  const auto* first = array_at<std::uint32_t>(bytes, header.first_option, jobs + 1);
  const auto* records = array_at<ParamRecord>(bytes, header.param_records, header.params);
  view = {.abi = TIDEPOOL_POLICY_ABI,
          .size = sizeof(tidepool_view),
          .now = header.now,
          .jobs = header.jobs,
          .nodes = header.nodes,
          .slots = header.slots,
          .slots_per_node = header.slots_per_node,
          .job = job.data(),
          .node = node.data(),
          .first_option = first,
          .option_size = array_at<double>(bytes, header.option_size, header.options),
          .option_goodput = array_at<double>(bytes, header.option_goodput, header.options),
          .option_step_seconds = array_at<double>(bytes, header.option_step_seconds, header.options),
          .tenant_rows = header.tenant_rows,
          .tenant = tenant.data(),
          .pool_rows = header.pool_rows,
          .pool = pool.data(),
          .first_cost = array_at<std::uint32_t>(bytes, header.first_cost, jobs + 1),
          .cost = cost.data()};
  const bool has_rows = read_columns(bytes, {header.job_matrix, jobs}, job) &&
                        read_columns(bytes, {header.node_matrix, header.nodes}, node) &&
                        read_columns(bytes, {header.tenant_matrix, header.tenant_rows}, tenant) &&
                        read_columns(bytes, {header.pool_matrix, header.pool_rows}, pool) &&
                        read_columns(bytes, {header.cost_matrix, header.cost_rows}, cost);
  const bool whole = has_rows && records != nullptr && view.option_size != nullptr && view.option_goodput != nullptr &&
                     view.option_step_seconds != nullptr && header.params <= kParamsMax;
  const bool has_ranges = is_index(first, jobs, header.options) && is_index(view.first_cost, jobs, header.cost_rows);
  if (!whole || !has_ranges || !read_types(bytes, header, view)) return false;
  params = {records, header.params};
  seed = header.seed;
  return true;
}

void copy_text(std::string_view text, char* into, std::size_t bytes) {
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

void write_failure(AnswersHeader& header, const Failure& failure, std::string_view message) {
  copy_text(failure.code, header.code, sizeof header.code);
  copy_text(failure.hook, header.hook, sizeof header.hook);
  copy_text(message, header.message, sizeof header.message);
  header.row = failure.row;
}

}  // namespace tidepool::policies::host::process
