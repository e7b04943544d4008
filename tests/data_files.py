"""Files with a given content, and the sentence with which a reader refuses one."""

import gzip
import io

import numpy as np
import pytest

from workbench.corpus import CorpusError, read_corpus


def put(folder, name, content):
    """A file with this content, packed when its name says so."""
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return path


def archive(**arrays) -> bytes:
    """The bytes of an npz file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def refusal(path, **options):
    """The sentence with which it is refused, file names without their folder."""
    with pytest.raises(CorpusError) as refused:
        read_corpus(path, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value).replace(str(path.parent) + "/", "")
