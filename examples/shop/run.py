"""Open the shop: a service, its dashboard, the shop's page, and a crowd of visitors.

    make shop

or, with your own Python, `pip install '.[serve,client]'; python examples/shop/run.py`. It ends
with Ctrl+C, and leaves nothing behind.
"""

import argparse
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
from crowd import visit

from giro.seeds import stream

HERE = Path(__file__).parent
GIRO = Path(sys.executable).with_name("giro")
LATELY = 200  # visits, of which shares are shown


@contextlib.contextmanager
def running(*command: object, folder: Path, more: Mapping[str, str], url: str) -> Iterator[None]:
    """Run a program, and go on when it answers at `url`."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=os.environ | more, stdout=log, stderr=log
        )
    try:
        while not is_ready(url):
            if process.poll() is not None:
                sys.exit((folder / "log").read_text("utf-8"))
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def is_ready(url: str) -> bool:
    """Return whether a server answers, and does not say that it is still busy."""
    try:
        return not httpx.get(url).is_server_error
    except httpx.TransportError:
        return False


@contextlib.contextmanager
def open_shop(ports: list[int]) -> Iterator[tuple[str, str]]:
    """Start everything, and return the addresses of the dashboard and of the shop."""
    service, dashboard, shop = (f"http://127.0.0.1:{port}" for port in ports)
    key = f"giro_{secrets.token_hex(16)}"
    keys = {"GIRO_URL": service, "GIRO_KEY": key, "SHOP_KEY": key}
    keys["GIRO_ADMIN_KEY"] = secrets.token_hex(16)
    serve = (GIRO, "serve", "--config", HERE / "giro.toml", "--port", ports[0])
    show = (GIRO, "dashboard", "sqlite:///giro.db", "--port", ports[1])
    sell = (sys.executable, "-m", "uvicorn", "shop:app", "--app-dir", HERE, "--port", ports[2])
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        ready = f"{service}/readyz", dashboard, f"{shop}/ready"
        for command, url in zip((serve, show, sell), ready, strict=True):
            stack.enter_context(running(*command, folder=Path(name), more=keys, url=url))
        yield f"{dashboard}/bandit?name=page", shop


def send_crowd(shop: str, pace: float) -> None:
    """Let visitors come for ever, `pace` a second at most, and print what they saw lately."""
    rng, lately, visits = stream(int.from_bytes(os.urandom(4))), deque[str](maxlen=LATELY), 0
    with httpx.Client(base_url=shop) as browser:
        while True:
            lately.append(visit(browser, rng))
            visits += 1
            if visits % LATELY == 0:
                shares = (f"{arm} {n / LATELY:.0%}" for arm, n in Counter(lately).most_common())
                print(f"{visits:6} visits, the last {LATELY} saw: {', '.join(shares)}", flush=True)
            time.sleep(rng.exponential(1.0 / pace))


def main() -> None:
    """Run the shop until somebody stops it."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--pace", type=float, default=30.0, help="visitors a second")
    arguments.add_argument(
        "--ports",
        type=int,
        nargs=3,
        default=[8720, 8721, 8722],
        help="of the service, the dashboard and the shop",
    )
    given = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        print("The service starts. The first time giro compiles the policy.", flush=True)
        with open_shop(given.ports) as (dashboard, shop):
            print(f"dashboard  {dashboard}\nshop       {shop}\nCtrl+C ends both.", flush=True)
            send_crowd(shop, given.pace)


if __name__ == "__main__":
    main()
