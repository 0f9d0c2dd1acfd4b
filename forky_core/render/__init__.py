"""All HTML outside of Streamlit: a conversation, a presentation, a replay, a report, the sign-in, and sentences.

Each page has a template in templates/, which `page` of page.py draws. Templates escape every text; only markdown.py
makes markup from a text. policy.py has the style, the script and the policy of each kind of page. A page loads nothing,
so that a server sends the same document that an export writes.
"""
