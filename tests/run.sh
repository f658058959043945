#!/usr/bin/env bash
# Every check there is, from a bare checkout: needs Python 3.11 or later, makes its own virtual environment, finds or
# installs a Chromium, and stops at the first failure.
#
#   bash tests/run.sh            everything but the tests that need the model-backed rankers
#   bash tests/run.sh --models   everything: installs these rankers too, about 2 GB, in an environment of their own
#   bash tests/run.sh --fast     without the tests that drive a browser, too
#
# CHROMIUM=/path/to/chromium chooses the browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv-tests
fast=false
models=false
case "${1-}" in
    "") ;;
    --fast) fast=true ;;
    --models) models=true; VENV=.venv-models ;;
    *) echo "Unknown option $1: there are --fast, which leaves the browser tests out, and --models, which leaves nothing out." >&2; exit 2 ;;
esac

header() { printf '\n== %s ==\n' "$1"; }
fail() { printf '\n%s\n' "$1" >&2; exit 1; }
quietly() { "$@" >/dev/null 2>&1; }

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3; do
        # Asked to run, not only looked up: a version manager's stand-in is on PATH for versions that are not installed.
        if quietly "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then echo "$name"; return; fi
    done
    return 1
}

install() {
    "$VENV/bin/python" -m pip install --disable-pip-version-check --quiet "$@" \
        || fail "pip could not install $* (see above). Check the network, then run this again."
}

prepare_environment() {
    local python wanted
    if ! quietly "$VENV/bin/python" -m pip --version; then
        python=$(find_python) || fail "No Python 3.11 or later was found as python3.13, python3.12, python3.11 or python3. Install one and put it on PATH."
        "$python" -m venv --clear "$VENV" || fail "$python could not make a virtual environment in $VENV. Install its venv module (on Debian and Ubuntu: apt-get install python3-venv)."
    fi
    local lists=(-r requirements.txt -r tests/requirements.txt)
    if $models; then lists+=(-r tests/requirements-models.txt); fi
    wanted=$("$VENV/bin/python" --version; cat requirements.txt tests/requirements.txt; if $models; then cat tests/requirements-models.txt; fi)
    if [ "$wanted" = "$(cat "$VENV/installed" 2>/dev/null)" ]; then echo "$VENV is up to date"; return; fi
    if $models; then
        # By itself and first: nothing that comes later then asks for another build. The CPU's will do; where pip knows
        # an index or a folder with one (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS), that is what it takes.
        install "$(grep -o '^torch==[^ ]*' tests/requirements-models.txt)"
    fi
    install "${lists[@]}"
    printf '%s\n' "$wanted" >"$VENV/installed"
    echo "$VENV is installed"
}

find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        # Asked for its version: on Ubuntu `chromium-browser` may be a stand-in that only advises to install a snap.
        if quietly "$name" --version; then command -v "$name"; return; fi
    done
    name=$("$VENV/bin/python" -c 'from playwright.sync_api import sync_playwright
with sync_playwright() as playwright: print(playwright.chromium.executable_path)' 2>/dev/null) || return 1
    quietly "$name" --version && echo "$name"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

prepare_chromium() {
    if [ -n "${CHROMIUM-}" ]; then
        quietly "$CHROMIUM" --version || fail "CHROMIUM is $CHROMIUM, which does not run as a browser. Set it to a Chromium's path, or unset it to have one found."
    elif ! CHROMIUM=$(find_chromium); then
        echo "No Chromium was found; installing one"
        if command -v apt-get >/dev/null; then
            as_root apt-get update && as_root apt-get install -y chromium || echo "apt-get could not install chromium"
        fi
        CHROMIUM=$(find_chromium) || { "$VENV/bin/playwright" install --with-deps chromium && CHROMIUM=$(find_chromium); } \
            || fail "No Chromium could be found or installed, and the browser tests need one. Install chromium or google-chrome and put it on PATH, or set CHROMIUM to its path; 'bash tests/run.sh --fast' leaves these tests out."
    fi
    export CHROMIUM
    echo "Chromium: $CHROMIUM"
}

header "Environment"
prepare_environment
selection="not browser and not models"
if $models; then selection="not browser"; fi
if ! $fast; then prepare_chromium; fi

header "Lint"
"$VENV/bin/ruff" check
header "Format"
"$VENV/bin/ruff" format --check
header "Types"
"$VENV/bin/mypy"
header "Imports"
"$VENV/bin/lint-imports"
header "Tests"
# A worker a core; a file's tests stay together, with what they share.
tested() { "$VENV/bin/python" -m pytest --hypothesis-profile=ci --cov --cov-report="$1" "${@:2}"; }
report=term:skip-covered
if $fast; then tested "$report" -m "$selection" -n auto --dist loadfile; else
    tested "" -m "$selection" -n auto --dist loadfile
    header "Tests in the browser"
    # One after another: a browser and a server keep two cores busy.
    tested "$report" --cov-append -m browser
fi
left_out=()
if ! $models; then left_out+=('Left out: the tests of the model-backed rankers (marker "models"); "bash tests/run.sh --models" runs them.'); fi
if $fast; then left_out+=('Left out with --fast: the browser tests (marker "browser") and the search for a Chromium.'); fi
if [ ${#left_out[@]} -gt 0 ]; then printf '\n'; printf '%s\n' "${left_out[@]}"; fi
