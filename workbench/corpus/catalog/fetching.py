"""Files from public addresses into a folder, with one sentence for whatever goes wrong on the way."""

import os
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from workbench.corpus.corpus import CorpusError

PATIENCE = 30
"""Seconds without a byte after which a server counts as silent."""
BLOCK = 1 << 16


def cache_folder() -> Path:
    """Return the folder of files kept between processes: WORKBENCH_CACHE, else the user's cache."""
    return Path(os.environ.get("WORKBENCH_CACHE") or user_cache_path("workbench"))


def fetch_files(
    urls: Sequence[str], files: Sequence[str], folder: Path, progress: bool = True
) -> None:
    """Download the files into the folder, from one address per file or from a single tar archive."""
    if len(urls) == len(files):
        for url, file in zip(urls, files, strict=True):
            _download(url, folder / file, progress)
        return
    (url,) = urls
    archive = folder / "archive.tar"
    _download(url, archive, progress)
    _unpack(url, archive, files, folder)
    archive.unlink()


def _download(url: str, path: Path, progress: bool) -> None:
    import requests
    from tqdm import tqdm

    mend = "; try again later, or get the file by hand"
    try:
        with requests.get(url, stream=True, timeout=PATIENCE) as answer, open(path, "wb") as file:
            answer.raise_for_status()
            size = int(answer.headers.get("content-length", 0)) or None
            with tqdm(
                desc=path.name,
                total=size,
                unit="B",
                unit_scale=True,
                leave=False,
                disable=not progress,
            ) as bar:
                for block in answer.iter_content(BLOCK):
                    bar.update(file.write(block))
    except requests.HTTPError as error:
        raise CorpusError(
            f"{url} answers {error.response.status_code} {error.response.reason}{mend}"
        ) from None
    except requests.Timeout:
        raise CorpusError(f"{url} is silent for {PATIENCE} seconds{mend}") from None
    except requests.exceptions.ChunkedEncodingError:
        raise CorpusError(f"the download of {url} breaks off{mend}") from None
    except requests.ConnectionError as error:
        reason = re.search(r"\[Errno [^]]*] ([^()'\"]+)", str(error))
        detail = f" ({reason.group(1).strip()})" if reason else ""
        raise CorpusError(
            f"{url} cannot be reached{detail}; check the network, or get the file by hand"
        ) from None
    except requests.RequestException as error:
        raise CorpusError(f"the download of {url} fails ({type(error).__name__}){mend}") from None
    except OSError as error:
        raise CorpusError(
            f"{path.parent} cannot be written ({error.strerror}); make room, or move WORKBENCH_CACHE"
        ) from None


def _unpack(url: str, archive: Path, files: Sequence[str], folder: Path) -> None:
    """Write the files of these names from the archive, whatever folder they have in it."""
    try:
        with tarfile.open(archive) as tar:
            members = {
                Path(member.name).name: member for member in tar.getmembers() if member.isfile()
            }
            for file in files:
                if file not in members:
                    raise CorpusError(f"the archive at {url} has no {file}; get the files by hand")
                (folder / file).write_bytes(tar.extractfile(members[file]).read())
    except (tarfile.TarError, EOFError, OSError) as error:
        raise CorpusError(
            f"{url} serves no whole tar archive ({error}); try again later, or get the files by hand"
        ) from None
