"""Reads what the workers of stall_training.py wrote."""

import json
import pathlib


def read(folder, event="step"):
    """All lines of one kind, oldest first. A line that is being written is left for the next time."""
    found = []
    for path in pathlib.Path(folder).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            if line.endswith("}"):
                found.append(json.loads(line))
    return sorted((line for line in found if line["event"] == event), key=lambda line: line["t"])


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
