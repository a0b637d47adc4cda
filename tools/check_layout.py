#!/usr/bin/env python3
"""Checks the rules that keep the tree readable. Exits 1 and prints one line a violation.

usage: tools/check_layout.py [--root DIR]

Looks at every tracked or new file that git does not ignore; in a directory that is no git checkout,
at every file. The rules are the functions named check_*; each says what it refuses.
"""

import argparse
import os
import re
import subprocess
import sys

SOURCE_SUFFIXES = (".h", ".hpp", ".cuh", ".inl", ".cu", ".cc", ".cpp", ".c", ".S", ".py", ".sh",
                   ".cmake", ".txt")
CODE_SUFFIXES = (".h", ".hpp", ".cuh", ".inl", ".cu", ".cc", ".cpp", ".c")
TOP_LEVEL = {"CMakeLists.txt", "include", "src", "kernels", "bench", "tests", "tools", "README.md",
             "LICENSE"}
MAX_LINES = 500
MAX_COLUMNS = 100
CONTRACT_LINES = 25

# This file and its test have to spell what they refuse.
SELF = {"tools/check_layout.py", "tests/tools/check_layout_test.py"}


class Tree:
    """The files under a root, with their text."""

    def __init__(self, root):
        self.root = root
        self.paths = sorted(self._list())
        self.texts = {}
        for path in self.paths:
            with open(os.path.join(root, path), "rb") as file:
                self.texts[path] = file.read().decode("utf-8", errors="replace")

    def _list(self):
        git = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)
        if git.returncode == 0 and os.path.exists(os.path.join(self.root, ".git")):
            names = [n.decode() for n in git.stdout.split(b"\0") if n]
            return {n for n in names if os.path.isfile(os.path.join(self.root, n))}
        found = set()
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if f != ".git"]
            for name in files:
                found.add(os.path.relpath(os.path.join(folder, name), self.root))
        return found

    def code(self):
        """(path, text) of C++ and CUDA files."""
        return [(p, self.texts[p]) for p in self.paths if p.endswith(CODE_SUFFIXES)]


def strip_comments(text):
    """Blanks comments and string contents, keeping line numbers. #include lines stay whole."""
    pattern = re.compile(
        r'(?P<include>^[ \t]*#[ \t]*include[^\n]*)'
        r'|(?P<raw>R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)")'
        r'|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)'
        r'|(?P<string>"(?:\\.|[^"\\\n])*")'
        r"|(?P<digits>(?<![A-Za-z0-9_])[0-9][0-9A-Za-z_']*)"
        r"|(?P<char>'(?:\\.|[^'\\\n])*')", re.M | re.S)

    def blank(match):
        if match.group("include") or match.group("digits"):
            return match.group(0)
        hollow = re.sub(r"[^\n]", " ", match.group(0))
        return '""' + hollow[2:] if match.group("string") else hollow

    return pattern.sub(blank, text)


def matches(text, pattern):
    """(line number, matched text) of each match."""
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match.group(0).strip()


def layer(path):
    """Where a file stands in the order tests, bench > include, src > kernels."""
    parts = path.split("/")
    if parts[0] != "kernels" or len(parts) < 3:
        return parts[0]
    return "/".join(parts[:2])  # kernels/ptx, kernels/common, kernels/<op>


def may_include(path, target):
    """None if the file at `path` may include `target`, else why not."""
    source, wanted = layer(path), layer(target)
    if wanted not in ("include", "src", "bench", "tests", "tools", "kernels") and \
            not wanted.startswith("kernels/"):
        return None  # the system's or a library's
    if source == wanted:
        return None
    leaf = target.split("/")[-1]
    value_header = target in ("include/libkernels/arch.h", "include/libkernels/dtype.h")
    if source == "tests":
        return None
    if source == "bench":
        return "bench includes nothing of tests" if wanted == "tests" else None
    if source == "include":
        return "public headers include nothing but public headers"
    if source == "src":
        return None if wanted == "include" or wanted.startswith("kernels") else \
            "src includes only src, include and kernels"
    if source == "kernels/ptx":
        return "kernels/ptx is the lowest floor and includes nothing above"
    if source == "kernels/common":
        return None if wanted == "kernels/ptx" or value_header else \
            "kernels/common includes only kernels/ptx, arch.h and dtype.h"
    if source.startswith("kernels/"):
        if wanted in ("kernels/common", "kernels/ptx") or value_header:
            return None
        if wanted.startswith("kernels/"):
            return "an operation includes nothing of another operation"
        return f"kernels include nothing of {wanted}/ but arch.h and dtype.h ({leaf})"
    return None


