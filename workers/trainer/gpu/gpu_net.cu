#include "workers/trainer/gpu/gpu_net.hpp"

#include <algorithm>
#include <iterator>

namespace tidepool::trainer::gpu {
namespace {

void check_blas(cublasStatus_t code, const char* what) {
  if (code != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": cuBLAS gave status " + std::to_string(static_cast<int>(code)));
  }
}

void check_shape(const tidepool_gpu_shape& shape) {
  const bool positive = shape.inputs > 0 && shape.hidden > 0 && shape.classes > 0 && shape.vocabulary >= 0;
  const bool whole = shape.vocabulary == 0 || (shape.embedding > 0 && shape.inputs % shape.embedding == 0);
  if (!positive || !whole)
    throw std::invalid_argument("a net needs inputs, hidden units and classes, whole embeddings");
}

std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

BlockLayout::BlockLayout(const tidepool_gpu_shape& shape) {
  check_shape(shape);
  const std::size_t lengths[kBlocks] = {area(shape.vocabulary, shape.embedding), area(shape.hidden, shape.inputs),
                                        area(shape.hidden, 1), area(shape.classes, shape.hidden),
                                        area(shape.classes, 1)};
  for (int block = 0; block < kBlocks; ++block) {
    blocks[block] = {flat_floats, arena_floats, lengths[block]};
    flat_floats += lengths[block];
    arena_floats += aligned(lengths[block]);
  }
}

TokenIndex index_tokens(const int* tokens, std::size_t count, int vocabulary) {
  TokenIndex index;
  std::vector<int> next(static_cast<std::size_t>(vocabulary), 0);
  for (std::size_t i = 0; i < count; ++i) ++next[static_cast<std::size_t>(tokens[i])];
  int begin = 0;
  for (int token = 0; token < vocabulary; ++token) {
    const int occurrences = next[static_cast<std::size_t>(token)];
    next[static_cast<std::size_t>(token)] = begin;
    if (occurrences == 0) continue;
    index.different.push_back(token);
    index.starts.push_back(begin);
    begin += occurrences;
  }
  index.starts.push_back(begin);
  index.positions.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    index.positions[static_cast<std::size_t>(next[static_cast<std::size_t>(tokens[i])]++)] = static_cast<int>(i);
  }
  return index;
}

GpuNet::GpuNet(const tidepool_gpu_shape& shape)
    : shape_(shape),
      layout_(shape),
      segment_memory_(BlockLayout::kBlocks),
      parameters_(layout_.arena_floats),
      velocity_(layout_.arena_floats),
      gradient_(layout_.arena_floats),
      flat_(layout_.flat_floats),
      flat_gradient_(layout_.flat_floats),
      loss_(1) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check_blas(cublasCreate(&blas_), "starting cuBLAS");
  check_blas(cublasSetStream(blas_, stream_), "giving cuBLAS our stream");
  // Plain fp32, not TF32: a GPU's step must match the CPU's.
  check_blas(cublasSetMathMode(blas_, CUBLAS_PEDANTIC_MATH), "choosing fp32");
  segment_memory_.copy_from(layout_.blocks, BlockLayout::kBlocks, stream_);
  segments_ = {segment_memory_.data(), BlockLayout::kBlocks, 0};
  for (const Segment& block : layout_.blocks) {
    segments_.longest = std::max<std::size_t>(segments_.longest, block.count);
  }
  for (auto* memory : {&parameters_, &velocity_, &gradient_}) memory->clear(stream_);
  finish("making the net");
}

