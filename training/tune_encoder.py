"""``python -m training.tune_encoder``: tune MiniLM so that requests lie near the skills they want.

    python -m training.tune_encoder --out encoder.safetensors
    python -m training.tune_encoder --held-out --out left_out.safetensors
    python -m training.tune_encoder --without 0 --out fold0.safetensors   # a fold of repositories
    python -m training.tune_encoder --without-hands 1 2 --out hands.safetensors
    python -m training.tune_encoder --bfloat16 --out encoder.safetensors   # three times as fast

The requests of hands 7 to 10 are always left out.

Requests against the skills of their batch and a hard negative for each (InfoNCE); skills that do
the same are no negatives. Four skills of a batch bring near skills of their owner, so that a
request is told from what stands beside it in a library of one product. Otherwise the recipe is that
of spec/encoder.md. A second stage adds the requests of hands 16 to 23, each written against seven
near skills of one library, to every other step; its hard negatives are what the first stage
confuses (Xiong et al., ICLR 2021, https://arxiv.org/abs/2007.00808). In a third one every other
step asks some libraries what they have and what they lack: there, a request that nothing fits is to
lie farther than ``NOTHING`` from every skill, and in all steps one that a skill fits nearer to it.
The state is written every ``--every`` steps beside ``--out``; a run that was interrupted goes on
from it, with equal results.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from functools import partial
from math import cos, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from training.encoder import Encoder, Tokens, blend, load_encoder, load_tokenizer, pad
from training.encoder_examples import Examples, mine_negatives, read_examples
from training.requests import CHOOSING_HANDS, UNSEEN_HANDS

SEED = 7
THREADS = 2
SKILLS = 64
"""Skills of a step, at most."""
GROUPS = 4
"""So many of them bring near skills of their owner: what a library of one product must tell."""
GROUP = 8
"""Skills of a group."""
REQUESTS = 3
"""Requests for each of them."""
EPOCHS = 2.5
PIECES = 96
"""Word pieces of a text; the rest is cut."""
TEMPERATURE = 0.05
RATE = 1e-4
BETAS = (0.9, 0.98)
DECAY = 0.01
DROPOUT = 0.05
WARM_UP = 0.1
"""Share of the steps in which the rate rises."""
CLIP = 1.0
VIEWS = (0.4, 0.4, 0.2)
"""How often a skill is shown as name and description, with its headings too, or by its headings
and the start of its body."""
LATER_STEPS = 200
"""Steps of the second stage."""
LATER_RATE = 8e-5
LAST_STEPS = 400
"""Steps of the third stage."""
LAST_RATE = 7e-5
LIBRARIES = 3
"""Libraries of a step that asks for what they lack."""
NOTHING = 0.42
"""The cosine of "none of these". Learned with the weights, it ended between .37 and .43."""
FITS = 24
MISSES = 40
"""Requests of a library in such a step, at most."""
CHUNK = 32
"""Texts that go through the encoder together: those of similar length, so little is padding."""


class Step(NamedTuple):
    """The texts of one step, and which request wants which skill."""

    requests: list[Tokens]
    skills: list[Tokens]
    right: torch.Tensor
    """By request: its place among the skills."""
    excluded: torch.Tensor
    """requests x skills: True for skills that do the same as the right one."""
    nothing: float | None = None
    """The cosine of one more choice, none of the skills; it has the last place."""


class _Batches:
    """Draws the steps. The same seed and the same examples give the same steps."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.tokenizer = load_tokenizer()
        self.cls = self.tokenizer.token_to_id("[CLS]")
        self.sep = self.tokenizer.token_to_id("[SEP]")
        self.places = sorted(examples.requests)

    @property
    def steps(self) -> int:
        return int(EPOCHS * len(self.places) // SKILLS)

    def step(self, number: int) -> Step:
        """Return the texts of a step; it depends on its number alone."""
        drawn = SKILLS - GROUPS * (GROUP - 1)
        epoch, offset = divmod(number * drawn, len(self.places) // drawn * drawn)
        order = np.random.default_rng((SEED, epoch)).permutation(len(self.places))
        random = np.random.default_rng((SEED, epoch, number))
        chosen = [self.places[place] for place in order[offset : offset + drawn]]
        for place in chosen[:GROUPS]:
            chosen += self._some(self._near(place, chosen), GROUP - 1, random)
        negatives = [self._negative(place, random) for place in chosen]
        texts = [self._some(self.examples.requests[place], REQUESTS, random) for place in chosen]
        return self._step_of(chosen, negatives, texts, random)

    def _near(self, place: int, chosen: Sequence[int]) -> list[int]:
        return [each for each in self.examples.near(place) if each not in chosen]

    def _some(self, listed: Sequence[Any], number: int, random: np.random.Generator) -> list[Any]:
        return [listed[at] for at in random.permutation(len(listed))[:number]]

    def _step_of(
        self,
        chosen: list[int],
        negatives: Sequence[int | None],
        texts: Sequence[list[str]],
        random: np.random.Generator,
    ) -> Step:
        """Return the step in which these skills are asked for."""
        requests = [self.tokens(text) for some in texts for text in some]
        right = [at for at, some in enumerate(texts) for _ in some]
        shown = [*chosen, *(each for each in negatives if each is not None)]
        skills = [self.tokens(self._view(self.examples.views[place], random)) for place in shown]
        twins = self.examples.twins(chosen, shown)
        twins[np.arange(len(chosen)), np.arange(len(chosen))] = False
        return Step(requests, skills, torch.tensor(right), torch.tensor(twins[right]))

    def _negative(self, place: int, random: np.random.Generator) -> int | None:
        hard = self.examples.hard.get(place, ())
        return int(hard[random.integers(len(hard))]) if len(hard) else None

    def _view(self, views: Sequence[str], random: np.random.Generator) -> str:
        return views[int(random.choice(len(VIEWS), p=VIEWS))]

    def tokens(self, text: str) -> Tokens:
        """Return the word pieces of a text, as many as a step shows."""
        pieces = self.tokenizer.encode(text, add_special_tokens=False).ids
        return [self.cls, *pieces[: PIECES - 2], self.sep]


class _LaterBatches(_Batches):
    """The steps of the second stage: every other one asks what the later hands wrote."""

    steps = LATER_STEPS

    def step(self, number: int) -> Step:
        """Return the texts of a step; it depends on its number alone."""
        random = np.random.default_rng((SEED + 1, number))
        later, is_later = self.examples.later, number % 2 == 0
        drawn = SKILLS - GROUPS * (GROUP - 1)
        chosen = self._some(sorted(later) if is_later else self.places, drawn, random)
        for place in chosen[:GROUPS]:
            near = self._near(place, chosen)
            if is_later:
                near = [each for each in near if each in later] or near
            chosen += self._some(near, GROUP - 1, random)
        negatives = [self._negative(place, random) for place in chosen]
        texts = []
        for place in chosen:
            first = self._some(later.get(place, ()), 2 if is_later else 1, random)
            rest = self._some(self.examples.requests[place], REQUESTS, random)
            texts.append([*first, *rest][:REQUESTS])
        return self._step_of(chosen, negatives, texts, random)


class _LastBatches(_LaterBatches):
    """The steps of the third stage: every other one asks libraries that may lack what is wanted."""

    steps = LAST_STEPS

    def step(self, number: int) -> Step:
        """Return the texts of a step; it depends on its number alone."""
        if number % 2:
            return super().step(number // 2)._replace(nothing=NOTHING)
        random = np.random.default_rng((SEED + 2, number))
        requests: list[str] = []
        right: list[int | None] = []
        skills: list[tuple[str, str, str]] = []
        for library in self._some(self.examples.libraries, LIBRARIES, random):
            misses = self._some(library.misses, MISSES, random)
            fits = self._some(library.fits, FITS, random)
            requests += [*misses, *(text for text, _ in fits)]
            right += [*(None for _ in misses), *(len(skills) + place for _, place in fits)]
            skills += library.skills
        return Step(
            [self.tokens(text) for text in requests],
            [self.tokens(self._view(views, random)) for views in skills],
            torch.tensor([len(skills) if place is None else place for place in right]),
            torch.zeros(len(requests), len(skills), dtype=torch.bool),
            NOTHING,
        )


def encode(encoder: Encoder, texts: Sequence[Tokens]) -> torch.Tensor:
    """Return the vectors of the texts, in their order."""
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
    parts = [
        encoder(*pad([texts[place] for place in order[start : start + CHUNK]]))
        for start in range(0, len(order), CHUNK)
    ]
    back = torch.tensor(sorted(range(len(order)), key=order.__getitem__))
    return torch.cat(parts)[back]


@torch.no_grad()
def _read(batches: _Batches, encoder: Encoder, texts: list[str], *, bfloat16: bool) -> Any:
    """Return the vectors of texts, as the steps read them."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        return encode(encoder, [batches.tokens(text) for text in texts]).float().numpy()


def loss_of(encoder: Encoder, step: Step, *, bfloat16: bool) -> torch.Tensor:
    """Return the InfoNCE loss: the right skill against the others of the step."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        requests, skills = encode(encoder, step.requests), encode(encoder, step.skills)
    cosines = (requests.float() @ skills.float().T).masked_fill(step.excluded, -1e3)
    if step.nothing is not None:
        cosines = torch.nn.functional.pad(cosines, (0, 1), value=step.nothing)
    return torch.nn.functional.cross_entropy(cosines / TEMPERATURE, step.right)


def rate_at(step: int, steps: int) -> float:
    """Return the share of the rate: a linear rise, then a cosine to zero."""
    rising = max(1, round(steps * WARM_UP))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + cos(pi * (step - rising) / max(1, steps - rising)))


def tune(
    batches: _Batches,
    encoder: Encoder,
    rate: float,
    state: Path,
    every: int,
    limit: int | None = None,
    *,
    bfloat16: bool = False,
) -> Encoder:
    """Return the encoder, tuned by these steps. ``state`` is the file of an interrupted run.

    ``bfloat16`` multiplies with sixteen bits: for processors with AVX512-BF16, where a run takes a
    third of the time.
    """
    torch.manual_seed(SEED)
    torch.set_num_threads(THREADS)
    encoder.train()
    for embedding in (encoder.words, encoder.positions):
        embedding.weight.requires_grad_(False)
    encoder.norm.requires_grad_(False)
    tuned = [weight for weight in encoder.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(tuned, lr=rate, betas=BETAS, weight_decay=DECAY)
    steps = batches.steps if limit is None else min(limit, batches.steps)
    first, losses = _resume(state, encoder, optimizer)
    started = time.monotonic()
    for number in range(first, steps):
        torch.manual_seed(SEED * 1_000_003 + number)  # dropout of a resumed run is the same
        for group in optimizer.param_groups:
            group["lr"] = rate * rate_at(number, steps)
        loss = loss_of(encoder, batches.step(number), bfloat16=bfloat16)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(tuned, CLIP)
        optimizer.step()
        losses.append(float(loss))
        if (number + 1) % every == 0 or number + 1 == steps:
            _save(state, encoder, optimizer, number + 1, losses)
            seconds = (time.monotonic() - started) / (number + 1 - first)
            recent = sum(losses[-every:]) / len(losses[-every:])
            print(f"{number + 1:4} of {steps}  loss {recent:.3f}  {seconds:.1f} s", flush=True)
    return encoder.eval()


def _resume(state: Path, encoder: Encoder, optimizer: Any) -> tuple[int, list[float]]:
    if not state.exists():
        return 0, []
    stored = torch.load(state, weights_only=True)
    encoder.load_state_dict(stored["encoder"])
    optimizer.load_state_dict(stored["optimizer"])
    return int(stored["step"]), list(stored["losses"])


def _save(state: Path, encoder: Encoder, optimizer: Any, step: int, losses: list[float]) -> None:
    beside = state.with_name(state.name + ".tmp")
    torch.save(
        {
            "encoder": encoder.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": step,
            "losses": losses,
        },
        beside,
    )
    os.replace(beside, state)


def main() -> None:
    """Tune the encoder, saying how far it is."""
    from safetensors.torch import save_file

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", default=os.environ.get("SKILLYARD_SHARED", "../shared"))
    left_out = parser.add_mutually_exclusive_group()
    left_out.add_argument("--held-out", action="store_true", help="leave one skill in five out")
    left_out.add_argument("--without", type=int, metavar="FOLD", help="leave a fold out")
    left_out.add_argument("--without-hands", type=int, nargs="+", default=[], metavar="HAND")
    parser.add_argument("--every", type=int, default=10, help="steps between two states")
    parser.add_argument("--steps", type=int, help="fewer steps, to try it")
    parser.add_argument("--bfloat16", action="store_true", help="faster, with AVX512-BF16")
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    examples = read_examples(
        options.shared,
        held_out_skills=options.held_out,
        without=options.without,
        without_hands=[*CHOOSING_HANDS, *UNSEEN_HANDS, *options.without_hands],
    )
    print(f"{len(examples.requests):,} skills, {examples.size:,} requests", flush=True)
    states = [options.out.with_name(f"{options.out.name}.state{stage}") for stage in (1, 2, 3)]
    run = partial(tune, every=options.every, limit=options.steps, bfloat16=options.bfloat16)
    first, later, last = _Batches(examples), _LaterBatches(examples), _LastBatches(examples)
    read = partial(_read, first, bfloat16=options.bfloat16)
    encoder = run(first, load_encoder(DROPOUT), RATE, states[0])
    mine_negatives(examples, partial(read, blend(encoder)))
    encoder = run(later, encoder, LATER_RATE, states[1])
    mine_negatives(examples, partial(read, blend(encoder)))
    encoder = run(last, encoder, LAST_RATE, states[2])
    beside = options.out.with_name(options.out.name + ".tmp")
    save_file({name: value.contiguous() for name, value in encoder.state_dict().items()}, beside)
    os.replace(beside, options.out)
    for path in states:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
