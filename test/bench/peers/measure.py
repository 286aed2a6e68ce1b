"""Runs a command against the stand-in and prints what it took, as one JSON line.

    python measure.py COMMAND...        BASE_URL and FINTORO_TOKEN in the environment

wall_s, cpu_s (user and system, children included), memory_mb (the largest process), requests (what the service's
budget says; start the stand-in with a window longer than the command takes).
"""

import json
import os
import resource
import subprocess
import sys
import time
import urllib.request


def left() -> int:
    """Requests that the window still grants, this one included."""
    request = urllib.request.Request(
        os.environ["BASE_URL"].rstrip("/") + "/whoami",
        headers={"Authorization": f"Bearer {os.environ['FINTORO_TOKEN']}"},
    )
    with urllib.request.urlopen(request) as answer:
        return int(answer.headers["X-RateLimit-Remaining"])


before = left()
began = time.monotonic()
ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
wall = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    json.dumps(
        {
            "command": " ".join(sys.argv[1:4]),
            "exit": ended.returncode,
            "wall_s": round(wall, 1),
            "cpu_s": round(used.ru_utime + used.ru_stime, 1),
            "memory_mb": round(used.ru_maxrss / 1024),
            "requests": before - left() - 1,
        }
    )
)
