"""From a provider's array of messages to a place in a tree: neutral values, keys, and the search for the array's path.

Pure functions like those of merge/ and context/: nothing here reads or writes a store. The verbs are in
conversation/recording/.
"""

from forky_core.matching.call import Call, is_greedy, prompt_hash
from forky_core.matching.keys import response_hash
from forky_core.matching.reading import anthropic_call, chat_call, responses_call

__all__ = [
    "Call",
    "anthropic_call",
    "chat_call",
    "is_greedy",
    "prompt_hash",
    "response_hash",
    "responses_call",
]
