"""The front door of the library, and the one place where concrete stores and models meet."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

from forky_core.conversation.session import Models
from forky_core.conversation.workspace import Workspace
from forky_core.documents.offline_models import offline_models
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Model
from forky_core.model import ConversationId
from forky_core.model.errors import InTheWay, NotFound, StoreBusy, StoreDamaged, StoreError
from forky_core.preferences import restore_preferences
from forky_core.process.lazy_names import import_when_used
from forky_core.process.settings import Settings
from forky_core.store.contract import Store, StoreInFile, StoreOnServer
from forky_core.store.moving.note import refuse_half_moved
from forky_core.store.opening import open_store
from forky_core.store.remote.note import note_of_holder, read_note
from forky_core.store.remote.store import RemoteStore, remote_store

if TYPE_CHECKING:
    from forky_core.formats.files.spools import remove_abandoned_spools
    from forky_core.formats.importing.import_record import recover_imports
    from forky_core.llm.served_models import ServedModels
    from forky_core.people.links.links import Links
else:
    import_when_used(globals(), __spec__)


class Forky(Workspace):
    """An open database of conversations. Close it, or use it in a `with`. One that is still open when the program ends
    is closed then.
    """

    _catalogue: Catalogue | None = None
    """The models, where they were not given."""

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        workspace: str | None = None,
        models: Models | None = None,
        secrets: Mapping[str, object] | None = None,
        actor: str | None = None,
        by_app: bool = True,
    ) -> Self:
        """Open or create a database: a path, ":memory:", a postgresql:// address, or (None) the one the settings name.

        If the app has the file open, all calls go to the app; not if `by_app` is false.

        `workspace` names one of the workspaces of a PostgreSQL database, by default that of FORKY_WORKSPACE, or "main".
        `secrets` are keys by the names of their variables, beside those of the environment.

        Raises:
            StoreBusy: another process has the file open, and is no app that could be asked.
            StoreError: it cannot be read or written; the message says what can be done.
        """
        settings = Settings.from_environment()
        place = location if location is not None else settings.database
        if workspace is None and "://" in str(place):
            workspace = settings.workspace_on_server
        file = Path(os.path.expanduser(place))  # noqa: PTH111 - it answers for any text
        note = note_of_holder(file) if by_app and workspace is None else None
        if note is not None:
            store = remote_store(note.address, note.secret)
        else:
            try:
                store = open_store(place, workspace=workspace)
            except StoreBusy as busy:
                note = read_note(file, busy.holder) if by_app else None
                if note is None:
                    raise
                store = remote_store(note.address, note.secret)
        return cls.over(store, models=models, secrets=secrets, actor=actor)

    @classmethod
    def connect(cls, address: str, token: str, *, models: Models | None = None) -> Self:
        """Open what a running Forky keeps, at an address such as `https://forky.example.org`, by a token of it.

        The token decides what is found and what may be changed, and its name is the author of what is done. Models of
        the server answer, for which the token's allowance pays, unless there are `models`.

        Raises:
            StoreError: nobody answers there, or the token is not accepted.
        """
        store = remote_store(address, token)
        try:
            store.setting("")
        except StoreError:
            store.close()
            raise
        return cls.over(store, models=models or ServedModels(address, token), actor="you")

    @classmethod
    def over(
        cls,
        store: Store,
        *,
        models: Models | None = None,
        secrets: Mapping[str, object] | None = None,
        actor: str | None = None,
    ) -> Self:
        """As `open`, over a store that is open already; it is closed if this fails."""
        settings = Settings.from_environment()
        catalogue = None
        try:
            if models is None:
                models = catalogue = Catalogue(secrets, settings, offline=offline_models())
                with suppress(StoreDamaged):  # The conversations may be readable all the same.
                    restore_preferences(store, models)
            with suppress(StoreDamaged):
                refuse_half_moved(store)
            if isinstance(store, StoreInFile | StoreOnServer) and not isinstance(store, RemoteStore):
                remove_abandoned_spools()
                with suppress(StoreError):  # Damaged, or the disk is full; the next start tries again.
                    recover_imports(store)
            forky = cls(store, models, actor=actor or settings.actor)
        except BaseException:
            store.close()
            raise
        forky._catalogue = catalogue
        _OPEN.add(forky)
        # What is registered last is done first at the end: before the store that is open now closes itself.
        atexit.unregister(_close_all)
        atexit.register(_close_all)
        return forky

    def close(self) -> None:
        """Stop replies, keeping what has arrived, and release the file and the connections to model servers."""
        _OPEN.discard(self)
        _SHARED.discard(self)
        super().close()
        if self._catalogue is not None and not self._is_view:
            self._catalogue.close()

    def add_model(self, model: Model) -> None:
        """Offer a model of the program's own, such as a `FunctionModel`, in place of any added one of that name.

        Raises:
            InTheWay: the database was opened with models of the program, which offers its own.
        """
        if self._catalogue is None:
            raise InTheWay(
                "This database was opened with models of your own.", "Offer the model among those."
            )
        if not hasattr(model, "stream"):
            raise TypeError("A model has the methods of `Model`; FunctionModel makes one of a function.")
        self._catalogue.add(model)

    @property
    def location(self) -> Path | None:
        """The database file; None where there is none."""
        return self.store.location if isinstance(self.store, StoreInFile) else None

    @property
    def server(self) -> str | None:
        """What people call the server's database that keeps this; None where no server does."""
        return self.store.server if isinstance(self.store, StoreOnServer) else None

    def purge(self, id: ConversationId) -> None:
        """Delete a trashed conversation for good, with the links to it.

        Raises:
            InTheWay: it is not in the trash.
        """
        super().purge(id)
        Links(self.store).forget()

    def backup(self) -> Path:
        """A whole copy of the database beside it, made while it stays open.

        Raises:
            NotFound: there is no file to copy.
            StoreError: no room or no permission; nothing is left behind.
        """
        if isinstance(self.store, RemoteStore):
            raise InTheWay("The app has this file open.", "Copy it while the app is stopped.")
        if isinstance(self.store, StoreInFile):
            return self.store.backup()
        if not isinstance(self.store, StoreOnServer):
            raise NotFound("This workspace is kept in memory only; there is no file to copy.")
        raise NotFound(
            "This workspace is kept by a server; there is no file to copy.",
            "A server is backed up by its own means: docs/postgresql.md says how.",
        )


_OPEN: WeakSet[Forky] = WeakSet()
if hasattr(os, "register_at_fork"):  # What is open stays the parent's: the child has none of its threads.
    os.register_at_fork(after_in_child=_OPEN.clear)
_SHARED: set[Forky] = set()
"""What `own_database` opened, which several objects of the program use."""


def own_database() -> Forky:
    """The database that the settings name, open once for all bots and document stores of this process.

    It is closed when the program ends, or by whoever calls its `close`; the next call opens it again then.

    Raises:
        StoreBusy: another process has the file open.
        StoreError: it cannot be read or written.
    """
    place = Settings.from_environment().database
    for forky in tuple(_OPEN):
        if forky.location is not None and str(forky.location) == str(place):
            return forky
    forky = Forky.open()
    _SHARED.add(forky)
    return forky


def _close_all() -> None:
    for forky in tuple(_OPEN):
        with suppress(Exception):  # Nobody is there to read it, and the next one is to be closed, too.
            forky.close()
