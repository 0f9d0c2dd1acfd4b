"""LangGraph's SqliteSaver, used as its documentation shows: a message list as state, one update a turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph


class LangGraphTalk:
    def __init__(self, path: Path, length: int, prose: Callable[[], str]) -> None:
        self._prose = prose
        connection = sqlite3.connect(path, check_same_thread=False)
        self._graph = self._answering(connection)
        self._config: Any = {"configurable": {"thread_id": "1"}}
        turns = [self._message(number) for number in range(length)]
        self._graph.update_state(self._config, {"messages": turns})

    def _message(self, number: int) -> HumanMessage | AIMessage:
        return HumanMessage(self._prose()) if number % 2 == 0 else AIMessage(self._prose())

    def _answering(self, connection: sqlite3.Connection) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda _: {"messages": [AIMessage(self._prose())]})
        graph.add_edge(START, "model")
        graph.add_edge("model", END)
        return graph.compile(checkpointer=SqliteSaver(connection))

    def turn(self) -> None:
        self._graph.invoke({"messages": [HumanMessage(self._prose())]}, self._config)
