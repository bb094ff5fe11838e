"""The name of the extension that is built against one torch. As a program: what CMake asks."""

from __future__ import annotations

import re

import torch


def module_name() -> str:
    """Differs between any two builds of torch: their headers, and so their ABI, may differ."""
    build = f"{torch.__version__}_{str(torch.version.git_version)[:12]}"
    return "_native_" + re.sub(r"\W", "_", build)


if __name__ == "__main__":
    from torch.utils import cpp_extension

    print(
        module_name(),
        int(torch.compiled_with_cxx11_abi()),
        cpp_extension.library_paths()[0],
        *cpp_extension.include_paths(),
        sep="|",
    )
