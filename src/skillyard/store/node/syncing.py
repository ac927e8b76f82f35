"""Update a node's folder once, and open it without a store."""

from __future__ import annotations

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.segment_searcher import open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.generation_builder import apply_few, few_changes, rebuild
from skillyard.store.node.library import NodeLibrary
from skillyard.store.node.state import POLICY, VIEWER, NodeState, position_in
from skillyard.store.opening import login_of, open_store
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import START


def open_node(folder: str, caller: str | None = None) -> NodeCatalog:
    """Return the generation that a node's folder holds, without contacting a store.

    ``caller`` must be the one that the folder was made for; None accepts any. Raises SkillIoError
    for an empty folder, and IndexDamaged.
    """
    state = NodeState(folder, caller)
    folder_name = state.current()
    searcher = None if folder_name is None else open_index(folder_name)
    if searcher is not None:
        other = {**searcher.settings, **({} if caller else {VIEWER: state.viewer})}
        other.pop(POLICY, None)  # the refused skills are not in it
        searcher = searcher if other == state.settings else None
    if searcher is None:
        raise SkillIoError(
            "there is no node's catalog here for this caller",
            path=state.folder,
            code="node_missing",
            hint="make it with `skillyard serve --store`",
        )
    return NodeCatalog(NodeLibrary(searcher, bundled_table()), position_in(searcher))


def sync(
    url: str,
    folder: str,
    *,
    caller: str | None = None,
    policy: Admission | None = None,
) -> NodeCatalog:
    """Update a node's folder to the last generation of the store at an address, and return it.

    Skills that ``policy`` refuses are left out. An interrupted call is continued, and a damaged
    index is rebuilt. Raises what the store raises, InvalidInput, UnknownName, and SkillIoError when
    another process updates the folder.
    """
    state = NodeState(folder, caller, login_of(url), policy)
    with open_store(url, caller=caller, connections=2) as store, state.lock():
        try:
            _advance(store, state)
        except IndexDamaged:
            rebuild(store, state, anew=True)
    return open_node(folder, caller)


def _advance(store: CatalogStore, state: NodeState) -> None:
    searcher = state.open()
    position = START if searcher is None else position_in(searcher)
    page = few_changes(store, position)  # None for an empty folder
    if page is not None and (page.position == position or not apply_few(state, page).overdue):
        return
    rebuild(store, state)
