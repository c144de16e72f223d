#!/usr/bin/env python3
"""How good and how fast `caps eval` is, idea by idea and beside other libraries.

    cargo build --release
    python3 -m pip install bm25s PyStemmer tantivy
    cargo build --release --manifest-path benches/retrieval/bm25_crate/Cargo.toml   # optional, one more peer
    python3 benches/retrieval/compare.py quality [--sets DIR]
    python3 benches/retrieval/compare.py speed [--sets DIR] [--tools 100000] [--queries 400]

DIR holds folders with catalog.jsonl and queries.jsonl; without --sets it is tests/cases/caps/quality, which has a small part
of the three sets in docs/capabilities.md.
`quality` prints nDCG@10: all ideas, all but one, the first n, and the peers. `speed` repeats the entries of all sets up to
the wanted number with three words of ten replaced, and times indexing and single queries, one library after the other, each in
a process of its own. The peers get words with names split, in lower case, stemmed, without English stop words.
"""

import argparse
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "target/release/loopwright"
BM25_CRATE = ROOT / "benches/retrieval/bm25_crate/target/release/bm25_crate"
IDEAS = "name_parts stemming stop_words request_words unique_terms fields grams synonyms sentences".split()
DEPTH = 10


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def evaluate(catalog, queries, without=()):
    command = [PROGRAM, "caps", "eval", "--catalog", catalog, "--queries", queries, "--format", "json"]
    for idea in without:
        command += ["--without", idea]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ndcg(found, relevant):
    gains = sum(1 / math.log2(rank + 2) for rank, name in enumerate(found[:DEPTH]) if name in relevant)
    return gains / sum(1 / math.log2(rank + 2) for rank in range(min(len(set(relevant)), DEPTH)))


def split_names(text):
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return re.sub(r"[_.\-]+", " ", text)


def text_of(entry):
    return split_names(f"{entry['name']} {entry['description']}")


def with_bm25s(catalog, queries):
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    tokens = lambda texts: bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    started = time.perf_counter()
    index = bm25s.BM25()
    index.index(tokens([text_of(entry) for entry in catalog]), show_progress=False)
    indexing = time.perf_counter() - started
    found, times = [], []
    for query in queries:
        started = time.perf_counter()
        best = index.retrieve(tokens([split_names(query["query"])]), k=min(DEPTH, len(catalog)), show_progress=False)
        times.append(time.perf_counter() - started)
        found.append([catalog[at]["name"] for at in best.documents[0]])
    return indexing, times, found


def with_tantivy(catalog, queries):
    import tantivy

    fields = tantivy.SchemaBuilder()
    fields.add_unsigned_field("at", stored=True)
    fields.add_text_field("name", tokenizer_name="en_stem")
    fields.add_text_field("description", tokenizer_name="en_stem")
    started = time.perf_counter()
    index = tantivy.Index(fields.build())
    writer = index.writer(num_threads=1)
    for at, entry in enumerate(catalog):
        name, description = split_names(entry["name"]), split_names(entry["description"])
        writer.add_document(tantivy.Document(at=at, name=name, description=description))
    writer.commit()
    index.reload()
    indexing = time.perf_counter() - started
    searcher = index.searcher()
    found, times = [], []
    for query in queries:
        started = time.perf_counter()
        words = " ".join(dict.fromkeys(re.findall(r"\w+", split_names(query["query"]).lower())))
        parsed, _ = index.parse_query_lenient(words, ["name", "description"])
        hits = searcher.search(parsed, DEPTH).hits
        names = [catalog[searcher.doc(address)["at"][0]]["name"] for _, address in hits]
        times.append(time.perf_counter() - started)
        found.append(names)
    return indexing, times, found


def with_bm25_crate(catalog, queries):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("catalog.jsonl", "queries.jsonl")]
        entries = [{"name": split_names(entry["name"]), "description": entry["description"]} for entry in catalog]
        for path, rows in zip(paths, (entries, queries)):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        out = json.loads(subprocess.run([BM25_CRATE, *paths], check=True, capture_output=True, text=True).stdout)
    names = {split_names(entry["name"]): entry["name"] for entry in catalog}
    return out["indexing"], out["times"], [[names[name] for name in found] for found in out["found"]]


