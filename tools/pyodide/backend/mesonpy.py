"""Replacement for NumPy's build backend, which pip asks for metadata even if it only downloads the source."""

from __future__ import annotations

from pathlib import Path


def prepare_metadata_for_build_wheel(folder: str, config_settings: object = None) -> str:
    """Copy the metadata of the source."""
    name = "numpy-0.dist-info"
    Path(folder, name).mkdir()
    Path(folder, name, "METADATA").write_bytes(Path("PKG-INFO").read_bytes())
    return name
