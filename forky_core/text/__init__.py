"""Texts as people write them: Markdown, formulas, words and sentences. It knows nothing of conversations."""