def check_top_level(tree):
    """The top level holds exactly the agreed names, and dotfiles."""
    present = {p.split("/")[0] for p in tree.paths}
    for name in sorted(present):
        if name not in TOP_LEVEL and not name.startswith("."):
            yield name, 0, "does not belong to the top level"
    for name in sorted(TOP_LEVEL - present):
        yield name, 0, "is missing at the top level"


def check_length(tree):
    """No source over 500 lines."""
    for path in tree.paths:
        if path.endswith(SOURCE_SUFFIXES):
            count = tree.texts[path].count("\n")
            if count > MAX_LINES:
                yield path, MAX_LINES, f"has {count} lines; at most {MAX_LINES}"


def check_columns(tree):
    """No line of code, comments included, over 100 columns."""
    for path, text in tree.code():
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > MAX_COLUMNS and not line.lstrip().startswith(("R\"", "#include")):
                yield path, number, f"has {len(line)} columns; at most {MAX_COLUMNS}"


def check_includes(tree):
    """Includes point downward only, and start at the repository root (or at <libkernels/...>)."""
    for path, text in tree.code():
        code = strip_comments(text)
        for line, found in matches(code, r'(?m)^[ \t]*#[ \t]*include[ \t]*["<][^">\n]+[">]'):
            target = re.search(r'["<]([^">]+)[">]', found).group(1)
            if target.startswith("libkernels/"):
                target = "include/" + target
            if ".." in target.split("/"):
                yield path, line, f'"{target}": includes start at the repository root'
            elif '"' in found and "/" not in target and path.startswith(("src/", "kernels/")):
                yield path, line, f'"{target}": includes start at the repository root'
            else:
                reason = may_include(path, target)
                if reason:
                    yield path, line, f'includes "{target}": {reason}'


def check_asm(tree):
    """asm only under kernels/ptx/cuda/; assembler files only under kernels/ptx/emu/.

    The emulator may also rename symbols, which holds no instruction: __asm__("memcpy = lk_memcpy");
    """
    renaming = re.compile(r'__asm__\("\w+ = \w+"\);')
    for path, text in tree.code():
        if path.startswith("kernels/ptx/cuda/"):
            continue
        lines = text.split("\n")
        for line, _ in matches(strip_comments(text), r"\b(asm|__asm__|__asm)\b"):
            if not (path.startswith("kernels/ptx/emu/") and renaming.fullmatch(lines[line - 1])):
                yield path, line, "asm belongs into kernels/ptx/cuda/"
    for path in tree.paths:
        if path.endswith((".S", ".s", ".asm")) and not path.startswith("kernels/ptx/emu/"):
            yield path, 1, "assembler belongs into kernels/ptx/emu/"


def check_words(tree):
    """CUDA constructs that the ptx layer replaces, or that the build makes wrong."""
    everywhere = [
        (r"__CUDA_ARCH\w*", "a generation is its own object library, not a preprocessor branch"),
        (r"<<<|>>>(?=\s*\()", "kernels are launched by ptx::launch"),
        (r"(--?)use_fast_math", "fast maths breaks the accuracy and subnormal contract"),
    ]
    outside_ptx = [
        (r"\b__shared__\b", "shared memory is ptx::dynamic_smem<Smem>()"),
        (r"\b__(expf|exp10f|logf|log2f|log10f|sinf|cosf|tanf|powf|fdividef|frcp_\w+|fsqrt_\w+|"
         r"frsqrt_\w+|fmaf_\w+|fadd_\w+|fmul_\w+|fdiv_\w+|saturatef)\b",
         "maths intrinsics are ptx functions"),
        (r"\b(atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_block|_system)?)\b",
         "atomics are ptx functions"),
        (r"\b__(shfl|ballot|any|all|match_any|match_all|reduce_\w+)\w*_sync\b",
         "warp functions are ptx functions"),
        (r"\b__(ldg|ldcg|ldca|ldcs|stcg|stcs|stwt|threadfence\w*)\b",
         "loads, stores and fences are ptx functions"),
    ]
    for path, text in tree.code():
        code = strip_comments(text)
        rules = list(everywhere)
        if path.startswith(("kernels/", "src/", "include/", "bench/")) and \
                not path.startswith(("kernels/ptx/cuda/", "kernels/ptx/emu/")):
            rules += outside_ptx
        for pattern, reason in rules:
            for line, found in matches(code, pattern):
                yield path, line, f"{found}: {reason}"
    for path in tree.paths:
        if path.endswith((".txt", ".cmake")) and path not in SELF:
            for line, found in matches(tree.texts[path], r"--?use_fast_math"):
                yield path, line, f"{found}: fast maths breaks the accuracy contract"


