"""``python -m comarkov`` is the command ``comarkov``."""

from .cli import app

app(prog_name="comarkov")
