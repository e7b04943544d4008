"""The folder of a corpus in shards, whose files are mapped into memory."""

import contextlib
import json
from pathlib import Path

import numpy as np

from workbench.corpus.shards.shard_writer import MANIFEST, VALUES, VERSION, hash_of, shard_stem
from workbench.data.saving import checksum
from workbench.data.stored_texts import StoredTexts
from workbench.errors import DataError

MEND = "convert the corpus again"


class Folder:
    """A folder as the source of shards."""

    def __init__(self, folder: Path, manifest: dict):
        self.folder, self.name, self.held_out_rows = (
            folder,
            manifest["name"],
            manifest["held_out_rows"],
        )
        self.bounds, self.first_pairs, self.first_tokens = (
            manifest[name] for name in ("bounds", "first_pairs", "first_tokens")
        )
        self.input_names, self.content_hash = manifest["input_names"], manifest["content_hash"]
        self.fields, self._hashes = manifest["fields"], manifest["files"]
        self.files = (*self._hashes, MANIFEST)

    def arrays(self, shard: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_documents = self.bounds[shard + 1] - self.bounds[shard]
        n_pairs = self.first_pairs[shard + 1] - self.first_pairs[shard]
        lengths = {"indptr": n_documents + 1, "words": n_pairs, "counts": n_pairs}
        return tuple(
            np.asarray(self._mapped(f"{shard_stem(shard)}.{part}", n))
            for part, n in lengths.items()
        )

    def read(self, shard: int, part: str, first: int, last: int) -> np.ndarray:
        n_pairs = self.first_pairs[shard + 1] - self.first_pairs[shard]
        mapped = self._mapped(stem := f"{shard_stem(shard)}.{part}", n_pairs)
        offset = mapped.offset + first * mapped.itemsize
        with self._reading(f"{stem}.npy") as file:
            found = np.fromfile(file, mapped.dtype, last - first, offset=offset)
        if len(found) != last - first:
            raise self._damaged(f"{stem}.npy is too short")
        return found

    def field(self, name: str):
        if name not in self.fields:
            return None
        with self._reading(f"{name}.offsets.npy"):
            return StoredTexts.open(self.folder / name, as_json=name in VALUES)

    def input(self, name: str) -> np.ndarray:
        return np.asarray(self._mapped(f"input-{self.input_names.index(name)}", self.bounds[-1]))

    def word_tokens(self) -> np.ndarray:
        return np.asarray(self._mapped("word_tokens"))

    def document_tokens(self) -> np.ndarray:
        return np.asarray(self._mapped("document_tokens", self.bounds[-1]))

    def check(self) -> None:
        for name, (_, wanted) in self._hashes.items():
            with self._reading(name):
                found = hash_of(self.folder / name)
            if found != wanted:
                raise self._damaged(f"{name} is not what was written")

    def _mapped(self, stem: str, n: int | None = None) -> np.memmap:
        with self._reading(f"{stem}.npy"):
            mapped = np.load(self.folder / f"{stem}.npy", mmap_mode="r", allow_pickle=False)
        if n is not None and mapped.shape != (n,):
            raise self._damaged(f"{stem}.npy has {len(mapped)} entries where {n} were wanted")
        return mapped

    @contextlib.contextmanager
    def _reading(self, name: str):
        """A file of the folder, opened; whatever is wrong with it is a DataError."""
        try:
            with open(self.folder / name, "rb") as file:
                yield file
        except FileNotFoundError:
            raise self._damaged(f"{name} is missing") from None
        except OSError as error:
            raise DataError(f"{self.folder / name} cannot be read: {error.strerror}") from error
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise self._damaged(f"{name} cannot be read") from error

    def _damaged(self, what: str) -> DataError:
        return DataError(f"{self.folder} is damaged: {what}; {MEND}")


def manifest_of(folder: Path) -> dict:
    """The manifest of a folder all of whose files are there, in their sizes."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        version = manifest.get("version")
    except FileNotFoundError:
        raise DataError(
            f"{folder} is no folder of a sharded corpus, which has a file {MANIFEST}; check the path"
        ) from None
    except OSError as error:
        raise DataError(f"{folder / MANIFEST} cannot be read: {error.strerror}") from error
    except (ValueError, AttributeError):
        raise DataError(f"{folder} is damaged: {MANIFEST} is no JSON; {MEND}") from None
    if manifest.get("checksum") != checksum(manifest):
        raise DataError(
            f"{folder} is damaged: {MANIFEST} does not have the checksum it was written with; {MEND}"
        )
    if version != VERSION:
        raise DataError(
            f"{folder} has version {version} of the format and {VERSION} was wanted; {MEND}"
        )
    for name, (size, _) in manifest["files"].items():
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            raise DataError(f"{folder} is damaged: {name} is missing; {MEND}") from None
        except OSError as error:
            raise DataError(f"{folder / name} cannot be read: {error.strerror}") from error
        if found != size:
            raise DataError(
                f"{folder} is damaged: {name} has {found:,} bytes where {size:,} were written; {MEND}"
            )
    return manifest
