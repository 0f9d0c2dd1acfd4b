"""Which model writes a merge where nobody named one."""

from __future__ import annotations

from forky_core.cli.default_writer import default_writer
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Rules
from forky_core.settings import Settings


def test_the_model_of_the_branch_writes_then_the_default_and_never_an_offline_one() -> None:
    models = Catalogue(settings=Settings(":memory:", probe=False), environment={})
    models.add(ScriptedModel("scripted/writer"))
    models.choose_default("offline/quote")
    assert default_writer(models, Rules()) is None
    assert default_writer(models, Rules(model="scripted/writer")) == "scripted/writer"
    assert default_writer(models, Rules(model="scripted/gone")) is None
    models.choose_default("scripted/writer")
    assert default_writer(models, Rules()) == "scripted/writer"
    assert default_writer(models, Rules(model="offline/quote")) is None
