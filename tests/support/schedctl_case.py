"""schedctl as a process, and in the daemon's place a small server that answers with the shapes of api/examples."""

import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest
from collections.abc import Iterator

ROOT = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
SCHEDCTL = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"]) / "schedctl"


def example(name):
    return json.loads((ROOT / "api/examples" / name).read_text())


def listed(items, cursor=None):
    return {"items": items, "next_cursor": cursor, "as_of_seq": 80}


def event(seq, kind, /, job="job-1", **data):
    return {"seq": seq, "at": "2026-11-20T21:53:31.004Z", "type": kind, "job": job, "node": None, "tenant": "demo",
            "decision": None, "data": data}


class Daemon:
    """Answers by table: (method, path without query) -> (status, body) or a function of the request."""

    def __init__(self):
        self.routes = {}
        self.requests = []
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path, _, query = self.path.partition("?")
                request = {"method": self.command, "path": path, "query": query, "headers": dict(self.headers),
                           "body": body}
                daemon.requests.append(request)
                route = daemon.routes.get((self.command, path), (404, {"title": "Not found", "detail": "no " + path}))
                if callable(route):
                    route = route(request)
                status, reply, *headers = route
                if isinstance(reply, (list, Iterator)):
                    return self.stream(status, reply)
                data = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers[0].items() if headers else ():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):  # the client gave up, as a test wants it to
                    pass

            def stream(self, status, pieces):
                """Each piece, of a list or a generator, is a text, or an Event to wait for before going on."""
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                try:
                    for piece in pieces:
                        if isinstance(piece, str):
                            self.wfile.write(piece.encode())
                            self.wfile.flush()
                        else:
                            piece.wait(20)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_GET = do_POST = do_DELETE = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def sent(self, method, path):
        return [r for r in self.requests if r["method"] == method and r["path"] == path]


def sse(*events):
    return "".join("id: %d\nevent: %s\ndata: %s\n\n" % (e["seq"], e["type"], json.dumps(e)) for e in events)


class SchedctlCase(unittest.TestCase):
    """A case with such a peer, and the program in a private folder."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, **extra):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TIDEPOOL_") and k not in ("COLUMNS", "HOME")}
        return {**kept, "HOME": str(self.folder), "TIDEPOOL_URL": self.daemon.url, **extra}

    def run_ctl(self, *args, stdin="", **extra):
        done = subprocess.run([SCHEDCTL, *args], input=stdin, capture_output=True, text=True, timeout=60,
                              cwd=self.folder, env=self.environment(**extra))
        return done.returncode, done.stdout, done.stderr
