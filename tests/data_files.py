"""Files with a given content, and the sentences with which a reader, or any other function, refuses one."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from workbench.corpus import read_corpus
from workbench.errors import DataError


def put(folder, name, content):
    """A file with this content, packed when its name says so."""
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return path


def archive(**members) -> bytes:
    """The bytes of an npz file: arrays as numpy writes them, and members as they are given in bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, value in members.items():
            if not isinstance(value, bytes):
                array = io.BytesIO()
                np.lib.format.write_array(array, np.asarray(value), allow_pickle=True)
                value = array.getvalue()
            # which has no time: equal members, equal bytes
            packed.writestr(zipfile.ZipInfo(f"{name}.npy"), value)
    return file.getvalue()


def refused(call, *arguments, **options) -> str:
    """The sentence, in one line, with which a call refuses its arguments."""
    with pytest.raises(DataError) as error:
        call(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def refusal(path, **options) -> str:
    """The sentence with which a file is refused, file names without their folder."""
    return refused(read_corpus, path, **options).replace(f"{path.parent}/", "")
