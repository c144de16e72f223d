"""Runs the shell of action.yml as a runner would, with a program that is there already.

    action.py ACTION_YML PROGRAM FOLDER [INPUT=VALUE …]

Prints what the steps print, then what they wrote as outputs. Exits with the code of the step that failed.
"""

import os
import re
import subprocess
import sys
import tempfile

import yaml


def main():
    path, program, folder, *given = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        action = yaml.safe_load(file)
    inputs = {name: str(spec.get("default", "")) for name, spec in action["inputs"].items()}
    for pair in given:
        name, value = pair.split("=", 1)
        if name not in inputs:
            sys.exit(f"action.yml has no input {name}")
        inputs[name] = value
    inputs["binary"] = program

    def filled(text):
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)

    with tempfile.NamedTemporaryFile("r", suffix=".out") as output:
        for step in action["runs"]["steps"]:
            # The only condition in use: whether the program must be built.
            if step.get("if") == "inputs.binary == ''":
                continue
            if "${{" in step["run"]:
                sys.exit("an expression in a script would let an input become code; pass it through env")
            env = {name: filled(value) for name, value in step.get("env", {}).items()}
            env = {**os.environ, **env, "GITHUB_OUTPUT": output.name, "GITHUB_ACTIONS": "true"}
            # As a runner starts `shell: bash`.
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(command, cwd=folder, env=env, check=False)
            if done.returncode != 0:
                sys.exit(done.returncode)
        print(output.read(), end="")


main()
