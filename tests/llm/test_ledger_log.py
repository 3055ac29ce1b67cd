"""The ledger's log: its chain of digests, and the fixed positions of replies."""

from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa

from moot.core.errors import UserError
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.reply_chain import head_of, read_log, seal
from moot.llm.ledger.tables import CALLS
from moot.llm.request import Reply, call_id
from verify_bundle import chain_digests


def test_the_head_is_the_last_digest_of_the_chain() -> None:
    digests = [sha256(row.encode()).hexdigest() for row in ("a", "b", "c")]
    first = sha256(digests[0].encode()).hexdigest()
    second = sha256((first + digests[1]).encode()).hexdigest()
    third = sha256((second + digests[2]).encode()).hexdigest()
    assert [head_of(digests[:size])["digest"] for size in range(4)] == ["", first, second, third]
    assert head_of(digests) == {"replies": 3, "digest": chain_digests(digests)}
    assert head_of(reversed(digests)) != head_of(digests)


def entry(number: int) -> Entry:
    request = f'{{"messages":[["user","question {number} \\ud800"]]}}'
    return Entry(call_id(request, 0), "m", request, 0, Reply(text=f"answer {number}"))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger_with_entries = Ledger(str(tmp_path / "ledger"))
    ledger_with_entries.store([entry(number) for number in range(20)])
    seal(ledger_with_entries)
    return ledger_with_entries


def test_a_reply_keeps_its_place_and_the_log_only_grows(ledger: Ledger) -> None:
    log_before = list(read_log(ledger))
    ledger.store([entry(number) for number in range(30)])
    seal(ledger)
    log_after = list(read_log(ledger))
    assert log_after[:20] == log_before and len(log_after) == 30
    seal(ledger)
    assert list(read_log(ledger)) == log_after


def test_a_reply_that_was_removed_is_missed(ledger: Ledger) -> None:
    with ledger.transaction() as connection:
        connection.execute(
            sa.delete(CALLS).where(CALLS.c.call_id == bytes.fromhex(entry(3).call_id))
        )
    with pytest.raises(UserError, match=f"the reply of call {entry(3).call_id[:12]} was removed"):
        list(read_log(ledger))


def test_a_ledger_that_cannot_be_written_is_not_sealed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.read_only = True
    with pytest.raises(UserError, match="cannot be written, so its log cannot be sealed"):
        seal(ledger)
