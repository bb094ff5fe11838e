"""ndpool beside OpenCV, scipy, scikit-image, Pillow and bottleneck on pictures drawn at random.

u8, u16, i16, f32 and f64; 1 to 4 channels; 0.03 to 4 megapixels, volumes of scipy too; windows
from 2x2 to 40x40; one thread. Results are compared first: extremes are equal, averages of integers
differ by 1 at most (ndpool rounds half to even), those of floats by the rounding of their sums.
Then the two take turns, and the best block of each counts. Above 1 ndpool is faster.

  bench/images.py                                    300 filters, for about five minutes
  bench/images.py --count 60 --seed 7 --library cv2  others, OpenCV's only
  bench/images.py --call 'cv2.blur shape=480,640 dtype=u8 channels=3 kernel=17,3'
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import cv2
from distribution import Distribution, Goal
from drawn_filters import DrawnFilter, draw
from filter_calls import WrongResult, compare
from timing import OtherLoad, processor, progress

import ndpool

GOAL = Goal(behind=0.02, worst=0.8, geometric_mean=1.5)
PACKAGES = {
    "OpenCV": "opencv-python-headless",
    "scipy": "scipy",
    "scikit-image": "scikit-image",
    "Pillow": "pillow",
    "bottleneck": "bottleneck",
}


def libraries() -> str:
    found = [f"{name} {version(package)}" for name, package in PACKAGES.items()]
    return ", ".join([f"ndpool {ndpool.__version__} ({ndpool.targets()[0]})", *found])


def measured(drawn: list[DrawnFilter], title: str, seconds: float) -> Distribution:
    found = Distribution(title, libraries(), processor(), "bench/images.py", GOAL)
    for number, one in enumerate(drawn, start=1):
        progress(f"{number}/{len(drawn)}  {one.line}")
        found.results.append(compare(one, seconds))
    progress("")
    return found


def parse() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, metavar="N", help="default: 300")
    parser.add_argument("--seed", type=int, default=1, help="draws other filters; default: 1")
    parser.add_argument(
        "--library", default="", metavar="NAME", help="such as cv2, PIL or ndimage.maximum_filter"
    )
    parser.add_argument(
        "--call", action="append", metavar="LINE", help="measure this line; repeatable"
    )
    parser.add_argument("--seconds", type=float, default=0.1, help="for each library and filter")
    parser.add_argument("--worst", type=int, default=20, metavar="N", help="lines to print")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    cv2.setNumThreads(1)
    ndpool.set_threads(1)
    load = OtherLoad()
    try:
        if arguments.call:
            drawn = [DrawnFilter.parse(line) for line in arguments.call]
            title = "Given filters, 1 thread"
        else:
            drawn = draw(arguments.seed, arguments.count, arguments.library)
            title = f"{len(drawn)} filters of pictures, seed {arguments.seed}, 1 thread"
        found = measured(drawn, title, arguments.seconds)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except WrongResult as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    print(found.table(arguments.worst))
    print(load)
    if arguments.json:
        arguments.json.write_text(found.to_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
