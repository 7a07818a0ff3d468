"""Walk through an HDF5 file: all of it is in the file, has a plausible size, and can be read."""

from __future__ import annotations

from typing import Any

from .limits import RefusedError, run

READ_ALL = 1 << 26  # bytes of numbers; of larger data sets only the index of the chunks is read
LINES = 10_000  # of a data set that are read at a time


def check(path: str, limit: int) -> None:
    """Raise for what is wrong, or leads out of the file."""
    import h5py

    with h5py.File(path, "r") as file:
        Walk(limit).group(file)


class Walk:
    """One way through all groups and data sets, each once."""

    def __init__(self, limit: int) -> None:
        self.limit = limit  #: bytes that all data sets together may have
        self.size = 0
        self.visited: set[tuple[int, int]] = set()

    def group(self, group: Any) -> None:
        """Check the members of a group, and theirs."""
        import h5py

        _attributes(group)
        for name in group:
            _refuse_other_files(group, name)
            if isinstance(group.get(name, getlink=True), h5py.SoftLink):
                continue  # what it leads to is in this file, and visited by its other name
            member = group[name]
            info = h5py.h5o.get_info(member.id)
            place = (info.fileno, info.addr)
            if place in self.visited:
                continue
            self.visited.add(place)
            if isinstance(member, h5py.Group):
                self.group(member)
            elif isinstance(member, h5py.Dataset):
                self.dataset(member)

    def dataset(self, dataset: Any) -> None:
        """Check where the values of a data set are, how many it claims, and read them."""
        import h5py

        plan = dataset.id.get_create_plist()
        if plan.get_layout() == h5py.h5d.VIRTUAL:
            raise RefusedError(f"its data set {dataset.name} is virtual: its values are elsewhere")
        if plan.get_external_count():
            outside = plan.get_external(0)[0].decode(errors="replace")
            raise RefusedError(
                f"the values of its data set {dataset.name} are in another file, {outside}"
            )
        _attributes(dataset)
        if dataset.shape is None:
            return
        bytes_here = dataset.size * dataset.dtype.itemsize
        self.size += bytes_here
        if self.size > self.limit:
            raise RefusedError(
                f"its data sets claim more than {self.limit:,} bytes, which may be a trap"
            )
        if dataset.dtype.hasobject or bytes_here <= READ_ALL or dataset.chunks is None:
            _read(dataset)
        else:
            dataset.id.chunk_iter(lambda chunk: None)


def _refuse_other_files(group: Any, name: str) -> None:
    """Raise for a link that leads out of the file: one of another file, or of an unknown type."""
    import h5py

    encoded = name.encode("utf-8", "surrogateescape")
    if group.id.links.get_info(encoded).type in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT):
        return
    link = group.get(name, getlink=True)
    raise RefusedError(
        f"its member {group.name.rstrip('/')}/{name} is a link to another file"
        + (f", {link.filename}" if isinstance(link, h5py.ExternalLink) else "")
    )


def _attributes(member: Any) -> None:
    for name in member.attrs:
        member.attrs[name]


def _read(dataset: Any) -> None:
    """Read all values, some at a time."""
    if dataset.shape == ():
        dataset[()]
        return
    for start in range(0, dataset.shape[0], LINES):
        dataset[start : start + LINES]


if __name__ == "__main__":
    run(check)
