"""Wrong build options stop the configuration with a message that tells what to do instead."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# Only what stands in front of the compilers' own checks runs, and that in about a second.
EMULATE = "-DLIBKERNELS_EMULATE=ON"


def configure(*options, environment=None):
    """(return code, output with line breaks of CMake's messages joined)."""
    with tempfile.TemporaryDirectory() as build:
        result = subprocess.run(
            ["cmake", "-S", ROOT, "-B", build, "-DLIBKERNELS_BUILD_TESTS=OFF",
             "-DLIBKERNELS_BUILD_BENCH=OFF", *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={**os.environ, **(environment or {})})
        return result.returncode, " ".join(result.stdout.split())


def has_gpu():
    return shutil.which("nvidia-smi") is not None and \
        subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0


class Options(unittest.TestCase):

    def refused(self, *options, says):
        code, output = configure(*options)
        self.assertNotEqual(code, 0, output)
        for text in says:
            self.assertIn(text, output)

    def test_unknown_generations_are_refused_by_name(self):
        for arch in ("90a", "100f", "103a", "120f", "999", "86", "sm_80", "all"):
            with self.subTest(arch):
                self.refused(EMULATE, f"-DLIBKERNELS_ARCHS=80;{arch}",
                             says=[f"'{arch}'", "80;90;100"])

    def test_an_empty_list_is_refused(self):
        self.refused(EMULATE, "-DLIBKERNELS_ARCHS=", says=["LIBKERNELS_ARCHS is empty"])

    @unittest.skipIf(has_gpu(), "this machine has a GPU")
    def test_native_needs_a_gpu(self):
        self.refused(EMULATE, "-DLIBKERNELS_ARCHS=native", says=["nvidia-smi", "80;90;100"])

    def test_cmakes_own_variable_is_refused(self):
        for value in ("native", "80", "80;90a;100a", "all"):
            with self.subTest(value):
                self.refused(EMULATE, f"-DCMAKE_CUDA_ARCHITECTURES={value}",
                             says=["CMAKE_CUDA_ARCHITECTURES", "LIBKERNELS_ARCHS"])

    def test_unknown_sanitizers_are_refused(self):
        self.refused(EMULATE, "-DLIBKERNELS_SANITIZE=thread", says=["thread", "address;undefined"])

    def test_missing_cuda_headers_are_named(self):
        self.refused(EMULATE, "-DLIBKERNELS_CUDA_INCLUDE=LIBKERNELS_CUDA_INCLUDE-NOTFOUND",
                     "-DCMAKE_FIND_ROOT_PATH=/nonexistent",
                     "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY",
                     says=["needs CUDA's headers", "LIBKERNELS_CUDA_INCLUDE"])

    def test_the_emulated_build_needs_no_nvcc(self):
        path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep)
                               if not os.path.exists(os.path.join(p, "nvcc")))
        code, output = configure(EMULATE, environment={"PATH": path})
        self.assertEqual(code, 0, output)
        self.assertNotIn("CUDA compiler", output)

    def test_80_is_always_built(self):
        code, output = configure(EMULATE, "-DLIBKERNELS_ARCHS=90")
        self.assertEqual(code, 0, output)
        self.assertIn("generations for CUDA: 80 90", output)


if __name__ == "__main__":
    if shutil.which("cmake") is None:
        print("no cmake on PATH")
        sys.exit(77)
    unittest.main()
