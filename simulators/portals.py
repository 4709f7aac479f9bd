"""Where simulated workers take tasks and hand them in: the workers' sides of the simulated platforms."""

from collections.abc import Mapping
from contextlib import suppress

from simulators.mturk import MTurkApi, WorkerRefusedError
from simulators.prolific import ProlificApi, RefusedError
from simulators.prolific_site import COOKIE
from simulators.workers import _UNFINISHED_CODE, Task, mturk_worker_id, prolific_id


class MTurkPortal:
    """Mechanical Turk from the side of simulated workers; `submit_to` is the origin of its site."""

    def __init__(self, api: MTurkApi, submit_to: str) -> None:
        self._api = api
        self._submit_to = submit_to

    def worker_id(self, seed: int, number: int) -> str:
        """Return the id of a simulated worker."""
        return mturk_worker_id(f"{seed}/{number}")

    def cookies(self, worker_id: str) -> Mapping[str, str]:
        """Return nothing: the site keeps no cookies."""
        return {}

    def take(self, worker_id: str) -> Task | None:
        """Preview and accept the first HIT that is open to a worker; None if there is none."""
        for offer in self._api.list_hits(worker_id):
            try:
                preview_url = self._api.preview_url(offer.hit_id)
                assignment = self._api.accept(offer.hit_id, worker_id)
            except WorkerRefusedError:
                continue  # not for this worker, or the last place has just gone
            return Task(assignment, self._api.external_url(assignment, self._submit_to), preview_url)
        return None

    def give_back(self, task_id: str) -> None:
        """Return an assignment; one that has ended stays as it is."""
        with suppress(WorkerRefusedError):
            self._api.return_(task_id)

    def let_run_out(self, task_id: str) -> None:
        """Let the time of an assignment run out; one that has ended stays as it is."""
        with suppress(WorkerRefusedError):
            self._api.abandon(task_id)

    def hand_in_unfinished(self, task_id: str) -> None:
        """Submit an assignment with a field that says nothing; one that has ended stays as it is."""
        with suppress(WorkerRefusedError):
            self._api.submit(task_id, {"assignmentId": task_id, "answer": ""})


class ProlificPortal:
    """Prolific from the side of simulated workers."""

    def __init__(self, api: ProlificApi) -> None:
        self._api = api

    def worker_id(self, seed: int, number: int) -> str:
        """Return the id of a simulated worker, whom the platform knows from now on."""
        id = prolific_id(f"{seed}/{number}")
        if not any(each["id"] == id for each in self._api.participants):
            self._api.add_participant(id)
        return id

    def cookies(self, worker_id: str) -> Mapping[str, str]:
        """Return what the worker's browser keeps for the site."""
        return {COOKIE: worker_id}

    def take(self, worker_id: str) -> Task | None:
        """Take a place of the first study that is open to a worker; None if there is none."""
        for study in self._api.open_studies(worker_id):
            try:
                session = self._api.reserve(study["id"], worker_id)
                return Task(session, self._api.external_url(study["id"], session))
            except RefusedError:
                continue  # the last place has just gone
        return None

    def give_back(self, task_id: str) -> None:
        """Return a submission; one that has ended stays as it is."""
        with suppress(RefusedError):
            self._api.give_back(task_id)

    def let_run_out(self, task_id: str) -> None:
        """Let the time of a submission run out; one that has ended stays as it is."""
        with suppress(RefusedError):
            self._api.time_out(task_id)

    def hand_in_unfinished(self, task_id: str) -> None:
        """Complete a submission without the code; one that has ended stays as it is."""
        with suppress(RefusedError):
            self._api.submit(task_id, _UNFINISHED_CODE)
