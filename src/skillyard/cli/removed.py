"""Commands and options that no longer exist, and what to do instead.

Each row is the words of a command, with the option last where only that option went, and the rest
of the sentence. A removed spelling ends with that line and exit code 2, also with ``--help``.
"""

from __future__ import annotations

REMOVED = {
    "bench replay": "keep queries with their skills, and compare two runs: skillyard bench compare",
    "bench report": "skillyard bench score --json and bench compare --json have every figure",
    "bench run --format": "a run is JSON: {query id: {results: [[skill id, score], ...]}}",
    "bench score --qrels": "write the grades into the queries, as relevant: {skill id: grade}",
    "cache": "the cache of remote answers is the folder remote in SKILLYARD_CACHE, to be deleted",
    "eval export": "skillyard eval report writes HTML, Markdown and JUnit; the results are JSON",
    "eval improve": "change the description, run the cases again, then skillyard eval compare",
    "eval plan --layer": "each rate of a result has its 95 % interval",
    "eval report --compare": "skillyard eval compare A.json B.json prints each change",
    "eval run confusion --group": "name a folder with the cases of the group",
    "eval run confusion --index": "the router sees the whole library",
    "eval run effectiveness --labels": "planted pairs show whether the judge can be trusted",
    "eval run size-impact --labels": "planted pairs show whether the judge can be trusted",
    "eval suggest": "skillyard why NAME QUERY says which words of a request decide",
    "fake-llm": "python -m skillyard_testkit.fake_llm is the same server, of skillyard-testkit",
    "index build --adapt": "hybrid+encoder knows words that the bundled table does not contain",
    "index build --watch": "each command, hook and service brings the index up to date by itself",
    "hook install --profile": "name folders by --root, and put rules into a policy file",
    "list --layout": "skillyard list --json has the layout of each skill",
    "list --profile": "name folders by --root and --scope, and put rules into a policy file",
    "log": "skillyard usage sums up the decision log; its lines are JSON for any other program",
    "rank --package-scope": "name the folder of the package: --root packages/a",
    "policy --store": "a node of skillyard serve --store leaves out what its policy refuses",
    "scan --also": "run the other scanner itself, as in: skill-scanner scan PATH",
    "scan --reader": "the rules scan alone; ask a model of your choice to read the files",
    "select --package-scope": "name the folder of the package: --root packages/a",
    "select --profile": "name folders by --root and --scope, and put rules into a policy file",
    "serve --profile": "name folders by --root and --scope, and put rules into a policy file",
    "store publish --jsonl": "publish folders of skills, or call CatalogStore.publish in Python",
    "store publish --partition": "one machine publishes all, with --jobs; or each a namespace",
    "store sync": "skillyard serve --store URL makes the folder of a node and follows the store",
    "summary --fit": "skillyard summary --query Q --budget-tokens N is a listing that fits",
    "summary --use": "skillyard usage counts what the decision log says was used",
    "usage --html": "skillyard usage --json has the same counts for any page",
    "why --package-scope": "name the folder of the package: --root packages/a",
}
"""Removed words -> what replaces them."""
