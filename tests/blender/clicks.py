"""Operators driven as Blender drives them in a window, which it never does without one."""

import threading
from unittest.mock import MagicMock

import bpy


class Click:
    """Stands in for an operator at its steps, which a click began; `said` is what it reports."""

    sidebar = False

    def __init__(self, operator, steps):
        self.bl_label, self._steps, self.said, self.ended = operator.bl_label, steps, [], []
        self._advance, self._modal = operator._advance.__get__(self), operator.modal.__get__(self)
        self._context = MagicMock(wraps=bpy.context)

    def report(self, level, text):
        self.said.append((*level, text))

    def _end(self, context, answer):
        self.ended.append(answer)
        return answer

    def until_it_searches(self):
        """Take steps until a thread is at work that is not done at once, and return it."""
        there = set(threading.enumerate())
        while True:
            next(self._steps)
            taken = [thread for thread in threading.enumerate() if thread not in there]
            for _ in range(3 if taken else 0):
                next(self._steps)
            if taken and taken[0].is_alive():
                return taken[0]

    def esc(self):
        """What Esc is answered with."""
        return self._modal(self._context, MagicMock(type="ESC"))

    def stops(self, search):
        """Esc during a search: the thread ends, and no more is said than that."""
        assert self.esc() == {"CANCELLED"}
        search.join(60.0)
        assert not search.is_alive(), "the search has stopped"
        assert self.said == [("WARNING", f"{self.bl_label} was stopped; nothing has changed")]

    def rest(self):
        """What it answers when it has gone on to its end."""
        while (answer := self._modal(self._context, MagicMock(type="TIMER"))) == {"RUNNING_MODAL"}:
            pass
        return answer
