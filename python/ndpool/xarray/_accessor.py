"""The accessor `ndpool` of DataArray and Dataset: ndpool's functions by the names of dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import xarray

import ndpool
from ndpool.xarray._coarsen import Coarsen
from ndpool.xarray._coordinates import checked, pooled_coordinates
from ndpool.xarray._named import NamedWindows, named_parameters
from ndpool.xarray._results import keeps_attributes, labelled
from ndpool.xarray._rolling import Rolling
from ndpool.xarray._windows import is_lazy, pools, readable

functions: dict[str, Callable[..., Any]] = {
    name: getattr(ndpool, name) for name in ndpool.__all__ if name.endswith("pool")
}

_doc = """`ndpool.{name}` by the names of dimensions.

{main} {windows}`coord_func` ("mean", "min" or "max", or a dict of them by coordinate) makes the
labels of pooled dimensions; `keep_attrs` is xarray's; `chunks`, of Dask arrays only, is that of
`ndpool.dask`. The other options are those of the function of arrays:

{doc}
"""
_main = {
    "kernel": "`kernel` is a dict from dimensions to sizes.",
    "output_size": "`output_size` is a dict from dimensions to sizes.",
    "dim": "`dim` names the dimensions, all of them if it is None.",
}


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Sizes and `p` in front, as those of the function of arrays; options by keyword."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = named_parameters(function)
    for name, default in (("coord_func", "mean"), ("keep_attrs", None), ("chunks", None)):
        own.append(inspect.Parameter(name, keyword, default=default))
    return inspect.Signature(sorted(own, key=lambda parameter: parameter.kind))


def _described(function: Callable[..., Any], signature: inspect.Signature) -> str:
    main = next(_main[name] for name in signature.parameters if name in _main)
    windows = "" if "stride" not in signature.parameters else (
        "`stride`, `padding` and `dilation` are such dicts, or one value for all. "
    )  # fmt: skip
    doc = (function.__doc__ or "").partition(">>>")[0].strip()
    return _doc.format(name=function.__name__, main=main, windows=windows, doc=doc)


class _Call:
    """A call by name of a function of arrays, or of its jvp or vjp."""

    def __init__(
        self,
        function: Callable[..., Any],
        known: tuple[Hashable, ...],
        args: tuple[Any, ...],
        options: Mapping[str, Any],
        map_name: str = "",
    ) -> None:
        self.function = function
        self.map_name = map_name
        described = getattr(function, map_name) if map_name else function
        bound = signature_of(described).bind(*args, **options)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        self.coord_func = checked(arguments.pop("coord_func"))
        self.keeps = keeps_attributes(arguments.pop("keep_attrs"))
        self.chunks = arguments.pop("chunks")
        self.windows = NamedWindows.read(arguments, known)
        self.options = arguments

    def run(self, dims: tuple[Hashable, ...], *arrays: Any, **more: Any) -> Any:
        """Calls it on arrays, of which the first has dimensions `dims`; lazily on Dask's."""
        if self.chunks is not None:
            if not is_lazy(arrays[0]):
                raise ValueError("chunks are for Dask arrays, and this array is not one")
            more["chunks"] = self.chunks
        function = getattr(pools(arrays[0]), self.function.__name__)
        if self.map_name:
            function = getattr(function, self.map_name)
        return function(*arrays, **self.windows.of(dims), **self.options, **more)

    def dims_of_result(self, dims: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        if self.options.get("keepdims", True):
            return dims
        return tuple(d for d in dims if d not in self.windows.dims)

    def coordinates(self, coords: Any) -> tuple[Any, dict[Hashable, Any]]:
        return pooled_coordinates(
            coords, self.function, self.windows, self.options, self.coord_func
        )

    def labelled(self, x: xarray.DataArray, *results: Any) -> Any:
        """Results as DataArrays; the attributes of `x` belong to the first."""
        kept, pooled = self.coordinates(x.coords)
        dims = self.dims_of_result(x.dims)
        attrs = [x.attrs if self.keeps else None, *[None] * len(results)]
        arrays = tuple(
            labelled(dims, data, kept, x.name, own).assign_coords(pooled)
            for data, own in zip(results, attrs)
        )
        return arrays if len(arrays) > 1 else arrays[0]


def _data(value: Any, dims: tuple[Hashable, ...]) -> Any:
    """The array of a DataArray, in the order of `dims`; anything else is an array already."""
    if isinstance(value, xarray.DataArray):
        return readable(value.transpose(*dims).data)
    return value


class _ArrayPool:
    """One of ndpool's functions, bound to a DataArray."""

    def __init__(self, x: xarray.DataArray, function: Callable[..., Any]) -> None:
        self._x = x
        self._function = function
        self.__name__ = function.__name__
        self.__signature__ = signature_of(function)
        self.__doc__ = _described(function, self.__signature__)

    def __repr__(self) -> str:
        return f"<{self.__name__} of a DataArray with dimensions {self._x.dims}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        x = self._x
        call = _Call(self._function, x.dims, args, options)
        result = call.run(x.dims, readable(x.data))
        return call.labelled(x, *result) if isinstance(result, tuple) else call.labelled(x, result)

    def jvp(self, dx: Any, *args: Any, indices: Any = None, **options: Any) -> Any:
        """The pair (y, dy): the value, and the derivative applied to `dx`, which is like x."""
        x = self._x
        call = _Call(self._function, x.dims, args, options, "jvp")
        more = {} if indices is None else {"indices": _data(indices, call.dims_of_result(x.dims))}
        y, dy = call.run(x.dims, readable(x.data), _data(dx, x.dims), **more)
        return call.labelled(x, y, dy)

    def vjp(self, gy: Any, *args: Any, indices: Any = None, **options: Any) -> Any:
        """The gradient gx, like x: the transposed derivative applied to `gy`, which is like y."""
        x = self._x
        call = _Call(self._function, x.dims, args, options, "vjp")
        dims = call.dims_of_result(x.dims)
        more = {} if indices is None else {"indices": _data(indices, dims)}
        gx = call.run(x.dims, readable(x.data), _data(gy, dims), **more)
        return labelled(x.dims, gx, x.coords, x.name)


class _SmoothPool(_ArrayPool):
    """A smooth maximum, which has a derivative by beta too."""

    def beta_derivative(self, *args: Any, **options: Any) -> Any:
        """The derivative dy/dbeta of each output."""
        x = self._x
        call = _Call(self._function, x.dims, args, options, "beta_derivative")
        return call.labelled(x, call.run(x.dims, readable(x.data)))


class DataArrayAccessor:
    """`DataArray.ndpool`: pools of a DataArray, by the names of its dimensions."""

    def __init__(self, x: xarray.DataArray) -> None:
        self._x = x

    def __getattr__(self, name: str) -> Any:
        if name == "_x" or name not in functions:
            raise AttributeError(f"ndpool has no function {name!r} of a DataArray")
        kind = _SmoothPool if name.endswith("smooth_max_pool") else _ArrayPool
        return kind(self._x, functions[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *functions]

    def max_unpool(
        self,
        indices: Any,
        output_size: Mapping[Hashable, int],
        *,
        kernel: Mapping[Hashable, int] | None = None,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
    ) -> xarray.DataArray:
        """`ndpool.max_unpool`: this array at the cells that `indices` name, 0 elsewhere.

        `output_size` is a dict from dimensions to sizes; Dask arrays need the `kernel`, `stride`,
        `padding` and `dilation` that made the indices as well. Coordinates of these dimensions are
        left out: a pool does not keep what they were.
        """
        y = self._x
        sizes: dict[str, Any] = {"output_size": output_size}
        if kernel is not None:
            sizes.update(kernel=kernel, stride=stride, padding=padding, dilation=dilation)
        elif (stride, padding, dilation) != (None, 0, 1):
            raise TypeError("stride, padding and dilation say nothing without the kernel")
        windows = NamedWindows.read(sizes, y.dims)
        data = readable(y.data)
        x = pools(data).max_unpool(data, _data(indices, y.dims), **windows.of(y.dims))
        touched = [n for n, c in y.coords.items() if any(d in windows.dims for d in c.dims)]
        kept = y.coords.to_dataset().drop_vars(touched).coords
        return labelled(y.dims, x, kept, y.name)

    def coarsen(self, *args: Any, **options: Any) -> Coarsen[xarray.DataArray]:
        """`DataArray.coarsen`, same arguments: max, min, sum, mean and count run on the kernels."""
        return Coarsen(self._x.coarsen(*args, **options))

    def rolling(self, *args: Any, **options: Any) -> Rolling[xarray.DataArray]:
        """`DataArray.rolling`, same arguments: max, min, sum, mean and count run on the kernels."""
        return Rolling(self._x.rolling(*args, **options))


class _DatasetPool:
    """One of ndpool's functions, bound to a Dataset: of all variables that have the dimensions."""

    def __init__(self, x: xarray.Dataset, function: Callable[..., Any]) -> None:
        self._x = x
        self._function = function
        self.__name__ = function.__name__
        self.__signature__ = signature_of(function)
        self.__doc__ = _described(function, self.__signature__)

    def __repr__(self) -> str:
        return f"<{self.__name__} of a Dataset with dimensions {tuple(self._x.dims)}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        x = self._x
        call = _Call(self._function, tuple(x.dims), args, options)
        variables: dict[Hashable, Any] = {}
        indices: dict[Hashable, Any] = {}
        for name, array in x.data_vars.items():
            attrs = array.attrs if call.keeps else {}
            if not any(d in call.windows.dims for d in array.dims):
                variables[name] = (array.dims, array.data, attrs)
                continue
            result = self._pooled(call, name, array)
            dims = call.dims_of_result(array.dims)
            if isinstance(result, tuple):
                result, indices[name] = result[0], (dims, result[1])
            variables[name] = (dims, result, attrs)
        kept, pooled = call.coordinates(x.coords)
        attrs = x.attrs if call.keeps else {}
        y = xarray.Dataset(variables, coords=kept, attrs=attrs).assign_coords(pooled)
        if not call.options.get("return_indices"):
            return y
        return y, xarray.Dataset(indices, coords=kept).assign_coords(pooled)

    def _pooled(self, call: _Call, name: Hashable, array: xarray.DataArray) -> Any:
        try:
            return call.run(array.dims, readable(array.data))
        except (TypeError, ValueError) as error:
            raise type(error)(f"variable {name!r}: {error}") from error


class DatasetAccessor:
    """`Dataset.ndpool`: pools of the variables of a Dataset, by the names of its dimensions."""

    def __init__(self, x: xarray.Dataset) -> None:
        self._x = x

    def __getattr__(self, name: str) -> Any:
        if name in ("_x", "max_unpool") or name not in functions:
            raise AttributeError(f"ndpool has no function {name!r} of a Dataset")
        return _DatasetPool(self._x, functions[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in functions if name != "max_unpool")]

    def coarsen(self, *args: Any, **options: Any) -> Coarsen[xarray.Dataset]:
        """`Dataset.coarsen`, same arguments: max, min, sum, mean and count run on the kernels."""
        return Coarsen(self._x.coarsen(*args, **options))

    def rolling(self, *args: Any, **options: Any) -> Rolling[xarray.Dataset]:
        """`Dataset.rolling`, same arguments: max, min, sum, mean and count run on the kernels."""
        return Rolling(self._x.rolling(*args, **options))
