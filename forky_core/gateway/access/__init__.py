"""Who may reach Forky: one gate in front of every page, file, stream and call.

`gate.Gate` is the ASGI middleware that everything passes. It asks `origins` where a request comes from (its Host and
its Origin), and `sign_in` who sends it, where that matters: beyond this machine. `sessions` are the browsers that were
let in, `credentials` what lets one in.
"""
