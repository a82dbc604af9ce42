"""A client that was generated from the plane's document, with its operations by name, and a record of those that were called."""

import re
from importlib import import_module
from pkgutil import iter_modules

import podplane_client.api
import podplane_client.models as models
from httpx import Timeout
from podplane_client import AuthenticatedClient


class Refused(Exception):
    def __init__(self, problem):
        super().__init__(problem.detail)
        self.problem = problem


def modules():
    """The function of each operation, by its name in Python."""
    rooms = [import_module(f"podplane_client.api.{room.name}") for room in iter_modules(podplane_client.api.__path__)]
    return {one.name: f"{room.__name__}.{one.name}" for room in rooms for one in iter_modules(room.__path__)}


class Plane:
    """Every operation is a method: it returns the answer as a model, and raises on a refusal."""

    MODULES = modules()

    def __init__(self, url, key, called):
        # An answer that the document does not describe is an error too.
        self.client = AuthenticatedClient(base_url=url, token=key, timeout=Timeout(60), raise_on_unexpected_status=True)
        self.called = called

    def __getattr__(self, name):
        module = import_module(self.MODULES[name])
        # The name in the document.
        self.called.add(re.sub(r"_(\w)", lambda match: match[1].upper(), name))

        def call(*path, **members):
            answer = module.sync_detailed(*path, client=self.client, **members)
            if isinstance(answer.parsed, (models.ErrorResponse, models.OpenaiProblem)):
                raise Refused(answer.parsed)
            if answer.parsed is None and answer.status_code != 204:
                raise TypeError(f"{name}: {answer.status_code} gave no model: {answer.content[:200]}")
            return answer.parsed

        return call


def make(name, /, **members):
    """A request body, as the model of that name."""
    return getattr(models, name).from_dict(members)


def refused(call, *path, **members):
    """The status with which a call is refused."""
    try:
        call(*path, **members)
    except Refused as error:
        return error.problem.status
    raise AssertionError("it was not refused")


def holds(listed, thing):
    return any(one.id == thing.id for one in listed)
