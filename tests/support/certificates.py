"""A certificate for https that no authority knows."""

import subprocess
from pathlib import Path


def self_signed(folder: Path) -> tuple[str, str]:
    """Return a certificate of desk.example.org and 127.0.0.1, and its key."""
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=desk",
    ]
    names = [
        "-addext",
        "subjectAltName=DNS:desk.example.org,IP:127.0.0.1",
        "-out",
        cert,
        "-keyout",
        key,
    ]
    subprocess.run([*command, *names], check=True, capture_output=True)
    return cert, key
