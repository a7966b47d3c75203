"""What a second process does in the tests of the ledger; a module of its own, so that a fresh process can find it."""

from evomix.core.errors import BudgetExceeded, PrivacyError
from evomix.privacy.ledger import Budget, Ledger


def open_run(ledger, run_id, epsilon=0.6, delta=1e-6, dataset="adult", **rest):
    given = {"fingerprint": b"digest of the records", "spec_digest": "spec", **rest}
    ledger.open_run(run_id, dataset, Budget(epsilon, delta), **given)


def race(path, barrier, answers, which):
    ledger = Ledger(path)
    for turn in range(20):
        dataset = f"set {turn}"
        barrier.wait()
        try:
            open_run(ledger, f"run {turn}-{which}", dataset=dataset, grant=Budget(1.0, 1e-5))
            answers.put((turn, "charged"))
        except BudgetExceeded:
            answers.put((turn, "refused"))
        barrier.wait()
        try:
            ledger.begin_round("shared", turn)
            answers.put((100 + turn, "charged"))
        except PrivacyError:
            answers.put((100 + turn, "refused"))
