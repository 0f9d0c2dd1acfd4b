"""For programs that use LiteLLM: `litellm.callbacks = [ForkyLogger(token="forky-…")]` records every call.

The class lies in llm/, the one layer that imports LiteLLM; this is the name it is reached by.
"""

from forky_core.llm.litellm_logger import ForkyLogger

__all__ = ["ForkyLogger"]
