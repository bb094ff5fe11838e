"""Arguments: what may be written in more than one way, and sentences that name what is wrong."""

import json
import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command import done, fails

import ndpool


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(8, 8)).astype("f4"))
    np.save(tmp_path / "b.npy", np.zeros((8, 8), ml_dtypes.bfloat16))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SENTENCES = {
    "": "a command is missing; ndpool --help lists them",
    "mx x.npy -o y.npy": "there is no command 'mx'; did you mean max?",
    "smooth_max x.npy": "there is no command 'smooth_max'; did you mean smooth-max?",
    "AVG": "there is no command 'AVG'; did you mean avg?",
    "pyrmaid x.npy": "there is no command 'pyrmaid'; did you mean pyramid?",
    "mix x.npy": "there is no command 'mix'; did you mean max or min?",
    "nonsense": "there is no command 'nonsense'; ndpool --help lists them",
    "vjp agv x.npy": "there is no operator 'agv'; did you mean avg?",
    "vjp": "vjp of which operator? ndpool vjp --help lists them",
    "explain --shape 4 --op mx": "there is no operator 'mx'; did you mean max?",
    "max x.npy -o y.npy -k 2,2 --beta 1": "max has no option --beta; smooth-max, "
    "adaptive-smooth-max and global-smooth-max have it",
    "max x.npy -o y.npy -k 2,2 --beta=1": "max has no option --beta; smooth-max, "
    "adaptive-smooth-max and global-smooth-max have it",
    "vjp max x.npy --gradient x.npy -o y.npy -k 2,2 --tangent x.npy": "vjp max has no option "
    "--tangent; jvp max has it",
    "max x.npy -o y.npy --kernal 2,2": "max has no option --kernal; did you mean --kernel?",
    "max x.npy -o y.npy -k 2,2 -z": "max has no option -z; ndpool max --help lists them",
    "-q max x.npy -o y.npy -k 2,2": "-q must stand behind max",
    "max x.npy z.npy -o y.npy -k 2,2": "max has one argument too many: 'z.npy'",
    "max x.npy -o y.npy -k 2 2": "max has one argument too many: '2'; lists have commas between, "
    "as in 3,3",
    "--hlep": "ndpool has no option --hlep; did you mean --help?",
    "--kernel 2,2": "ndpool has no option --kernel; max, min, sum, avg, smooth-max, lp, pyramid "
    "and explain have it",
    "-z": "ndpool has no option -z; ndpool --help lists them",
    "avg x.npy -o y.npy -k 2,2 --ties all": "avg has no option --ties; max, min, lp, adaptive-max, "
    "adaptive-min, adaptive-lp, global-max, global-min and global-lp have it",
    "max x.npy -o y.npy -k 2,2 --p 2": "max has no option --p; lp, adaptive-lp and global-lp have "
    "it",
    "avg x.npy -o y.npy -k 2,2 --tips 2": "avg has no option --tips; ndpool avg --help lists them",
    "max x.npy --kernel -o y.npy": "--kernel needs a value, and -o is none",
    "max -o y.npy -k 2,2": "IN is required",
    "info": "FILES is required",
    "max x.npy -k 2,2 -o": "--out needs a value",
    "max x.npy -o y.npy -k 2,2 -k 3,3": "--kernel is given more than once",
    "max x.npy -o y.npy -k 99999999999999999999,2": "--kernel has the number 99999999999999999999, "
    "which does not fit 64 bits",
    "max x.npy -o y.npy -k 2,a": "--kernel must be whole numbers with commas between, not '2,a'",
    "max x.npy -o y.npy -k 2,2 --padding sane": "--padding must be numbers, same, same_lower or "
    "valid, not 'sane'",
    "avg x.npy -o y.npy -k 2,2 --divisor 99999999999999999999": "--divisor has the number "
    "99999999999999999999, which does not fit 64 bits",
    "avg x.npy -o y.npy -k 2,2 --divisor 1.5": "--divisor must be a whole number, not '1.5'",
    "avg x.npy -o y.npy -k 2,2 --divisor 3 --count-exclude-pad": "--divisor excludes "
    "--count-exclude-pad",
    "explain --shape 4 -k 2 --divisor 0": "--divisor 0 cannot divide; give another number or none",
    "max x.npy -o y.npy -k 2,2 --threads 2.5": "--threads must be a whole number, not '2.5'",
    "max x.npy -o y.npy -k 2,2 --threads 1025": "--threads must be from 1 to 1024, not 1025",
    "pyramid x.npy -o p -k 2,2 --levels two": "--levels must be a whole number, not 'two'",
    "pyramid x.npy -o p -k 2,2 --levels 0": "--levels must be from 1 to 62, not 0",
    "pyramid x.npy -o p -k 2,2 --levels 99999999999999999999": "--levels has the number "
    "99999999999999999999, which does not fit 64 bits",
    "smooth-max x.npy -o y.npy -k 2,2 --beta soft": "--beta must be a number, not 'soft'",
    "lp x.npy -o y.npy -k 2,2 --p 1e999": "--p has the number 1e999, which does not fit 64 bits",
    "lp x.npy -o y.npy -k 2,2 --ties all": "--ties is for --p inf, not for --p 2",
    "explain --shape 8,8 --op adaptive-max --output-size 2,2 --stride 2,2": "adaptive-max has no "
    "option --stride",
    "explain --shape 8,8 -k 2,2 --output-size 2,2": "max has no option --output-size",
    "explain --shape 8,8 -k 2,2 --dtype uint8": "--dtype is for --plan",
    "explain --shape 8,8 -k 2,2 --plan --dtype uint9": "--dtype must be one of float32, float64, "
    "float16, bfloat16, int8, uint8, int16, uint16, int32, int64, uint32, uint64, bool, not "
    "'uint9'",
    "explain --shape 8,8 --op smooth-max -k 2,2 --plan --dtype uint8": "--dtype uint8 has no "
    "exp, log and pow, which smooth-max needs",
    "pyramid x.npy -o p -k 2,2 --levels 1 --op max --rounding floor": "--rounding is for --op avg, "
    "not for --op max",
    "avg x.npy -o y.npy -k 2,2 --rounding floor": "--rounding is for integers; the elements of "
    "x.npy are float32",
    "pyramid x.npy -o p -k 2,2 --levels 1 --rounding floor": "--rounding is for integers; the "
    "elements of x.npy are float32",
    "pyramid x.npy -o - -k 2,2 --levels 1": "-o must be a folder here, not -",
    "demo -o -": "-o must be a folder here, not -",
    "jvp max - --tangent - -o y.npy -k 2,2": "the input and --tangent cannot both be -: standard "
    "input holds one array",
    "info - -": "- is given twice: standard input holds one array",
    "max x.npy -o y.npy -k 2,2 --dtype bfloat16": "--dtype bfloat16 is for elements without a "
    "type; those of x.npy are float32",
    "pyramid x.npy -o p -k 2,2 --levels 1 --dtype bfloat16": "--dtype bfloat16 is for elements "
    "without a type; those of x.npy are float32",
    "vjp max b.npy --gradient x.npy -o y.npy -k 1,1 --dtype bfloat16": "--gradient has elements of "
    "float32; expected bfloat16, those of the input",
}


