#!/usr/bin/env python3
"""A small server that implements the animal store's contract with Python's standard library (3.9 or newer).

It shares no code with the TypeScript service and makes other correct choices where the contract leaves them open:
the conformance suite at `--level spec` must accept it. It stores everything in memory, listens on the loopback
address only, and is written to be read. Its choices:

- ids are random positive int64; a list begins with the newest animal; there are no further pages
- an animal that was created without `status` has none: only the unfiltered list shows it
- `name` is any string of up to 500 code points, even an empty one, without U+0000 and lone surrogates
- an integer has no fraction or exponent (`1.0` is rejected); the last of duplicate fields counts
- the media type of a body is ignored; a body has at most 1 MiB (413) and a Content-Length (411)
- `limit` may have leading zeros; the last of repeated parameters counts; an unknown `status` matches nothing
- an unknown path gets 404 with or without a key; so does a `petId` that is not an integer
- limits are counted in fixed windows: the minute follows the clock, a day is the 24 h after the first request
  of a key; a 429 costs nothing, every other request with a valid key costs one
- the rate headers show the minute, even during a ban; when the day is used up, they show the day
- a key is banned for 60 s by the 10th consecutive denied request before the end of its `Retry-After`
- requests without a valid key, and malformed HTTP, share 60 a minute per address and cause no ban
- from 5 December 2030, 00:00 UTC, `GET /pets/{petId}` gets 404, without prior announcement
- header names are in lower case, codes in upper case; an Error names its source in one more field, `doc`
"""
from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import secrets
import signal
import socket
import socketserver
import threading
import time
import traceback
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Any, BinaryIO, Callable, Optional, Union
from urllib.parse import parse_qs, unquote

MINUTE, DAY = 60_000, 86_400_000  # all times are in milliseconds
BAN_AFTER, BAN_LENGTH = 10, 60_000
STRANGERS_PER_MINUTE = 60
REMOVAL = 1_922_659_200_000  # 2030-12-05T00:00:00Z
END_OF_TIME = 253_402_300_799_000  # 9999-12-31T23:59:59Z, the last second that a Date header can show
MAX_HEAD, MAX_BODY = 32_768, 1_048_576  # bytes
MAX_NAME = 500
STATUSES = ("available", "pending", "sold")


class Rejected(Exception):
    """Ends the handling of a request with an Error response; `doc` is the source of the rejection."""

    def __init__(self, status: int, code: str, message: str, doc: str, **headers: str) -> None:
        super().__init__(message)
        body = {"code": code, "message": message, "status": status, "doc": doc}
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        self.response = Response(status, body, sent)


@dataclass
class Request:
    method: str
    path: str
    query: str
    headers: dict[str, list[str]]  # names in lower case
    length: int
    keep_alive: bool
    body: Union[bytes, Rejected] = b""  # an invalid body matters only to operations that read it


@dataclass
class Response:
    status: int
    value: Any
    headers: dict[str, str] = field(default_factory=dict)


Application = Callable[[Union[Request, Rejected], str], Response]  # (request, the client's address)


class Clock:
    """The server's time in epoch milliseconds: it starts at the machine's time and only moves forward."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()
        self._lock = threading.Lock()

    def now(self) -> int:
        return (time.monotonic_ns() + self._offset) // 1_000_000

    def advance(self, ms: int) -> int:
        with self._lock:
            if self.now() + ms > END_OF_TIME:
                raise Rejected(400, "INVALID_ADVANCE", "the clock ends with the year 9999", "test clock")
            self._offset += ms * 1_000_000
        return self.now()


# --- Limits: contract §8 ------------------------------------------------------------------------------------


@dataclass
class Window:
    """Allows `limit` requests until `end`; the next window begins on the clock's minute, or with the next request."""

    limit: int
    length: int
    follows_clock: bool
    end: int = 0
    used: int = 0

    def left(self, now: int) -> int:
        return self.limit - (self.used if now < self.end else 0)

    def reset(self, now: int) -> int:
        if now < self.end:
            return self.end
        return now + self.length - (now % self.length if self.follows_clock else 0)

    def spend(self, now: int) -> None:
        if now >= self.end:
            self.end, self.used = self.reset(now), 0
        self.used += 1

    def headers(self, now: int) -> dict[str, str]:
        reset = math.ceil(self.reset(now) / 1000)
        numbers = {"limit": self.limit, "remaining": self.left(now), "reset": reset}
        return {f"x-ratelimit-{name}": str(number) for name, number in numbers.items()}


