"""The Markdown message of an evaluation.

Source: "Skill Evaluation System", "Response" (the heading), and the published program for the
rest. Names and reasons come from skill files: hidden characters are shown, frame tags are made
harmless, and nothing in a cell can end it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from skillyard.base.text import clean_line, escape_frame
from skillyard.engine.ranking.confidence.records import Evaluation

NO_MATCH = "No skills matched the current context."

_REASON_CHARS = 50
_DETAILED = 3
_MAX_NAMES = 3


def markdown(
    evaluations: Sequence[Evaluation], show_details: bool = False, left_out: Sequence[str] = ()
) -> str:
    """Return the message for the results, in their order.

    ``left_out`` are skills with file patterns that exceeded the work limit of this request.
    """
    remark = _left_out(left_out)
    if not evaluations:
        return f"{NO_MATCH}\n\n{remark}" if remark else NO_MATCH
    lines = [
        f"## Skill Evaluation Results ({len(evaluations)} matched)",
        "",
        "| Skill | Confidence | Level | Reason |",
        "|-------|------------|-------|--------|",
        *(_row(evaluation) for evaluation in evaluations),
        "",
    ]
    if show_details:
        lines += ["### Match Details", ""]
        for evaluation in evaluations[:_DETAILED]:
            lines += [_detail(evaluation), ""]
    lines += [remark, ""] if remark else []
    lines.append("Use `load_skill(name)` to load a skill.")
    return "\n".join(lines)


def _left_out(names: Sequence[str]) -> str:
    """Return the remark on skills with patterns that were not compared; empty without any."""
    if not names:
        return ""
    first = ", ".join(f"`{_text(name)}`" for name in names[:_MAX_NAMES])
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return (
        f"Not all file patterns of {first}{more} were compared: with these files they are more work"
        " than one request may cause. Give fewer files, or simplify the patterns."
    )


def _row(evaluation: Evaluation) -> str:
    reason = clean_line(evaluation.reason)
    if len(reason) > _REASON_CHARS:
        reason = reason[: _REASON_CHARS - 3] + "..."
    cells = (_text(evaluation.skill_name), _percent(evaluation), evaluation.level, _text(reason))
    return f"| {' | '.join(cells)} |"


def _detail(evaluation: Evaluation) -> str:
    name, reason = _text(evaluation.skill_name), _text(evaluation.reason)
    return f"**{name}** ({_percent(evaluation)}): {reason}"


def _percent(evaluation: Evaluation) -> str:
    """Return the confidence as whole percent, half rounded up. The level uses the exact value."""
    return f"{floor(evaluation.confidence * 100 + 0.5)}%"


def _text(text: str) -> str:
    """Return untrusted text as one line that cannot end a table cell."""
    safe = clean_line(text).replace("\\", "\\\\").replace("|", "\\|")
    return escape_frame(safe)
