#!/usr/bin/env python3
"""Stands between a client and the gateway and keeps the digest of every request and answer that passes.

Usage: tap.py --to PORT --port-file FILE --exchanges FILE

What the model's server keeps of its side is the same if the gateway changed nothing. Every connection of the client is
one connection to the gateway, and answers pass piece by piece.
"""

import argparse
import hashlib
import http.client
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONNECTION = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "proxy-connection"}
PIECE = 64 * 1024


class Handler(BaseHTTPRequestHandler):
    """One connection of the client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    gateway = None

    def log_message(self, *_):
        pass

    def _body(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(pieces)

    def _relay(self):
        body = self._body()
        if self.gateway is None:
            self.gateway = http.client.HTTPConnection("127.0.0.1", self.server.to)
        self.gateway.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in CONNECTION | {"content-length", "expect"}:
                self.gateway.putheader(name, value)
        if body or self.command == "POST":
            self.gateway.putheader("content-length", str(len(body)))
        self.gateway.endheaders(body or None)
        answer = self.gateway.getresponse()
        self._head(answer)
        passed, whole = self._pass(answer)
        ours = {name.lower(): value for name, value in answer.getheaders() if name.lower().startswith("x-steersman-")}
        self.server.keep({"method": self.command, "path": self.path, "request": hashlib.sha256(body).hexdigest(),
                          "answer": passed if whole else None, "status": answer.status, "headers": ours})

    def _head(self, answer):
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in CONNECTION:
                self.send_header(name, value)
        self.chunked = answer.chunked
        if self.chunked:
            self.send_header("transfer-encoding", "chunked")
        elif answer.will_close:
            self.close_connection = True
            self.send_header("connection", "close")
        self.end_headers()

    def _pass(self, answer):
        """Passes the answer on; its digest, and whether it passed to its end."""
        digest = hashlib.sha256()
        try:
            while piece := answer.read1(PIECE):
                digest.update(piece)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece)
            answer.close()
            if self.chunked:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            # The client has gone, or the answer broke off.
            self.close_connection = True
            self.gateway.close()
            return None, False
        return digest.hexdigest(), True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = _relay


class Tap(ThreadingHTTPServer):
    """Listens on loopback only."""

    daemon_threads = True

    def __init__(self, to, exchanges):
        super().__init__(("127.0.0.1", 0), Handler)
        self.to = to
        self.exchanges = exchanges
        self.lock = threading.Lock()

    def keep(self, exchange):
        with self.lock:
            self.exchanges.write(json.dumps(exchange) + "\n")
            self.exchanges.flush()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            print(f"tap: {sys.exc_info()[1]!r}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description="Keep what passes between a client and the gateway.")
    parser.add_argument("--to", type=int, required=True, help="port of the gateway on loopback")
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--exchanges", required=True)
    options = parser.parse_args()
    with open(options.exchanges, "w") as exchanges:
        tap = Tap(options.to, exchanges)
        with open(options.port_file + ".new", "w") as file:
            file.write(str(tap.server_address[1]))
        os.rename(options.port_file + ".new", options.port_file)
        tap.serve_forever()


if __name__ == "__main__":
    main()
