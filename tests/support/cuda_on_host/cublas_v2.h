// The one product of cuBLAS that we use, by plain loops. See cuda_runtime.h beside this.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

struct cublasContext {
  cudaStream_t stream = nullptr;
};
using cublasHandle_t = cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasMath_t { CUBLAS_PEDANTIC_MATH = 2 };

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

namespace tidepool::test {

struct Gemm {
  cublasOperation_t a_operation, b_operation;
  int rows, columns, inner;
  float alpha;
  const float* a;
  int a_rows;
  const float* b;
  int b_rows;
  float beta;
  float* c;
  int c_rows;
};

inline void multiply(const Gemm& product) {
  const auto at = [](const float* matrix, int stride, int row, int column, cublasOperation_t operation) {
    if (operation == CUBLAS_OP_T) return matrix[static_cast<std::ptrdiff_t>(row) * stride + column];
    return matrix[static_cast<std::ptrdiff_t>(column) * stride + row];
  };
  for (int column = 0; column < product.columns; ++column) {
    for (int row = 0; row < product.rows; ++row) {
      float sum = 0;
      for (int k = 0; k < product.inner; ++k) {
        sum += at(product.a, product.a_rows, row, k, product.a_operation) *
               at(product.b, product.b_rows, k, column, product.b_operation);
      }
      float& target = product.c[static_cast<std::ptrdiff_t>(column) * product.c_rows + row];
      target = product.alpha * sum + (product.beta == 0 ? 0 : product.beta * target);
    }
  }
}

}  // namespace tidepool::test

// By columns: c (rows x columns) = alpha op(a) op(b) + beta c (cuBLAS reference, section 2.7.1).
inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t a_operation, cublasOperation_t b_operation,
                                  int rows, int columns, int inner, const float* alpha, const float* a, int a_rows,
                                  const float* b, int b_rows, const float* beta, float* c, int c_rows) {
  const tidepool::test::Gemm product{a_operation, b_operation, rows,   columns, inner, *alpha, a,
                                     a_rows,      b,           b_rows, *beta,   c,     c_rows};
  tidepool::test::enqueue(handle->stream,
                          [seen = tidepool::test::seen_by_device(product)] { tidepool::test::multiply(seen); });
  return CUBLAS_STATUS_SUCCESS;
}
