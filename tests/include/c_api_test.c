/* The C ABI from C11. Returns 0, or the line of the first check that failed. */
#include <libkernels/c_api.h>
#include <string.h>

int c_api_from_c(void);

#define CHECK(condition) \
  if (!(condition)) return __LINE__

int c_api_from_c(void) {
  lk_gelu_options options = LK_OPTIONS_INIT(lk_gelu_options);
  CHECK(options.call.size == sizeof(lk_gelu_options));
  CHECK(options.call.max_sms == 0 && options.call.workspace == NULL &&
        options.form == LK_GELU_TANH);
  CHECK(options.reserved == 0);

  /* No padding: the size is the sum of the fields. */
  CHECK(sizeof(lk_call_options) == 2 * sizeof(size_t) + sizeof(void*) + 2 * sizeof(int32_t));
  CHECK(sizeof(lk_gelu_options) == sizeof(lk_call_options) + 2 * sizeof(int32_t));

  lk_cmatrix x = {NULL, LK_BF16, 0, 4, 4, 1};
  lk_matrix y = {NULL, LK_F32, 0, 4, 4, 1};
  options.form = LK_GELU_ERF;
  CHECK(lk_gelu(&x, &y, &options, NULL) == LK_SUCCESS);
  CHECK(lk_gelu(&x, &y, NULL, NULL) == LK_SUCCESS);

  size_t bytes = 1;
  CHECK(lk_gelu_workspace_size(&x, &y, &options, &bytes) == LK_SUCCESS && bytes == 0);
  char text[16];
  size_t length = 0;
  CHECK(lk_gelu_explain(&x, &y, &options, text, sizeof text, &length) == LK_SUCCESS);
  CHECK(length >= sizeof text && strlen(text) == sizeof text - 1);

  y.dtype = LK_F16;
  CHECK(lk_gelu(&x, &y, &options, NULL) == LK_UNSUPPORTED);
  CHECK(strstr(lk_last_error_message(), "x is bf16 and y is f16") != NULL);
  CHECK(strcmp(lk_status_name(LK_UNSUPPORTED), "unsupported") == 0);

  lk_softmax_options softmax = LK_OPTIONS_INIT(lk_softmax_options);
  CHECK(sizeof softmax == sizeof(lk_call_options) + sizeof(float) + 3 * sizeof(int32_t));
  CHECK(softmax.has_scale == 0 && softmax.log == 0 && softmax.neg_inf_row == LK_NEG_INF_ROW_NAN);
  y.dtype = LK_F32;
  CHECK(lk_softmax(&x, &y, &softmax, NULL) == LK_SUCCESS);
  CHECK(lk_softmax_workspace_size(&x, &y, NULL, &bytes) == LK_SUCCESS && bytes == 0);
  CHECK(lk_softmax_explain(&x, &y, &softmax, text, sizeof text, &length) == LK_SUCCESS);
  softmax.log = 7;
  CHECK(lk_softmax(&x, &y, &softmax, NULL) == LK_INVALID_ARGUMENT);

  const lk_kernel_info* info = NULL;
  CHECK(lk_kernel_count() > 0 && lk_kernel_at(0, &info) == LK_SUCCESS && info->op == LK_OP_GELU);
  CHECK(strcmp(lk_version()->backend, info->backend) == 0);
  CHECK(lk_preload(99) == LK_INVALID_ARGUMENT);
  return 0;
}
