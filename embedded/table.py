"""Prints what the tiny layers cost beside the plain loops of loops.hpp: `make embedded-table`.

Code and memory are those of a Cortex-M4, added up from the linker map of a program that holds
every layer in object files of its own. Instructions are counted by callgrind in the host build
of the same files with the same flags.
"""

import re

from toolchain import BUILD, DEVICE, HOST, ROOT, check

HERE = ROOT / "embedded"
# Each row with its name in a program, its number of outputs, and whether there is a loop for it.
ROWS = {
    "max_1d": ("MaxPool1D(2)", 256, True),
    "max_1d_overlapping": ("MaxPool1D(3, 2)", 256, True),
    "avg_1d": ("AvgPool1D(2)", 256, True),
    "avg_1d_overlapping": ("AvgPool1D(3, 2)", 256, True),
    "max_2d": ("MaxPool2D(2, 2)", 512, True),
    "max_2d_overlapping": ("MaxPool2D(3, 3, 2, 2)", 512, True),
    "avg_2d": ("AvgPool2D(2, 2)", 512, True),
    "avg_2d_overlapping": ("AvgPool2D(3, 3, 2, 2)", 512, True),
    "global_avg": ("GlobalAvgPool", 8, True),
    "max_2d_padded": ("MaxPoolND, 3x3, stride 2, padding 1", 512, False),
    "avg_2d_padded": ("AvgPoolND, 3x3, stride 2, padding 1", 512, False),
    "adaptive_max": ("AdaptiveMaxPoolND, 9x9 to 4x4", 128, False),
    "adaptive_avg": ("AdaptiveAvgPoolND, 9x9 to 4x4", 128, False),
    "max_2d_int8": ("MaxPool2D(2, 2), int8", 512, False),
    "avg_2d_int8": ("AvgPool2D(2, 2), int8", 512, False),
}
FUNCTIONS = {"infer": "instructions: forward", "train": "forward in training", "back": "backward"}


def kinds(row):
    return ("Tiny", "Loop", "Known") if ROWS[row][2] else ("Tiny",)


def objects(machine):
    """Compiles every row as every kind, for inference and for training."""
    for row in ROWS:
        for kind in kinds(row):
            defines = [f"-DROW={row}", f"-DKIND={kind}"]
            yield machine.compile(HERE / "table_object.cpp", *defines, name=f"{kind}_{row}_infer")
            if "int8" in row:
                continue  # has no way back
            defines += ["-DTRAINING"] + ["-DMASK"] * (kind != "Tiny" and "max" in row)
            yield machine.compile(HERE / "table_object.cpp", *defines, name=f"{kind}_{row}_train")


def sizes(program):
    """Bytes of code and constants, and of memory, of every object file in a linker map."""
    text = (
        (program.parent / (program.name + ".map"))
        .read_text()
        .partition("Linker script and memory map")[2]
    )
    found = {}
    pattern = r"^ (\.\S+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+) (\S+)$"
    for section, size, path in re.findall(pattern, text, re.MULTILINE):
        entry = found.setdefault(
            path.rsplit("/", 1)[-1].removesuffix(".o"), {"code": 0, "memory": 0}
        )
        if section.startswith((".text", ".rodata")):
            entry["code"] += int(size, 16)
        elif section.startswith((".data", ".bss")):
            entry["memory"] += int(size, 16)
    return found


def instructions(program):
    """Instructions, callees included, of every function of the table in one run."""
    out = BUILD / "callgrind.out"
    check(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program])
    text = check(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out])
    pattern = r"^\s*([\d,]+) .*embedded::(Tiny|Loop|Known)<embedded::(\w+)>::(infer|train|back)\("
    return {
        (kind, row, function): int(count.replace(",", ""))
        for count, kind, row, function in re.findall(pattern, text, re.MULTILINE)
    }


def measure():
    """For every row, the numbers of each column: of the tiny layer and of the two loops, if any."""
    device = DEVICE.link_objects("table", *objects(DEVICE), DEVICE.compile(HERE / "table_main.cpp"))
    host = HOST.link_objects("table", *objects(HOST), HOST.compile(HERE / "table_main.cpp"))
    if "different" in (said := HOST.run(host)):
        raise RuntimeError(f"loops and tiny layers differ:\n{said}")
    size, count = sizes(device), instructions(host)

    def bytes_of(row, mode, what):
        objects_of_row = [f"{kind}_{row}_{mode}" for kind in kinds(row)]
        return [size[name][what] for name in objects_of_row if name in size]

    for row, (_, outputs, _) in ROWS.items():
        columns = {
            "code, inference": bytes_of(row, "infer", "code"),
            "code, training": bytes_of(row, "train", "code"),
            "kept for training": bytes_of(row, "train", "memory"),
        }
        for function, name in FUNCTIONS.items():
            counts = [
                count[kind, row, function] for kind in kinds(row) if (kind, row, function) in count
            ]
            columns[name] = [round(number / outputs, 1) for number in counts]
        yield row, columns


def main():
    for number, (row, columns) in enumerate(measure()):
        if number == 0:
            print("| layer |", " | ".join(columns), "|")
            print("|---" * (1 + len(columns)) + "|")
        print(
            f"| {ROWS[row][0]} |",
            " | ".join(" / ".join(map(str, cell)) for cell in columns.values()),
            "|",
        )


if __name__ == "__main__":
    main()
