"""A tab of a browser as the server sees it, without the browser: Streamlit's protocol over a real websocket.

`tab.Tab` is one that a program works in: it presses, fills and follows links, and looks at what the server has drawn
(drawing.py). Beside that it does what the scripts of Forky's pages do (scripts.py): it opens the streams of replies and
of news, and says where its reader is. A browser would need more of the machine than the server that is measured.

Nothing is made up: a widget is found in what the server has drawn, by its key, and a press of one that is not drawn,
or is disabled, is a `Missing`. Whatever goes wrong without anybody asking for it is a sentence in `faults`.
"""
