"""The table of layers: what it says of a layer is true, and enough for everything that reads it."""

from __future__ import annotations

from skillyard.cli.commands.evaluations import LAYER_OPTIONS
from skillyard.cli.grammar import command_parsers
from skillyard.evals.layers.registry import LAYERS, LayerEntry
from skillyard.evals.layers.work import load_layer
from skillyard.evals.report.values import LayerView
from skillyard.evals.settings import Paths
from tests.tables import for_each


def test_layers_stand_in_the_order_of_their_codes() -> None:
    assert [layer.code for layer in LAYERS.values()] == ["L3", "L5", "L6"]
    assert all(name == layer.name for name, layer in LAYERS.items())


@for_each("layer", LAYERS.values(), ids=list(LAYERS))
def test_an_entry_names_a_layer_its_cases_and_its_options(layer: LayerEntry) -> None:
    assert isinstance(load_layer(layer.name).view({}), LayerView)
    assert layer.cases in Paths.__slots__
    assert {*layer.options} <= {*LAYER_OPTIONS}


def test_every_layer_has_a_command_with_its_question_and_examples() -> None:
    commands = {parser.words: parser for parser in command_parsers()}
    for layer in LAYERS.values():
        parser = commands["eval", "run", layer.command]
        assert layer.question.lower() in parser.format_help().lower().replace("\n", " ")
        assert parser.examples == layer.examples