@pytest.mark.parametrize("words", SENTENCES)
def test_the_sentence_names_what_is_wrong(folder, words):
    assert fails(2, *words.split()) == f"ndpool: {SENTENCES[words]}\n"
    assert sorted(os.listdir(folder)) == ["b.npy", "x.npy"]


def test_empty_arguments(folder):
    words = ["max", "x.npy", "-o", "y.npy", "--kernel", "2,2"]
    for option in ("--stride", "--padding", "--axes", "--indices"):
        assert fails(2, *words, option, "") == f"ndpool: {option} is empty\n"
        assert fails(2, *words, f"{option}=") == f"ndpool: {option} is empty\n"
    assert fails(2, "max", "", "-o", "y.npy") == "ndpool: an argument is empty\n"
    assert fails(2, *words, "--ceil=3") == "ndpool: --ceil takes no value\n"


def test_dtype_of_a_picture(folder):
    Image = pytest.importorskip("PIL.Image")
    Image.fromarray(np.zeros((8, 8), np.uint8)).save("x.png")
    text = fails(2, "max", "x.png", "-o", "y.png", "--kernel", "2", "--dtype", "bfloat16")
    assert "those of x.png are uint8" in text


LISTS = [
    ["--kernel", "2, 2", "--stride", "1, 1", "--padding", "SAME"],
    ["--kernel", "2,", "2", "--stride", "1,", "1", "--padding", "Same"],
    ["--kernel=2,", "2", "--stride=1,", "1", "--padding=0:1,", "0:1"],
    ["-k2,", "2", "-s1,", "1", "-p", "same"],
    ["--kernel", " 2 ,2 ", "--stride", "1,1", "--padding", " same"],
    ["--kernel", "2,2", "--stride", "1,1", "--padding", "0:1, 0:1"],
]


