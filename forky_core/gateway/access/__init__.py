"""Access control: one gate in front of every page, file, stream and call.

`gate.Gate` is the ASGI middleware that every request passes. `origins` checks where a request comes from (its Host and
its Origin), and `sign_in` who sends it, if that is required: beyond this machine. `sessions` are the signed-in
browsers, `credentials` the passwords and secrets they sign in with.
"""
