#!/usr/bin/env python3
"""Times `loopwright check` and `check-jsonschema` over the same 1,000 documents, one after the other.

    cargo build --release
    python3 -m pip install check-jsonschema
    python3 benches/check_speed/compare.py [--documents 1000] [--rounds 5] [--require]

The documents have about 150 lines each, their instruction stands in a template file of its own, and all are valid.
`check-jsonschema` compares each with schemas/loop.schema.json and does nothing else; `loopwright check` also reads the
templates and applies its rules. Both start from a process that does not run yet, and the files are in the page cache.
With --require the exit code is 1 when a goal is missed: 1 second, and 20 times as fast.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

ACTION = """\
  note_{n}:
    description: Record finding number {n}, quoting the line that shows it.
    params:
      type: object
      required: [kind, evidence, severity_{n}]
      properties:
        kind: {{ type: string, minLength: 3 }}
        evidence: {{ type: string, description: One line, copied character for character. }}
        severity_{n}: {{ enum: [high, medium, low] }}
        explanation: {{ type: string }}
    verify:
      - that: params.evidence | length > 8 and params.evidence in input
        message: evidence must be copied, character for character
    do:
      - set: {{ found_{n}: "{{{{ state.found_{n} + [params.evidence] }}}}" }}
      - timeline: {{ found: "{{{{ params.kind }}}}: {{{{ params.evidence }}}}" }}
      - run: {{ argv: [grep, -c, "--", "{{{{ params.evidence }}}}", log.txt], check: false }}
        id: count
        timeout: 5s
      - when: params.severity_{n} == 'high' and steps.count.exit_code == 0
        feedback: "Found {{{{ steps.count.stdout | trim }}}} times in iteration {{{{ run.iteration }}}}."
"""

TEMPLATE = """\
Look for what is odd in the input of loop {n}.
{{% for line in feedback %}}
- {{{{ loop.index }}}}: {{{{ line }}}}
{{% endfor %}}
{{% if state.found_0 | length > 3 %}}Enough was found.{{% else %}}Go on{{{{ '' if last_iteration else ', there is time' }}}}.{{% endif %}}
{{% set rest = run.max_iterations - run.iteration %}}
{{{{ rest }}}} iterations are left, and {{{{ state.report | default('no report', true) | trim }}}} is written.
"""


def document(n: int) -> str:
    actions = "".join(ACTION.format(n=i) for i in range(5))
    found = "\n".join(f"  found_{i}: {{ type: array, items: {{ type: string }}, default: [] }}" for i in range(5))
    return f"""\
kind: loop
name: bench_{n}
description: Finds what is odd in a log, number {n}.
usage: Use it when somebody hands over a log.
limits: {{ max_iterations: 20, max_total_tokens: 200000, timeout: 10m, action_retries: 2 }}
allow: {{ skill: false, focus_mode: false }}
tools: [read_file, grep, list_files]
state:
{found}
  report: ""
prompt:
  instruction: {{ file: prompts/bench_{n}.md.j2 }}
  output_example: |
    {{"@action": "note_0", "kind": "login", "evidence": "Accepted password", "severity_0": "high"}}
  reactive: |
    Found so far:
    {{% for text in state.found_0 + state.found_1 %}}
    - {{{{ text }}}}
    {{% endfor %}}
  sections:
    - {{ name: GLOSSARY, tier: semi_dynamic, text: "A login is a session that begins." }}
    - name: HINTS
      tier: dynamic
      when: state.found_2 | length == 0
      text: "Nothing of kind 2 yet, after {{{{ run.elapsed }}}} seconds."
actions:
{actions}  directly_answer:
    override: true
    description: Deliver the report inside the FINAL_ANSWER tag.
    tags: {{ FINAL_ANSWER: {{ node: answer, content_type: text/markdown, required: true }} }}
    verify:
      - that: tags.FINAL_ANSWER | trim | length > 80
        message: the report is too short
    do:
      - set: {{ report: "{{{{ tags.FINAL_ANSWER }}}}" }}
      - artifact: {{ path: "reports/bench_{n}.md", content: "{{{{ tags.FINAL_ANSWER }}}}" }}
      - answer: "{{{{ tags.FINAL_ANSWER }}}}"
    then: exit
hooks:
  init:
    - when: input | trim | length < 20
      thought: There is nothing to look at.
      then: done
    - status: "{{{{ input | lines | length }}}} lines"
  finish:
    - when: reason == 'max_iterations' and state.found_0
      status: "Ran out of iterations with {{{{ state.found_0 | length }}}} findings."
    - when: not state.report
      status: "No report: {{{{ reason }}}}"
"""


def corpus(folder: pathlib.Path, count: int) -> None:
    for name in ("loops", "prompts"):
        (folder / name).mkdir()
    (folder / "loopwright.yaml").write_text("kind: workspace\n")
    for n in range(count):
        (folder / f"loops/bench_{n}.yaml").write_text(document(n))
        (folder / f"prompts/bench_{n}.md.j2").write_text(TEMPLATE.format(n=n))


def timed(command: list[str], folder: pathlib.Path) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return elapsed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--documents", type=int, default=1000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--binary", default=str(ROOT / "target/release/loopwright"))
    arguments.add_argument("--require", action="store_true", help="fail when a goal is missed")
    arguments.add_argument("--write", metavar="FOLDER", help="only write the documents")
    options = arguments.parse_args()
    if options.write:
        folder = pathlib.Path(options.write)
        folder.mkdir(parents=True)
        return corpus(folder, options.documents)
    other = shutil.which("check-jsonschema") or str(pathlib.Path(sys.executable).with_name("check-jsonschema"))
    if not pathlib.Path(other).exists():
        sys.exit("check-jsonschema is not installed: python3 -m pip install check-jsonschema")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        corpus(folder, options.documents)
        files = sorted(str(path.relative_to(folder)) for path in (folder / "loops").iterdir())
        lines = sum(text.count("\n") for text in map(document, range(options.documents))) / options.documents
        own = [options.binary, "check", "--format", "concise", *files]
        theirs = [other, "--schemafile", str(ROOT / "schemas/loop.schema.json"), *files]
        timed(own, folder)
        ours = [timed(own, folder) for _ in range(options.rounds)]
        # One round takes long enough to be steady.
        schema_only = timed(theirs, folder)
        ours.append(timed(own, folder))
    median = statistics.median(ours)
    print(f"{options.documents} documents of {lines:.0f} lines and as many templates")
    print(f"loopwright check   {median:8.3f} s  (median of {len(ours)}, {min(ours):.3f} to {max(ours):.3f})")
    print(f"check-jsonschema   {schema_only:8.3f} s")
    print(f"ratio              {schema_only / median:8.1f}")
    if options.require and (median > 1.0 or schema_only < 20 * median):
        sys.exit("a goal is missed: 1 second, and 20 times as fast")


if __name__ == "__main__":
    main()
