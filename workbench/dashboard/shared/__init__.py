"""Parts that the pages share: the page frame, downloads, and the records of runs read from the store."""
