"""A client with the library websockets: client.py CHECK URI [CERTIFICATE]. It prints what it finds."""
import ssl
import sys

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

MORE = 1
SUBSCRIBE = b"\1"
LENGTHS = [0, 1, 124, 125, 65_534, 65_535, 1_000_000]  # with the flags, at each length that changes the header
PATIENCE_SECONDS = 30


def send(connection, frames, fragmented=False):
    for i, frame in enumerate(frames):
        payload = bytes([MORE if i < len(frames) - 1 else 0]) + frame
        connection.send(fragments(payload) if fragmented else payload)


def fragments(payload):
    """Some fragments are empty. The library sends another empty one as the last."""
    half = (len(payload) + 1) // 2
    ends = [0, 1, half, half, len(payload)]
    return (payload[start:end] for start, end in zip(ends, ends[1:]))


def require(condition, *values):
    if not condition:
        raise AssertionError(*values)


def receive(connection):
    frames = []
    more = True
    while more:
        payload = connection.recv(PATIENCE_SECONDS)
        frames.append(payload[1:])
        more = payload[0] == MORE
    return frames


def echo(connection, fragmented=False, envelope=()):
    bodies = [bytes(i % 251 for i in range(length)) for length in LENGTHS]
    messages = [[body] for body in bodies] + [bodies, bodies[::-1]]
    for message in messages:
        send(connection, [*envelope, *message], fragmented)
        require(receive(connection) == [*envelope, *message], [len(frame) for frame in message])
    return f"{len(messages)} messages came back"


def subscribe(connection):
    send(connection, [SUBSCRIBE + b"news"])
    return b"|".join(receive(connection)).decode()


def ping(connection):
    """The library counts a pong only if its payload is that of the ping."""
    pongs = [connection.ping(payload).wait(PATIENCE_SECONDS) for payload in [b"", b"hello", bytes(125)]]
    return f"{sum(pongs)} pongs"


def closed(connection, last=None):
    if last is None:
        connection.close()
    else:
        connection.send(last)
    try:
        return connection.recv(PATIENCE_SECONDS)
    except ConnectionClosed as end:
        return f"sent {end.sent.code}, received {end.rcvd.code}, first {'received' if end.rcvd_then_sent else 'sent'}"


CHECKS = {
    "frames": echo,
    "fragments": lambda connection: echo(connection, fragmented=True),
    "rep": lambda connection: echo(connection, envelope=[b""]),
    "pub": subscribe,
    "ping": ping,
    "text": lambda connection: closed(connection, "text"),
    "close": closed,
    "closed": lambda connection: closed(connection, b"\0close"),
}

check, uri, *certificates = sys.argv[1:]
# It also offers compression, which the server does not accept.
options = {"subprotocols": ["ZWS2.0"], "proxy": None, "max_size": None}
if check == "origin":
    options["origin"] = "https://elsewhere.example"
if certificates:
    options["ssl"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The library reads in a thread of its own. With TLS 1.3, it would read a ticket while the request is written, which
    # OpenSSL does not allow: a request in a hundred was lost.
    options["ssl"].maximum_version = ssl.TLSVersion.TLSv1_2
    options["ssl"].load_verify_locations(certificates[0])
try:
    with connect(uri, **options) as connection:
        require((connection.subprotocol, connection.protocol.extensions) == ("ZWS2.0", []))
        send(connection, [b""])  # its identity
        require(receive(connection) == [b""])
        print(CHECKS[check](connection))
except InvalidStatus as refused:
    print(refused.response.status_code)
