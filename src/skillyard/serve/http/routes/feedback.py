"""The route that stores a client's feedback on a skill."""

from __future__ import annotations

from skillyard.base.errors import SkillyardError
from skillyard.base.shapes.encoder import encode
from skillyard.hosts.operations.skill_feedback import FeedbackRequest, judge_for_client
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes
from skillyard.serve.runtime.errors import Refused, refusal_of


async def feedback(context: AppContext, request: RouteRequest) -> Reply:
    """Store a judgement and return it. Raises Refused (403) unless the service takes feedback."""
    if not context.options.feedback:
        raise Refused(
            403,
            "feedback_off",
            "this service takes no feedback",
            hint="start it with `skillyard serve --feedback`",
        )
    fields = FeedbackRequest(**request.values)
    snapshot = await context.snapshot()

    def store() -> bytes:
        try:
            receipt = judge_for_client(
                snapshot.whole,
                fields.name,
                right=fields.right,
                request=fields.request,
                note=fields.note or "",
                by="http",
            )
        except SkillyardError as error:
            raise refusal_of(error) from None
        return json_bytes(encode(receipt))

    return Reply(await context.in_thread(store))
