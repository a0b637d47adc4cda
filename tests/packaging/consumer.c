/* The C ABI as a user sees it. */
#include <libkernels/c_api.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  size_t i;
  for (i = 0; i < lk_kernel_count(); ++i) {
    const lk_kernel_info* info = NULL;
    if (lk_kernel_at(i, &info) != LK_SUCCESS) return 1;
    printf("%s for generation %d\n", info->name, (int)info->arch);
  }
  float x[6] = {0};
  float y[6] = {0};
  const lk_cmatrix from = {x, LK_F32, 2, 3, 3, 1};
  const lk_matrix to = {y, LK_F32, 3, 2, 2, 1};
  const lk_gelu_options options = LK_OPTIONS_INIT(lk_gelu_options);
  const lk_status status = lk_gelu(&from, &to, &options, NULL);
  printf("%s: %s\n", lk_status_name(status), lk_last_error_message());
  return status == LK_INVALID_ARGUMENT && strlen(lk_last_error_message()) > 0 ? 0 : 1;
}
