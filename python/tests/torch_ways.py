"""What every twin gives, twice in a row, saved to a file: python torch_ways.py FILE."""

from __future__ import annotations

import sys

import torch

from ndpool.torch import functional as NF

DTYPES = (torch.float32, torch.float64, torch.bfloat16)
SIZES = {1: (2, 3, 12), 2: (2, 3, 8, 9), 3: (2, 2, 6, 5, 7)}


def inputs(rank: int):
    """Batched, unbatched, and channels last."""
    torch.manual_seed(rank)
    x = torch.randn(SIZES[rank])
    yield x
    yield x[0]
    if rank > 1:
        yield x.to(memory_format=torch.channels_last if rank == 2 else torch.channels_last_3d)


def calls(rank: int):
    for name in ("max", "avg"):
        for arguments in ((2,), (3, 2, 1), ([2] * rank, None, 0)):
            yield f"{name}_pool{rank}d", arguments
    yield f"max_pool{rank}d_with_indices", (3, 2, 1)
    yield f"lp_pool{rank}d", (2.0, 2)
    for size in (1, 3):
        yield f"adaptive_avg_pool{rank}d", (size,)
        yield f"adaptive_max_pool{rank}d", (size,)
    yield f"adaptive_max_pool{rank}d_with_indices", (2,)


def described(*tensors: torch.Tensor) -> list[object]:
    return [(t.detach().clone(), t.stride(), t.requires_grad) for t in tensors]


def results(function, x: torch.Tensor, arguments: tuple) -> list[object]:
    y = function(x, *arguments)
    plain = y if isinstance(y, tuple) else (y,)
    x = x.clone().requires_grad_()
    y = function(x, *arguments)
    values, *indices = y if isinstance(y, tuple) else (y,)
    gy = torch.randn_like(values).requires_grad_()
    (gx,) = torch.autograd.grad(values, x, gy, retain_graph=True)
    (recorded,) = torch.autograd.grad(values, x, gy, create_graph=True)
    second = torch.autograd.grad(recorded, gy, torch.ones_like(recorded))
    return described(*plain, values, *indices, gx, recorded, *second)


def unpooled(rank: int, x: torch.Tensor) -> list[object]:
    y, indices = getattr(NF, f"max_pool{rank}d_with_indices")(x, 2)
    return results(getattr(NF, f"max_unpool{rank}d"), y, (indices, 2, None, 0, x.shape[-rank:]))


def all_results() -> dict[str, object]:
    found = {}
    for rank in SIZES:
        for dtype in DTYPES:
            for layout, x in enumerate(inputs(rank)):
                x = x.to(dtype)
                for again in (False, True):
                    case = (dtype, layout, again)
                    for name, arguments in calls(rank):
                        if name in ("avg_pool3d", "lp_pool3d") and dtype is torch.bfloat16:
                            continue  # torch has no kernel
                        torch.manual_seed(0)
                        of_function = results(getattr(NF, name), x, arguments)
                        found[f"{name}{arguments} {case}"] = of_function
                    torch.manual_seed(0)
                    found[f"max_unpool{rank}d {case}"] = unpooled(rank, x)
    return found


if __name__ == "__main__":
    torch.save(all_results(), sys.argv[1])
