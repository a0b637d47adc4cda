"""check_layout.py refuses what it says it refuses: each rule is fed a tree that breaks it once."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
import check_layout  # noqa: E402

KERNEL = """// Op, generation sm80.
// Floor: rows * cols bytes.
#include "kernels/common/vec.cuh"
constexpr Config kConfigs[] = {
    {128, 4},  // 4.2 TB/s at 2^28, H200, 2026-11-29
};
const KernelRow<Problem> sm80 = {"op_sm80", Arch::sm80};
"""

REGISTRY = """constexpr Operation kOperations[] = {
    operation<op::op::Host>(),
};
"""

# A second translation unit of the same row.
PART = {
    "kernels/op/op_sm80_part.cu": "// Op, generation sm80.\n// Floor: see op_sm80.cu.\n"
                                  "const KernelSet op_part = {};\n",
    "kernels/CMakeLists.txt": "op/op_sm80.cu op/op_sm80_part.cu",
}

# A tree without violations.
CLEAN = {
    "CMakeLists.txt": "",
    "README.md": "",
    "LICENSE": "",
    ".clang-format": "",
    "include/libkernels/op.h": '#include "libkernels/c_api.h"\n',
    "src/op.cc": '#include "include/libkernels/op.h"\n#include "kernels/op/op.h"\n'
                 '#include "src/check.h"\n',
    "src/device_cuda.cc": "void f() { cudaMalloc(0, 0); }\n",
    "src/registry.cc": REGISTRY,
    "src/CMakeLists.txt": "op.cc device_cuda.cc registry.cc",
    "kernels/CMakeLists.txt": "op/op_sm80.cu",
    "kernels/op/op_sm80.cu": KERNEL,
    "kernels/common/vec.cuh": '#include "kernels/ptx/ptx.cuh"\n#include <cstdint>\n',
    "kernels/ptx/ptx.cuh": '#include <cuda_runtime.h>\n',
    "kernels/ptx/cuda/math.inl": 'asm volatile("ex2.approx.ftz.f32 %0, %1;"); __shared__ float s;\n',
    "bench/op_bench.cc": "// op\n",
    "bench/CMakeLists.txt": "op_bench.cc",
    "tests/kernels/op/op_test.cc": "// op\n",
    "tests/CMakeLists.txt": "kernels/op/op_test.cc",
    "tools/test.sh": "",
}

# (rule, what is changed in CLEAN, part of the message)
BROKEN = [
    ("top level", {"notes.md": ""}, "top level"),
    ("top level, missing", {"LICENSE": None}, "missing"),
    ("length", {"src/op.cc": "\n" * 501}, "501 lines"),
    ("asm", {"kernels/common/vec.cuh": 'asm("nop;");\n'}, "asm belongs"),
    ("asm, a renaming elsewhere", {"src/op.cc": '__asm__("memcpy = lk_memcpy");\n'}, "asm belongs"),
    ("asm, in the emulator", {"kernels/ptx/emu/a.inl": '__asm__("nop");\n'}, "asm belongs"),
    ("assembler file", {"kernels/ptx/cuda/a.S": "nop\n"}, "assembler belongs"),
    ("include: src of bench", {"src/op.cc": '#include "bench/report.h"\n'}, "src includes only"),
    ("include: bench of tests", {"bench/op_bench.cc": '// op\n#include "tests/a.h"\n'}, "bench"),
    ("include: public of src", {"include/libkernels/op.h": '#include "src/check.h"\n'}, "public"),
    ("include: kernel of the API",
     {"kernels/op/op_sm80.cu": KERNEL + '#include "include/libkernels/error.h"\n'}, "arch.h"),
    ("include: kernel of src", {"kernels/op/op_sm80.cu": KERNEL + '#include "src/check.h"\n'},
     "kernels include nothing of src"),
    ("include: kernel of another op",
     {"kernels/op/op_sm80.cu": KERNEL + '#include "kernels/gelu/gelu.h"\n'}, "another operation"),
    ("include: common of an op", {"kernels/common/vec.cuh": '#include "kernels/op/op.h"\n'},
     "kernels/common includes only"),
    ("include: ptx of common", {"kernels/ptx/ptx.cuh": '#include "kernels/common/vec.cuh"\n'},
     "lowest floor"),
    ("include: ptx of the API", {"kernels/ptx/ptx.cuh": '#include "include/libkernels/arch.h"\n'},
     "lowest floor"),
    ("include: relative", {"src/op.cc": '#include "../kernels/op/op.h"\n'}, "repository root"),
    ("include: bare", {"src/op.cc": '#include "check.h"\n'}, "repository root"),
    ("__CUDA_ARCH__", {"kernels/common/vec.cuh": "#if __CUDA_ARCH__ >= 900\n#endif\n"},
     "preprocessor branch"),
    ("<<<>>>", {"bench/op_bench.cc": "// op\nvoid f() { k<<<1, 2>>>(p); }\n"}, "ptx::launch"),
    ("__shared__", {"kernels/op/op_sm80.cu": KERNEL + "__shared__ float s[4];\n"}, "dynamic_smem"),
    ("__shared__ in a ptx header", {"kernels/ptx/ptx.cuh": "__shared__ float s[4];\n"},
     "dynamic_smem"),
    ("__expf", {"kernels/op/op_sm80.cu": KERNEL + "float f() { return __expf(1); }\n"}, "__expf"),
    ("__fdividef", {"kernels/common/vec.cuh": "float f() { return __fdividef(1, 2); }\n"},
     "__fdividef"),
    ("atomicAdd", {"kernels/op/op_sm80.cu": KERNEL + "void f() { atomicAdd(p, 1); }\n"},
     "atomicAdd"),
    ("shuffle", {"kernels/op/op_sm80.cu": KERNEL + "int x = __shfl_xor_sync(m, v, 1);\n"}, "warp"),
    ("__ldg", {"kernels/op/op_sm80.cu": KERNEL + "int x = __ldg(p);\n"}, "__ldg"),
    ("fast maths", {"src/CMakeLists.txt": "op.cc device_cuda.cc registry.cc --use_fast_math"}, "accuracy"),
    ("runtime call in a kernel", {"kernels/op/op_sm80.cu": KERNEL + "auto e = cudaMalloc(p, 1);\n"},
     "cudaMalloc"),
    ("runtime call in src", {"src/op.cc": "auto e = cudaGetLastError();\n"}, "cudaGetLastError"),
    ("driver call in src", {"src/op.cc": "auto e = cuInit(0);\n"}, "cuInit"),
    ("contract without floor", {"kernels/op/op_sm80.cu": KERNEL.replace("Floor", "Least")},
     "no traffic floor"),
    ("no contract", {"kernels/op/op_sm80.cu": "#include <cstdint>\n" + KERNEL}, "contract"),
    ("floor in code only", {"kernels/op/op_sm80.cu": KERNEL.replace("Floor", "Least") +
                            "float x = floor(1);\n"}, "no traffic floor"),
    ("config without measurement",
     {"kernels/op/op_sm80.cu": KERNEL.replace("  // 4.2 TB/s at 2^28, H200, 2026-11-29", "")},
     "without its measurement"),
    ("config with a comment that measures nothing",
     {"kernels/op/op_sm80.cu": KERNEL.replace("4.2 TB/s at 2^28, H200, 2026-11-29", "fast")},
     "without its measurement"),
    ("row without test", {"tests/kernels/op/op_test.cc": "// another\n"}, "no test"),
    ("row without bench", {"bench/op_bench.cc": "// another\n"}, "no driver in bench"),
    ("row misnamed", {"kernels/op/op_sm80.cu": KERNEL.replace('"op_sm80"', '"sm80"')}, "not named"),
    ("row in no table", {"src/registry.cc": REGISTRY.replace("op::op::", "op::gelu::")},
     'add operation<op::op::Host>() to kOperations'),
    ("row in a table that is commented out",
     {"src/registry.cc": REGISTRY.replace("    operation", "    // operation")}, "kernels/op/ has"),
    ("row without a registry", {"src/registry.cc": "int x;\n"}, "kernels/op/ has a KernelRow"),
    ("kernel without row", {"kernels/op/op_sm80.cu": KERNEL.replace("KernelRow", "Row")},
     "without a KernelRow"),
    ("part that its whole does not name", PART, "without a KernelRow"),
    ("source in no list", {"src/forgotten.cc": ""}, "in no CMakeLists.txt"),
    ("left-over mark", {"src/op.cc": "// TODO: finish\n"}, "TODO"),
    ("left-over mark in the README", {"README.md": "FIXME\n"}, "FIXME"),
    ("line too long", {"src/op.cc": "// " + "x" * 98 + "\n"}, "101 columns"),
]

# What looks like a violation and is none.
HARMLESS = [
    PART | {"kernels/op/op_sm80.cu": KERNEL + "int x = use(op_part);\n"},
    {"src/op.cc": "// asm, __shared__, atomicAdd, cudaMalloc(), k<<<1, 2>>>(p)\n"},
    {"src/op.cc": 'const char* s = "cudaMalloc(p): asm __shared__ // ";\n'},
    {"src/op.cc": "std::vector<std::vector<std::vector<int>>> v;\n"},
    {"src/op.cc": "int x = 1'000'000; // asm\nchar c = '\"'; // asm\n"},
    {"src/op.cc": "cudaError_t f(cudaStream_t stream);\n"},
    {"kernels/op/op_sm80.cu": KERNEL.replace("constexpr Config", "// 4.2 TB/s, H200, 2026-11-29\n"
                                             "constexpr Config")
     .replace("  // 4.2 TB/s at 2^28, H200, 2026-11-29", "")},
    {"kernels/op/op_sm80.cu": KERNEL.replace("4.2 TB/s at 2^28, H200, 2026-11-29",
                                             "measurement beside op_sm90.cu's table")},
    {"kernels/op/op_sm80.cu": KERNEL.replace("4.2 TB/s at 2^28, H200, 2026-11-29",
                                             "Unmeasured: no such GPU at hand")},
    {"kernels/op/op_sm80.cu": KERNEL + '#include "include/libkernels/dtype.h"\n'},
    {"kernels/ptx/emu/builtins.h": '__asm__("memcpy = lk_emu_memcpy");\n'},
    {"bench/op_bench.cc": "// op\nvoid f() { cudaDeviceSynchronize(); }\n"},
]


def violations(changes):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **changes}.items():
            if text is None:
                continue
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return check_layout.violations(root)


class CheckLayout(unittest.TestCase):

    def test_clean_tree(self):
        self.assertEqual(violations({}), [])

    def test_broken_trees(self):
        for rule, changes, message in BROKEN:
            with self.subTest(rule):
                found = violations(changes)
                self.assertTrue(any(message in line for line in found), found)

    def test_harmless_trees(self):
        for changes in HARMLESS:
            with self.subTest(changes):
                self.assertEqual(violations(changes), [])


if __name__ == "__main__":
    unittest.main()