def check_runtime_calls(tree):
    """The CUDA runtime and driver are called only in kernels/ptx/ and src/device_*.cc."""
    for path, text in tree.code():
        if not path.startswith(("src/", "kernels/", "include/")):
            continue
        if path.startswith("kernels/ptx/") or re.fullmatch(r"src/device_\w+\.cc", path):
            continue
        for line, found in matches(strip_comments(text), r"\b(cuda[A-Z]\w*|cu[A-Z]\w*)\s*\("):
            name = found.split("(")[0].strip()
            if name not in ("cudaError_t", "cudaStream_t"):
                yield path, line, f"{name}: only kernels/ptx/ and src/device_*.cc call CUDA"


def check_contracts(tree):
    """Every kernel file opens with its contract, which names the traffic floor."""
    for path in tree.paths:
        if re.fullmatch(r"kernels/\w+/\w+\.cu", path):
            head = tree.texts[path].split("\n")[:CONTRACT_LINES]
            if not head[0].startswith(("//", "/*")):
                yield path, 1, "a kernel file opens with its contract, a comment"
            elif not any("floor" in line.lower() for line in head if line.startswith(("//", " *"))):
                yield path, 1, f"no traffic floor in the first {CONTRACT_LINES} lines' comment"


def check_configs(tree):
    """Every row of a kConfigs[] table carries the measurement that chose it.

    A measurement is a comment with a figure and a date (2026-11), or the words "measurement beside
    FILE" or "Unmeasured: why". It stands on the row, or in a comment directly above the row, above the block of rows that it
    stands in (blocks end at blank lines), or above the table.
    """
    for path, text in tree.code():
        if not path.startswith("kernels/") or path.startswith("kernels/ptx/"):
            continue
        for table in re.finditer(r"\bk\w*Configs\s*\[\s*\w*\s*\]\s*=\s*\{\n(.*?)^\s*\};", text,
                                 re.M | re.S):
            first = text.count("\n", 0, table.start(1)) + 1
            above = re.search(r"((?:^[ \t]*//[^\n]*\n)*)^[^\n]*\Z", text[:table.start()], re.M)
            table_comment = above.group(1) if above else ""
            depth, comment = 0, ""
            for offset, line in enumerate(table.group(1).split("\n")):
                stripped = line.strip()
                if not stripped:
                    comment = ""
                    continue
                note = re.search(r"//(.*)", line)
                if stripped.startswith("//"):
                    comment = comment + stripped if depth == 0 else comment
                    continue
                code = re.sub(r"//.*", "", line)
                if depth == 0 and code.strip().startswith("{"):
                    said = table_comment + comment + (note.group(1) if note else "")
                    measured = re.search(r"\d", said) and re.search(r"20\d\d-\d\d", said)
                    elsewhere = re.search(r"[Uu]nmeasured: \w+|measurement beside [\w./]+\.cu", said)
                    if not measured and not elsewhere:
                        yield path, first + offset, "a configuration without its measurement"
                depth += code.count("{") - code.count("}")


