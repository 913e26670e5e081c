"""A server of good and bad mirrors for fetch_mnist_test.sh:  mirrors.py [FOLDER WITH MNIST]

/good/NAME.gz comes from the folder; /corrupt, /html, /short, /silent, /endless and /missing answer as their names say.
Prints its port, then serves until it is killed.
"""
import gzip
import http.server
import pathlib
import sys
import time


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mirror, name = self.path.strip("/").split("/")
        if mirror == "good":
            packed = pathlib.Path(sys.argv[1]) / name
            self.answer(packed.read_bytes() if packed.exists() else gzip.compress(packed.with_suffix("").read_bytes(), 1))
        elif mirror == "corrupt":
            self.answer(gzip.compress(b"not what the checksum says"))
        elif mirror == "html":
            self.answer(b"<html><body>Sign in to this network first</body></html>")
        elif mirror == "short":
            self.answer(gzip.compress(b"cut"), promised=100_000)
        elif mirror == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(1000):
                    self.wfile.write(bytes(1_000_000))
            except OSError:
                pass
        elif mirror == "silent":
            time.sleep(60)
        else:
            self.send_error(404)

    def answer(self, body, promised=None):
        self.send_response(200)
        self.send_header("Content-Length", str(promised or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
