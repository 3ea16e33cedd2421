from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.addresses import check_url, is_public

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:830::200e",
    "64:ff9b::808:808",
]

NOT_PUBLIC = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.1.2.3",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.254",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::10.0.0.1",
    "64:ff9b::",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:53aa:64c:0:5efe:7f00:1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_mean_here_or_inside_do_not(address: str) -> None:
    assert not is_public(ip_address(address))


@given(st.ip_addresses())
def test_never_wider_than_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    if is_public(address):
        embedded = int(address) & 0xFFFFFFFF
        nat64 = address.version == 6 and int(address) >> 32 == 0x64FF9B << 64
        assert (IPv4Address(embedded) if nat64 else address).is_global
        assert not address.is_multicast


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://example.com:8443/a?b#c",
        "http://example.com:22/",
        "http://8.8.8.8/",
        "http://0x08080808/",
        "http://[2606:4700::1111]/",
        "http://[64:ff9b::808:808]/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "http://mylocal.example/",
        "http://local.com/",
        "http://internal.example.com/",
        "http://notlocalhost.org/",
        "http://münchen.de/",
        "http://1.example/",
    ],
)
def test_urls_of_public_hosts_pass(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.com/", "/etc/passwd", "", "http://a@example.com/"]
)
def test_what_is_no_web_url_is_an_invalid_argument(url: str) -> None:
    with pytest.raises(InvalidArgument):
        check_url(url)


@given(
    st.ip_addresses(v=4).map(int),
    st.sampled_from(["{0}", "{0:#x}", "0{0:o}", "{1}.{2}", "{1:#x}.{2}", "0{1:o}.{2:#x}"]),
)
def test_every_notation_of_an_address_is_judged_alike(number: int, notation: str) -> None:
    host = notation.format(number, number >> 24, number & 0xFFFFFF)
    try:
        check_url(f"http://{host}/")
        passed = True
    except FetchError:
        passed = False
    assert passed == is_public(IPv4Address(number))
