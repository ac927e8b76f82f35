"""Results as logs of inspect_ai (``EvalLog``, version 2), for its viewer and its data frames.

A log is about one task and one model. So each condition of a run that compares answers is a log of
its own, and a run of a router is one. A prompt is a sample, and a run of it is an epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.statistics.intervals import mean_of
from skillyard.evals.storage.keys import text_digest

__all__ = ["InspectLog", "inspect_logs"]

VERSION = 2
_STOPS = {"end": "stop", "max_tokens": "max_tokens", "refusal": "content_filter"}
_CORRECT, _INCORRECT = "C", "I"
"""The words of inspect_ai for a sample that passed and one that failed."""
EntryOf = Callable[[str], Mapping[str, Any] | None]


class InspectLog(NamedTuple):
    """One log, and the name of its file."""

    name: str
    """As inspect_ai names its logs: time, task and id."""
    document: dict[str, Any]


def inspect_logs(envelope: Mapping[str, Any], entry_of: EntryOf) -> list[InspectLog]:
    """Return the logs of a results file.

    ``entry_of`` returns a stored answer by its path, or None; such a sample has no output text.
    """
    cases: Sequence[Mapping[str, Any]] = envelope["cases"]
    layer = LAYERS.get(envelope["meta"]["eval_type"])
    if layer is not None and layer.routes:
        samples = [_routed_sample(case) for case in cases]
        return [_log(envelope, "", samples)]
    conditions = dict.fromkeys(
        name for case in cases for name in (case["condition_a"], case["condition_b"])
    )
    return [_log(envelope, name, _samples(cases, name, entry_of)) for name in conditions]


def _log(
    envelope: Mapping[str, Any], condition: str, samples: Sequence[dict[str, Any]]
) -> InspectLog:
    meta = envelope["meta"]
    task = "-".join(filter(None, (str(meta["eval_type"]).replace("_", "-"), condition)))
    key = text_digest(f"{meta['run_id']}/{task}")[:22]
    created = str(meta["timestamp"]).replace("Z", "+00:00")
    dataset = sorted({str(sample["id"]) for sample in samples})
    errors = sum("error" in sample for sample in samples)
    document = {
        "version": VERSION,
        "status": "cancelled" if meta.get("aborted") else "success",
        "eval": {
            "eval_id": key,
            "run_id": meta["run_id"],
            "created": created,
            "task": f"skillyard/{task}",
            "task_id": key,
            "task_args": {"condition": condition} if condition else {},
            "dataset": {
                "name": meta["eval_type"],
                "samples": len(dataset),
                "sample_ids": dataset,
                "sha256": meta.get("dataset_sha256"),
            },
            "model": _model(meta),
            "config": {"epochs": meta.get("runs") or 1},
            "packages": {"skillyard": str(meta.get("engine_version") or "")},
            "metadata": {
                "backend": meta.get("backend"),
                "judge_model": meta.get("judge_model"),
                "seed": meta.get("seed"),
            },
        },
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(samples) - errors,
            "scores": _scores(samples),
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
        "samples": list(samples),
    }
    time = created.replace(":", "-")
    return InspectLog(f"{time}_{task}_{key}.json", document)


def _model(meta: Mapping[str, Any]) -> str:
    if meta.get("model"):
        return f"{meta.get('provider') or 'unknown'}/{meta['model']}"
    return f"skillyard/{meta.get('router') or 'none'}"


def _scores(samples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean of every score over the samples that have it."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, score in sample.get("scores", {}).items():
            value = score["value"]
            number = float(value == _CORRECT) if isinstance(value, str) else float(value)
            values.setdefault(name, []).append(number)
    return [
        {
            "name": name,
            "scorer": name,
            "params": {},
            "metrics": {"mean": {"name": "mean", "value": mean_of(numbers), "params": {}}},
        }
        for name, numbers in values.items()
    ]


def _samples(
    cases: Sequence[Mapping[str, Any]], condition: str, entry_of: EntryOf
) -> list[dict[str, Any]]:
    """Return a sample for each prompt and run; several comparisons may share an answer."""
    samples: dict[tuple[str, int], dict[str, Any]] = {}
    for case in cases:
        if condition not in (case["condition_a"], case["condition_b"]):
            continue
        key = (f"{case['skill_name']}/{case['prompt_index']}", int(case["run_index"]))
        sample = samples.get(key)
        if sample is None:
            sample = samples[key] = _answer_sample(case, condition, key, entry_of)
        scores = case.get("scores")
        if scores:
            sample["scores"][f"judge {case['comparison']}"] = {
                "value": scores[condition],
                "explanation": "points of the judge, 1 to 5",
            }
    return list(samples.values())


def _answer_sample(
    case: Mapping[str, Any], condition: str, key: tuple[str, int], entry_of: EntryOf
) -> dict[str, Any]:
    path = case.get("generations", {}).get(condition)
    entry = (entry_of(path) if path else None) or {}
    sample = _sample(key, str(case.get("prompt", "")), "", case)
    text = entry.get("text")
    if isinstance(text, str):
        stop = _STOPS.get(str(entry.get("stop_reason")), "unknown")
        sample.update(
            _output(str(case.get("prompt", "")), text, str(case.get("model") or ""), stop)
        )
    checks = [
        each for each in case.get("checks", {}).get(condition, ()) if each["passed"] is not None
    ]
    if checks:
        sample["scores"]["checks"] = {
            "value": mean_of([float(each["passed"]) for each in checks]),
            "explanation": "\n".join(
                f"{'passed' if each['passed'] else 'failed'}: {each['text']} ({each['evidence']})"
                for each in checks
            ),
        }
    return sample


def _routed_sample(case: Mapping[str, Any]) -> dict[str, Any]:
    expected = case.get("expected_skills")
    if expected is None:
        expected = [case["expected_skill"]] if case.get("expected_skill") else []
    key = (str(case["id"]), int(case["run_index"]))
    sample = _sample(key, str(case.get("user_prompt", "")), list(expected) or "", case)
    picked = case.get("picked", case.get("predicted"))
    names = [picked] if isinstance(picked, str) else list(picked or ())
    sample.update(_output(str(case.get("user_prompt", "")), ", ".join(names), "", "stop"))
    if case.get("passed") is not None:
        value = _CORRECT if case["passed"] else _INCORRECT
        sample["scores"]["passed"] = {"value": value, "answer": ", ".join(names)}
    return sample


def _sample(
    key: tuple[str, int], prompt: str, target: str | list[str], case: Mapping[str, Any]
) -> dict[str, Any]:
    sample: dict[str, Any] = {
        "id": key[0],
        "epoch": key[1] + 1,
        "input": prompt,
        "target": target,
        "messages": [{"role": "user", "content": prompt}],
        "scores": {},
        "metadata": {"skill": case.get("skill_name") or case.get("about"), "case": case["id"]},
    }
    problems = [f"{each['kind']}: {each['message']}" for each in case.get("errors", ())]
    if case.get("skipped"):
        problems.append(f"skipped: {case['skipped']}")
    if problems:
        message = "; ".join(problems)
        sample["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
    return sample


def _output(prompt: str, text: str, model: str, stop: str) -> dict[str, Any]:
    answer = {"role": "assistant", "content": text, "source": "generate", "model": model}
    return {
        "messages": [{"role": "user", "content": prompt}, answer],
        "output": {
            "model": model,
            "choices": [{"message": answer, "stop_reason": stop}],
            "completion": text,
        },
    }
