"""How programs for the host and for the emulated Cortex-M4 are compiled, linked and run."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "embedded"
BOARD = ROOT / "embedded" / "board"

# The same for both machines. Without contraction, because a fused multiply-add has other bits than
# the two operations that a host without it makes; without guards of static variables: no threads.
FLAGS = [
    *"-std=c++20 -O2 -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics".split(),
    *"-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split(),
    f"-I{ROOT / 'include'}",
    f"-I{ROOT / 'embedded'}",
]
CORTEX_M4 = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]


class Machine:
    """A machine: its compiler, its board file, and how its programs are run."""

    def __init__(self, name, prefix, flags, board, link, runner):
        self.name, self.prefix, self.flags = name, prefix, flags
        self.board, self.link, self.runner = board, link, runner

    def compile(self, source, *extra, name=None):
        """Compiles one source file to an object file, named after it unless `name` is given."""
        target = BUILD / self.name / ((name or pathlib.Path(source).stem) + ".o")
        target.parent.mkdir(parents=True, exist_ok=True)
        check([self.prefix + "g++", *FLAGS, *self.flags, *extra, "-c", source, "-o", target])
        return target

    def link_objects(self, name, *objects):
        """Links object files and the board's to a program, with its linker map beside it."""
        program = BUILD / self.name / name
        command = [self.prefix + "g++", *self.flags, *objects, self.compile(self.board), *self.link]
        check([*command, f"-Wl,-Map={program}.map", "-o", program])
        return program

    def build(self, name, source):
        """Compiles and links a program of one source file."""
        return self.link_objects(name, self.compile(source))

    def run(self, program):
        """What a program prints."""
        return check([*self.runner, program], timeout=300)

    def symbols(self, binary):
        return check([self.prefix + "nm", "--demangle", binary]).splitlines()


def check(command, timeout=None):
    """Runs a command and returns what it printed. Raises, with all that it said, if it fails."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


HOST = Machine("host", "", [], BOARD / "host.cpp", [], [])
DEVICE = Machine(
    "device",
    "arm-none-eabi-",
    CORTEX_M4,
    BOARD / "mps2_an386.cpp",
    ["-nostdlib", "-T", BOARD / "mps2_an386.ld", "-lgcc"],
    # -kernel takes the program as its value, so it comes last.
    "qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -chardev stdio,id=out"
    " -semihosting-config enable=on,target=native,chardev=out -kernel".split(),
)
