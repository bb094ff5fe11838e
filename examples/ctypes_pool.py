"""Pools from Python's ctypes, without a binding: `python examples/ctypes_pool.py libndpool.so`."""

from __future__ import annotations

import ctypes
import sys
from ctypes import (
    POINTER,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_void_p,
    sizeof,
)


class List(ctypes.Structure):
    """ndpool_list."""

    _fields_ = [("values", POINTER(c_int64)), ("count", c_int64)]

    @classmethod
    def of(cls, *numbers: int) -> List:
        return cls((c_int64 * len(numbers))(*numbers), len(numbers))


class Pool(ctypes.Structure):
    """ndpool_pool, with the defaults of NDPOOL_POOL_INIT."""

    LISTS = (
        "axes",
        "kernel",
        "stride",
        "padding_before",
        "padding_after",
        "dilation",
        "output_size",
    )
    CHOICES = (
        "padding_rule",
        "ceil_mode",
        "keepdims",
        "ties",
        "nan",
        "empty",
        "rounding",
        "pad_mode",
        "exclude_padding",
    )
    _fields_ = [
        ("size", c_size_t),
        ("reducer", c_int32),
        ("geometry", c_int32),
        *((name, List) for name in LISTS),
        *((name, c_int32) for name in (*CHOICES, "reserved")),
        ("divisor", c_int64),
        ("beta", c_double),
        ("p", c_double),
    ]

    def __init__(self, **options: object) -> None:
        super().__init__(size=sizeof(Pool), divisor=-(2**63), beta=1.0, p=2.0, **options)


class Arrays(ctypes.Structure):
    """ndpool_arrays, with the defaults of NDPOOL_ARRAYS_INIT."""

    _fields_ = [
        ("size", c_size_t),
        *((name, c_int32) for name in ("dtype", "result_dtype", "rank", "reserved")),
        *((name, POINTER(c_int64)) for name in ("shape", "strides", "result_strides")),
    ]

    def __init__(self, *shape: int, dtype: int = 0) -> None:
        lengths = (c_int64 * len(shape))(*shape)
        super().__init__(
            size=sizeof(Arrays), dtype=dtype, result_dtype=-1, rank=len(shape), shape=lengths
        )


class Error(ctypes.Structure):
    """ndpool_error."""

    _fields_ = [
        ("size", c_size_t),
        ("code", c_int32),
        ("axis", c_int32),
        ("argument", c_char_p),
        ("values", c_int64 * 5),
        ("real", c_double),
        ("sentence", c_char * 960),
    ]


def load(path: str) -> ctypes.CDLL:
    """The library, with the types of the functions that are called below."""
    library = ctypes.CDLL(path)
    library.ndpool_version.restype = c_char_p
    library.ndpool_plan_create.argtypes = [
        POINTER(Pool),
        POINTER(Arrays),
        c_void_p,
        POINTER(c_void_p),
        POINTER(Error),
    ]
    library.ndpool_plan_destroy.argtypes = [c_void_p]
    library.ndpool_plan_destroy.restype = None
    library.ndpool_forward.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(Error)]
    library.ndpool_vjp.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(Error)]
    return library


def main(path: str) -> None:
    library = load(path)
    error = Error(size=sizeof(Error))

    def check(code: int) -> None:
        if code != 0:
            raise ValueError(error.sentence.decode())

    print("ndpool", library.ndpool_version().decode())
    pool, arrays, plan = Pool(kernel=List.of(2, 2)), Arrays(2, 4), c_void_p()
    check(library.ndpool_plan_create(byref(pool), byref(arrays), None, byref(plan), byref(error)))
    x, gy = (ctypes.c_float * 8)(1, 3, 2, 9, 5, 3, 1, 2), (ctypes.c_float * 2)(1, 10)
    y, gx = (ctypes.c_float * 2)(), (ctypes.c_float * 8)()
    check(library.ndpool_forward(plan, x, y, None, byref(error)))
    check(library.ndpool_vjp(plan, x, gy, gx, None, byref(error)))
    print("max", list(y))
    print("gradient", list(gx))
    library.ndpool_plan_destroy(plan)
    pool.stride = List.of(0)
    try:
        check(
            library.ndpool_plan_create(byref(pool), byref(arrays), None, byref(plan), byref(error))
        )
    except ValueError as wrong:
        print("error:", wrong)


if __name__ == "__main__":
    main(sys.argv[1])
