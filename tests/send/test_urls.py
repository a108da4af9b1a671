"""A base URL and an adapter's path, joined as people mean it."""

from __future__ import annotations

import pytest

from workbench.send.target import join_url, path_of, server_url, with_query_of

CHAT, BLOCKS = "/v1/chat/completions", "/v1/messages"
GEMINI = "/v1beta/models/gemini-3:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://api.openai.com", CHAT, "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/", CHAT, "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1", CHAT, "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", CHAT, "https://api.openai.com/v1/chat/completions"),
        ("https://x.example/v1", BLOCKS, "https://x.example/v1/messages"),
        ("https://api.groq.com/openai", CHAT, "https://api.groq.com/openai/v1/chat/completions"),
        ("https://open.bigmodel.cn/api/paas/v4", CHAT, "https://open.bigmodel.cn/api/paas/v4/chat/completions"),
        ("https://g.example/v1beta/openai", CHAT, "https://g.example/v1beta/openai/chat/completions"),
        ("https://g.example", GEMINI, f"https://g.example{GEMINI}"),
        ("https://g.example/v1beta", GEMINI, f"https://g.example{GEMINI}"),
        ("https://v.example/v1/projects/p/publishers/google", GEMINI, "https://v.example/v1/projects/p/publishers/google/models/gemini-3:streamGenerateContent?alt=sse"),
        ("http://127.0.0.1:11434", "/api/chat", "http://127.0.0.1:11434/api/chat"),
        ("http://127.0.0.1:11434/api", "/api/chat", "http://127.0.0.1:11434/api/chat"),
        ("http://127.0.0.1:11434/v1", CHAT, "http://127.0.0.1:11434/v1/chat/completions"),
        ("https://x.example/v1/chat/completions", CHAT, "https://x.example/v1/chat/completions"),
        ("https://a.example/openai/deployments/d/chat/completions?api-version=1", CHAT, "https://a.example/openai/deployments/d/chat/completions?api-version=1"),
        ("https://x.example?tier=1", GEMINI, f"https://x.example{GEMINI.replace('?', '?tier=1&')}"),
        ("https://x.example/myv1", CHAT, "https://x.example/myv1/v1/chat/completions"),
    ],
)  # fmt: skip
def test_joined(base, path, url):
    assert join_url(base, path) == url


@pytest.mark.parametrize(
    ("path", "url", "is_same", "made"),
    [
        (BLOCKS, "https://x/v1/messages?beta=true", True, "/v1/messages?beta=true"),
        (BLOCKS, "https://x/v1/messages?beta=true&api_key=abc&token=d", True, "/v1/messages?beta=true"),
        (GEMINI, "https://x/m:streamGenerateContent?key=AIza", True, GEMINI.partition("?")[0]),
        (GEMINI, "https://x/m:generateContent?key=AIza&x=1", False, f"{GEMINI}&x=1"),
        ("/v1beta/models/m:generateContent", "https://x/m:s?alt=sse", False, "/v1beta/models/m:generateContent"),
    ],
)
def test_what_a_recorded_query_asked_for_stays(path, url, is_same, made):
    assert with_query_of(path, url, is_same=is_same) == made


def test_a_recorded_path_without_its_keys():
    assert path_of("https://x.example/a/b?key=1&b=2") == "/a/b?b=2"
    assert path_of("/a?b=2") == "/a?b=2" and path_of("") == ""


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://here:8080", "http://here:8080/props?model=m"),
        ("http://here:8080/v1/", "http://here:8080/props?model=m"),
        ("https://there/llama/v1beta", "https://there/llama/props?model=m"),
    ],
)
def test_what_belongs_to_the_server_stands_beside_the_version(base: str, url: str) -> None:
    assert server_url(base, "/props?model=m") == url
