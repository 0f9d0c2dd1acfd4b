"""All HTML outside of Streamlit: a conversation, a presentation, a replay, a report, the sign-in, and sentences.

What a page shows is in templates/, one template for each page; `page` of page.py draws it. Whatever a template is given
is text and is escaped; only Markdown is drawn (markdown.py). policy.py has the style, the script and the policy of each
kind of page. A page loads nothing, so that a server hands out the same document that an export writes.
"""
