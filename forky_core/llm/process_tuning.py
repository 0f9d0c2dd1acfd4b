"""The only function by which Forky changes the process in which it runs. The library never calls it."""

from __future__ import annotations

from forky_core.llm import loading
from forky_core.process import scheduling


def tune_process() -> None:
    """Tune this process for serving Forky, and keep LiteLLM quiet in it. Call it once, before a model is asked.

    It is for processes of Forky's own: app.py calls it (and so does `forky up`, which becomes the app), and the command
    line. A program that only uses the library need not call it, but may. It changes:

    Python:
        The garbage collector pauses while a whole conversation is read or converted (`scheduling.gc_paused`): its
        full runs take up to half of that time and find nothing.
        `sys.setswitchinterval` is half a millisecond while a reply streams and while LiteLLM is imported
        (`scheduling.short_switch_interval`): a click then waits for half a millisecond per thread and not for five.

    The environment, which LiteLLM reads and child processes inherit:
        LITELLM_LOCAL_MODEL_COST_MAP, LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: it uses the lists that it ships and
        fetches none. LITELLM_MODE=PRODUCTION: it does not read `./.env`. LITELLM_LOG=CRITICAL: it logs no requests.
        MAX_IMAGE_URL_DOWNLOAD_SIZE_MB=0: it downloads nothing that a message names, not even for other callers.
        llm/linked_media.py checks Forky's own calls in every program.

    Settings of the litellm module:
        suppress_debug_info: it prints no advice to standard output when a call fails. While a call of Forky's runs, it
        is set in every program, and then put back.
        disable_token_counter, disable_hf_tokenizer_download: it neither reads a vocabulary of 56 MB nor downloads one,
        to count what a provider counts. Forky's own calls prevent this in every program, unless the program has
        registered callbacks with LiteLLM, which get LiteLLM's count.
        disable_aiohttp_transport: a client that LiteLLM makes itself closes its connection with its stream. Forky's own
        calls have their own client in every program, except for providers without a line in the Settings and for
        embeddings of others than OpenAI.

    Levels of loggers:
        LiteLLM, LiteLLM Router, LiteLLM Proxy, httpx, httpcore and openai log at CRITICAL, because their lines contain
        addresses and people's words. Other programs decide this for themselves.
    """
    scheduling.tune()
    loading.mute()
