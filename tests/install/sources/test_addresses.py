"""A host that somebody else chose is asked only on the public internet, and where it was checked.

The proof is at the sockets: what is refused is refused before any of them is connected.
"""

from __future__ import annotations

import asyncio

import pytest

from skillyard.errors import InvalidInput, SkillyardError, SourceFailed
from skillyard.install.sources.addresses import is_public, public_addresses
from skillyard.install.sources.transport import RemoteHost, Transport
from skillyard_testkit import Response
from tests.install.sources.clients import Dialled, Network, count_dialling, resolve
from tests.tables import for_each

REFUSED = {
    # IPv4
    "0.0.0.0": "this host",
    "0.1.2.3": "this network",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "behind a provider's NAT",
    "100.127.255.254": "behind a provider's NAT",
    "127.0.0.1": "loopback",
    "127.1.2.3": "loopback",
    "169.254.0.1": "link-local",
    "169.254.169.254": "a cloud's metadata",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "protocol assignments",
    "192.0.2.1": "documentation",
    "192.168.0.1": "private",
    "192.168.255.255": "private",
    "198.18.0.1": "benchmarks",
    "198.19.255.255": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.9": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    # IPv6
    "::": "no address",
    "::1": "loopback",
    "::ffff:127.0.0.1": "mapped loopback",
    "::ffff:10.0.0.1": "mapped private",
    "::ffff:169.254.169.254": "mapped metadata",
    "::127.0.0.1": "compatible loopback",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local with a zone",
    "fc00::1": "unique local",
    "fd00:ec2::254": "a cloud's metadata",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "2001:db8::1": "documentation",
    "100::1": "discard",
    "64:ff9b::7f00:1": "NAT64 of loopback",
    "64:ff9b::a9fe:a9fe": "NAT64 of metadata",
    "2002:7f00:1::": "6to4 of loopback",
    "2002:a00:1::1": "6to4 of private",
    "2001:0:808:808::80ff:fffe": "Teredo of loopback",
}
MORE_REFUSED = {
    "64:ff9b:1::a00:1": "local NAT64 of private",
    "64:ff9b:1::808:808": "local NAT64 is nobody else's",
    "2001:0:7f00:1::f7f7:f7f7": "Teredo by a server on loopback",
    "2002:c0a8:101:1::1": "6to4 of private",
    "::ffff:0:127.0.0.1": "translated loopback",
    "3fff::1": "documentation, since RFC 9637",
    "5f00::1": "segment routing, since RFC 9602",
    "100:0:0:1::1": "dummy, since RFC 9780",
    "::10.0.0.1": "compatible private",
    "fe80::1%25eth0": "a zone as an address in the web writes it",
    "fd12:3456:789a::1%3": "unique local with a zone",
    "ff0e::1": "multicast that reaches everywhere",
    "192.0.0.8": "a dummy, since RFC 7600",
    "192.0.0.192": "a cloud's metadata among the protocol assignments",
    "192.88.99.1": "a relay of 6to4, deprecated by RFC 7526",
    "168.63.129.16": "the wire server of a cloud, by a public address",
    "100.100.100.200": "a cloud's metadata behind its NAT",
    "::ffff:168.63.129.16": "mapped wire server",
    "64:ff9b::a83f:8110": "NAT64 of the wire server",
    "2002:a83f:8110::1": "6to4 of the wire server",
    "::8.8.8.8": "compatible addresses, deprecated by RFC 4291",
    "2001:1::1": "the nearest router of a protocol",
    "4000::1": "nobody's yet",
}
PUBLIC = [
    "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
    "169.253.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1",
]  # fmt: skip
CARRIERS_OF_PUBLIC = {
    "::ffff:8.8.8.8": "mapped", "64:ff9b::808:808": "NAT64", "2002:808:808::1": "6to4",
}  # fmt: skip


@for_each("address", [*PUBLIC, *CARRIERS_OF_PUBLIC])
def test_an_address_on_the_internet_is_public(address: str) -> None:
    assert is_public(address)


# --- names ---


def addresses(host: str) -> list[str]:
    return list(asyncio.run(public_addresses(host, 443)))


# --- what leaves this machine ---


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    return count_dialling(monkeypatch)


def ask_stranger(url: str, path: str = "/x") -> Exception:
    """Return how asking a host that the user did not name fails."""

    async def asked() -> None:
        async with Transport({}, deadline_s=5) as transport:
            transport.add_host("stranger", RemoteHost(url, named_by_user=False))
            await transport.get("stranger", path)

    with pytest.raises(SkillyardError) as caught:
        asyncio.run(asked())
    return caught.value


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


@for_each("address", [*REFUSED, *MORE_REFUSED])
def test_no_packet_is_sent_to_a_refused_address(dialled: Dialled, address: str) -> None:
    error = ask_stranger(f"http://{bracketed(address)}:8080")
    assert dialled == []
    assert isinstance(error, SourceFailed | InvalidInput)
    if address in REFUSED and isinstance(error, SourceFailed):
        assert error.code == "refused"


def test_a_host_that_the_user_named_may_be_private(net: Network, dialled: Dialled) -> None:
    net.answers("other", Response(200, b"{}"))
    assert net.get("mine", "/x", how={"more": {"mine": RemoteHost(net.up.other)}}).body == b"{}"
    assert [address[0] for address in dialled] == ["127.0.0.1"]  # dialling would be seen


def test_a_name_of_a_stranger_that_leads_here_is_refused(
    net: Network, dialled: Dialled, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = net.up.other.rpartition(":")[2]
    asked = resolve(monkeypatch, ["127.0.0.1"])
    error = ask_stranger(f"http://innocent.test:{port}")
    assert (getattr(error, "code", ""), dialled, net.up.requests) == ("refused", [], [])
    assert asked == ["innocent.test"]


def test_the_connection_goes_to_the_address_that_was_checked(
    net: Network, dialled: Dialled, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = net.up.other.rpartition(":")[2]
    resolve(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])  # another answer the second time
    error = ask_stranger(f"http://rebinding.test:{port}")
    assert {address[0] for address in dialled} == {"93.184.215.14"}
    assert getattr(error, "code", "") == "unreachable"
    assert net.up.requests == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://2852039166/",
    ],
)
def test_a_redirect_to_a_private_address_is_refused(
    net: Network, dialled: Dialled, target: str
) -> None:
    net.answers("github_raw", Response(302, headers={"location": target}))
    assert net.failure("github-raw", "/a").code == "refused"
    here = net.up.github_raw.rpartition(":")[2]
    assert [address[1] for address in dialled] == [int(here)]
