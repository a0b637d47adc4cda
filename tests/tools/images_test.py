"""H3: every GPU from compute capability 8.0 on finds an image that it can load in each translation
unit with portable kernels, and the other generations' images are where runs_on() says.

usage: images_test.py path/to/libkernels.so GENERATION...
"""

import re
import shutil
import struct
import subprocess
import sys

PTX, CUBIN = 1, 2
MAGIC = struct.pack("<I", 0xBA55ED50)
SPECIFIC, FAMILY = 1 << 20, 1 << 21  # in an image's flags: 90a, 100f

PORTABLE = [80, 86, 87, 89, 90, 100, 103, 110, 120, 121]
NATIVE = [80, 86, 87, 89, 90, 100, 103]  # without compiling at the first call
GENERATIONS = {"90": ("90a", [90]), "100": ("100f", [100, 103])}  # target, where it must load


class Image:
    def __init__(self, kind, arch, flags):
        self.kind, self.arch = kind, arch
        self.suffix = "a" if flags & SPECIFIC else "f" if flags & FAMILY else ""

    def __repr__(self):
        return ("compute_" if self.kind == PTX else "sm_") + str(self.arch) + self.suffix

    def loads_on(self, cc):
        same_major = self.arch // 10 == cc // 10 and self.arch <= cc
        if self.suffix == "a":
            return self.arch == cc
        if self.suffix == "f" or self.kind == CUBIN:
            return same_major
        return self.arch <= cc


def units(data):
    """The images of each fat binary in the file, one fat binary a translation unit."""
    found, at = [], data.find(MAGIC)
    while at >= 0:
        _, version, header, size = struct.unpack_from("<IHHQ", data, at)
        if version != 1 or header != 16 or at + header + size > len(data):
            at = data.find(MAGIC, at + 1)
            continue
        images, entry, end = [], at + header, at + header + size
        while entry < end:
            kind, _, entry_header, entry_size = struct.unpack_from("<HHIQ", data, entry)
            arch, = struct.unpack_from("<I", data, entry + 28)
            flags, = struct.unpack_from("<I", data, entry + 40)
            images.append(Image(kind, arch, flags))
            entry += entry_header + entry_size
        found.append(images)
        at = data.find(MAGIC, end)
    return found


def failures_of(found, generations):
    failures = []
    for target, capabilities in (GENERATIONS[g] for g in generations if g in GENERATIONS):
        alone = [images for images in found if any(str(i) == "sm_" + target for i in images)]
        if not alone:
            failures.append(f"no translation unit holds code for {target}")
        for images in alone:
            for cc in (c for c in PORTABLE if c not in capabilities):
                if any(i.loads_on(cc) for i in images):
                    failures.append(f"{images} loads on {cc}, where runs_on() never launches it")
            for cc in capabilities:
                if not any(i.loads_on(cc) for i in images):
                    failures.append(f"{images} does not load on {cc}")
    portable = [images for images in found if all(i.suffix == "" for i in images)]
    if "80" in generations and not portable:
        failures.append("no translation unit holds portable code")
    for images in portable:
        for cc in PORTABLE:
            if not any(i.loads_on(cc) for i in images):
                failures.append(f"{images} does not load on {cc}")
        for cc in NATIVE:
            if not any(i.kind == CUBIN and i.loads_on(cc) for i in images):
                failures.append(f"{images} has no machine code for {cc}")
    return failures


def disagreements(library, found):
    """With what cuobjdump lists, where there is one: the format of fat binaries is not documented."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        return []
    text = "".join(subprocess.run([tool, what, library], capture_output=True, text=True,
                                  check=False).stdout for what in ("-lelf", "-lptx"))
    listed = sorted(re.findall(r"\.(sm_\d+a?)f?\.(?:cubin|ptx)", text))
    ours = sorted(str(i).replace("compute_", "sm_").rstrip("f") for images in found for i in images)
    return [] if listed == ours else [f"cuobjdump lists {listed}, this test found {ours}"]


def self_check():
    """Each way to be wrong is seen."""
    def image(kind, arch, flags=0):
        return Image(kind, arch, flags)
    good = [image(PTX, 80), image(CUBIN, 80), image(CUBIN, 90), image(CUBIN, 100)]
    assert not failures_of([good], ["80"])
    assert failures_of([good[1:]], ["80"]), "no PTX: nothing for 12.0"
    assert failures_of([good[:2]], ["80"]), "no machine code for 9.0"
    assert failures_of([good], ["80", "90"]), "nothing for 90a"
    hopper = [image(CUBIN, 90, SPECIFIC)]
    assert not failures_of([good, hopper], ["80", "90"])
    assert failures_of([good, [image(CUBIN, 100, SPECIFIC)]], ["80", "100"]), "100a is not 10.3"
    assert not failures_of([good, [image(CUBIN, 100, FAMILY)]], ["80", "100"])


def main():
    self_check()
    library, generations = sys.argv[1], sys.argv[2:]
    with open(library, "rb") as file:
        found = units(file.read())
    if not found:
        print(f"{library} holds no fat binary: this test does not understand it any more")
        return 1
    failures = failures_of(found, generations) + disagreements(library, found)
    summary = sorted(str(images) for images in found)
    print("\n".join(failures) or f"{len(found)} translation units: {'; '.join(summary)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
