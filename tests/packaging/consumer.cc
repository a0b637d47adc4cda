// The C++ API as a user sees it: C++17, no CUDA headers, no GPU needed to be told of a mistake.
#include <libkernels/libkernels.h>

#include <cstdio>
#include <cstring>

int main() {
  const lk_version_info& version = *lk_version();
  std::printf("libkernels %d.%d.%d, %s, generations %s\n", version.major, version.minor,
              version.patch, version.backend, version.archs);
  if (std::strcmp(version.backend, "cuda") != 0 || lk_kernel_count() == 0) return 1;

  float x[6] = {};
  float y[6] = {};
  try {
    libkernels::gelu(libkernels::row_major(x, 2, 3), libkernels::row_major(y, 3, 2));
  } catch (const libkernels::invalid_argument& error) {
    std::printf("refused as it should be: %s\n", error.what());
    return 0;
  } catch (const libkernels::error& error) {
    std::printf("refused for another reason: %s\n", error.what());
    return 1;
  }
  std::printf("a shape mismatch was accepted\n");
  return 1;
}
