#!/usr/bin/env python3
"""Writes a token file for `trainer: charlm` (the format is in workers/trainer/token_file.hpp).

usage: write_tokens.py OUT FILE...      every byte of the files is a token; replace tokens_of() by your tokenizer's
"""
import pathlib
import struct
import sys
from array import array

VOCABULARY = 256


def tokens_of(text: bytes) -> list[int]:
    return list(text)


def write_tokens(out: pathlib.Path, tokens: list[int], vocabulary: int) -> None:
    """Two bytes a token if the vocabulary allows it, else four; little endian."""
    if not tokens or max(tokens) >= vocabulary:
        raise ValueError("there must be tokens, and each must be below the vocabulary")
    packed = array("H" if vocabulary <= 1 << 16 else "I", tokens)
    if sys.byteorder == "big":
        packed.byteswap()
    header = b"TIDETOK1" + struct.pack("<IIQ", packed.itemsize, vocabulary, len(tokens))
    partial = out.with_suffix(out.suffix + ".part")  # complete before it is visible
    partial.write_bytes(header + packed.tobytes())
    partial.rename(out)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    tokens: list[int] = []
    for name in sys.argv[2:]:
        tokens += tokens_of(pathlib.Path(name).read_bytes())
    write_tokens(pathlib.Path(sys.argv[1]), tokens, VOCABULARY)
    print(f"{sys.argv[1]}: {len(tokens)} tokens, vocabulary {VOCABULARY}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
