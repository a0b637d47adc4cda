#include "kernels/matmul/matmul_plan.h"
#include <gtest/gtest.h>
#include <cstdio>
#include "kernels/matmul/matmul_tiles.h"
#include "kernels/ptx/emu/emulator.h"
namespace libkernels {
using namespace op::matmul;
TEST(X, Y) {
  for (const char* dev : {"emu80", "emu90", "h200"})
    for (auto dt : {DType::bf16, DType::f32})
      for (auto math : {Math::fp32, Math::tf32})
        for (auto s : {64, 96, 128, 200, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192}) {
          Problem p{};
          auto z = [&](int r, int c) { return Matrix{(void*)4096, dt, c, 1, 0}; };
          p.m = p.n = p.k = s;
          p.batch = 1;
          p.a = z(s, s);
          p.b = z(s, s);
          p.c = z(s, s);
          p.alpha = 1;
          p.math = math;
          Plan q = make_plan(p, *emulator::find_profile(dev));
          if (math == Math::tf32 && dt == DType::bf16) continue;
          std::printf("%s %s %d: %dx%d\n", dev, name(dt), s, q.tile.m, q.tile.n);
        }
}
}
