// The one product of cuBLAS that we use, by plain loops. See cuda_runtime.h beside this.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasMath_t { CUBLAS_PEDANTIC_MATH = 2 };

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

// By columns: c (rows x columns) = alpha op(a) op(b) + beta c (cuBLAS reference, section 2.7.1).
inline cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t a_operation, cublasOperation_t b_operation,
                                  int rows, int columns, int inner, const float* alpha, const float* a, int a_rows,
                                  const float* b, int b_rows, const float* beta, float* c, int c_rows) {
  const auto at = [](const float* matrix, int stride, int row, int column, cublasOperation_t operation) {
    if (operation == CUBLAS_OP_T) return matrix[static_cast<std::ptrdiff_t>(row) * stride + column];
    return matrix[static_cast<std::ptrdiff_t>(column) * stride + row];
  };
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      for (int k = 0; k < inner; ++k) sum += at(a, a_rows, row, k, a_operation) * at(b, b_rows, k, column, b_operation);
      float& target = c[static_cast<std::ptrdiff_t>(column) * c_rows + row];
      target = *alpha * sum + (*beta == 0 ? 0 : *beta * target);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
