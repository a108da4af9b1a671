"""Requests and answers made of contents with parts: Gemini over HTTP, and Live over a WebSocket."""
