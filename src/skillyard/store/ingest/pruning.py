"""Withdraws the stored skills that a complete run did not find."""

from __future__ import annotations

import threading

from skillyard.store.ingest.publisher import Publisher
from skillyard.store.ingest.seen_keys import SeenKeys
from skillyard.store.values import StoreKey

PAGE_SIZE = 10_000


def prune(publisher: Publisher, seen: SeenKeys, stop: threading.Event) -> bool:
    """Withdraw the stored skills of a run's namespace and source that it did not find.

    With a partition only its keys are considered. Each page of places is at most one generation.
    Returns False when it was stopped between two pages. A dry run only counts.
    """
    options, store, after = publisher.options, publisher.store, ""
    while not stop.is_set():
        places = store.places(
            options.tenant,
            namespace=options.namespace,
            source=options.source,
            after=after,
            limit=PAGE_SIZE,
        )
        keys = [
            StoreKey(options.tenant, options.namespace, options.source, place) for place in places
        ]
        gone = [
            key
            for key in keys
            if key not in seen and (options.partition is None or options.partition.holds(key))
        ]
        if gone and options.dry_run:
            publisher.counts.withdrawn += len(gone)
        elif gone:
            published = store.withdraw(
                gone,
                tenant=options.tenant,
                publisher=options.publisher,
                durability=options.durability,
            )
            publisher.counts.add(published._replace(unchanged=0))
        if len(places) < PAGE_SIZE:
            return True
        after = places[-1]
    return False
