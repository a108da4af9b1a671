"""The app. It knows no protocol: it shows pointers, parts, spans and lines. Only this package imports Textual."""
