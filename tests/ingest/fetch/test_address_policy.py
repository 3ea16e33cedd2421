from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument
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


LOCAL_URLS = [
    # plain addresses
    "http://127.0.0.1/",
    "http://127.0.0.1:8001/admin",
    "https://127.0.0.1/",
    "http://127.1.2.3/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://10.1.2.3:9200/_cat/indices",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://168.63.129.16/machine",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.0.0.192/opc/v1/",
    "http://192.168.1.1/",
    "http://198.18.0.1/",
    "http://224.0.0.251/",
    "http://255.255.255.255/",
    # the same in other notations
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0X7F000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.0x0.0x0.0x1/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://00000177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0x1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://0x/",
    "http://0x0/",
    "http://00/",
    "http://10.1/",
    "http://0xa.1/",
    "http://012.0.0.1/",
    "http://167772161/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.16689662/",
    "http://3232235777/",
    "http://192.168.257/",
    # full-width, circled and ideographic disguises
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://１６９．２５４．１６９．２５４/",
    "http://０x7f.1/",
    # IPv6
    "http://[::]/",
    "http://[::1]/",
    "http://[::1]:8001/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::0001]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:169.254.169.254]/",
    "http://[0:0:0:0:0:ffff:10.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::1]/",
    "http://[2001::1]/",
    "http://[2001:db8::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    # names
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://localhost:8081/mcp",
    "https://localhost/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://local\N{SOFT HYPHEN}host/",
    "http://foo.localhost/",
    "http://foo.localhost./",
    "http://localhost.localdomain/",
    "http://printer.local/",
    "http://PRINTER.LOCAL./",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://instance-data.ec2.internal/",
    "http://router.lan/",
    "http://nas.home.arpa/",
    "http://wiki.intranet/",
    "http://redis/",
    "http://redis:6379/",
    "http://kubernetes/",
    "http://metadata/",
    "http://com/",
]


@pytest.mark.parametrize("url", LOCAL_URLS)
def test_urls_of_local_hosts_are_refused_without_resolving(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_: pytest.fail("resolved"))
    with pytest.raises(FetchError) as caught:
        check_url(url)
    assert caught.value.code is ErrorCode.URL_NOT_ALLOWED
    assert not caught.value.retryable


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