@pytest.mark.parametrize("words", LISTS)
def test_spaces_in_lists_and_padding_in_any_case(words):
    done("max", "x.npy", "-o", "y.npy", *words)
    expected = ndpool.max_pool(np.load("x.npy"), (2, 2), (1, 1), ((0, 1), (0, 1)))
    np.testing.assert_array_equal(np.load("y.npy"), expected)


def test_padding_that_is_same_lower_in_any_case():
    done("avg", "x.npy", "-o", "y.npy", "-k", "2,2", "-s", "1,1", "-p", "SAME_LOWER")
    x = np.load("x.npy")
    np.testing.assert_array_equal(
        np.load("y.npy"), ndpool.avg_pool(x, (2, 2), (1, 1), ((1, 0), (1, 0)))
    )


def test_choices_in_any_case():
    done("max", "x.npy", "-o", "y.npy", "-k", "2,2", "--nan", "Ignore", "--ties", "ALL")
    done("pyramid", "x.npy", "-o", "p", "-k", "3,3", "--levels", "1", "--op", "MAX",
         "--edges", "Drop")  # fmt: skip
    done("max", "b.npy", "-o", "y.npy", "-k", "2,2", "--dtype", "BFloat16")
    words = ["explain", "--shape", "8,8", "-k", "2,2", "--plan"]
    assert done(*words, "--op", "AVG", "--dtype", "UInt8") == done(
        *words, "--op", "avg", "--dtype", "uint8"
    )
    description = json.loads(Path("p/pyramid.json").read_text())
    assert description["operator"] == "max" and description["levels"][0]["shape"] == [2, 2]


@pytest.mark.parametrize("kind, verb", [("vjp", "Pull a gradient back through max"),
                                        ("jvp", "Push a tangent through max")])  # fmt: skip
def test_help_of_derivatives(kind, verb):
    assert verb + "\n" in done(kind, "--help").decode()
    assert verb + "\n" in done(kind, "max", "--help").decode()


NOTHING_LEFT = "nothing is left to pool"
PYRAMIDS = [
    # shape, kernel, edges, shapes of the levels, why there are no more
    ((8, 8), "2,2", "keep", [(4, 4), (2, 2), (1, 1)], NOTHING_LEFT),
    ((8, 8), "2,2", "drop", [(4, 4), (2, 2), (1, 1)], "no block of 16 cells fits the 8 of axis 0"),
    ((9, 2), "2,2", "keep", [(5, 1), (3, 1), (2, 1), (1, 1)], NOTHING_LEFT),
    ((9, 5), "3,2", "drop", [(3, 2), (1, 1)], "no block of 27 cells fits the 9 of axis 0"),
    ((8, 8), "1,1", "keep", [(8, 8)], NOTHING_LEFT),
    ((1, 1), "1,1", "keep", [(1, 1)], NOTHING_LEFT),
]


@pytest.mark.parametrize("shape, kernel, edges, expected, end", PYRAMIDS)
def test_a_pyramid_ends_where_nothing_is_left_to_pool(shape, kernel, edges, expected, end):
    np.save("x.npy", np.zeros(shape, "f4"))
    words = ["pyramid", "x.npy", "-o", "p", "--kernel", kernel, "--edges", edges]
    lines = done(*words, "--levels", "62").decode().splitlines()
    assert lines[-1] == f"{len(expected)} of 62 levels: {end} after level {len(expected)}"
    assert sorted(os.listdir("p")) == [*(f"level-{i + 1}.npy" for i in range(len(expected))),
                                       "pyramid.json"]  # fmt: skip
    description = json.loads(Path("p/pyramid.json").read_text())
    assert [tuple(level["shape"]) for level in description["levels"]] == expected
    assert description["requested_levels"] == 62
    assert [np.load(f"p/{level['file']}").shape for level in description["levels"]] == expected
    assert len(done(*words, "--levels", str(len(expected))).splitlines()) == len(expected)
