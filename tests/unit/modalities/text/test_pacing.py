import threading
import time

import pytest

from evomix.modalities.text.pacing import Pace, Stopped


def most_at_once(pace, workers=8, each_s=0.02):
    """Return how many of many workers held a turn at the same time."""
    lock, now, most = threading.Lock(), [0], [0]

    def work():
        for _ in range(3):
            with pace.turn(threading.Event()):
                with lock:
                    now[0] += 1
                    most[0] = max(most[0], now[0])
                time.sleep(each_s)
                with lock:
                    now[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return most[0]


def test_no_more_than_allowed_at_once():
    assert most_at_once(Pace(3)) == 3


def test_a_burst_of_rate_limits_halves_once():
    pace, began = Pace(8), time.monotonic()
    for _ in range(5):
        pace.narrow(began)
    assert most_at_once(pace) == 4
    pace.narrow(time.monotonic())
    assert most_at_once(pace) == 2


def test_one_is_always_let_through():
    pace = Pace(2)
    for _ in range(5):
        pace.narrow(time.monotonic())
    assert most_at_once(pace, workers=3) == 1


def test_answers_let_in_more_again_up_to_the_limit():
    pace = Pace(4)
    for _ in range(3):
        pace.narrow(time.monotonic())
    for _ in range(2):
        pace.widen()
    assert most_at_once(pace) == 2
    for _ in range(50):
        pace.widen()
    assert most_at_once(pace) == 4


def test_a_hold_is_kept_and_not_shortened():
    pace = Pace(2)
    pace.hold(0.2)
    pace.hold(0.01)
    start = time.monotonic()
    with pace.turn(threading.Event()):
        assert time.monotonic() - start >= 0.2


def test_who_waits_is_stopped_at_once():
    pace, stopped, seen = Pace(1), threading.Event(), []
    pace.hold(60)

    def work():
        try:
            with pace.turn(stopped):
                seen.append("a turn")
        except Stopped:
            seen.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    stopped.set()
    pace.wake()
    thread.join(timeout=5)
    assert seen == ["stopped"]


def test_a_turn_is_given_back_after_an_error():
    pace = Pace(1)
    with pytest.raises(KeyError), pace.turn(threading.Event()):
        raise KeyError
    with pace.turn(threading.Event()):
        pass
