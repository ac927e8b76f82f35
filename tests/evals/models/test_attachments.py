"""Files beside a prompt: the content parts of both APIs, and how many tokens they count as."""

from __future__ import annotations

from skillyard.evals.cases.input_files import InputFile
from skillyard.evals.models.anthropic_api import anthropic_content
from skillyard.evals.models.openai_api import openai_content
from skillyard.evals.models.prices import attachment_tokens, max_input_tokens
from skillyard.evals.models.protocol import ModelRequest

PDF = InputFile("evals/claim.pdf", b"%PDF /Type /Pages /Type /Page /Type/Page")
PNG = InputFile("pot.png", b"\x89PNG")


def test_files_go_before_the_text_in_the_form_of_each_api() -> None:
    request = ModelRequest("m", "", "look", attachments=(PDF, PNG))
    parts = anthropic_content(request)
    assert isinstance(parts, list)
    document, image, text = parts
    assert document["type"] == "document"
    assert document["source"]["media_type"] == "application/pdf"
    assert image["type"] == "image"
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    assert text == {"type": "text", "text": "look"}
    parts = openai_content(request)
    assert isinstance(parts, list)
    file, picture, text = parts
    assert file["file"]["filename"] == "claim.pdf"
    assert file["file"]["file_data"].startswith("data:application/pdf;base64,")
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert text == {"type": "text", "text": "look"}


def test_a_prompt_without_files_is_a_text() -> None:
    assert anthropic_content(ModelRequest("m", "", "look")) == "look"
    assert openai_content(ModelRequest("m", "", "look")) == "look"


def test_files_count_for_budgets() -> None:
    assert attachment_tokens(PNG) == 5_000
    assert attachment_tokens(PDF) == 2 * 8_000
    assert attachment_tokens(InputFile("x.pdf", b"x" * 10_000)) == 6 * 8_000
    plain = max_input_tokens(ModelRequest("m", "", "look"))
    assert max_input_tokens(ModelRequest("m", "", "look", attachments=(PNG,))) == plain + 5_000