class Meter:
    """Counts the requests of one caller. Without a daily limit there is no ban."""

    def __init__(self, per_minute: int, per_day: Optional[int] = None) -> None:
        self._windows = [Window(per_minute, MINUTE, follows_clock=True)]
        if per_day is not None:
            self._windows.append(Window(per_day, DAY, follows_clock=False))
        self._can_ban = per_day is not None
        self._ignored = 0  # consecutive denied requests before `_retry_at`
        self._retry_at = 0
        self._banned_until = 0
        self._lock = threading.Lock()

    def admit(self, clock: Clock) -> tuple[dict[str, str], Optional[Rejected]]:
        """Counts a request; returns its rate headers and, if it is over the limit, its rejection."""
        with self._lock:
            now = clock.now()  # inside the lock, so that time never goes back for a meter
            empty = [window for window in self._windows if window.left(now) == 0]
            is_banned = now < self._banned_until
            if not empty and not is_banned:
                for window in self._windows:
                    window.spend(now)
                self._ignored = 0
                return self._windows[0].headers(now), None
            if not is_banned and self._can_ban and now < self._retry_at:
                self._ignored += 1
                if self._ignored == BAN_AFTER:
                    is_banned, self._ignored, self._banned_until = True, 0, now + BAN_LENGTH
            self._retry_at = max([self._banned_until, *(window.reset(now) for window in empty)])
            shown = empty[-1] if empty else self._windows[0]
            return shown.headers(now), over_limit(is_banned, self._retry_at - now)


def over_limit(is_banned: bool, wait: int) -> Rejected:
    code = "KEY_SUSPENDED" if is_banned else "TOO_MANY_REQUESTS"
    message = "the key is banned for a while" if is_banned else "no requests are left in this window"
    return Rejected(429, code, message, "contract §8.4", retry_after=str(math.ceil(wait / 1000)))


class Strangers:
    """A meter for each address without a valid key; meters are deleted when their minute has ended."""

    def __init__(self) -> None:
        self._minute = 0
        self._meters: dict[str, Meter] = {}
        self._lock = threading.Lock()

    def meter(self, address: str, now: int) -> Meter:
        with self._lock:
            if now // MINUTE > self._minute:
                self._minute, self._meters = now // MINUTE, {}
            return self._meters.setdefault(address, Meter(STRANGERS_PER_MINUTE))


# --- The service: contract §2 to §5 -------------------------------------------------------------------------


