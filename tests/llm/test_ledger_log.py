"""The ledger's log: the tree of RFC 6962, by the vectors of its first implementation; places that
are kept.
"""

from pathlib import Path

import pytest
import sqlalchemy as sa

from moot.core.errors import UserError
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.log import head_of, read_log, seal
from moot.llm.ledger.tables import CALLS
from moot.llm.request import Reply, call_id
from verify_bundle import root_of

LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(len(ROOTS)))
def test_the_tree_is_that_of_the_standard(size: int) -> None:
    from hashlib import sha256

    hashed = [sha256(b"\0" + bytes.fromhex(leaf)).digest() for leaf in LEAVES[:size]]
    assert head_of(hashed)["root"] == root_of([leaf.hex() for leaf in hashed]) == ROOTS[size]


def entry(number: int) -> Entry:
    request = f'{{"messages":[["user","question {number} \\ud800"]]}}'
    return Entry(call_id(request, 0), "m", request, 0, Reply(text=f"answer {number}"))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = Ledger(str(tmp_path / "ledger"))
    opened.store([entry(number) for number in range(20)])
    seal(opened)
    return opened


def test_a_reply_keeps_its_place_and_the_log_only_grows(ledger: Ledger) -> None:
    before = list(read_log(ledger))
    ledger.store([entry(number) for number in range(30)])
    seal(ledger)
    after = list(read_log(ledger))
    assert after[:20] == before and len(after) == 30
    assert len({leaf.salt for leaf in after}) == 30, "equal answers have other leaves"
    seal(ledger)
    assert head_of([leaf.digest for leaf in read_log(ledger)]) == head_of(
        [leaf.digest for leaf in after]
    )


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