PEERS = {"bm25s": with_bm25s, "tantivy": with_tantivy, "bm25 (crate)": with_bm25_crate}


def peers():
    return {name: peer for name, peer in PEERS.items() if name != "bm25 (crate)" or BM25_CRATE.exists()}


def quality(sets):
    names = [folder.name for folder in sets]
    print(f"| nDCG@10 | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    row = lambda what, values: print(f"| {what} | {' | '.join(f'{value:.3f}' for value in values)} |", flush=True)
    measure = lambda without: [
        evaluate(folder / "catalog.jsonl", folder / "queries.jsonl", without)["ndcg@10"] for folder in sets
    ]
    for count in range(len(IDEAS) + 1):
        row(f"+ {IDEAS[count - 1]}" if count else "BM25 over words", measure(IDEAS[count:]))
    for idea in IDEAS:
        row(f"all but {idea}", measure([idea]))
    for name, peer in peers().items():
        values = []
        for folder in sets:
            catalog, queries = lines(folder / "catalog.jsonl"), lines(folder / "queries.jsonl")
            _, _, found = peer(catalog, queries)
            values.append(statistics.mean(ndcg(hits, query["relevant"]) for hits, query in zip(found, queries)))
        row(name, values)


def enlarged(sets, wanted):
    rng = random.Random(7)
    real = [entry for folder in sets for entry in lines(folder / "catalog.jsonl")]
    words = [word for entry in real for word in entry["description"].split()]
    for at in range(wanted):
        entry = real[at % len(real)]
        if at < len(real):
            yield {"name": entry["name"], "description": entry["description"]}
            continue
        description = " ".join(rng.choice(words) if rng.random() < 0.3 else word for word in entry["description"].split())
        yield {"name": f"{entry['name']}_{rng.choice(words)}{at // len(real)}", "description": description}


def speed(sets, tools, count):
    rng = random.Random(11)
    queries = [query for folder in sets for query in rng.sample(lines(folder / "queries.jsonl"), count // len(sets))]
    with tempfile.TemporaryDirectory() as folder:
        catalog = pathlib.Path(folder) / "catalog.jsonl"
        asked = pathlib.Path(folder) / "queries.jsonl"
        catalog.write_text("".join(json.dumps(entry) + "\n" for entry in enlarged(sets, tools)))
        asked.write_text("".join(json.dumps(query) + "\n" for query in queries))
        print(f"{tools} tools, {len(queries)} queries\n\n| | index (s) | p50 (ms) | p95 (ms) | p99 (ms) |\n|---|---|---|---|---|")
        command = [PROGRAM, "caps", "eval", "--catalog", catalog, "--queries", asked]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        took, unit = re.search(r"took ([\d.]+)(s|ms|µs)", text).groups()
        p50, p99 = re.search(r"(\d+) µs a query at the median, (\d+) µs", text).groups()
        seconds = float(took) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]
        print(f"| loopwright | {seconds:.1f} | {int(p50) / 1000:.2f} | | {int(p99) / 1000:.2f} |", flush=True)
        for name in peers():
            subprocess.run([sys.executable, __file__, "peer", name, catalog, asked], check=True)


def one_peer(name, catalog, asked):
    indexing, times, _ = PEERS[name](lines(catalog), lines(asked))
    cuts = statistics.quantiles(times, n=100)
    p50, p95, p99 = (1000 * cuts[at - 1] for at in (50, 95, 99))
    print(f"| {name} | {indexing:.1f} | {p50:.2f} | {p95:.2f} | {p99:.2f} |", flush=True)


def main():
    if sys.argv[1:2] == ["peer"]:
        return one_peer(sys.argv[2], *map(pathlib.Path, sys.argv[3:5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "speed"])
    parser.add_argument("--sets", type=pathlib.Path, default=ROOT / "tests/cases/caps/quality")
    parser.add_argument("--tools", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=399)
    arguments = parser.parse_args()
    sets = sorted(path.parent for path in arguments.sets.glob("*/catalog.jsonl"))
    if arguments.what == "quality":
        quality(sets)
    else:
        speed(sets, arguments.tools, arguments.queries)


if __name__ == "__main__":
    main()