class Catalogue:
    """All animals in the order of their creation, together (under `None`) and by status."""

    def __init__(self) -> None:
        self._by_id: dict[int, dict[str, Any]] = {}
        self._by_status: dict[Optional[str], list[dict[str, Any]]] = {key: [] for key in (None, *STATUSES)}
        self._lock = threading.Lock()

    def add(self, new_pet: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            number = 0
            while number == 0 or number in self._by_id:
                number = secrets.randbits(63)
            pet = self._by_id[number] = {"id": number, **new_pet}
            self._by_status[None].append(pet)
            if "status" in pet:
                self._by_status[pet["status"]].append(pet)
        return pet

    def find(self, number: int) -> Optional[dict[str, Any]]:
        return self._by_id.get(number)

    def newest(self, limit: int, status: Optional[str]) -> list[dict[str, Any]]:
        with self._lock:
            return list(islice(reversed(self._by_status.get(status, [])), limit))


class AnimalStore:
    """The contract's application. Every response has the rate headers of the meter that counted the request."""

    def __init__(self, clock: Clock, meters: dict[bytes, Meter]) -> None:
        self._clock = clock
        self._meters = meters  # by the digest of the key, so the duration of a look-up reveals nothing about a key
        self._strangers = Strangers()
        self._catalogue = Catalogue()

    def __call__(self, request: Union[Request, Rejected], address: str) -> Response:
        own_meter = self._meters.get(key_digest(request)) if isinstance(request, Request) else None
        meter = own_meter or self._strangers.meter(address, self._clock.now())
        rate_headers, rejection = meter.admit(self._clock)
        try:
            if rejection:
                raise rejection
            if isinstance(request, Rejected):
                raise request
            response = self._perform(request, is_known=own_meter is not None)
        except Rejected as rejected:
            response = rejected.response
        except Exception:
            traceback.print_exc()
            response = Rejected(500, "INTERNAL", "the server has a fault", "contract §7").response
        response.headers.update(rate_headers)
        return response

    def _perform(self, request: Request, is_known: bool) -> Response:
        segments = [unquote(segment) for segment in request.path.split("/")]
        if segments[:3] != ["", "v1", "pets"] or len(segments) > 4:
            raise Rejected(404, "NO_SUCH_PATH", "there is nothing at this path", "contract §4")
        if not is_known:
            raise Rejected(401, "UNAUTHENTICATED", "send a valid API key as a bearer token", "contract §5",
                          www_authenticate='Bearer realm="pets"')
        is_get = request.method in ("GET", "HEAD")
        if len(segments) == 4:
            if self._clock.now() >= REMOVAL:
                raise Rejected(404, "OPERATION_REMOVED", "list the animals by status instead", "contract §4.3")
            if is_get:
                return Response(200, self._get(segments[3]))
        elif is_get:
            return Response(200, self._list(parse_qs(request.query, keep_blank_values=True)))
        elif request.method == "POST":
            return Response(201, self._catalogue.add(new_pet(json_object(request.body))))
        raise Rejected(405, "METHOD_NOT_ALLOWED", "the path does not have this method", "contract §4",
                      allow="GET, HEAD" if len(segments) == 4 else "GET, HEAD, POST")

    def _list(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        limit = query.get("limit", ["20"])[-1]
        if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= 100:
            raise Rejected(400, "INVALID_QUERY", "limit must be an integer from 1 to 100", "contract §8.1")
        return self._catalogue.newest(int(limit), query["status"][-1] if "status" in query else None)

    def _get(self, pet_id: str) -> dict[str, Any]:
        pet = self._catalogue.find(int(pet_id)) if re.fullmatch("[0-9]{1,19}", pet_id) else None
        if pet is None:
            raise Rejected(404, "NO_SUCH_PET", "there is no animal with this id", "contract §4.3")
        return pet


def key_digest(request: Request) -> bytes:
    """Returns the digest of the bearer token; empty, which matches no key, if there is none or more than one."""
    sent = request.headers.get("authorization", [])
    bearer = re.fullmatch(r"bearer +(\S+)", sent[0], re.IGNORECASE) if len(sent) == 1 else None
    return hashlib.sha256(bearer[1].encode("latin-1")).digest() if bearer else b""


def json_object(body: Union[bytes, Rejected]) -> dict[str, Any]:
    if isinstance(body, Rejected):
        raise body
    try:
        value = json.loads(body.decode("utf-8"), parse_int=bounded_int, parse_constant=no_constant)
    except (ValueError, RecursionError):  # bad UTF-8 and bad JSON are ValueErrors
        raise Rejected(400, "INVALID_JSON", "the body is not JSON, or too deep", "contract §7") from None
    if not isinstance(value, dict):
        raise invalid_body("the body must be a JSON object")
    return value


def bounded_int(digits: str) -> Union[int, float]:
    """Rejects numbers that are too long for int64, so that a million digits are never converted."""
    return int(digits) if len(digits) <= 20 else math.inf


def no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def new_pet(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the validated fields, and ignores all others."""
    name, category = fields.get("name"), fields.get("categoryId")
    if not isinstance(name, str) or len(name) > MAX_NAME or re.search("[\0\ud800-\udfff]", name):
        raise invalid_body(f"name must be a string of at most {MAX_NAME} characters, without U+0000")
    if type(category) is not int or not -2**63 <= category < 2**63:  # `isinstance` would accept bool
        raise invalid_body("categoryId must be an integer of 64 bits")
    if "status" not in fields:
        return {"name": name, "categoryId": category}
    if fields["status"] not in STATUSES:
        raise invalid_body("status must be available, pending or sold")
    return {"name": name, "categoryId": category, "status": fields["status"]}


def invalid_body(message: str) -> Rejected:
    return Rejected(400, "INVALID_BODY", message, "contract §2")


class ClockControl:
    """The application behind --test-clock-port, for tests only: reads the clock and moves it forward."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, request: Union[Request, Rejected], address: str) -> Response:
        try:
            if isinstance(request, Rejected):
                raise request
            if (request.method, request.path) == ("GET", "/clock"):
                return Response(200, {"now": self._clock.now()})
            if (request.method, request.path) != ("POST", "/clock/advance"):
                raise Rejected(404, "NO_SUCH_PATH", "only GET /clock and POST /clock/advance exist", "test clock")
            ms = json_object(request.body).get("ms")
            if type(ms) is not int or ms < 0:
                raise Rejected(400, "INVALID_ADVANCE", "ms must be an integer, not negative", "test clock")
            return Response(200, {"now": self._clock.advance(ms)})
        except Rejected as rejected:
            return rejected.response


# --- HTTP/1.1: RFC 9112 -------------------------------------------------------------------------------------

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
REQUEST_LINE = re.compile(rb"(" + TOKEN + rb") ([!-~\x80-\xff]+) HTTP/1\.([0-9])\r?\n")
HEADER_LINE = re.compile(rb"(" + TOKEN + rb"):[ \t]*([\t -~\x80-\xff]*)\r?\n")


def bad_http(message: str) -> Rejected:
    return Rejected(400, "BAD_HTTP", message, "RFC 9112")


def read_head(stream: BinaryIO) -> Optional[Request]:
    """Reads the next request, without its body; returns `None` if the client closed the connection."""
    lines: list[bytes] = []
    size = 0
    while True:
        line = stream.readline(MAX_HEAD - size + 1)
        size += len(line)
        if size > MAX_HEAD:
            raise Rejected(431, "HEAD_TOO_LARGE", f"a head must have at most {MAX_HEAD} bytes", "RFC 6585")
        if not line.endswith(b"\n"):
            return None
        if line not in (b"\r\n", b"\n"):
            lines.append(line)
        elif lines:  # empty lines before a request are skipped
            return parse_head(lines)


def parse_head(lines: list[bytes]) -> Request:
    start = REQUEST_LINE.fullmatch(lines[0])
    if not start:
        raise bad_http("the request line is malformed")
    headers: dict[str, list[str]] = {}
    for line in lines[1:]:
        match = HEADER_LINE.fullmatch(line)
        if not match:
            raise bad_http("a header line is malformed")
        name, text = match[1].decode("ascii").lower(), match[2].decode("latin-1").strip(" \t")
        headers.setdefault(name, []).append(text)
    is_old = start[3] == b"0"
    if len(headers.get("host", [])) != 1 and not (is_old and "host" not in headers):
        raise bad_http("there must be one Host header")
    if "transfer-encoding" in headers:
        raise Rejected(411, "LENGTH_REQUIRED", "send the body with a Content-Length", "RFC 9112")
    lengths = headers.get("content-length", ["0"])
    if len(lengths) > 1 or not re.fullmatch("[0-9]+", lengths[0]):
        raise bad_http("Content-Length is malformed")
    length = int(lengths[0]) if len(lengths[0]) <= 15 else MAX_BODY + 1
    target = re.sub(r"^https?://[^/?]*", "", start[2].decode("latin-1"), flags=re.IGNORECASE)
    path, _, query = target.partition("?")
    wishes = re.split(r"[\s,]+", ",".join(headers.get("connection", [])).lower())
    keep_alive = "keep-alive" in wishes if is_old else "close" not in wishes
    return Request(start[1].decode("ascii"), path, query, headers, length, keep_alive)


class Connection(socketserver.StreamRequestHandler):
    """A connection in its own thread, which handles requests in sequence, including pipelined ones."""

    server: Server
    timeout = 30
    disable_nagle_algorithm = True

    def handle(self) -> None:
        try:
            while self._exchange():
                pass
        except OSError:
            pass  # the client closed the connection or timed out, so no response can be sent

    def _exchange(self) -> bool:
        """Handles one request; returns false if the connection must be closed."""
        request: Union[Request, Rejected, None]
        try:
            request = read_head(self.rfile)
            if request is None:
                return False
            request.body = self._read_body(request)
        except Rejected as rejected:
            request = rejected
        response = self.server.application(request, self.client_address[0])
        is_open = isinstance(request, Request) and request.keep_alive and isinstance(request.body, bytes)
        has_payload = isinstance(request, Rejected) or request.method != "HEAD"
        self.connection.sendall(self._encode(response, is_open, has_payload))  # in one piece: no delayed ACK
        if not is_open:
            self._linger()
        return is_open

    def _read_body(self, request: Request) -> Union[bytes, Rejected]:
        if request.length > MAX_BODY:
            return Rejected(413, "BODY_TOO_LARGE", f"a body must have at most {MAX_BODY} bytes", "RFC 9110")
        if [text.lower() for text in request.headers.get("expect", [])] == ["100-continue"]:
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            body = self.rfile.read(request.length)
        except socket.timeout:
            return Rejected(408, "TIMEOUT", "the body did not arrive in time", "RFC 9110")
        return body if len(body) == request.length else bad_http("the body is shorter than announced")

    def _encode(self, response: Response, is_open: bool, has_payload: bool) -> bytes:
        payload = json.dumps(response.value, ensure_ascii=False).encode("utf-8")
        date = time.gmtime(self.server.clock.now() // 1000)
        head = "\r\n".join([
            f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
            *(f"{name}: {text}" for name, text in response.headers.items()),
            time.strftime("date: %a, %d %b %Y %H:%M:%S GMT", date),
            "content-type: application/json",
            f"content-length: {len(payload)}",
            f"connection: {'keep-alive' if is_open else 'close'}",
        ])
        return head.encode("latin-1") + b"\r\n\r\n" + (payload if has_payload else b"")

    def _linger(self) -> None:
        """Discards what the client still sends: closing immediately would reset the connection and lose the response."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(1)
        end = time.monotonic() + 2
        while time.monotonic() < end and self.connection.recv(65_536):
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, port: int, application: Application, clock: Clock) -> None:
        super().__init__(("127.0.0.1", port), Connection)
        self.application = application
        self.clock = clock

    def start(self) -> str:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server_address[1]}"


# --- Command line -------------------------------------------------------------------------------------------


def key_argument(text: str) -> tuple[bytes, Meter]:
    match = re.fullmatch(r"([!-~]+):([1-9][0-9]{0,8}):([1-9][0-9]{0,8})", text)
    if not match:
        raise argparse.ArgumentTypeError("a key is SECRET:PERMINUTE:PERDAY, with two positive numbers")
    return hashlib.sha256(match[1].encode("ascii")).digest(), Meter(int(match[2]), int(match[3]))


def main() -> None:
    parser = argparse.ArgumentParser(description="A small server that implements the animal store's contract, for tests.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, picks a free port")
    parser.add_argument("--test-clock-port", type=int, help="serves the test clock; 0 picks a free port")
    parser.add_argument("--key", type=key_argument, action="append", required=True,
                        metavar="SECRET:PERMINUTE:PERDAY", help="may be given more than once")
    options = parser.parse_args()
    stops = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # before any thread starts, so only `sigwait` receives them

    clock = Clock()
    url = Server(options.port, AnimalStore(clock, dict(options.key)), clock).start() + "/v1"
    control: Optional[str] = None
    if options.test_clock_port is not None:
        control = Server(options.test_clock_port, ClockControl(clock), clock).start() + "/clock"
    print(json.dumps({"url": url, "clock": control}), flush=True)
    signal.sigwait(stops)
    os._exit(0)  # immediately: nothing is stored, so there is no need to wait for connections


if __name__ == "__main__":
    main()
