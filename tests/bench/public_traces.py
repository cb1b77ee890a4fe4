"""Public traces for benchmarks that run schedctl on them, brought into Tidepool's form. They are read from
TIDEPOOL_DATA, or shared/data beside the checkout, and are no part of the project."""
import csv
import gzip
import io
import os
import pathlib
import subprocess

# name: folder, file, format, cluster, what is kept of the file (a virtual cluster of Philly, or so many last jobs)
TRACES = {
    "itp_195": ("itp", "195job.csv", "elasticflow", "16x4", None),
    "itp_cluster01": ("itp", "cluster01.csv", "elasticflow", "8x8", None),
    "openb_2000": ("openb_fgd", "openb_pod_list_default.csv", "openb", "3x8", 2000),
    "philly_103959": ("philly", "philly_pollux_extract.csv.gz", "philly", "3x8", "103959"),
    "philly_2869ce": ("philly", "philly_pollux_extract.csv.gz", "philly", "5x8", "2869ce"),
    "tiresias_60": ("tiresias", "60_job.csv", "tiresias", "4x4", None),
}

SOURCE = pathlib.Path(os.environ.get("TIDEPOOL_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SCHEDCTL = pathlib.Path(os.environ.get("TIDEPOOL_BIN_DIR", SOURCE / "build/release/bin")) / "schedctl"
DATA = pathlib.Path(os.environ.get("TIDEPOOL_DATA", SOURCE / "../shared/data"))


def schedctl(*arguments):
    return subprocess.run([SCHEDCTL, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).stdout


def missing(name):
    """The folder of the trace if it is not there."""
    folder = DATA / TRACES[name][0]
    return None if folder.is_dir() else folder


def rows_of(path):
    """Of a CSV file, packed or not; the header first."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as lines:
        return [row for row in csv.reader(lines) if row]


def write_csv(path, rows):
    with open(path, "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def kept_of(rows, kept):
    if isinstance(kept, int):
        return [rows[0]] + rows[-kept:]
    at = rows[0].index("cluster")
    return [rows[0]] + [row for row in rows[1:] if row[at] == kept]


def in_own_form(folder, name, form, raw):
    """A file in the form of another scheduler as one in Tidepool's, without deadlines."""
    rows = list(csv.reader(io.StringIO(schedctl("trace", "import", "--from", form, "-o", "-", raw))))
    at = rows[0].index("deadline_s")
    for row in rows[1:]:
        row[at] = ""
    out = folder / f"{name}.csv"
    write_csv(out, rows)
    return out


def imported(folder, name):
    data, file, form, _, kept = TRACES[name]
    path = DATA / data / file
    if isinstance(kept, str):  # a virtual cluster is a cluster of its own
        path = folder / f"{name}.raw.csv"
        write_csv(path, kept_of(rows_of(DATA / data / file), kept))
    out = in_own_form(folder, name, form, path)
    if isinstance(kept, int):
        write_csv(out, kept_of(rows_of(out), kept))
    return out
