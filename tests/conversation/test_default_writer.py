"""Which model writes a merge where nobody named one."""

from __future__ import annotations

from forky_core.conversation.merging.examining import default_writer
from forky_core.documents.offline_models import offline_models
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Rules
from forky_core.process.settings import Settings


def test_the_model_of_the_branch_writes_then_the_default_and_never_an_offline_one() -> None:
    models = Catalogue(offline=offline_models(), settings=Settings(":memory:", probe=False), environment={})
    models.add(ScriptedModel("scripted/writer"))
    models.choose_default("offline/quote")
    assert default_writer(models, Rules()) is None
    assert default_writer(models, Rules(model="scripted/writer")) == "scripted/writer"
    assert default_writer(models, Rules(model="scripted/gone")) is None
    models.choose_default("scripted/writer")
    assert default_writer(models, Rules()) == "scripted/writer"
    assert default_writer(models, Rules(model="offline/quote")) is None


def test_a_model_without_its_key_writes_nothing_and_one_with_it_writes_though_it_is_not_listed() -> None:
    settings = Settings(":memory:", probe=False)
    keyless = Catalogue(offline=offline_models(), settings=settings, environment={})
    keyed = Catalogue(offline=offline_models(), settings=settings, environment={"OPENAI_API_KEY": "sk-test"})
    named = "openai/a-model-of-next-year"
    assert named not in {info.name for info in keyed.models()}
    assert default_writer(keyless, Rules(model=named)) is None
    assert default_writer(keyed, Rules(model=named)) == named
    assert default_writer(keyed, Rules(model="anthropic/claude-sonnet-4-5")) is None


def test_a_model_on_a_server_that_was_set_up_writes_without_a_key() -> None:
    server = Settings(":memory:", servers=("http://127.0.0.1:9",), probe=False)
    models = Catalogue(offline=offline_models(), settings=server, environment={})
    assert default_writer(models, Rules(model="127.0.0.1:9/llama3")) == "127.0.0.1:9/llama3"
    assert default_writer(models, Rules(model="nowhere/llama3")) is None
