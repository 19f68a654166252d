"""Stands in for NumPy's build backend where pip only downloads the source: pip asks it for metadata all the same."""

from __future__ import annotations

from pathlib import Path


def prepare_metadata_for_build_wheel(folder: str, config_settings: object = None) -> str:
    """Copy the metadata that the source has."""
    name = "numpy-0.dist-info"
    Path(folder, name).mkdir()
    Path(folder, name, "METADATA").write_bytes(Path("PKG-INFO").read_bytes())
    return name
