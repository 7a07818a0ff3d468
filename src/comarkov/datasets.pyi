# For type checkers: comarkov.datasets is comarkov.data.datasets, see __init__.py.
from .data.datasets import *
