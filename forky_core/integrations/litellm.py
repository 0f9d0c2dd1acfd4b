"""For programs that use LiteLLM: `litellm.callbacks = [ForkyLogger(token="forky-…")]` records every call.

The class is defined in llm/, the one layer that imports LiteLLM; programs import it from here.
"""

from forky_core.llm.litellm_logger import ForkyLogger

__all__ = ["ForkyLogger"]
