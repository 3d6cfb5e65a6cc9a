"""The page about clients: its code runs against a service, and its page in a browser."""

import os
import re
import subprocess
import sys
from pathlib import Path

from servers import KEY, Server, free_port

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "client.md"
SETTINGS = '[[bandits]]\nname = "button"\narms = ["red", "green"]\npolicy = "uniform"\n'


def test_the_python_of_the_page_asks_a_service(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    (tmp_path / "giro.toml").write_text(SETTINGS, "utf-8")
    program = [sys.executable, "-c", "from giro.cli.main import main; main()", "serve"]
    port = free_port()
    with Server([*program, "--config", "giro.toml"], port=port, folder=tmp_path) as server:
        code = "\n".join(blocks).replace("http://127.0.0.1:8720", server.ready().url)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code + "\nprint(button.summary())"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"GIRO_KEY": KEY},
        )
        server.stop()
    assert done.returncode == 0, done.stderr
    assert re.match(r"button\.\w+~? (red|green) (0\.5|1\.0)\n(red|green)\n", done.stdout)
