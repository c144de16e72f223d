"""Run every driver against the mock server under /usr/bin/time and write results.jsonl.

usage: bench.py [--only NAME,...] [--quick] [--cases STEPSxLOOPS,...] [--out FILE]   (start it through run.sh)
       bench.py --needs [--only NAME,...]    print the venvs and crates that the drivers live in, for setup.sh
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = int(os.environ.get("PORT", "8765"))
BASE = f"http://127.0.0.1:{PORT}"
PIN = os.environ.get("PIN", "").split()  # put before each measured command

# name: (venv, script in drivers/, variant), or (None, crate, variant) for a Rust driver
PEERS = {
    "floor-rust": (None, "rig_driver", "floor"),
    "floor-stream": (None, "rig_driver", "floor-stream"),
    "loopwright-tools": (None, "loopwright_driver", "tools"),
    "loopwright-json": (None, "loopwright_driver", "json"),
    "rig": (None, "rig_driver", "rig"),
    "floor-httpx": ("floor", "floor_httpx", ""),
    "floor-openai": ("openai_agents", "floor_openai", ""),
    "agent-framework": ("msaf", "msaf_driver", ""),
    "smolagents": ("smolagents", "smolagents_driver", ""),
    "openai-agents": ("openai_agents", "openai_agents_driver", ""),
    "pydantic-ai": ("pydantic_ai", "pydantic_ai_driver", ""),
    "langgraph": ("langgraph", "langgraph_driver", ""),
    "langgraph-saver": ("langgraph", "langgraph_driver", "saver"),
    "langchain-create_agent": ("langgraph", "langgraph_driver", "create_agent"),
    "smolagents-code": ("smolagents", "smolagents_driver", "code"),
    "mini-swe-agent": ("miniswe", "miniswe_driver", ""),
    "mini-swe-agent-text": ("miniswe", "miniswe_driver", "text"),
    "mini-swe-agent-local": ("miniswe", "miniswe_driver", "local"),
    "google-adk": ("adk", "adk_driver", ""),
}
VARIANTS = {"langgraph-saver", "langchain-create_agent", "smolagents-code", "mini-swe-agent-text", "mini-swe-agent-local"}


def server(path, method="GET"):
    with urllib.request.urlopen(urllib.request.Request(BASE + path, method=method)) as reply:
        return json.loads(reply.read() or b"null")


def server_cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(name, steps, loops=1, delay=0, limit=300):
    venv, script, variant = PEERS[name]
    command = (
        [HERE / ".venvs" / venv / "bin/python", HERE / "drivers" / f"{script}.py"]
        if venv
        else [HERE / script / "target/release" / script]
    )
    command += ["--steps", steps, "--loops", loops, "--delay", delay, "--variant", variant, "--base-url", BASE + "/v1"]
    server("/reset", "POST")
    pid = int((HERE / "logs/mock.pid").read_text())
    cpu_before = server_cpu_s(pid)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    timing = HERE / "logs/time.txt"
    row = {"name": name, "steps": steps, "loops": loops, "delay_ms": delay}
    started = time.time_ns()
    try:
        done = subprocess.run(
            [str(c) for c in ["timeout", str(limit), *PIN, "/usr/bin/time", "-v", "-o", timing, *command]],
            capture_output=True, text=True, env=env,
        )
    finally:
        stats = server("/stats")
    if done.returncode:
        return row | {"error": (done.stderr or done.stdout)[-300:], "requests": stats["requests"]}
    usage = timing.read_text()
    field = lambda label: float(re.search(rf"{re.escape(label)}[^:]*: ([\d.]+)", usage).group(1))
    loop = json.loads(done.stdout.strip().splitlines()[-1])
    span_s = (stats["last_ns"] - stats["first_ns"]) / 1e9
    calls = steps * loops
    if stats["requests"] != calls + loops:
        row["note"] = f"{stats['requests']} requests, expected {calls + loops}"
    row |= {
        "steps_per_s": (stats["requests"] - 1) / span_s,
        "cpu_ms_per_step": loop["loop_cpu_s"] * 1e3 / (calls - 1),
        "process_cpu_s": field("User time (seconds)") + field("System time (seconds)"),
        "rss_mb": field("Maximum resident set size (kbytes)") / 1024,
        "first_request_s": (stats["first_ns"] - started) / 1e9,
        "server_cpu_ms_per_step": (server_cpu_s(pid) - cpu_before) * 1e3 / stats["requests"],
        "mean_body_kb": stats["bytes"] / stats["requests"] / 1024,
    }
    gaps = loop.get("step_cpu_us", [])
    row["step_cpu_us"] = {
        str(k): statistics.median(gaps[max(0, k - 6) : k + 4]) for k in (10, 50, 100, 195) if k + 4 <= len(gaps)
    }
    return row


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--quick", action="store_true", help="one run of each case")
    options.add_argument("--out", default=str(HERE / "results.jsonl"))
    options.add_argument("--cases", default="50x1,200x1,20x50,20x200")
    options.add_argument("--needs", action="store_true")
    args = options.parse_args()
    names = args.only.split(",") if args.only else list(PEERS)
    if unknown := [name for name in names if name not in PEERS]:
        options.error(f"unknown driver {', '.join(unknown)}; known: {', '.join(PEERS)}")
    if args.needs:
        print(*dict.fromkeys(venv or script for venv, script, _ in map(PEERS.get, names)))
        return
    cases = [tuple(map(int, c.split("x"))) for c in args.cases.split(",")]
    with open(args.out, "a") as out:
        for steps, loops in cases:
            for _ in range(1 if args.quick or loops > 1 else 3):
                for name in names:  # rounds are interleaved, so a busy minute does not hit one peer only
                    if (loops > 1 or steps > 50) and name in VARIANTS and not args.only:
                        continue
                    row = run(name, steps, loops)
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                    print(name, f"{steps}x{loops}", row.get("error") or
                          f"{row['cpu_ms_per_step']:.3f} ms/step {row['steps_per_s']:.0f}/s {row['rss_mb']:.0f} MB "
                          f"first {row['first_request_s']:.2f} s {row.get('note', '')}", flush=True)


main()