GpuNet::~GpuNet() {
  if (blas_ != nullptr) cublasDestroy(blas_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void GpuNet::set_parameters(const float* flat) {
  flat_.copy_from(flat, layout_.flat_floats, stream_);
  unpack(segments_, flat_.data(), parameters_.data(), stream_);
  finish("setting the parameters");
}

void GpuNet::get_parameters(float* flat) {
  fetch_flat(parameters_, flat);
}

void GpuNet::get_gradient(float* flat) {
  fetch_flat(gradient_, flat);
}

void GpuNet::fetch_flat(const DeviceMemory<float>& arena, float* flat) {
  pack(segments_, arena.data(), flat_.data(), stream_);
  flat_.copy_to(flat, layout_.flat_floats, stream_);
  finish("fetching from the GPU");
}

void GpuNet::clear_gradient() {
  gradient_.clear(stream_);
}

void GpuNet::sgd(float keep, float rate) {
  gpu::sgd({parameters_.data(), velocity_.data(), gradient_.data(), layout_.arena_floats}, keep, rate, stream_);
  finish("a step of SGD");
}

void GpuNet::apply(float keep, float rate) {
  unpack(segments_, flat_gradient_.data(), gradient_.data(), stream_);
  gpu::sgd({parameters_.data(), velocity_.data(), gradient_.data(), layout_.arena_floats}, keep, rate, stream_);
  check(cudaGetLastError(), "a step of SGD");
}

void GpuNet::describe(tidepool_gpu_block* blocks) const {
  for (int i = 0; i < BlockLayout::kBlocks; ++i) {
    const Segment& block = layout_.blocks[i];
    blocks[i] = {block.flat, block.count, parameters_.data() + block.arena, velocity_.data() + block.arena};
  }
}

void GpuNet::complete(BlockLayout::Block first, int count, Ready ready) {
  if (ready.call == nullptr) return;
  std::size_t floats = 0;
  for (int i = first; i < first + count; ++i) floats += layout_.blocks[i].count;
  if (floats == 0) return;
  pack({segments_.segments + first, count, segments_.longest}, gradient_.data(), flat_gradient_.data(), stream_);
  ready.call(ready.user, layout_.blocks[first].flat, floats);
}

double GpuNet::add_gradient(const tidepool_gpu_batch& batch, Ready ready) {
  if (batch.samples == 0) {
    complete(BlockLayout::kW2, 2, ready);
    complete(BlockLayout::kW1, 2, ready);
    complete(BlockLayout::kTable, 1, ready);
    return 0;
  }
  upload(batch);
  forward(batch.samples);
  softmax_cross_entropy(scores_.data(), parameter(BlockLayout::kB2), classes_.data(), shape_.classes, batch.samples,
                        losses_.data(), stream_);
  sum_of(losses_.data(), batch.samples, loss_.data(), stream_);
  backward(batch, ready);
  double loss = 0;
  loss_.copy_to(&loss, 1, stream_);
  finish("a gradient");
  return loss;
}

void GpuNet::upload(const tidepool_gpu_batch& batch) {
  const auto samples = static_cast<std::size_t>(batch.samples);
  const auto inputs = static_cast<std::size_t>(shape_.inputs);
  classes_.copy_from(batch.classes, samples, stream_);
  inputs_.reserve(inputs * samples);
  hidden_.reserve(area(shape_.hidden, batch.samples));
  back_.reserve(area(shape_.hidden, batch.samples));
  scores_.reserve(area(shape_.classes, batch.samples));
  losses_.reserve(samples);
  if (!embeds()) {
    inputs_.copy_from(batch.numbers, inputs * samples, stream_);
    return;
  }
  const std::size_t tokens = inputs / static_cast<std::size_t>(shape_.embedding) * samples;
  input_gradient_.reserve(inputs * samples);
  tokens_.copy_from(batch.tokens, tokens, stream_);
  gather_embeddings(parameter(BlockLayout::kTable), tokens_.data(), tokens, shape_.embedding, inputs_.data(), stream_);
}

void GpuNet::forward(int samples) {
  multiply({.a = parameter(BlockLayout::kW1),
            .b = inputs_.data(),
            .c = hidden_.data(),
            .rows = shape_.hidden,
            .columns = samples,
            .inner = shape_.inputs});
  add_bias_tanh(hidden_.data(), parameter(BlockLayout::kB1), shape_.hidden, samples, stream_);
  multiply({.a = parameter(BlockLayout::kW2),
            .b = hidden_.data(),
            .c = scores_.data(),
            .rows = shape_.classes,
            .columns = samples,
            .inner = shape_.hidden});
}

void GpuNet::backward(const tidepool_gpu_batch& batch, Ready ready) {
  const int samples = batch.samples;
  multiply({.a = scores_.data(),
            .b = hidden_.data(),
            .c = gradient(BlockLayout::kW2),
            .rows = shape_.classes,
            .columns = shape_.hidden,
            .inner = samples,
            .b_transposed = true,
            .add = 1});
  add_row_sums(scores_.data(), shape_.classes, samples, gradient(BlockLayout::kB2), stream_);
  complete(BlockLayout::kW2, 2, ready);
  multiply({.a = parameter(BlockLayout::kW2),
            .b = scores_.data(),
            .c = back_.data(),
            .rows = shape_.hidden,
            .columns = samples,
            .inner = shape_.classes,
            .a_transposed = true});
  through_tanh(back_.data(), hidden_.data(), area(shape_.hidden, samples), stream_);
  multiply({.a = back_.data(),
            .b = inputs_.data(),
            .c = gradient(BlockLayout::kW1),
            .rows = shape_.hidden,
            .columns = shape_.inputs,
            .inner = samples,
            .b_transposed = true,
            .add = 1});
  add_row_sums(back_.data(), shape_.hidden, samples, gradient(BlockLayout::kB1), stream_);
  complete(BlockLayout::kW1, 2, ready);
  if (!embeds()) return;
  multiply({.a = parameter(BlockLayout::kW1),
            .b = back_.data(),
            .c = input_gradient_.data(),
            .rows = shape_.inputs,
            .columns = samples,
            .inner = shape_.hidden,
            .a_transposed = true});
  const std::size_t tokens = static_cast<std::size_t>(shape_.inputs / shape_.embedding) * batch.samples;
  const TokenIndex index = index_tokens(batch.tokens, tokens, shape_.vocabulary);
  different_.copy_from(index.different.data(), index.different.size(), stream_);
  starts_.copy_from(index.starts.data(), index.starts.size(), stream_);
  positions_.copy_from(index.positions.data(), index.positions.size(), stream_);
  scatter_embeddings({different_.data(), starts_.data(), positions_.data(), static_cast<int>(index.different.size())},
                     input_gradient_.data(), shape_.embedding, gradient(BlockLayout::kTable), stream_);
  complete(BlockLayout::kTable, 1, ready);
  check(cudaStreamSynchronize(stream_), "the embeddings' gradient");  // `index` is read before this returns
}

void GpuNet::multiply(const Product& product) {
  const float one = 1;
  const cublasOperation_t a = product.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t b = product.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int a_rows = product.a_transposed ? product.inner : product.rows;
  const int b_rows = product.b_transposed ? product.columns : product.inner;
  check_blas(cublasSgemm(blas_, a, b, product.rows, product.columns, product.inner, &one, product.a, a_rows, product.b,
                         b_rows, &product.add, product.c, product.rows),
             "a matrix product");
}

void GpuNet::finish(const char* what) {
  check(cudaGetLastError(), what);
  check(cudaStreamSynchronize(stream_), what);
}

}  // namespace tidepool::trainer::gpu
