"""The facts behind the probability of ``hybrid``: what tells a near miss from what fits."""

from __future__ import annotations

import skillyard as sy
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


class TestOneWord:
    """One shared word that names nothing is at most a question, however small the library."""

    TINY = ("git-bisect", "Finds the commit that broke the build, by halving.")

    @for_each(
        ("text", "verdict"),
        [
            ("find a good plumber", "maybe"),
            ("find a good restaurant near me", "none"),
            ("which commit broke the build", "selected"),
            ("what is the weather in Paris", "none"),
        ],
    )
    def test_it_chooses_nothing(self, text: str, verdict: str) -> None:
        selection = sy.select(catalog(skill(*self.TINY)), text)
        chosen = {"selected": selection.selected, "maybe": selection.maybe}
        said = [name for name, matches in chosen.items() if matches]
        assert said == ([] if verdict == "none" else [verdict])

    def test_a_word_of_the_name_is_enough(self) -> None:
        library = catalog(skill("csv-cleaning", "Repairs messy CSV files before an import."))
        assert sy.select(library, "broken csv").selected
        assert not sy.select(library, "repair my bicycle").selected
