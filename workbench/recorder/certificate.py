"""A certificate for a listener on this machine, for clients that accept nothing but TLS.

It is made for one run, for loopback names alone, by an authority whose key is never written. Nothing is installed: the
client gets the authority in its own variables. The package ``cryptography`` makes it, else the program
``openssl``.
"""

from __future__ import annotations

import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from workbench.errors import UsageError
from workbench.recorder.runtime_files import private_path

_DAYS: Final = 7
_NAMES: Final = ("localhost",)
_ADDRESSES: Final = ("127.0.0.1", "::1")
_TITLE: Final = "Workbench, this recording only"
BUNDLES: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Variables of Python and OpenSSL that replace the list of trusted authorities."""

ADDITIONS: Final = ("NODE_EXTRA_CA_CERTS",)
"""Variables of Node that add to the list."""


class ListenerCertificate(NamedTuple):
    """Files of one run, which only this user can read.

    Attributes:
        chain: the certificate with its key, for the listener.
        authority: what a client has to trust.
        bundle: the authority, and those that this machine trusts.
    """

    chain: Path
    authority: Path
    bundle: Path

    def variables(self) -> Mapping[str, str]:
        """Environment variables with which a client trusts it."""
        return {**dict.fromkeys(BUNDLES, str(self.bundle)), **dict.fromkeys(ADDITIONS, str(self.authority))}


@contextmanager
def listener_certificate(environ: Mapping[str, str]) -> Iterator[ListenerCertificate]:
    """A certificate in the runtime folder; its files are removed at the end.

    Args:
        environ: the client's environment: authorities that it names are in the bundle, too.

    Raises:
        UsageError: neither the package nor the program is here, or there is no private folder.
        OSError: a file cannot be written.
    """
    authority, chain = _make()
    stem = f"listener-{os.getpid()}-{secrets.token_hex(4)}"
    texts = (chain, authority, authority + b"\n" + _known_authorities(environ))
    certificate = ListenerCertificate(*(private_path(f"{stem}.{end}") for end in ("key", "pem", "all")))
    try:
        for path, text in zip(certificate, texts, strict=True):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text)
        yield certificate
    finally:
        for path in certificate:
            path.unlink(missing_ok=True)


def listener_context(chain: str | Path) -> ssl.SSLContext:
    """TLS for a listener, of a file with certificate and key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _known_authorities(environ: Mapping[str, str]) -> bytes:
    """The authorities that this machine, or the client's environment, trusts."""
    defaults = ssl.get_default_verify_paths()
    paths = (environ.get("SSL_CERT_FILE"), defaults.cafile, defaults.openssl_cafile)
    for path in filter(None, paths):
        with suppress(OSError):
            return Path(path).read_bytes()
    return b""


def _make() -> tuple[bytes, bytes]:
    """(PEM of the authority, PEM of the certificate with its key)."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        return _make_with_program()
    return _make_with_package()


def _make_with_package() -> tuple[bytes, bytes]:
    import datetime
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(datetime.UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    title = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _TITLE)])
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    issuer = x509.SubjectKeyIdentifier.from_public_key(keys[0].public_key())
    names = [*map(x509.DNSName, _NAMES), *(x509.IPAddress(ip_address(address)) for address in _ADDRESSES)]

    def certificate(number: int) -> x509.CertificateBuilder:
        is_authority, public = number == 0, keys[number].public_key()
        usage = dict.fromkeys(
            ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only",
             "decipher_only"), False
        )  # fmt: skip
        signs = {"digital_signature": not is_authority, "key_cert_sign": is_authority, "crl_sign": is_authority}
        return (
            x509.CertificateBuilder()
            .issuer_name(title)
            .subject_name(title if is_authority else own)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=_DAYS))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(**usage, **signs), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), critical=False)
        )

    leaf = certificate(1).add_extension(x509.SubjectAlternativeName(names), critical=False)
    leaf = leaf.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    signed = [each.sign(keys[0], hashes.SHA256()) for each in (certificate(0), leaf)]
    authority, chain = (each.public_bytes(serialization.Encoding.PEM) for each in signed)
    key = keys[1].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return authority, chain + key


_REQUEST = """[req]
distinguished_name = name
prompt = no
[name]
CN = localhost
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {names}
"""


def _make_with_program() -> tuple[bytes, bytes]:
    program = shutil.which("openssl")
    if not program:
        raise UsageError(
            "--tls-listen needs the package cryptography or the program openssl to create a certificate",
            hint="python -m pip install cryptography",
        )
    names = [*(f"DNS:{name}" for name in _NAMES), *(f"IP:{address}" for address in _ADDRESSES)]
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "c.cnf"]
    signed = ["-days", str(_DAYS), "-CA", "a.pem", "-CAkey", "a.key", "-CAcreateserial"]
    steps = (
        ["req", "-x509", *new, "-extensions", "authority", "-subj", f"/CN={_TITLE}", "-days", str(_DAYS),
         "-keyout", "a.key", "-out", "a.pem"],
        ["req", *new, "-keyout", "l.key", "-out", "l.csr"],
        ["x509", "-req", "-in", "l.csr", *signed, "-extfile", "c.cnf", "-extensions", "leaf", "-out", "l.pem"],
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:  # mode 0700
        (Path(folder) / "c.cnf").write_text(_REQUEST.format(names=", ".join(names)))
        for step in steps:
            outcome = subprocess.run([program, *step], cwd=folder, capture_output=True, check=False)
            if outcome.returncode:
                last = outcome.stderr.decode(errors="replace").strip().rpartition("\n")[2]
                raise UsageError(f"openssl could not create a certificate ({last:.200})")
        authority, leaf, key = (Path(folder, name).read_bytes() for name in ("a.pem", "l.pem", "l.key"))
    return authority, leaf + key
