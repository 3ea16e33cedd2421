from __future__ import annotations

import datetime
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.http import SafeFetcher

Build = Callable[..., SafeFetcher]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate of docs.example.com in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "docs.example.com")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("docs.example.com")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "docs.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + built.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def named(web, certificate: Path) -> list[str | None]:
    """Makes the server speak TLS; collects the host names its clients asked for."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    web.secure(context)
    return names


@pytest.fixture
def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def test_the_host_is_named_and_verified_although_the_address_is_pinned(
    web, named: list[str | None], trusting: ssl.SSLContext, fetcher: Build
) -> None:
    web.page("/a", b"secret text")
    url = web.url("/a", scheme="https")
    assert fetcher(ssl_context=trusting).fetch(url).data == b"secret text"
    assert named == ["docs.example.com"]


@pytest.mark.usefixtures("named")
def test_a_certificate_of_another_host_is_refused(
    web, trusting: ssl.SSLContext, fetcher: Build
) -> None:
    web.page("/a")
    with pytest.raises(FetchError, match=r"certificate of mirror\.example\.com") as caught:
        fetcher(ssl_context=trusting).fetch(web.url("/a", "mirror.example.com", "https"))
    assert caught.value.code is ErrorCode.FETCH_FAILED
    assert not caught.value.retryable
    assert web.seen == []


@pytest.mark.usefixtures("named")
def test_an_untrusted_certificate_is_refused(web, fetcher: Build) -> None:
    web.page("/a")
    with pytest.raises(FetchError, match="certificate") as caught:
        fetcher().fetch(web.url("/a", scheme="https"))
    assert not caught.value.retryable
    assert web.seen == []


def test_a_server_without_tls_is_a_broken_connection(web, fetcher: Build) -> None:
    web.page("/a")
    with pytest.raises(FetchError) as caught:
        fetcher().fetch(web.url("/a", scheme="https"))
    assert caught.value.code is ErrorCode.FETCH_FAILED
    assert caught.value.retryable
