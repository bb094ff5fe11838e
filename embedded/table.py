"""Prints what the tiny layers cost beside the plain loops of loops.hpp: `make embedded-table`.

Code and memory are those of a Cortex-M4, added up from the linker map of a program that holds every layer in object files
of its own. Instructions are counted by callgrind in the host build of the same files with the same flags.
"""

import re

from toolchain import BUILD, DEVICE, HOST, ROOT, check

HERE = ROOT / "embedded"
ROWS = {
    "max_1d": "MaxPool1D(2)",
    "max_1d_overlapping": "MaxPool1D(3, 2)",
    "avg_1d": "AvgPool1D(2)",
    "avg_1d_overlapping": "AvgPool1D(3, 2)",
    "max_2d": "MaxPool2D(2, 2)",
    "max_2d_overlapping": "MaxPool2D(3, 3, 2, 2)",
    "avg_2d": "AvgPool2D(2, 2)",
    "avg_2d_overlapping": "AvgPool2D(3, 3, 2, 2)",
}
OUTPUTS = {row: 256 if "1d" in row else 512 for row in ROWS}
KINDS = ("Tiny", "Loop")


def objects(machine):
    """Compiles every row as every kind, for inference and for training."""
    for row in ROWS:
        for kind in KINDS:
            defines = [f"-DROW={row}", f"-DKIND={kind}"]
            yield machine.compile(HERE / "table_object.cpp", *defines, name=f"{kind}_{row}_infer")
            defines += ["-DTRAINING"] + ["-DMASK"] * (kind == "Loop" and "max" in row)
            yield machine.compile(HERE / "table_object.cpp", *defines, name=f"{kind}_{row}_train")


def sizes(program):
    """Bytes of code and constants, and of memory, of every object file in a linker map."""
    text = (program.parent / (program.name + ".map")).read_text().partition("Linker script and memory map")[2]
    found = {}
    for section, size, path in re.findall(r"^ (\.\S+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+) (\S+)$", text, re.MULTILINE):
        kind = "memory" if section.startswith((".bss", ".data")) else "code" if section.startswith((".text", ".rodata")) else None
        if kind is not None:
            entry = found.setdefault(path.rsplit("/", 1)[-1].removesuffix(".o"), {"code": 0, "memory": 0})
            entry[kind] += int(size, 16)
    return found


def instructions(program):
    """Instructions, callees included, of every function of the table in one run."""
    out = BUILD / "callgrind.out"
    check(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program])
    text = check(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out])
    pattern = r"^\s*([\d,]+) .*embedded::(Tiny|Loop)<embedded::(\w+)>::(infer|train|back)\("
    return {
        (kind, row, function): int(count.replace(",", ""))
        for count, kind, row, function in re.findall(pattern, text, re.MULTILINE)
    }


def main():
    device = DEVICE.link_objects("table", *objects(DEVICE), DEVICE.compile(HERE / "table_main.cpp"))
    host = HOST.link_objects("table", *objects(HOST), HOST.compile(HERE / "table_main.cpp"))
    size, count = sizes(device), instructions(host)

    print("| layer | code, inference | code, training | kept for training | instructions per output: forward "
          "| forward in training | backward |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for row, label in ROWS.items():
        pairs = [[size[f"{kind}_{row}_{mode}"]["code"] for kind in KINDS] for mode in ("infer", "train")]
        pairs.append([size[f"{kind}_{row}_train"]["memory"] for kind in KINDS])
        pairs += [[round(count[kind, row, f] / OUTPUTS[row], 1) for kind in KINDS] for f in ("infer", "train", "back")]
        print(f"| `{label}` | " + " | ".join(f"{tiny} / {loop}" for tiny, loop in pairs) + " |")


if __name__ == "__main__":
    main()
