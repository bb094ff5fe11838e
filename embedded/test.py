"""Tests the tiny layers on an emulated microcontroller, bit for bit: `make test-embedded`."""

import re
import sys

from table import FUNCTIONS, ROWS, measure
from toolchain import DEVICE, HOST, ROOT

HERE = ROOT / "embedded"
EXAMPLE = ROOT / "examples" / "firmware_cnn1d" / "firmware_cnn1d.cpp"

# What a program without heap, exceptions, RTTI, streams and mathematical library must not contain.
HOSTED = re.compile(
    r"\b(malloc|calloc|realloc|free|operator new|operator delete|__cxa_\w+|_Unwind_\w+"
    r"|typeinfo|std::\w*stream|expf?|logf?|powf?|sqrtf?|printf)\b"
)
TRAINING = re.compile(r"backward|vjp|Memory|Small|mark_extremes|for_each_winner|gradient")


def outputs(name, source):
    """What a program prints on both machines, line by line."""
    return [machine.run(machine.build(name, source)).splitlines() for machine in (HOST, DEVICE)]


def case_tests():
    """One test per case: all its lines are the same on both machines."""
    host, device = outputs("cases", HERE / "run_cases.cpp")
    names = dict.fromkeys(line.split()[0] for line in host + device)
    for name in names:
        of_case = [[line for line in lines if line.split()[0] == name] for lines in (host, device)]
        yield (
            f"{name}: host and Cortex-M4 agree on every bit",
            of_case[0] == of_case[1] and of_case[0] != [],
        )
    for array, least in (("y", 45), ("memory", 15), ("mask", 15), ("gx", 35), ("gw", 7)):
        printed = [line for line in device if line.split()[1] == array and len(line.split()) > 2]
        yield f"at least {least} cases have printed {array}", len(printed) >= least


def example_tests():
    """The example learns on the microcontroller, and learns the same on the host."""
    host, device = outputs("firmware_cnn1d", EXAMPLE)
    losses = [float(line.split()[-1]) for line in device if line.startswith("step")]
    yield "firmware_cnn1d prints the same losses on both machines", host == device
    yield "firmware_cnn1d prints at least ten losses", len(losses) >= 10
    yield (
        "firmware_cnn1d ends with less than a tenth of its first loss",
        losses and losses[-1] < losses[0] / 10,
    )


def symbol_tests():
    """What object files and programs contain, by their symbols."""
    for machine in (HOST, DEVICE):
        # Without inlining, every function that is used has a symbol.
        inference = machine.symbols(machine.compile(HERE / "inference_only.cpp", "-fno-inline"))
        training = machine.symbols(machine.compile(HERE / "training_too.cpp", "-fno-inline"))
        yield (
            f"{machine.name}: a build for inference has code",
            any("forward" in line for line in inference),
        )
        yield (
            f"{machine.name}: ... and none for training",
            not any(TRAINING.search(line) for line in inference),
        )
        yield (
            f"{machine.name}: ... which the search finds where it is",
            any(TRAINING.search(line) for line in training),
        )
    firmware = DEVICE.symbols(DEVICE.build("cases", HERE / "run_cases.cpp"))
    yield (
        "the firmware has no heap, exceptions, RTTI, streams or libm",
        not any(map(HOSTED.search, firmware)),
    )


def cost_tests():
    """Beside the plain loops of the same sizes, every layer has what docs/embedded.md promises."""
    for row, columns in measure():
        pairs = {name: cell[:2] for name, cell in columns.items() if len(cell) > 1}
        if not pairs:
            continue
        label = ROWS[row][0]
        code = [pairs["code, inference"], pairs["code, training"]]
        yield f"{label}: at most twice the code", all(tiny <= 2 * loop for tiny, loop in code)
        runs = [pairs[name] for name in FUNCTIONS.values()]
        yield (
            f"{label}: fewer instructions in every function",
            all(0 < tiny < loop for tiny, loop in runs),
        )
        if row.startswith("max"):
            tiny, loop = pairs["kept for training"]
            yield f"{label}: at most a quarter of the memory", 0 < 4 * tiny <= loop


def main():
    passed = failed = 0
    for tests in (case_tests, example_tests, symbol_tests, cost_tests):
        for name, holds in tests():
            print("ok    " if holds else "FAILED", name)
            passed, failed = passed + bool(holds), failed + (not holds)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
