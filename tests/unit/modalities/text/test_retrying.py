import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evomix.core.errors import GeneratorError
from evomix.modalities.text.http_replies import Reply
from evomix.modalities.text.retrying import Fault, Server, backoff_s, fault_of, rejected_parameter, wait_s

SERVER = Server("m", "http://127.0.0.1:1/v1", "sk-planted")


def refusal(status, error=None, **headers):
    return Reply(status, json.dumps({"error": error or {}}).encode(), headers)


class TestWaitsAsked:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry-after": "7"}, 7),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
            ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
            ({}, None),
            ({"retry-after": "0"}, None),
            ({"retry-after": "-4"}, None),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "inf"}, None),
            ({"retry-after": "in a while"}, None),
            ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ],
    )
    def test_seconds(self, headers, seconds):
        assert Reply(429, b"", headers).wait_s() == seconds

    def test_a_date_is_read_as_seconds_from_now(self):
        then = datetime.now(UTC) + timedelta(seconds=30)
        waited = Reply(429, b"", {"retry-after": format_datetime(then, usegmt=True)}).wait_s()
        assert 28 < waited <= 30
        unzoned = Reply(429, b"", {"retry-after": f"{then:%a, %d %b %Y %H:%M:%S} -0000"}).wait_s()
        assert 28 < unzoned <= 30


class TestWaits:
    def test_doubles_with_up_to_half_more_and_ends_growing(self):
        for attempt, least in [(1, 1), (2, 2), (3, 4), (4, 8)]:
            waits = [backoff_s(attempt, first_s=1.0) for _ in range(200)]
            assert least <= min(waits) <= max(waits) <= least * 1.5
            assert max(waits) - min(waits) > least * 0.3  # spread, so that clients do not come back as one
        assert 40 <= backoff_s(5000, first_s=1.0) <= 60

    def test_a_hint_is_kept_and_where_it_was_too_short_exceeded(self):
        hinted = Fault("rate limit", "", asked_wait_s=0.01)
        assert wait_s(hinted, 1, first_s=1.0) == 0.01
        assert wait_s(hinted, 2, first_s=1.0) >= 2
        assert wait_s(Fault("rate limit", "", asked_wait_s=30), 3, first_s=1.0) == 30
        assert 1 <= wait_s(Fault("timeout", ""), 1, first_s=1.0) <= 1.5

    def test_ten_minutes_at_most(self):
        assert wait_s(Fault("rate limit", "", asked_wait_s=600), 1, first_s=1.0) == 600
        with pytest.raises(GeneratorError, match="601 s"):
            wait_s(Fault("rate limit", "", asked_wait_s=601), 1, first_s=1.0)


class TestFaults:
    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (Reply(500, b'{"error": "a plain word"}'), "a plain word"),
            (Reply(500, b'{"object": "error", "message": "flat", "code": 500}'), "flat"),
            (Reply(500, b'{"detail": "of a framework"}'), "of a framework"),
            (Reply(500, b'{"detail": [{"loc": ["body"]}]}'), '[{"loc": ["body"]}]'),
            (Reply(500, b"[1]"), "[1]"),
            (Reply(502, b"<html>"), "an HTML page"),
            (Reply(502, b""), "an empty body"),
            (Reply(500, b"plain"), "malformed JSON"),
            (Reply(500, b'{"error": {"code": "overloaded"}}'), "overloaded"),
            (Reply(500, b"{}"), "no reason given"),
            (refusal(500, {"message": "x" * 900}), "…"),
        ],
    )
    def test_the_reason_is_found_wherever_servers_put_it(self, reply, reason):
        fault = fault_of(reply, SERVER)
        assert fault.trouble == "server error"
        assert fault.reason.endswith(reason)
        assert len(fault.reason) < 320

    def test_no_bill_for_an_error(self):
        assert not fault_of(refusal(500), SERVER).may_be_billed

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 422, 308])
    def test_what_never_helps(self, status):
        with pytest.raises(GeneratorError) as caught:
            fault_of(refusal(status, {"message": "no, sk-planted"}), SERVER)
        assert "sk-planted" not in str(caught.value)
        assert str(status) in str(caught.value)

    def test_the_key_is_in_no_repr(self):
        assert "sk-planted" not in repr(SERVER)


class TestRejectedParameters:
    @pytest.mark.parametrize(
        ("error", "found"),
        [
            ({"message": "Unrecognized request argument supplied: seed"}, "seed"),
            ({"message": "Extra inputs are not permitted: top_p"}, "top_p"),
            ({"message": "no", "code": "unsupported_parameter", "param": "seed"}, "seed"),
            ({"message": "'max_tokens' is not supported, use 'max_completion_tokens' and no seed"}, "max_tokens"),
            ({"message": "unknown parameter"}, None),
            ({"message": "unknown parameter: n"}, None),
            ({"message": "unsupported", "param": "messages"}, None),
            ({"message": "seed must be below 100"}, None),
        ],
    )
    def test_named_ones_only(self, error, found):
        assert rejected_parameter(refusal(400, error), {"seed", "top_p", "max_tokens"}) == found
        assert rejected_parameter(refusal(422, error), {"seed", "top_p", "max_tokens"}) == found
        assert rejected_parameter(refusal(500, error), {"seed", "top_p", "max_tokens"}) is None
