"""`/v1`: calls of other programs in OpenAI's and Anthropic's protocols, answered and recorded."""
