#!/usr/bin/env python3
"""Writes the C++ file that holds the built dashboard: embed.py DIST OUT
Or that of the report's parts: embed.py DIST OUT report

The bytes come in through the assembler's .incbin, which takes milliseconds where a char array takes seconds.
"""
import hashlib
import pathlib
import sys

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".png": "image/png",
}


def main() -> int:
    dist, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted(path for path in dist.rglob("*") if path.is_file())
    report = sys.argv[3:] == ["report"]
    first = "report.js" if report else "index.html"
    if not any(path.name == first for path in files):
        print(f"{dist} holds no {first}: run `npm run build{':report' if report else ''}` in webui/", file=sys.stderr)
        return 1
    header, function = ("report_files", "report_files") if report else ("embedded", "files")
    blobs, rows = [], []
    for number, path in enumerate(files):
        kind = CONTENT_TYPES.get(path.suffix)
        if kind is None:
            print(f"{path}: no content type is known for {path.suffix}; add it to webui/embed.py", file=sys.stderr)
            return 1
        name = f"tidepool_webui_{function}_{number}"
        etag = hashlib.sha256(path.read_bytes()).hexdigest()[:20]
        blobs.append(
            f'asm(".section .rodata\\n.balign 16\\n{name}_begin:\\n.incbin \\"{path.resolve()}\\"\\n'
            f'{name}_end:\\n.byte 0\\n.previous\\n");\n'
            f'extern "C" const char {name}_begin[];\nextern "C" const char {name}_end[];\n'
        )
        rows.append(
            f'    {{"/{path.relative_to(dist).as_posix()}", "{kind}", '
            f"bytes_between({name}_begin, {name}_end), R\"(\"{etag}\")\"}},\n"
        )
    text = (
        "// Written by webui/embed.py.\n"
        f'#include "webui/{header}.hpp"\n\n#include <array>\n\n'
        + "".join(blobs)
        + "\nnamespace tidepool::webui {\nnamespace {\n"
        "std::string_view bytes_between(const char* begin, const char* end) {\n"
        "  return {begin, static_cast<std::size_t>(end - begin)};\n}\n"
        f"const std::array<EmbeddedFile, {len(rows)}> kFiles{{{{\n" + "".join(rows) + "}};\n"
        f"}}  // namespace\n\nstd::span<const EmbeddedFile> {function}() {{ return kFiles; }}\n\n}}  // namespace tidepool::webui\n"
    )
    out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
