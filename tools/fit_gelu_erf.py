#!/usr/bin/env python3
"""Makes kQ*, kN* and kD*, the coefficients of the erf form of GeLU, as they stand in kernels/gelu/.

usage: tools/fit_gelu_erf.py [--check]

--check compares them with the two headers there and exits 1 on a difference. Takes some 10 s. Needs
numpy and mpmath; exits 77 without. With z = |x| and g(z) = erfc(z / sqrt 2) / 2, the tail in
GeLU(x) = max(x, 0) - z g(z), the coefficients are those of the fit

    log2(2 g(z)) = z (Q1 + z (Q2 + Q3 z + N(z) / D(z))),    deg N = n - 1, deg D = n, D(0) = 1,

whose max |relative error of g| / tolerance is least. Q2 + Q3 z + N / D is one rational function
with its polynomial part split off. The tolerance of fp32 is 2^-24 (1 + z^2), which grows as the
bound does; that of a 16-bit type follows from its rounding (type_tolerance).
"""

import argparse
import math
import os
import pathlib
import re
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small: threads only wait
try:
    import mpmath
    import numpy as np
except ModuleNotFoundError as missing:
    print(f"fit_gelu_erf: python3 lacks the package {missing.name}")
    sys.exit(77)

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
CONSTANT = r"constexpr float (k[QND]\d) = (0\.5f \* )?(-?0x[\w.+-]+)f;"


def ulp(value, precision, least_exponent):
    exponent = math.frexp(value)[1] - 1 if value else least_exponent
    return math.ldexp(1.0, max(exponent, least_exponent) - precision + 1)


def type_tolerance(points, precision, least_exponent, noise_growth):
    """By how much, relatively, g may be off so that y rounded to the type stays within the bound.

    The bound is |error of y| <= fp32 bound + ulp / 2; the values of the type within it go from
    lowest to highest. Unrounded, y may lie from the middle between lowest and the value below to
    that between highest and the value above: its distance from the nearer one, less the noise of
    the fp32 evaluation, is what z g may be off. Taken is the less of x = z and x = -z, or 1e-3.
    """
    def allowed(x, exact):  # exact: |y|
        ulp_fp32, spacing = ulp(exact, 24, -126), ulp(exact, precision, least_exponent)
        bound = 4 * ulp_fp32 if x >= -1 else 2.0**-23 * (4 + x * x) * exact + 2.0**-149
        bound += spacing / 2
        noise = ulp_fp32 if x > 0 else 2.0**-23 * (2 + noise_growth * x * x) * exact + 2.0**-149
        lowest = math.ceil((exact - bound) / spacing) * spacing
        highest = math.floor((exact + bound) / spacing) * spacing
        below = exact - lowest + ulp(lowest * (1 - 1e-9), precision, least_exponent) / 2
        above = highest - exact + ulp(highest, precision, least_exponent) / 2
        return max(min(below, above) - noise, 1e-9 * exact)

    tails = [(z, z * math.erfc(z / math.sqrt(2)) / 2) for z in map(float, points)]
    return np.array([min(1e-3, allowed(z, z - tail) / tail, allowed(-z, tail) / tail)
                     for z, tail in tails])


def lawson_fit(z, target, weight, degrees, fixed, rounds):
    """(error, {("N" or "D", power): c}) of the N / D of least max |weight (N / D - target)|.

    Lawson: least squares, each point's share multiplied by its error after every round, tends to
    the minimax. Linearised: weight (N - target D) / (D of the last round) stands for the error and
    is linear in the free coefficients, those not in fixed.
    """
    def column(side, power, at):
        return at**power * (1 if side == "N" else -target)

    names = [(side, power) for side, degree in zip("ND", degrees) for power in range(degree + 1)]
    free = [name for name in names if name not in fixed]
    unit = 3.0  # of z in the least squares: makes the powers comparable
    matrix = np.array([column(*name, z / unit) for name in free]).reshape(len(free), len(z)).T
    known = sum(value * column(*name, z) for name, value in fixed.items())
    share, denominator, best = np.ones_like(z), (1 + z / unit)**degrees[1], (math.inf, None)
    for _ in range(rounds):
        scale = np.sqrt(share) * weight / denominator
        system = matrix * scale[:, None]
        norms = np.abs(system).max(0)
        solution = np.linalg.lstsq(system / norms, -known * scale, rcond=1e-17)[0] / norms
        coefficients = fixed | {name: c / unit**name[1] for name, c in zip(free, solution)}
        numerator, denominator = (sum(c * z**power for (side, power), c in coefficients.items()
                                      if side == part) for part in "ND")
        if (denominator <= 0).any():
            break
        errors = np.abs(weight * (numerator / denominator - target))
        best = min(best, (errors.max(), coefficients), key=lambda fit: fit[0])
        share = share * (errors / errors.max() + 1e-3)
        share /= share.sum()
    return best


