"""What a worker is told from outside: the job's document, which the agent lays beside it."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Optional


@dataclasses.dataclass(frozen=True)
class JobFile:
    """The part of the job file that a training loop needs. None: the program runs alone."""
    global_batch: Optional[int] = None
    per_worker_max: Optional[int] = None
    on_resize: str = "constant"
    preferred: Optional[int] = None


def read_job_file() -> JobFile:
    """From TIDEPOOL_JOB_FILE, which holds the job with every default written out."""
    path = os.environ.get("TIDEPOOL_JOB_FILE")
    if not path:
        return JobFile()
    try:
        with open(path, encoding="utf-8") as file:
            document: dict[str, Any] = json.load(file)
        batch = document.get("batch", {})
        elastic = document.get("elastic", {})
        return JobFile(global_batch=batch.get("global"), per_worker_max=batch.get("per_worker_max"),
                       on_resize=batch.get("on_resize", "constant"), preferred=elastic.get("preferred"))
    except (OSError, ValueError, AttributeError) as error:
        raise RuntimeError(f"the job document {path} (TIDEPOOL_JOB_FILE) cannot be read: {error}") from error