def check_registered(tree):
    """Every kernel file defines a row with a proper name; its op has a test and a bench driver.

    <op>_<arch>[_variant]_<part>.cu may leave the row to <op>_<arch>[_variant].cu, if that names what
    the part defines.
    """
    for path, text in tree.code():
        if not re.fullmatch(r"kernels/\w+/\w+\.cu", path):
            continue
        op = path.split("/")[1]
        rows = list(matches(strip_comments(text), r"\bKernelRow<[^>]*>\s+\w+\s*(=|\{)"))
        wholes = [t for p, t in tree.texts.items() if "KernelRow<" in t and
                  re.fullmatch(rf"kernels/{op}/{op}_sm\d+(_\w+)?\.cu", p) and
                  path.startswith(p[:-len(".cu")] + "_")]
        defined = re.findall(r"^const \w+ (\w+) =", text, re.M)
        if not rows and any(re.search(rf"\b{name}\b", strip_comments(whole))
                            for whole in wholes for name in defined):
            pass
        elif not rows:
            yield path, 1, "a kernel file without a KernelRow: nothing can reach its kernel"
        elif not re.search(rf'"{op}_sm\d+(_\w+)?"', text):
            yield path, rows[0][0], f'the row is not named "{op}_<arch>[_variant]"'
        tests = [p for p in tree.paths if re.match(rf"tests/kernels/{op}/.*_test\.(cc|cu)$", p)]
        if not any(re.search(rf"(?<![a-z]){op}(?![a-z])", tree.texts[p]) for p in tests):
            yield path, 1, f"no test in tests/kernels/{op}/ mentions {op}"
        benches = [p for p in tree.paths if p.startswith("bench/") and p.endswith(".cc")]
        if not any(re.search(rf"(?<![a-z]){op}(?![a-z])", tree.texts[p]) for p in benches):
            yield path, 1, f"no driver in bench/ mentions {op}"


def check_tables(tree):
    """Every operation with a KernelRow has its table in src/registry.cc, whose list everything reads."""
    ops = sorted({p.split("/")[1] for p, text in tree.code()
                  if re.fullmatch(r"kernels/\w+/\w+\.cu", p) and
                  not p.startswith(("kernels/ptx/", "kernels/common/")) and
                  re.search(r"\bKernelRow<", strip_comments(text))})
    registry = strip_comments(tree.texts.get("src/registry.cc", ""))
    listed = re.search(r"\bkOperations\[\]\s*=\s*\{(.*?)\};", registry, re.S)
    for op in ops:
        if not listed or f"op::{op}::Host>" not in listed.group(1):
            yield "src/registry.cc", 1, (
                f"kernels/{op}/ has a KernelRow that nothing can find: add "
                f"operation<op::{op}::Host>() to kOperations")


def check_wired(tree):
    """Every source is named in a CMake list, so that none is silently left out of the build."""
    lists = "\n".join(tree.texts[p] for p in tree.paths
                      if p.endswith("CMakeLists.txt") or p.endswith(".cmake"))
    for path in tree.paths:
        if not re.fullmatch(r"(src|kernels|tests|bench)/.*\.(cc|cu|c|cpp|S)", path):
            continue
        if path.startswith(("kernels/ptx/emu/", "tests/support/", "tests/reference/",
                            "tests/packaging/")):
            continue  # collected by pattern
        name = os.path.basename(path)
        ptx = re.fullmatch(r"tests/kernels/ptx/(\w+)_(test\.cc|kernels\.cu)", path)
        if name not in lists and not (ptx and f"libkernels_ptx_test({ptx.group(1)}" in lists):
            yield path, 1, "is in no CMakeLists.txt"


def check_marks(tree):
    """No left-over marks."""
    for path in tree.paths:
        if path in SELF or path == "LICENSE" or path.startswith("bench/results/"):
            continue
        text = tree.texts[path]
        for line, found in matches(text, r"\b(TODO|FIXME|XXX|HACK)\b"):
            yield path, line, f"{found}: finish it, or write down the limit in plain words"


CHECKS = (check_top_level, check_length, check_columns, check_includes, check_asm, check_words,
          check_runtime_calls, check_contracts, check_configs, check_registered, check_tables,
          check_wired, check_marks)


def violations(root):
    tree = Tree(root)
    found = []
    for check in CHECKS:
        for path, line, reason in check(tree):
            if path not in SELF or check in (check_length, check_wired):
                found.append(f"{path}:{line}: {reason} [{check.__name__[6:]}]")
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), ".."))
    found = violations(os.path.abspath(parser.parse_args().root))
    for line in found:
        print(line)
    print(f"check_layout: {len(found)} violations" if found else "check_layout: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