def round_one(value, refit):
    """(c, refit(c)): of the float nearest to value and its neighbours, the c of least error after
    refit has fitted the coefficients that are still free."""
    near, infinity = np.float32(value), np.float32(np.inf)
    candidates = map(float, (near, np.nextafter(near, infinity), np.nextafter(near, -infinity)))
    return min(((c, refit(c)) for c in candidates), key=lambda choice: choice[1][0])


def fit_exponent(z, tolerance, n, rounds):
    """({name: float}, error before rounding, error), the errors as shares of the tolerance.

    The coefficients are rounded one by one: Q1, Q3, Q2, then those of the highest powers first.
    Near the optimum the choices hardly differ, so their last digits depend on `rounds`.
    """
    with mpmath.workdps(40):  # near 0 the double erfc would lose the logarithm's digits
        exact = [mpmath.log(mpmath.erfc(mpmath.mpf(float(a)) / mpmath.sqrt(2)), 2) for a in z]
    # The target is freed of Q1, Q3 and Q2 in turn; d(g) / g = ln 2 d(log2 g).
    target, weight = np.array(exact, float) / z, math.log(2) / tolerance * z
    fixed = {("D", 0): 1.0}
    unrounded, fit = lawson_fit(z, target, weight, (n + 2, n), fixed, rounds=800)

    def refit(rest, n_degree, trial=None):
        return lawson_fit(z, rest, weight * z, (n_degree, n), fixed | (trial or {}), rounds)

    q1, (_, fit) = round_one(fit["N", 0], lambda c: refit((target - c) / z, n + 1))
    target = (target - q1) / z
    q3, (_, fit) = round_one(fit["N", n + 1] / fit["D", n], lambda c: refit(target - c * z, n))
    target = target - q3 * z
    q2, (_, fit) = round_one(fit["N", n] / fit["D", n], lambda c: refit(target - c, n - 1))
    target = target - q2
    for name in sorted(fit.keys() - fixed.keys(), key=lambda name: (-name[1], name[0] == "D")):
        fixed[name], (error, fit) = round_one(fit[name], lambda c: refit(target, n - 1, {name: c}))
    constants = {"kQ1": q1, "kQ2": q2, "kQ3": q3}
    constants |= {f"kN{power}": fixed["N", power] for power in range(n)}
    constants |= {f"kD{power}": fixed["D", power] for power in range(1, n + 1)}
    return constants, unrounded, error


def declaration(name, value, half):
    digits = value.hex().replace("0000000p", "p")  # a float has 6 of the 13 hexadecimal digits
    return (f"  constexpr float {name} = {'0.5f * ' * half}{digits}f;"
            f"  // {'half of ' * half}{value: .9g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the headers")
    check = parser.parse_args().check
    headers = "".join(path.read_text("utf-8") for path in sorted(KERNELS.rglob("gelu_math*.cuh")))
    f32 = 7.2 * (1 - np.cos(np.pi * (np.arange(4, 800) + 0.5) / 800))  # Chebyshev, of (0, 14.4)
    f16 = np.arange(0x2400, 0x45B4, dtype=np.uint16).view(np.float16).astype(float)  # 2^-6 .. 5.7
    bf16 = (np.arange(0x3C80, 0x4162, dtype=np.uint32) << 16).view(np.float32).astype(float)
    stale = []
    for function, *problem in (
            ("gelu_erf", f32, 2.0**-24 * (1 + f32**2), 3, 300),
            ("gelu_erf_f16", f16, type_tolerance(f16, 11, -14, 0.4), 2, 400),
            ("gelu_erf_bf16", bf16, type_tolerance(bf16, 8, -126, 0.5), 2, 400)):
        constants, unrounded, error = fit_exponent(*problem)
        halved = "QN" if function == "gelu_erf_bf16" else ""  # it evaluates half the exponent
        lines = [declaration(name, value, name[1] in halved)
                 for name, value in constants.items()]
        print(f"// {function}: {error:.2f} of the tolerance, {unrounded:.2f} before rounding",
              *lines, sep="\n", flush=True)
        body = re.search(rf" {function}\(float x\) {{(.*?)\n}}", headers, re.S).group(1)
        if re.findall(CONSTANT, "\n".join(lines)) != re.findall(CONSTANT, body):
            stale.append(function)
    if check:
        print("the headers differ in " + ", ".join(stale) if stale else "the headers hold these")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
